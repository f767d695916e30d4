#include "topology/read/spot_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>

#include "topology/input_error.h"
#include "topology/read/text_source.h"
#include "topology/text.h"

namespace syncline {
namespace {

constexpr std::size_t kMostValues = 1'000'000;
constexpr std::int64_t kMostNodes = 100'000;
constexpr double kMostSeconds = 1e9;

// What stands behind "KEY": in the text, up to and without one of the ends.
std::string_view value_of(std::string_view text, std::string_view key, std::string_view ends,
                          const std::string& name) {
  const std::size_t at = text.find(fmt::format("\"{}\"", key));
  const std::size_t colon = at == std::string_view::npos ? at : text.find(':', at);
  const std::size_t end =
      colon == std::string_view::npos ? colon : text.find_first_of(ends, colon + 1);
  if (end == std::string_view::npos) {
    throw InputError(
        fmt::format("\"{}\" is missing or cut off; a SkyPilot trace is {{\"metadata\": "
                    "{{\"gap_seconds\": 300}}, \"data\": [0, 4]}}",
                    key))
        .at(name);
  }
  return trim(text.substr(colon + 1, end - colon - 1));
}

SpotTrace parse_skypilot(std::string_view text, const std::string& name) {
  SpotTrace trace;
  trace.format = "SkyPilot";
  const std::string_view gap_text = value_of(text, "gap_seconds", ",}", name);
  const auto gap = number_of<double>(gap_text);
  if (!gap || !(*gap >= 1e-3 && *gap <= kMostSeconds / kMostValues)) {
    throw InputError(fmt::format("gap_seconds: \"{}\"; write 0.001 to {:.0f} seconds",
                                 shown(gap_text), kMostSeconds / kMostValues))
        .at(name);
  }
  std::string_view data = value_of(text, "data", "]", name);
  if (!data.starts_with('[')) throw InputError("data: it must be a list, as in [0, 4]").at(name);
  data.remove_prefix(1);
  std::int64_t before = 0;
  std::size_t count = 0;
  for (bool more = true; more; ++count) {
    const std::size_t comma = data.find(',');
    const std::string_view item = data.substr(0, comma);
    const auto nodes = number_of<std::int64_t>(item);
    if (!nodes || *nodes < 0 || *nodes > kMostNodes || count == kMostValues) {
      throw InputError(fmt::format("data[{}]: \"{}\"; write at most {} counts of 0 to {}", count,
                                   shown(trim(item)), kMostValues, kMostNodes))
          .at(name);
    }
    const Time now = Time::seconds(*gap * static_cast<double>(count));
    for (std::int64_t i = before; i < *nodes; ++i) {
      if (i == static_cast<std::int64_t>(trace.nodes.size()))
        trace.nodes.push_back({std::to_string(i), {}});
      trace.nodes[static_cast<std::size_t>(i)].intervals.push_back({now, Time::max()});
    }
    for (std::int64_t i = *nodes; i < before; ++i)
      trace.nodes[static_cast<std::size_t>(i)].intervals.back().down = now;
    before = *nodes;
    more = comma != std::string_view::npos;
    if (more) data.remove_prefix(comma + 1);
  }
  return trace;
}

SpotTrace parse_bamboo(std::string_view text, const std::string& name) {
  SpotTrace trace;
  trace.format = "Bamboo";
  std::map<std::string, std::size_t, std::less<>> by_name;
  std::int64_t last = 0;
  for (std::size_t number = 1; !trim(text).empty(); ++number) {
    const std::size_t end = text.find('\n');
    const std::string_view line = trim(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const auto fail = [&](const std::string& problem) {
      return InputError(problem).at(fmt::format("{}:{}", name, number));
    };
    const std::size_t first = line.find(',');
    const std::size_t second = first == std::string_view::npos ? first : line.find(',', first + 1);
    if (second == std::string_view::npos || second + 1 == line.size() || number > kMostValues)
      throw fail(
          fmt::format("\"{}\" is no row of a Bamboo trace; write 480000,add,node1 ({} at most)",
                      shown(line), kMostValues));
    const auto ms = number_of<std::int64_t>(line.substr(0, first));
    const std::string_view what = line.substr(first + 1, second - first - 1);
    const std::string node(line.substr(second + 1));
    if (!ms || *ms < 0 || static_cast<double>(*ms) > kMostSeconds * 1000)
      throw fail(fmt::format("\"{}\" is no whole number of ms", shown(line.substr(0, first))));
    if (*ms < last)
      throw fail(fmt::format("{} ms after {} ms; time stamps must not decrease", *ms, last));
    last = *ms;
    const Time now = Time::ns(*ms * 1'000'000);
    const auto [entry, is_new] = by_name.try_emplace(node, trace.nodes.size());
    if (is_new) trace.nodes.push_back({node, {}});
    auto& intervals = trace.nodes[entry->second].intervals;
    const bool there = !intervals.empty() && intervals.back().down == Time::max();
    if (what == "add") {
      if (there) throw fail(fmt::format("\"{}\" is added, but it is there", shown(node)));
      intervals.push_back({now, Time::max()});
    } else if (what == "remove") {
      if (!there) throw fail(fmt::format("\"{}\" is removed, but it is not there", shown(node)));
      intervals.back().down = now;
      if (intervals.back().up == now) intervals.pop_back();
    } else {
      throw fail(fmt::format("\"{}\" is neither add nor remove", shown(what)));
    }
  }
  return trace;
}

}  // namespace

std::size_t alive(const SpotTrace& trace, Time time) {
  return static_cast<std::size_t>(
      std::count_if(trace.nodes.begin(), trace.nodes.end(), [&](const SpotTrace::Node& node) {
        return std::any_of(
            node.intervals.begin(), node.intervals.end(),
            [&](const SpotTrace::Interval& in) { return in.up <= time && time < in.down; });
      }));
}

SpotTrace parse_spot_trace(std::string_view text, const std::string& name) {
  if (trim(text).empty())
    throw InputError("it is empty; a spot trace has at least one row").at(name);
  if (text.find('\0') != std::string_view::npos)
    throw InputError("it is binary; a spot trace is text").at(name);
  return trim(text).starts_with('{') ? parse_skypilot(text, name) : parse_bamboo(text, name);
}

SpotTrace read_spot_trace(const std::string& path) {
  const TextSource source = TextSource::load(path);
  return parse_spot_trace(source.text(), source.name());
}

}  // namespace syncline
