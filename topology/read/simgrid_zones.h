// SimGrid's platforms as a tree of zones, each with its own way of routing. Private to
// topology/read.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "topology/read/imported.h"

namespace syncline {

using SimgridSteps = std::vector<ImportedRoutes::Step>;

// Between two members of a zone (hosts, routers, zones), from one gateway to the other; where a
// member is no zone, it is its own gateway.
struct SimgridWay {
  std::uint32_t from_gateway = 0, to_gateway = 0;  // nodes
  SimgridSteps steps;
};

class SimgridZone {
 public:
  // How the links of a way between two hosts or routers of the zone are found.
  using Rule = std::function<SimgridSteps(std::uint32_t from, std::uint32_t to)>;

  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  std::string id;
  std::uint32_t parent = kNone;  // zone
  std::uint32_t depth = 0;
  bool shortest = false;  // Floyd and Dijkstra: ways are joined to the one of fewest links
  Rule rule = {};         // of clusters, in place of ways
  // By members: a node's index, or kZone plus a zone's.
  static constexpr std::uint64_t kZone = std::uint64_t{1} << 32;
  std::map<std::pair<std::uint64_t, std::uint64_t>, SimgridWay> ways = {};
};

class SimgridRoutes : public ImportedRoutes {
 public:
  std::vector<Step> find(std::uint32_t from, std::uint32_t to) const override;

  // Whether the node is in the zone or in one inside of it.
  bool holds(std::uint32_t zone, std::uint32_t node) const;

  std::vector<std::uint32_t> record_of_link;  // steps name links; what is found names records
  std::vector<SimgridZone> zones;
  std::vector<std::uint32_t> zone_of_node;

 private:
  struct Arc {
    std::uint32_t to = 0;
    const SimgridWay* way = nullptr;
  };
  // The members of a zone and the ways between them, densely numbered.
  struct Graph {
    std::unordered_map<std::uint64_t, std::uint32_t> index;
    std::vector<std::size_t> first;  // arc of each member, and the end
    std::vector<Arc> arcs;
  };
  struct Reached {
    std::uint32_t before = SimgridZone::kNone;
    const SimgridWay* way = nullptr;  // that arrives; none: not reached
  };
  using Tree = std::vector<Reached>;  // of fewest links from one member

  bool append(std::uint32_t from, std::uint32_t to, SimgridSteps& steps) const;
  // The ways of a zone from one of its members to another, in order; empty: there is none.
  std::vector<const SimgridWay*> between(const SimgridZone& zone, std::uint64_t from,
                                         std::uint64_t to) const;
  const Graph& graph_of(const SimgridZone& zone) const;
  const Tree& tree_of(const SimgridZone& zone, const Graph& graph, std::uint32_t from) const;

  // Made when they are asked for; a few trees are kept. Not for use by two threads at once.
  mutable std::unordered_map<const SimgridZone*, Graph> graphs_;
  mutable std::map<std::pair<const SimgridZone*, std::uint32_t>, Tree> trees_;
};

}  // namespace syncline
