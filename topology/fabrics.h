// Networks of data centres and supercomputers. The values of a link are drawn as in generators.h.
// There is one route for a pair of hosts, as everywhere: no equal-cost multipath.
#pragma once

#include <cstdint>

#include "topology/generators.h"

namespace syncline {

// Each leaf switch joins each spine. Leaf L is the switch "leafL" with hosts "leafL/0", … (cluster
// "leafL", links "leafL/0-leafL"); its uplinks are "leafL-spineS". Throws InputError: a count of 0,
// more than 10 million nodes or links.
struct LeafSpineSpec {
  std::uint32_t leaves = 0;
  std::uint32_t spines = 0;
  std::uint32_t hosts = 0;  // of each leaf
  LinkSpec link = {};       // host to leaf
  LinkSpec uplink = {};     // leaf to spine
};
void add_leaf_spine(Topology& topology, const LeafSpineSpec& spec, RandomStream& random);

// The fat tree of Al-Fares, Loukissas and Vahdat (SIGCOMM 2008) of switches with k ports: k pods of
// k/2 edge and k/2 aggregation switches, (k/2)^2 core switches, k^3/4 hosts, full bisection. Hosts
// "podP/0", … (cluster "podP"), switches "podP.edgeE", "podP.aggA", "coreC". Links go up: host,
// edge, agg, core. Throws InputError: ports odd, below 2 or above 200.
struct FatTreeSpec {
  std::uint32_t ports = 0;
  LinkSpec link = {};
};
void add_fat_tree(Topology& topology, const FatTreeSpec& spec, RandomStream& random);

// The dragonfly of Kim, Dally, Scott and Abts (ISCA 2008), of the largest size: a*h + 1 groups of a
// routers, all joined within a group; each router has p hosts and h links to other groups, and each
// pair of groups is joined once. Hosts "groupG/0", … (cluster "groupG"), routers "groupG.routerR".
// Throws InputError: a count of 0, more than 10 million nodes or links.
struct DragonflySpec {
  std::uint32_t routers = 0;       // a, of each group
  std::uint32_t hosts = 0;         // p, of each router
  std::uint32_t global_links = 0;  // h, of each router
  LinkSpec link = {};              // host to router, and router to router of one group
  LinkSpec global = {};            // between groups
};
void add_dragonfly(Topology& topology, const DragonflySpec& spec, RandomStream& random);

}  // namespace syncline
