#include "topology/topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "topology/check.h"
#include "topology/graph.h"
#include "topology/input_error.h"

namespace syncline {
namespace {

constexpr std::size_t index(Direction direction) { return static_cast<std::size_t>(direction); }

void check_capacity(std::string_view link, BitRate capacity) {
  if (!(capacity.in_bytes_per_s() >= 0)) {
    throw InputError(fmt::format("link \"{}\": its bandwidth is {} bytes/s; it must be at least 0",
                                 link, capacity.in_bytes_per_s()));
  }
}

void check_latency(std::string_view link, double latency_s) {
  if (!(latency_s >= 0) || !std::isfinite(latency_s)) {
    throw InputError(fmt::format(
        "link \"{}\": its latency is {} s; it must be finite and at least 0", link, latency_s));
  }
}

// "no node is called ..." with the names that it may have meant.
[[noreturn]] void fail_unknown(std::string_view what, std::string_view name,
                               std::span<const std::string> candidates) {
  const std::vector<std::string> nearest = nearest_names(name, candidates);
  if (nearest.empty())
    throw InputError(fmt::format("no {0} is called \"{1}\"; there is no {0}", what, name));
  std::string list;
  for (const std::string& candidate : nearest) {
    list += fmt::format("{}\"{}\"", list.empty() ? "" : ", ", candidate);
  }
  throw InputError(fmt::format("no {} is called \"{}\"; the nearest of {}: {}", what, name,
                               candidates.size(), list));
}

}  // namespace

const Topology::Graph::Vertex& Topology::Graph::vertex(NodeId id) const {
  SYNCLINE_CHECK(id.value < boost::num_vertices(adjacency), "unknown node id");
  return adjacency[id.value];
}

Link& Topology::Graph::link(LinkId id) {
  SYNCLINE_CHECK(id.value < links.size(), "unknown link id");
  return links[id.value];
}

BundleId Topology::Graph::bundle_for(NodeId a, NodeId b, bool shared) {
  if (b < a) std::swap(a, b);
  const BundleId next{static_cast<std::uint32_t>(bundles.size())};
  const std::uint64_t ends = std::uint64_t{a.value} << 32 | b.value;
  const auto [entry, is_new] = bundle_by_ends[shared].try_emplace(ends, next);
  if (!is_new) return entry->second;

  Bundle bundle{.a = a, .b = b, .shared = shared, .members = {}, .channel = {}};
  const auto add_channel = [&](Direction direction) {
    channels.push_back({next, direction});
    return ChannelId{static_cast<std::uint32_t>(channels.size() - 1)};
  };
  bundle.channel[0] = add_channel(Direction::FORWARD);
  bundle.channel[1] = shared ? bundle.channel[0] : add_channel(Direction::BACKWARD);
  bundles.push_back(std::move(bundle));
  boost::add_edge(a.value, b.value, next, adjacency);
  adjacency[a.value].bundles.push_back(next);
  adjacency[b.value].bundles.push_back(next);
  return next;
}

Topology::Topology() : graph_(std::make_unique<Graph>()) {}
Topology::~Topology() = default;
Topology::Topology(Topology&&) noexcept = default;
Topology& Topology::operator=(Topology&&) noexcept = default;
Topology::Topology(const Topology& other) : graph_(std::make_unique<Graph>(*other.graph_)) {}
Topology& Topology::operator=(const Topology& other) { return *this = Topology(other); }

NodeId Topology::add_node(Node node) {
  if (node.name.empty()) throw InputError("a node has an empty name");
  const NodeId id{static_cast<std::uint32_t>(node_count())};
  if (!graph_->node_by_name.try_emplace(node.name, id).second) {
    throw InputError(fmt::format("two nodes are called \"{}\"; names must differ", node.name));
  }
  if (!node.cluster.empty()) {
    const auto [cluster, is_new] = graph_->hosts_by_cluster.try_emplace(node.cluster);
    if (is_new) graph_->clusters.push_back(node.cluster);
    if (node.host) cluster->second.push_back(id);
  }
  graph_->adjacency[boost::add_vertex(graph_->adjacency)].node = std::move(node);
  ++graph_->version;
  return id;
}

LinkId Topology::add_link(Link link) {
  SYNCLINE_CHECK(link.a.value < node_count() && link.b.value < node_count(), "unknown node id");
  if (link.name.empty()) {
    throw InputError(fmt::format("a link between \"{}\" and \"{}\" has an empty name",
                                 node(link.a).name, node(link.b).name));
  }
  if (link.a == link.b) {
    throw InputError(
        fmt::format("link \"{}\": both its ends are \"{}\"", link.name, node(link.a).name));
  }
  for (const BitRate capacity : link.capacity) check_capacity(link.name, capacity);
  for (const double latency_s : link.latency_s) check_latency(link.name, latency_s);
  if (link.shared && link.capacity[0] != link.capacity[1]) {
    throw InputError(fmt::format(
        "link \"{}\": it is shared by both directions, but has two bandwidths, {} and {}",
        link.name, to_text(link.capacity[0]), to_text(link.capacity[1])));
  }
  const LinkId id{static_cast<std::uint32_t>(graph_->links.size())};
  if (!graph_->link_by_name.try_emplace(link.name, id).second) {
    throw InputError(fmt::format("two links are called \"{}\"; names must differ", link.name));
  }
  const BundleId bundle = graph_->bundle_for(link.a, link.b, link.shared);
  graph_->bundles[bundle.value].members.push_back(id);
  graph_->bundle_of_link.push_back(bundle);
  graph_->links.push_back(std::move(link));
  ++graph_->version;
  return id;
}

void Topology::set_capacity(LinkId id, Direction direction, BitRate capacity) {
  Link& link = graph_->link(id);
  check_capacity(link.name, capacity);
  link.capacity[index(direction)] = capacity;
  if (link.shared) link.capacity.fill(capacity);
  ++graph_->version;
}

void Topology::set_latency(LinkId id, Direction direction, double latency_s) {
  Link& link = graph_->link(id);
  check_latency(link.name, latency_s);
  link.latency_s[index(direction)] = latency_s;
  ++graph_->version;
}

void Topology::set_route_plan(std::shared_ptr<const RoutePlan> plan) {
  graph_->plan = std::move(plan);
  ++graph_->version;
}

std::size_t Topology::node_count() const { return boost::num_vertices(graph_->adjacency); }
std::size_t Topology::link_count() const { return graph_->links.size(); }
std::size_t Topology::bundle_count() const { return graph_->bundles.size(); }
std::size_t Topology::channel_count() const { return graph_->channels.size(); }

const Node& Topology::node(NodeId id) const { return graph_->vertex(id).node; }

const Link& Topology::link(LinkId id) const { return graph_->link(id); }

const Bundle& Topology::bundle(BundleId id) const {
  SYNCLINE_CHECK(id.value < graph_->bundles.size(), "unknown bundle id");
  return graph_->bundles[id.value];
}

BundleId Topology::bundle_of(LinkId id) const {
  SYNCLINE_CHECK(id.value < graph_->links.size(), "unknown link id");
  return graph_->bundle_of_link[id.value];
}

Direction Topology::turned(LinkId id, Direction direction) const {
  const Link& of = link(id);
  return of.a < of.b ? direction : reversed(direction);
}

std::span<const BundleId> Topology::bundles_at(NodeId id) const {
  return graph_->vertex(id).bundles;
}

std::optional<NodeId> Topology::find_node(std::string_view name) const {
  const auto found = graph_->node_by_name.find(name);
  return found == graph_->node_by_name.end() ? std::nullopt : std::optional(found->second);
}

std::optional<LinkId> Topology::find_link(std::string_view name) const {
  const auto found = graph_->link_by_name.find(name);
  return found == graph_->link_by_name.end() ? std::nullopt : std::optional(found->second);
}

NodeId Topology::require_node(std::string_view name) const {
  if (const auto found = find_node(name)) return *found;
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < node_count(); ++i) names.push_back(node({i}).name);
  fail_unknown("node", name, names);
}

LinkId Topology::require_link(std::string_view name) const {
  if (const auto found = find_link(name)) return *found;
  std::vector<std::string> names;
  for (const Link& link : graph_->links) names.push_back(link.name);
  fail_unknown("link", name, names);
}

std::vector<std::string> Topology::clusters() const { return graph_->clusters; }

std::vector<NodeId> Topology::hosts_of(std::string_view cluster) const {
  const auto found = graph_->hosts_by_cluster.find(cluster);
  return found == graph_->hosts_by_cluster.end() ? std::vector<NodeId>() : found->second;
}

std::string Topology::channel_name(ChannelId id) const {
  const Bundle& of = bundle(bundle_of(id));
  const bool forward = direction_of(id) == Direction::FORWARD;
  std::string name =
      fmt::format("{} {}{}{}", link(of.members.front()).name, node(forward ? of.a : of.b).name,
                  of.shared ? "<->" : "->", node(forward ? of.b : of.a).name);
  if (of.members.size() > 1) name += fmt::format(" (bundle of {})", of.members.size());
  return name;
}

BundleId Topology::bundle_of(ChannelId id) const {
  SYNCLINE_CHECK(id.value < graph_->channels.size(), "unknown channel id");
  return graph_->channels[id.value].bundle;
}

Direction Topology::direction_of(ChannelId id) const {
  SYNCLINE_CHECK(id.value < graph_->channels.size(), "unknown channel id");
  return graph_->channels[id.value].direction;
}

}  // namespace syncline
