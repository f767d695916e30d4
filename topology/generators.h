// Ready-made topologies by a few numbers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "topology/distribution.h"
#include "topology/topology.h"

namespace syncline {

// What a generated link is made of. Each link draws its own values: they depend on its name and on
// one draw from the caller's stream, so one more host, cluster or device leaves the others as they
// are.
struct LinkSpec {
  Distribution bandwidth = Distribution::constant(0);       // bytes/s, a to b
  Distribution bandwidth_back = Distribution::constant(0);  // bytes/s, b to a
  bool asymmetric = false;                                  // false: back is bandwidth's draw too
  Distribution latency = Distribution::constant(0);         // s, one way, both directions
  bool shared = false;                                      // with asymmetric: InputError
};

enum class ClusterShape { STAR, FULL_MESH };

// Clusters of hosts. Cluster C has hosts "C/0", "C/1", …, each joined to the switch "C" (in cluster
// C as they are) by the link "C/0-C" (fabric). STAR: each switch joins the switch "core", which has
// no limits, by the link "C-core" (wan). FULL_MESH: each pair of switches is joined by "C-D" (wan),
// in the order in which the names are given. A direction a to b is from the first named to the
// second. Throws InputError: repeated or empty names, no clusters, no hosts, a cluster named "core"
// in a STAR, "/" in a name.
struct ClustersSpec {
  std::vector<std::string> names;  // "cluster0", "cluster1", … is for the caller to make up
  std::uint32_t hosts = 1;
  LinkSpec fabric;
  LinkSpec wan;
  ClusterShape shape = ClusterShape::STAR;
};
void add_clusters(Topology& topology, const ClustersSpec& spec, RandomStream& random);

// Devices "device0" … joined to the host `hub` by the links "device0-HUB": bandwidth is device to
// hub (up), bandwidth_back hub to device. The devices are hosts of no cluster. The hub is added,
// unless there is a node of this name. Throws InputError: count 0, empty hub, a hub named like a
// device.
struct StarSpec {
  std::uint32_t count = 0;
  std::string hub = "server";
  LinkSpec link;
};
void add_star(Topology& topology, const StarSpec& spec, RandomStream& random);

}  // namespace syncline
