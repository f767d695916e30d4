// Routes in use: one a pair of ends, shared by the transfers on it, and what the network's
// condition means for each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "sim/network/conditions.h"
#include "topology/routing.h"
#include "topology/topology.h"

namespace syncline {

using PathId = std::uint32_t;

// A route, fixed when a transfer started on it.
struct Path {
  NodeId source, destination;
  std::vector<ChannelId> channels;  // in order of the hops
  std::uint32_t users = 0;          // transfers, and the table itself while it gives it out
  Time latency;                     // at the start; of no meaning on a nominal path

  // By the present condition:
  bool down = false;       // some channel is down
  bool went_down = false;  // that is new since the refresh before
  bool blocked = false;    // some channel has no capacity: nothing flows
  double member_cap = 0;   // what one transfer can have: the least of its channels' member caps
  ChannelId member_cap_channel;  // where
};

class RouteTable {
 public:
  RouteTable(const Topology& topology, const Conditions& conditions);

  // A path for a transfer that starts now; it counts as its user until release(). Throws
  // InputError: no route. Who may wait gets none while an outage leaves no route.
  std::optional<PathId> acquire(NodeId source, NodeId destination, bool may_wait);
  // The path that there would be with everything up, for a transfer that waits for a route; its
  // user until release().
  PathId acquire_nominal(NodeId source, NodeId destination);
  void release(PathId path);
  const Path& operator[](PathId path) const { return paths_[path]; }

  // The router follows; later starts ask it anew. Paths in use stay.
  void set_link_up(LinkId link, bool up);
  void set_node_up(NodeId node, bool up);
  // Later starts ask anew (latencies have changed).
  void forget();

  // Brings every path in use up to date with the conditions.
  void refresh();

 private:
  PathId make_path(NodeId source, NodeId destination, const Route& route);
  void refresh(Path& path) const;

  const Topology& topology_;
  const Conditions& conditions_;
  Router router_;
  Router nominal_router_;  // everything up
  std::vector<Path> paths_;
  std::vector<PathId> free_;
  std::unordered_map<std::uint64_t, PathId> by_ends_;  // source and destination
};

}  // namespace syncline
