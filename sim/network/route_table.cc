#include "sim/network/route_table.h"

#include <limits>

namespace syncline {

RouteTable::RouteTable(const Topology& topology, const Conditions& conditions)
    : topology_(topology), conditions_(conditions), router_(topology) {}

PathId RouteTable::acquire(NodeId source, NodeId destination) {
  std::uint64_t ends = std::uint64_t{source.value} << 32 | destination.value;
  if (auto known = by_ends_.find(ends); known != by_ends_.end()) {
    ++paths_[known->second].users;
    return known->second;
  }
  Route route = router_.route(source, destination);
  if (free_.empty()) {
    free_.push_back(static_cast<PathId>(paths_.size()));
    paths_.emplace_back();
  }
  PathId id = free_.back();
  free_.pop_back();
  Path& path = paths_[id];
  path.source = source;
  path.destination = destination;
  path.channels.clear();
  double latency_s = 0;
  for (const Hop& hop : route.hops) {
    const Bundle& bundle = topology_.bundle(hop.bundle);
    path.channels.push_back(bundle.channel[static_cast<std::size_t>(hop.direction)]);
    latency_s += conditions_.latency_s(hop.bundle, hop.direction);
  }
  path.latency = Time::seconds(latency_s);
  refresh(path);
  path.users = 2;  // the transfer and the table
  by_ends_.emplace(ends, id);
  return id;
}

void RouteTable::release(PathId path) {
  if (--paths_[path].users == 0) free_.push_back(path);
}

void RouteTable::set_link_up(LinkId link, bool up) {
  router_.set_link_up(link, up);
  forget();
}

void RouteTable::set_node_up(NodeId node, bool up) {
  router_.set_node_up(node, up);
  forget();
}

void RouteTable::forget() {
  for (const auto& [ends, path] : by_ends_) release(path);
  by_ends_.clear();
}

void RouteTable::refresh() {
  for (Path& path : paths_) {
    if (path.users > 0) refresh(path);
  }
}

void RouteTable::refresh(Path& path) const {
  path.down = false;
  path.blocked = false;
  path.member_cap = std::numeric_limits<double>::infinity();
  for (ChannelId channel : path.channels) {
    path.down |= conditions_.down(channel);
    path.blocked |= conditions_.capacity(channel) == 0;
    if (conditions_.member_cap(channel) < path.member_cap) {
      path.member_cap = conditions_.member_cap(channel);
      path.member_cap_channel = channel;
    }
  }
}

}  // namespace syncline
