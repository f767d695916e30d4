#include "topology/read/imported.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

namespace syncline {

std::string to_text(const ImportWarning& warning) {
  std::string where;
  if (warning.line > 0) where = fmt::format("line {}", warning.line);
  if (warning.count > 1)
    where += fmt::format("{}{} more", where.empty() ? "and " : " and ", warning.count - 1);
  return fmt::format("{}{}: {}", warning.kind, where.empty() ? "" : " (" + where + ")",
                     warning.text);
}

namespace {

// A directed record by its ends and values.
using LinkKey = std::tuple<std::uint32_t, std::uint32_t, std::optional<BitRate>,
                           std::array<std::optional<double>, 4>>;
LinkKey key_of(const ImportedLink& link, std::uint32_t a, std::uint32_t b) {
  return {a,
          b,
          link.bandwidth,
          {link.bandwidth_number, link.latency_s, link.latency_number, link.length_m}};
}

}  // namespace

void ImportedTopology::warn(std::string_view kind, const std::string& text, std::size_t line) {
  const auto known = std::find_if(warnings.begin(), warnings.end(),
                                  [&](const ImportWarning& w) { return w.kind == kind; });
  if (known == warnings.end()) {
    warnings.push_back({std::string(kind), text, line, 1});
  } else {
    ++known->count;
  }
}

ImportedCounts count(const ImportedTopology& topology) {
  ImportedCounts counts;
  std::vector<std::uint32_t> root(topology.nodes.size());
  std::iota(root.begin(), root.end(), 0U);
  const auto find = [&](std::uint32_t node) {
    while (root[node] != node) node = root[node] = root[root[node]];
    return node;
  };
  counts.records = counts.links = topology.links.size();
  std::map<LinkKey, std::size_t> waiting;  // for a record of the way back
  std::set<std::pair<std::uint32_t, std::uint32_t>> pairs;
  std::vector<bool> joined(topology.nodes.size());
  for (const ImportedLink& link : topology.links) {
    if (link.bandwidth.value_or(BitRate()) > BitRate() || link.bandwidth_number.value_or(0) > 0)
      ++counts.links_with_bandwidth;
    if (link.a == link.b) {
      ++counts.self_loops;
      continue;
    }
    if (link.directed) {
      const auto twin = waiting.find(key_of(link, link.b, link.a));
      if (twin == waiting.end() || twin->second == 0) {
        ++waiting[key_of(link, link.a, link.b)];
      } else {
        --twin->second;
        --counts.links;
      }
    }
    if (!pairs.insert(std::minmax(link.a, link.b)).second) ++counts.parallel_links;
    joined[link.a] = joined[link.b] = true;
    root[find(link.a)] = find(link.b);
  }
  for (std::uint32_t i = 0; i < root.size(); ++i) {
    if (find(i) == i) ++counts.components;
    if (!joined[i]) ++counts.isolated_nodes;
  }
  return counts;
}

}  // namespace syncline
