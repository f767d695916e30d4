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

// Pairs of opposite directed records that are one link: namesakes, and of the others those with
// equal values.
std::size_t count_twins(const std::vector<ImportedLink>& links) {
  std::vector<bool> paired(links.size());
  std::size_t twins = 0;
  const auto pair_up = [&](const auto& may_pair, const auto& key_of) {
    std::map<decltype(key_of(links[0], 0U, 0U)), std::vector<std::size_t>> waiting;
    for (std::size_t i = 0; i < links.size(); ++i) {
      const ImportedLink& link = links[i];
      if (paired[i] || !link.directed || link.a == link.b || !may_pair(link)) continue;
      std::vector<std::size_t>& opposite = waiting[key_of(link, link.b, link.a)];
      if (opposite.empty()) {
        waiting[key_of(link, link.a, link.b)].push_back(i);
        continue;
      }
      paired[i] = paired[opposite.back()] = true;
      opposite.pop_back();
      ++twins;
    }
  };
  pair_up([](const ImportedLink& link) { return !link.name.empty(); },
          [](const ImportedLink& link, std::uint32_t a, std::uint32_t b) {
            return std::tuple{a, b, link.name};
          });
  pair_up([](const ImportedLink&) { return true; },
          [](const ImportedLink& link, std::uint32_t a, std::uint32_t b) {
            return std::tuple{a, b, link.bandwidth,
                              std::array{link.bandwidth_number, link.latency_s, link.latency_number,
                                         link.length_m}};
          });
  return twins;
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
  counts.records = topology.links.size();
  counts.links = counts.records - count_twins(topology.links);
  std::set<std::pair<std::uint32_t, std::uint32_t>> pairs;
  std::vector<bool> joined(topology.nodes.size());
  for (const ImportedLink& link : topology.links) {
    if (link.bandwidth.value_or(BitRate()) > BitRate() || link.bandwidth_number.value_or(0) > 0)
      ++counts.links_with_bandwidth;
    if (link.a == link.b) {
      ++counts.self_loops;
      continue;
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
