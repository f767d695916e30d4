#include "sim/network/route_table.h"

#include <limits>

#include "topology/input_error.h"

namespace syncline {

RouteTable::RouteTable(const Topology& topology, const Conditions& conditions)
    : topology_(topology), conditions_(conditions), router_(topology), nominal_router_(topology) {}

std::optional<PathId> RouteTable::acquire(NodeId source, NodeId destination, bool may_wait) {
  std::uint64_t ends = std::uint64_t{source.value} << 32 | destination.value;
  if (auto known = by_ends_.find(ends); known != by_ends_.end()) {
    ++paths_[known->second].users;
    return known->second;
  }
  Route route;
  try {
    route = router_.route(source, destination);
  } catch (const InputError&) {
    if (!may_wait) throw;
    nominal_router_.route(source, destination);  // throws where no repair can help
    return std::nullopt;
  }
  const PathId id = make_path(source, destination, route);
  double latency_s = 0;
  for (const Hop& hop : route.hops) latency_s += conditions_.latency_s(hop.bundle, hop.direction);
  paths_[id].latency = Time::seconds(latency_s);
  ++paths_[id].users;  // the table itself
  by_ends_.emplace(ends, id);
  return id;
}

PathId RouteTable::acquire_nominal(NodeId source, NodeId destination) {
  return make_path(source, destination, nominal_router_.route(source, destination));
}

PathId RouteTable::make_path(NodeId source, NodeId destination, const Route& route) {
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
  path.down = false;
  for (const Hop& hop : route.hops) {
    const Bundle& bundle = topology_.bundle(hop.bundle);
    path.channels.push_back(bundle.channel[static_cast<std::size_t>(hop.direction)]);
  }
  refresh(path);
  path.users = 1;
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
  const bool was_down = path.down;
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
  path.went_down = path.down && !was_down;
}

}  // namespace syncline
