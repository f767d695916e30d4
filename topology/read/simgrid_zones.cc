#include "topology/read/simgrid_zones.h"

#include <algorithm>
#include <set>

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
  const Tree& tree = tree_of(zone, from);
  std::vector<const SimgridWay*> ways;
  for (std::uint64_t at = to; at != from; at = tree.before.at(at)) {
    const auto arrives = tree.arrives.find(at);
    if (arrives == tree.arrives.end()) return {};
    ways.push_back(arrives->second);
  }
  std::reverse(ways.begin(), ways.end());
  return ways;
}

const SimgridRoutes::Tree& SimgridRoutes::tree_of(const SimgridZone& zone,
                                                  std::uint64_t from) const {
  const auto known = trees_.find({&zone, from});
  if (known != trees_.end()) return known->second;
  if (trees_.size() >= kKeptTrees) trees_.clear();
  Tree& tree = trees_[{&zone, from}];
  // Fewest links; of equals the member that was reached first, in the order of the members.
  std::map<std::uint64_t, std::size_t> links{{from, 0}};
  std::set<std::pair<std::size_t, std::uint64_t>> open{{0, from}};
  while (!open.empty()) {
    const auto [so_far, at] = *open.begin();
    open.erase(open.begin());
    for (auto way = zone.ways.lower_bound({at, 0});
         way != zone.ways.end() && way->first.first == at; ++way) {
      const std::uint64_t next = way->first.second;
      const std::size_t length = so_far + way->second.steps.size();
      const auto [entry, is_new] = links.try_emplace(next, length);
      if (!is_new && entry->second <= length) continue;
      if (!is_new) open.erase({entry->second, next});
      entry->second = length;
      open.emplace(length, next);
      tree.arrives[next] = &way->second;
      tree.before[next] = at;
    }
  }
  return tree;
}

}  // namespace syncline
