// Regular graphs of hosts: rings, meshes, tori and trees. The values of a link are drawn as in
// generators.h.
#pragma once

#include <cstdint>
#include <vector>

#include "topology/generators.h"

namespace syncline {

// Hosts "node0" … "nodeN-1", each joined to the next and the last to the first: N links, diameter
// N/2 rounded down. Throws InputError: count below 3 or above 10 million.
struct RingSpec {
  std::uint32_t count = 0;
  LinkSpec link = {};
};
void add_ring(Topology& topology, const RingSpec& spec, RandomStream& random);

// Hosts "nodeI.J…", one for each point of a grid, joined to the next in each dimension. With wrap
// (a torus) the last of a row also joins the first, where a row has at least 3: in a row of 2 that
// would be the same link again. Throws InputError: no size, a size of 0, one host in all, more than
// 10 million.
struct GridSpec {
  std::vector<std::uint32_t> size;  // hosts along each dimension
  bool wrap = false;
  LinkSpec link = {};
};
void add_grid(Topology& topology, const GridSpec& spec, RandomStream& random);

// A tree of switches "switch0" (the root), "switch1", … in breadth-first order, with hosts "host0"
// … as its leaves, arity^depth of them. Links go from the child (a) up to its parent (b). Throws
// InputError: arity below 2, depth below 1, more than 10 million nodes.
struct TreeSpec {
  std::uint32_t arity = 0;  // children of each switch
  std::uint32_t depth = 0;  // links from the root to a host
  LinkSpec link = {};
};
void add_tree(Topology& topology, const TreeSpec& spec, RandomStream& random);

}  // namespace syncline
