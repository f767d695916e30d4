// Ready-made topologies of the wide area: regions of clouds, and devices at the edge.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "topology/generators.h"
#include "topology/geo.h"

namespace syncline {

// Regions of cloud providers, each a cluster as in ClustersSpec, each pair of regions joined by a
// link "A-B" in the order given. Its latency is the great circle times the detour at 2e8 m/s, plus
// `link`'s.
struct CloudSpec {
  std::vector<std::string> regions;  // names that find_cloud_region() knows; different ones
  std::uint32_t hosts = 1;           // of each region
  LinkSpec fabric = {};
  LinkSpec link = {};  // between two regions
  double detour = 1;   // 1 to 1000
  // What one machine of the first region reached to one of the second, bytes/s: takes the place of
  // link's bandwidth, once for each host of the region that sends. Pairs in either order.
  std::map<std::pair<std::string, std::string>, double> measured = {};
  // What one machine of a region can send and receive at most, bytes/s: takes the place of fabric's
  // bandwidth.
  std::map<std::string, std::array<double, 2>> machine = {};
};
// Throws InputError: an unknown or repeated region (lists near names), one region, too many hosts,
// a pair that was not measured where others were.
void add_cloud(Topology& topology, const CloudSpec& spec, RandomStream& random);

// A device's last mile.
struct LastMile {
  double up = 0, down = 0;  // bytes/s
  double latency_s = 0;     // one way
};

// Devices "device0" … around a hub, as in StarSpec; with sites each device is joined to one of the
// switches "site0" …, by turns, and these to the hub by the links "site0-HUB".
struct EdgeSpec {
  std::uint32_t count = 0;
  std::string hub = "server";
  std::uint32_t sites = 0;  // 0: devices are joined to the hub itself
  LinkSpec link = {};       // device to its site or hub: a to b is up
  LinkSpec backhaul = {};   // site to hub: a to b is up
  // Not empty: each device draws one of them, and `link` is not used.
  std::vector<LastMile> measured = {};
};
// Throws InputError as add_star().
void add_edge(Topology& topology, const EdgeSpec& spec, RandomStream& random);

}  // namespace syncline
