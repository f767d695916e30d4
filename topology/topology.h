// The graph: nodes and links with capacity and latency. Static: what changes during a run is
// sim/network's.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "topology/geo.h"
#include "topology/quantity.h"

namespace syncline {

// Ids are dense indexes in order of addition; a strong type each.
template <class Tag>
struct Id {
  std::uint32_t value = 0;
  friend constexpr auto operator<=>(Id, Id) = default;
};
using NodeId = Id<struct NodeTag>;
using LinkId = Id<struct LinkTag>;
// A bundle is all parallel links between two nodes (one member is the usual case); it is what
// routes are made of.
using BundleId = Id<struct BundleTag>;
// A channel is one direction of a bundle, or both where the bundle is shared; it is what transfers
// share.
using ChannelId = Id<struct ChannelTag>;

enum class Direction : std::uint8_t { FORWARD = 0, BACKWARD = 1 };  // a to b, b to a
constexpr Direction reversed(Direction direction) {
  return direction == Direction::FORWARD ? Direction::BACKWARD : Direction::FORWARD;
}

struct Node {
  std::string name;
  bool host = true;     // a host ends transfers; a switch only forwards
  std::string cluster;  // the cluster it belongs to; empty: none
  std::optional<GeoPoint> at = std::nullopt;
};

struct Link {
  std::string name;
  NodeId a, b;
  std::array<BitRate, 2> capacity;  // by Direction; both equal where shared
  // By Direction, one way, seconds (a double: a route is summed and rounded once).
  std::array<double, 2> latency_s{};
  bool shared = false;  // both directions share one capacity
};

struct Bundle {
  NodeId a, b;  // a < b: the direction of the bundle, not of its members
  bool shared = false;
  std::vector<LinkId> members;       // by id
  std::array<ChannelId, 2> channel;  // by Direction; the same twice where shared
};

class RoutePlan;

// Nodes and links, kept on a Boost.Graph adjacency list (hidden here: it stays inside topology/).
class Topology {
 public:
  Topology();
  ~Topology();
  Topology(Topology&&) noexcept;
  Topology& operator=(Topology&&) noexcept;
  Topology(const Topology&);
  Topology& operator=(const Topology&);

  // Throw InputError: empty or repeated name.
  NodeId add_node(Node node);
  // Throw InputError, naming the link: empty or repeated name, a == b, capacity or latency negative
  // or NaN, latency infinite, shared with two capacities. Infinite capacity is allowed ("without
  // limit"). Unknown ids are an assertion failure.
  LinkId add_link(Link link);

  // Overrides values of a link that is there (same checks); ends and `shared` stay. The capacity of
  // a shared link is set for both directions.
  void set_capacity(LinkId link, Direction direction, BitRate capacity);
  void set_latency(LinkId link, Direction direction, double latency_s);

  // Routes go as the plan says (topology/route_plan.h); copies share it.
  void set_route_plan(std::shared_ptr<const RoutePlan> plan);

  std::size_t node_count() const;
  std::size_t link_count() const;
  std::size_t bundle_count() const;
  std::size_t channel_count() const;
  const Node& node(NodeId id) const;
  const Link& link(LinkId id) const;
  const Bundle& bundle(BundleId id) const;
  BundleId bundle_of(LinkId id) const;
  // A direction of the link as a direction of its bundle, or the other way round: turned over where
  // the link's a > b.
  Direction turned(LinkId id, Direction direction) const;
  std::span<const BundleId> bundles_at(NodeId id) const;  // incident bundles, in order of addition

  std::optional<NodeId> find_node(std::string_view name) const;
  std::optional<LinkId> find_link(std::string_view name) const;
  // Throw InputError that lists the nearest names (at most 5).
  NodeId require_node(std::string_view name) const;
  LinkId require_link(std::string_view name) const;

  // Names of clusters in order of first appearance, and a cluster's hosts by id (none for an
  // unknown cluster).
  std::vector<std::string> clusters() const;
  std::vector<NodeId> hosts_of(std::string_view cluster) const;

  // "milan-core milan->core", for messages and reports; a bundle of more is named by its first
  // member and says "(bundle of 4)". Shared: "a<->b".
  std::string channel_name(ChannelId id) const;
  BundleId bundle_of(ChannelId id) const;
  // Direction of a channel within its bundle (FORWARD for shared ones).
  Direction direction_of(ChannelId id) const;

 private:
  friend class Router;
  struct Graph;
  std::unique_ptr<Graph> graph_;
};

// At most `limit` of the candidates that are nearest to `name` by edit distance (a change of case
// counts half), best first; for "did you mean". Equally near: in the order of the candidates.
std::vector<std::string> nearest_names(std::string_view name,
                                       std::span<const std::string> candidates,
                                       std::size_t limit = 5);

}  // namespace syncline
