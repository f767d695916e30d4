#include "topology/read/simgrid_zones.h"

#include <algorithm>
#include <limits>

namespace syncline {
namespace {

constexpr std::size_t kKeptTrees = 64;

}  // namespace

bool SimgridRoutes::holds(std::uint32_t zone, std::uint32_t node) const {
  for (std::uint32_t at = zone_of_node[node]; at != SimgridZone::kNone; at = zones[at].parent) {
    if (at == zone) return true;
  }
  return false;
}

std::vector<ImportedRoutes::Step> SimgridRoutes::find(std::uint32_t from, std::uint32_t to) const {
  SimgridSteps steps;
  if (!append(from, to, steps)) steps.clear();
  for (Step& step : steps) step.link = record_of_link[step.link];
  return steps;
}

bool SimgridRoutes::append(std::uint32_t from, std::uint32_t to, SimgridSteps& steps) const {
  if (from == to) return true;
  // Up to the zone that holds both; its members on the two sides route for what they hold.
  std::uint32_t zone_a = zone_of_node[from], zone_b = zone_of_node[to];
  std::uint64_t member_a = from, member_b = to;
  const auto up = [&](std::uint32_t& zone, std::uint64_t& member) {
    member = SimgridZone::kZone + zone;
    zone = zones[zone].parent;
  };
  while (zone_a != zone_b) {
    if (zones[zone_a].depth >= zones[zone_b].depth) {
      up(zone_a, member_a);
    } else {
      up(zone_b, member_b);
    }
  }
  const SimgridZone& zone = zones[zone_a];
  if (zone.rule) {
    const SimgridSteps found = zone.rule(from, to);
    steps.insert(steps.end(), found.begin(), found.end());
    return !found.empty();
  }
  const std::vector<const SimgridWay*> ways = between(zone, member_a, member_b);
  if (ways.empty()) return false;
  // From gateway to gateway lies deeper in the tree, so this ends.
  std::uint32_t at = from;
  for (const SimgridWay* way : ways) {
    if (!append(at, way->from_gateway, steps)) return false;
    steps.insert(steps.end(), way->steps.begin(), way->steps.end());
    at = way->to_gateway;
  }
  return append(at, to, steps);
}

std::vector<const SimgridWay*> SimgridRoutes::between(const SimgridZone& zone, std::uint64_t from,
                                                      std::uint64_t to) const {
  if (!zone.shortest) {
    const auto way = zone.ways.find({from, to});
    if (way == zone.ways.end()) return {};
    return {&way->second};
  }
  const Graph& graph = graph_of(zone);
  const auto start = graph.index.find(from), goal = graph.index.find(to);
  if (start == graph.index.end() || goal == graph.index.end()) return {};
  const Tree& tree = tree_of(zone, graph, start->second);
  std::vector<const SimgridWay*> ways;
  for (std::uint32_t at = goal->second; at != start->second; at = tree[at].before) {
    if (tree[at].way == nullptr) return {};
    ways.push_back(tree[at].way);
  }
  std::reverse(ways.begin(), ways.end());
  return ways;
}

const SimgridRoutes::Graph& SimgridRoutes::graph_of(const SimgridZone& zone) const {
  const auto [known, is_new] = graphs_.try_emplace(&zone);
  Graph& graph = known->second;
  if (!is_new) return graph;
  for (const auto& [ends, way] : zone.ways) {
    for (const std::uint64_t end : {ends.first, ends.second})
      graph.index.try_emplace(end, static_cast<std::uint32_t>(graph.index.size()));
  }
  graph.first.assign(graph.index.size() + 1, 0);
  for (const auto& [ends, way] : zone.ways) ++graph.first[graph.index.at(ends.first) + 1];
  for (std::size_t i = 1; i < graph.first.size(); ++i) graph.first[i] += graph.first[i - 1];
  graph.arcs.resize(zone.ways.size());
  std::vector<std::size_t> next = graph.first;
  for (const auto& [ends, way] : zone.ways)
    graph.arcs[next[graph.index.at(ends.first)]++] = {graph.index.at(ends.second), &way};
  return graph;
}

// Dijkstra with a list for each distance: ways are a few links long. Of equals, the one that was
// found first.
const SimgridRoutes::Tree& SimgridRoutes::tree_of(const SimgridZone& zone, const Graph& graph,
                                                  std::uint32_t from) const {
  const auto known = trees_.find({&zone, from});
  if (known != trees_.end()) return known->second;
  if (trees_.size() >= kKeptTrees) trees_.clear();
  Tree& tree = trees_[{&zone, from}];
  tree.resize(graph.index.size());
  constexpr std::size_t kFar = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> links(tree.size(), kFar);
  links[from] = 0;
  std::map<std::size_t, std::vector<std::uint32_t>> open{{0, {from}}};
  while (!open.empty()) {
    const auto nearest = open.extract(open.begin());
    for (const std::uint32_t at : nearest.mapped()) {
      if (links[at] != nearest.key()) continue;  // it was reached on a shorter way since
      for (std::size_t i = graph.first[at]; i < graph.first[at + 1]; ++i) {
        const Arc& arc = graph.arcs[i];
        const std::size_t length = nearest.key() + arc.way->steps.size();
        if (length >= links[arc.to]) continue;
        links[arc.to] = length;
        tree[arc.to] = {at, arc.way};
        open[length].push_back(arc.to);
      }
    }
  }
  return tree;
}

}  // namespace syncline
