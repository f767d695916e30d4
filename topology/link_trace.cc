#include "topology/link_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "topology/input_error.h"
#include "topology/read/bandwidth_trace.h"
#include "topology/read/text_source.h"
#include "topology/text.h"

namespace syncline {
namespace {

enum class Column { TIME, BANDWIDTH, LATENCY };

std::vector<std::string_view> fields(std::string_view line) {
  std::vector<std::string_view> found;
  while (true) {
    const std::size_t comma = line.find(',');
    found.push_back(trim(line.substr(0, comma)));
    if (comma == std::string_view::npos) return found;
    line.remove_prefix(comma + 1);
  }
}

std::vector<Column> read_header(std::string_view line) {
  std::vector<Column> columns;
  for (const std::string_view name : fields(line)) {
    if (name == "time_s") {
      columns.push_back(Column::TIME);
    } else if (name == "bandwidth") {
      columns.push_back(Column::BANDWIDTH);
    } else if (name == "latency") {
      columns.push_back(Column::LATENCY);
    } else {
      throw InputError(fmt::format(
          "\"{}\" is no column of a trace; write for example time_s,bandwidth,latency", name));
    }
    for (std::size_t i = 0; i + 1 < columns.size(); ++i) {
      if (columns[i] == columns.back()) throw InputError(fmt::format("column \"{}\" twice", name));
    }
  }
  if (columns.size() < 2 ||
      std::find(columns.begin(), columns.end(), Column::TIME) == columns.end())
    throw InputError(fmt::format(
        "\"{}\" is no header of a trace; write for example time_s,bandwidth,latency", line));
  return columns;
}

Time read_seconds(std::string_view text) {
  return Time::seconds(parse_quantity(text, Dimension::NUMBER));
}

LinkTrace::Point read_point(std::string_view line, const std::vector<Column>& columns) {
  const std::vector<std::string_view> values = fields(line);
  if (values.size() != columns.size())
    throw InputError(fmt::format("{} fields; the header has {}", values.size(), columns.size()));
  LinkTrace::Point point;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i] == Column::TIME) {
      point.at = read_seconds(values[i]);
    } else if (values[i].empty()) {
      continue;
    } else if (columns[i] == Column::BANDWIDTH) {
      point.bandwidth = parse_bit_rate(values[i]);
    } else {
      point.latency_s = parse_quantity(values[i], Dimension::TIME);
    }
  }
  return point;
}

// Its first line holds numbers alone, or a log's own columns, or it is JSON; ours names columns.
bool is_bandwidth_log(std::string_view text) {
  text = trim(text);
  const std::string_view line = trim(text.substr(0, text.find('\n')));
  return text.starts_with('{') || line.find("DL_bitrate") != std::string_view::npos ||
         line.find("timestamp_start_dl") != std::string_view::npos ||
         number_of<double>(line.substr(0, line.find_first_of(" \t"))).has_value();
}

LinkTrace from_log(const TextSource& source) {
  const BandwidthTrace log = parse_bandwidth_trace(source.text(), source.name());
  LinkTrace trace;
  for (const BandwidthTrace::Step& step : log.steps)
    trace.points.push_back({.at = step.start, .bandwidth = step.rate, .latency_s = {}});
  trace.period = log.period;
  return trace;
}

}  // namespace

void check_trace(const LinkTrace& trace, const std::string& name) {
  const auto fail = [&](const std::string& problem) {
    throw InputError(fmt::format("the trace of link \"{}\": {}", name, problem));
  };
  if (trace.points.empty()) fail("has no points");
  const LinkTrace::Point* before = nullptr;
  for (const LinkTrace::Point& point : trace.points) {
    if (point.at < Time()) fail(fmt::format("a point at {}; times begin at 0", to_text(point.at)));
    if (before && point.at <= before->at)
      fail(fmt::format("a point at {} after one at {}; times must rise", to_text(point.at),
                       to_text(before->at)));
    if (point.bandwidth && !(point.bandwidth->in_bytes_per_s() >= 0))
      fail(fmt::format("a bandwidth of {} bytes/s; it must be at least 0",
                       point.bandwidth->in_bytes_per_s()));
    if (point.latency_s && (!(*point.latency_s >= 0) || !std::isfinite(*point.latency_s)))
      fail(fmt::format("a latency of {} s; it must be finite and at least 0", *point.latency_s));
    before = &point;
  }
  if (trace.period && *trace.period <= before->at)
    fail(fmt::format("a period of {} is not after its last point at {}", to_text(*trace.period),
                     to_text(before->at)));
}

LinkTrace read_link_trace(const std::string& path) {
  const TextSource source = TextSource::load(path);
  if (is_bandwidth_log(source.text())) return from_log(source);
  LinkTrace trace;
  std::vector<Column> columns;
  std::string_view rest = source.text();
  for (int number = 1; !rest.empty(); ++number) {
    const std::size_t end = std::min(rest.find('\n'), rest.size() - 1) + 1;
    const std::string_view whole = rest.substr(0, end);
    rest.remove_prefix(end);
    const std::string_view line = trim(whole.substr(0, whole.find('#')));
    if (line.empty()) continue;
    try {
      constexpr std::string_view kPeriod = "period_s,";
      if (columns.empty() && line.starts_with(kPeriod)) {
        trace.period = read_seconds(trim(line.substr(kPeriod.size())));
      } else if (columns.empty()) {
        columns = read_header(line);
      } else {
        trace.points.push_back(read_point(line, columns));
        if (trace.points.size() > 1 && trace.points.back().at <= trace.points.end()[-2].at)
          throw InputError("the time does not rise");
      }
    } catch (const InputError& error) {
      throw error.at(fmt::format("{}:{}", path, number));
    }
  }
  if (trace.points.empty())
    throw InputError(fmt::format(
        "{}: no points; write a header time_s,bandwidth,latency and a line for each time", path));
  return trace;
}

}  // namespace syncline
