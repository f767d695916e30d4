#include "sim/network/route_table.h"

#include <algorithm>
#include <limits>

#include "topology/check.h"
#include "topology/input_error.h"

namespace syncline {
namespace {

constexpr std::size_t kFirstIndexSize = 64;
constexpr int kLineBits = 4;  // of slots in a cache line
constexpr std::uint32_t kInLine = (1 << kLineBits) - 1;
constexpr std::uint32_t kMarkMask = 0xF0000000;

std::uint64_t hash_of(NodeId source, NodeId destination) {
  std::uint64_t line = std::uint64_t{source.value} << 32 | destination.value >> kLineBits;
  line *= 0x9E3779B97F4A7C15ull;
  return line ^ line >> 29 ^ std::uint64_t{destination.value & kInLine} << 28;
}

}  // namespace

RouteTable::RouteTable(const Topology& topology, const Conditions& conditions)
    : topology_(topology),
      conditions_(conditions),
      router_(topology),
      nominal_router_(topology),
      index_(kFirstIndexSize) {}

// Where the index has the path, or where it would be. Ends that differ little share a cache line:
// one host's transfers often start one after the other.
std::size_t RouteTable::slot_of(NodeId source, NodeId destination) const {
  std::uint64_t hash = hash_of(source, destination);
  std::size_t mask = index_.size() - 1;
  std::size_t slot = ((hash >> 32 << kLineBits) | (destination.value & kInLine)) & mask;
  std::uint32_t mark = static_cast<std::uint32_t>(hash) & kMarkMask;
  while (index_[slot] != 0) {
    if ((index_[slot] & kMarkMask) == mark) {
      const Path& path = paths_[(index_[slot] & ~kMarkMask) - 1];
      if (path.source == source && path.destination == destination) break;
    }
    slot = (slot + 1) & mask;
  }
  return slot;
}

void RouteTable::enter_index(PathId id) {
  const Path& path = paths_[id];
  std::uint32_t mark =
      static_cast<std::uint32_t>(hash_of(path.source, path.destination)) & kMarkMask;
  index_[slot_of(path.source, path.destination)] = mark | (id + 1);
}

std::optional<PathId> RouteTable::acquire(NodeId source, NodeId destination, bool may_wait) {
  std::size_t slot = slot_of(source, destination);
  if (index_[slot] != 0) {
    PathId known = (index_[slot] & ~kMarkMask) - 1;
    ++paths_[known].users;
    return known;
  }
  Route route;
  try {
    route = router_.route(source, destination);
  } catch (const InputError&) {
    if (!may_wait) throw;
    nominal_router_.route(source, destination);  // throws where no repair can help
    return std::nullopt;
  }
  PathId id = make_path(source, destination, route);
  double latency_s = 0;
  for (const Hop& hop : route.hops) latency_s += conditions_.latency_s(hop.bundle, hop.direction);
  paths_[id].latency_class = class_of(Time::seconds(latency_s));
  ++paths_[id].users;  // the table itself
  paths_[id].listed = true;
  if (++indexed_ * 2 > index_.size()) {
    grow_index();
  } else {
    enter_index(id);
  }
  return id;
}

PathId RouteTable::acquire_nominal(NodeId source, NodeId destination) {
  return make_path(source, destination, nominal_router_.route(source, destination));
}

PathId RouteTable::make_path(NodeId source, NodeId destination, const Route& route) {
  PathId id = take_path(route.hops.size());
  Path& path = paths_[id];
  path.source = source;
  path.destination = destination;
  path.down = false;
  ChannelId* channel = store_[path.first / kChunk].get() + path.first % kChunk;
  for (const Hop& hop : route.hops) {
    *channel++ = topology_.bundle(hop.bundle).channel[static_cast<std::size_t>(hop.direction)];
  }
  refresh(path);
  path.users = 1;
  return id;
}

PathId RouteTable::take_path(std::size_t hops) {
  SYNCLINE_CHECK(hops <= kChunk, "a route of at most 16384 hops");
  if (hops < free_.size() && !free_[hops].empty()) {
    PathId path = free_[hops].back();
    free_[hops].pop_back();
    return path;
  }
  // What is left of a chunk that is too short stays unused.
  if (store_.empty() || stored_ + hops > store_.size() * kChunk) {
    stored_ = store_.size() * kChunk;
    store_.push_back(std::make_unique<ChannelId[]>(kChunk));
  }
  auto id = static_cast<PathId>(paths_.size());
  SYNCLINE_CHECK(id < ~kMarkMask - 1, "at most 268 million routes");
  paths_.grow(id + std::size_t{1});
  paths_[id].first = hops == 0 ? 0 : static_cast<std::uint32_t>(stored_);
  paths_[id].hops = static_cast<std::uint16_t>(hops);
  stored_ += hops;
  return id;
}

std::uint32_t RouteTable::class_of(Time latency) {
  auto [found, is_new] = class_of_.try_emplace(latency.count_ns(), latencies_.size());
  if (is_new) latencies_.push_back(latency);
  return found->second;
}

void RouteTable::grow_index() {
  index_.assign(index_.size() * 2, 0);
  for (PathId id = 0; id < paths_.size(); ++id) {
    if (paths_[id].listed) enter_index(id);
  }
}

void RouteTable::keep_for_reuse(PathId path) {
  std::size_t hops = paths_[path].hops;
  if (hops >= free_.size()) free_.resize(hops + 1);
  free_[hops].push_back(path);
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
  if (indexed_ == 0) return;
  for (std::uint32_t entry : index_) {
    if (entry == 0) continue;
    PathId path = (entry & ~kMarkMask) - 1;
    paths_[path].listed = false;
    release(path);
  }
  index_.assign(kFirstIndexSize, 0);
  indexed_ = 0;
}

void RouteTable::refresh() {
  for (std::size_t id = 0; id < paths_.size(); ++id) {
    if (paths_[id].users > 0) refresh(paths_[id]);
  }
}

void RouteTable::refresh(Path& path) const {
  bool down = false;
  bool blocked = false;
  bool bundled = false;
  for (ChannelId channel : channels(path)) {
    down |= conditions_.down(channel);
    blocked |= conditions_.capacity(channel) == 0;
    bundled |= conditions_.member_cap(channel) != std::numeric_limits<double>::infinity();
  }
  path.went_down = down && !path.down;
  path.down = down;
  path.blocked = blocked;
  path.bundled = bundled;
}

RouteTable::MemberCap RouteTable::member_cap(const Path& path) const {
  MemberCap least{std::numeric_limits<double>::infinity(), {}};
  if (!path.bundled) return least;
  for (ChannelId channel : channels(path)) {
    double cap = conditions_.member_cap(channel);
    if (cap < least.bytes_per_s) least = {cap, channel};
  }
  return least;
}

}  // namespace syncline
