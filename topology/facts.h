// What a graph is like as a whole: how far apart its nodes are, and where it is narrowest.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "topology/quantity.h"

namespace syncline {

// One direction of a link between two nodes, by their indexes.
struct Arc {
  std::uint32_t from = 0, to = 0;
  BitRate bandwidth;
  double length = 1;  // in the unit that is asked for: 1 for hops, seconds for latency; at least 0
};

// The largest distance between two nodes that are connected at all.
struct Diameter {
  double length = 0;
  std::uint32_t from = 0, to = 0;
  bool exact = true;  // false: a lower bound, from some of the sources
};
// One Dijkstra (Boost.Graph) a source, of as many sources, evenly spread, as go into `most_work`
// steps of a node or an arc each. None: no two nodes are connected.
std::optional<Diameter> find_diameter(std::uint32_t nodes, std::span<const Arc> arcs,
                                      std::uint64_t most_work = 20'000'000);

// The least capacity, in one direction, that lies between two groups of nodes.
struct Cut {
  BitRate bandwidth;               // whole bit/s; infinite: nothing limits it
  std::vector<bool> near;          // by node: on the side that sends
  std::uint32_t from = 0, to = 0;  // indexes of the groups
};
// The least over all pairs of groups: maximum flows (push-relabel of
// Goldberg and Tarjan 1988, in Boost.Graph) from
// the first group to each other one and back. Each group has at least one node, and no node is in
// two. None: fewer than two groups, or more than `most_work` steps of an arc and a flow each.
std::optional<Cut> find_narrowest_cut(std::uint32_t nodes, std::span<const Arc> arcs,
                                      std::span<const std::vector<std::uint32_t>> groups,
                                      std::uint64_t most_work = 5'000'000);

}  // namespace syncline
