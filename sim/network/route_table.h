// Routes in use: one a pair of ends, shared by the transfers on it, and what the network's
// condition means for each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "sim/network/chunked_array.h"
#include "sim/network/conditions.h"
#include "topology/routing.h"
#include "topology/topology.h"

namespace syncline {

using PathId = std::uint32_t;

// A route, fixed when a transfer started on it.
struct Path {
  NodeId source, destination;
  std::uint32_t users = 0;  // transfers, and the table itself while it gives it out
  std::uint32_t first = 0;  // of its channels in the table's store
  std::uint32_t latency_class = 0;
  std::uint16_t hops = 0;

  // By the present condition:
  bool down : 1 = false;       // some channel is down
  bool went_down : 1 = false;  // that is new since the refresh before
  bool blocked : 1 = false;    // some channel has no capacity: nothing flows
  bool bundled : 1 = false;    // some channel caps each transfer at a member

  bool listed : 1 = false;  // the table gives it out
};

class RouteTable {
 public:
  RouteTable(const Topology& topology, const Conditions& conditions);

  // A path for a transfer that starts now; it counts as its user until release(). Throws
  // InputError: no route. Who may wait gets none while an outage leaves no route.
  std::optional<PathId> acquire(NodeId source, NodeId destination, bool may_wait);
  // The path that there would be with everything up, for a transfer that waits for a route; its
  // user until release(). It is of no latency class.
  PathId acquire_nominal(NodeId source, NodeId destination);
  void release(PathId path) {
    if (--paths_[path].users == 0) keep_for_reuse(path);
  }
  const Path& operator[](PathId path) const { return paths_[path]; }
  // In order of the hops; they stay where they are while the path has users.
  std::span<const ChannelId> channels(const Path& path) const {
    return {store_[path.first / kChunk].get() + path.first % kChunk, path.hops};
  }
  // Paths of one latency are one class. As it was when the path was made.
  Time latency(std::uint32_t latency_class) const { return latencies_[latency_class]; }
  Time latency(const Path& path) const { return latencies_[path.latency_class]; }

  // What one transfer can have of a bundle on the path, and where; infinite where there is none.
  struct MemberCap {
    double bytes_per_s;
    ChannelId channel;
  };
  MemberCap member_cap(const Path& path) const;

  // The router follows; later starts ask it anew. Paths in use stay.
  void set_link_up(LinkId link, bool up);
  void set_node_up(NodeId node, bool up);
  // Later starts ask anew (latencies have changed).
  void forget();

  // Brings every path in use up to date with the conditions.
  void refresh();

 private:
  static constexpr std::size_t kChunk = 16384;  // channels; a route is not longer

  PathId make_path(NodeId source, NodeId destination, const Route& route);
  PathId take_path(std::size_t hops);
  std::uint32_t class_of(Time latency);
  void refresh(Path& path) const;
  void keep_for_reuse(PathId path);
  std::size_t slot_of(NodeId source, NodeId destination) const;
  void enter_index(PathId path);
  void grow_index();

  const Topology& topology_;
  const Conditions& conditions_;
  Router router_;
  Router nominal_router_;  // everything up
  ChunkedArray<Path> paths_;
  std::vector<std::unique_ptr<ChannelId[]>> store_;
  std::size_t stored_ = 0;
  std::vector<std::vector<PathId>> free_;  // by number of hops, with their places in the store
  std::vector<Time> latencies_;            // by class
  std::unordered_map<std::int64_t, std::uint32_t> class_of_;
  // A hash table by ends: 1 + path, and above it some more bits of the hash, so that hardly ever a
  // path is looked at which is another one. 0: none.
  std::vector<std::uint32_t> index_;
  std::size_t indexed_ = 0;
};

}  // namespace syncline
