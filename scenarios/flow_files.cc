#include "scenarios/flow_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "topology/input_error.h"
#include "topology/read/read.h"
#include "topology/read/text_source.h"
#include "topology/text.h"

namespace syncline {
namespace {

struct Column {
  std::string_view name;
  bool required = true;
};

// A CSV whose header holds these columns, in any order, and no other ones.
class Table {
 public:
  Table(const TextSource& source, std::vector<Column> columns)
      : source_(source), rows_(source), columns_(std::move(columns)) {
    std::string right;
    for (const Column& column : columns_) {
      where_.push_back(rows_.column({column.name}));
      right += (right.empty() ? "" : ",") + std::string(column.name);
    }
    const auto fail = [&](std::string_view name, const char* problem) {
      throw source.error({rows_.line(), 0}, "header",
                         fmt::format("\"{}\" {}; the header is {}", shown(name), problem, right));
    };
    for (const std::string& name : rows_.header()) {
      const auto named = [&](const auto& other) { return std::string_view(name) == other; };
      if (std::none_of(columns_.begin(), columns_.end(),
                       [&](const Column& column) { return named(column.name); }))
        fail(name, "is no column");
      if (std::count_if(rows_.header().begin(), rows_.header().end(), named) > 1)
        fail(name, "is there twice");
    }
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i].required && !where_[i]) fail(columns_[i].name, "is missing");
    }
  }

  bool next() { return rows_.next(); }
  std::size_t line() const { return rows_.line(); }
  // Empty where the header has no such column.
  Token field(std::size_t column) const {
    if (!where_[column]) return {Token::Kind::WORD, "", {rows_.line(), 0}};
    return rows_.field(*where_[column]);
  }
  InputError error(std::size_t column, const std::string& problem) const {
    return source_.error(field(column).place, columns_[column].name, problem);
  }

 private:
  const TextSource& source_;
  CsvCursor rows_;
  std::vector<Column> columns_;
  std::vector<std::optional<std::size_t>> where_;  // by column: in the rows
};

Time read_seconds(const TextSource& source, const Token& token, std::string_view field) {
  constexpr double kMost = 9e9;  // the clock ends at 9.2e9 s
  const double seconds = to_number(source, token, field, Sign::NOT_NEGATIVE);
  if (seconds > kMost)
    throw source.error(token.place, field,
                       fmt::format("\"{}\" is more than {} s", shown(token.text), kMost));
  return Time::seconds(seconds);
}

// "1000000" and "1e6".
Bytes read_bytes(const TextSource& source, const Token& token, std::string_view field) {
  constexpr double kMost = 9007199254740992;  // 2^53: every whole number up to it is a double
  const double bytes = to_number(source, token, field, Sign::NOT_NEGATIVE);
  if (bytes != std::floor(bytes) || bytes > kMost)
    throw source.error(
        token.place, field,
        fmt::format("\"{}\" is not a whole number of bytes, 0 to 2^53", shown(token.text)));
  return Bytes(static_cast<std::int64_t>(bytes));
}

// What `read` returns; its InputError gets the cell's place.
template <class Read>
auto cell(const Table& rows, std::size_t column, const Read& read) {
  try {
    return read(std::string(rows.field(column).text));
  } catch (const InputError& problem) {
    throw rows.error(column, problem.what());
  }
}

LinkEvent read_event(const TextSource& source, const Table& rows, const Topology& topology) {
  enum { TIME, LINK, DIRECTION, BANDWIDTH, LATENCY, STATE };
  LinkEvent event;
  event.at = read_seconds(source, rows.field(TIME), "time_s");
  event.link =
      cell(rows, LINK, [&](const std::string& name) { return topology.require_link(name); });
  const std::string_view direction = rows.field(DIRECTION).text;
  if (direction == "forward") {
    event.directions = {Direction::FORWARD};
  } else if (direction == "backward") {
    event.directions = {Direction::BACKWARD};
  } else if (direction.empty() || direction == "both") {
    event.directions = {Direction::FORWARD, Direction::BACKWARD};
  } else {
    throw rows.error(DIRECTION,
                     fmt::format("\"{}\"; write forward, backward or both", shown(direction)));
  }
  if (!rows.field(BANDWIDTH).text.empty()) event.bandwidth = cell(rows, BANDWIDTH, parse_bit_rate);
  if (!rows.field(LATENCY).text.empty())
    event.latency_s = cell(rows, LATENCY, [](const std::string& text) {
      return parse_quantity(text, Dimension::TIME);
    });
  const std::string_view state = rows.field(STATE).text;
  if (state == "up" || state == "down") {
    event.up = state == "up";
  } else if (!state.empty()) {
    throw rows.error(STATE, fmt::format("\"{}\"; write up or down", shown(state)));
  }
  if (event.up && event.directions.size() == 1)
    throw rows.error(DIRECTION, "a link goes up and down in both directions; leave this empty");
  if (topology.link(event.link).shared && event.directions.size() == 1 && event.bandwidth)
    throw rows.error(DIRECTION, "a shared link has one bandwidth for both directions");
  if (!event.bandwidth && !event.latency_s && !event.up)
    throw source.error({rows.line(), 0}, "", "changes nothing; give a bandwidth, latency or state");
  return event;
}

}  // namespace

std::vector<Flow> read_flows(const std::string& path, const Topology& topology,
                             const ImportedTopology* map) {
  enum { START, SOURCE, DESTINATION, BYTES };
  const TextSource source = TextSource::load(path);
  Table rows(source, {{"start_s"}, {"source"}, {"destination"}, {"bytes"}});
  const FlowCheck check(topology);
  std::vector<Flow> flows;
  while (rows.next()) {
    const auto node = [&](std::size_t column) {
      return cell(rows, column,
                  [&](const std::string& name) { return require_node(topology, map, name); });
    };
    const Flow flow{read_seconds(source, rows.field(START), "start_s"), node(SOURCE),
                    node(DESTINATION), read_bytes(source, rows.field(BYTES), "bytes")};
    const std::string problem = check.problem(flow.source, flow.destination);
    if (!problem.empty()) throw source.error({rows.line(), 0}, "", problem);
    flows.push_back(flow);
  }
  if (flows.empty())
    throw source.error({}, "",
                       "holds no flows; write a line start_s,source,destination,bytes each");
  return flows;
}

std::vector<LinkEvent> read_link_events(const std::string& path, const Topology& topology) {
  const TextSource source = TextSource::load(path);
  Table rows(source, {{"time_s"},
                      {"link"},
                      {"direction", false},
                      {"bandwidth", false},
                      {"latency", false},
                      {"state", false}});
  std::vector<LinkEvent> events;
  while (rows.next()) events.push_back(read_event(source, rows, topology));
  return events;
}

void schedule(Network& network, const std::vector<LinkEvent>& events) {
  for (const LinkEvent& event : events) {
    for (const Direction direction : event.directions) {
      if (event.bandwidth)
        network.change_capacity(event.at, event.link, direction, *event.bandwidth);
      if (event.latency_s)
        network.change_latency(event.at, event.link, direction, *event.latency_s);
    }
    if (event.up) network.change_link_state(event.at, event.link, *event.up);
  }
}

}  // namespace syncline
