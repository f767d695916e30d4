#include "topology/routing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>
#include <functional>
#include <limits>
#include <list>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "topology/graph.h"
#include "topology/input_error.h"
#include "topology/route_plan.h"

namespace syncline {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The core graph is what Dijkstra walks: the nodes that can forward, and the links between them
// that are up. Each hop adds to the key (latency, hops), even one without latency, so a node's
// predecessors are all settled before it.
struct CoreEdge {
  double latency_s = 0;
  BundleId bundle;
};
using CoreGraph =
    boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, CoreEdge,
                                       boost::no_property, std::uint32_t, std::uint32_t>;

struct Distance {
  double latency_s = 0;  // never negative: its bits are then in the order of its values
  std::uint64_t hops = 0;

  friend bool operator==(const Distance&, const Distance&) = default;
  // By latency, then hops, as one comparison of 128 bits without a branch: a quarter off the time
  // of a tree.
  friend bool operator<(const Distance& a, const Distance& b) { return a.key() < b.key(); }

 private:
  unsigned __int128 key() const {
    return static_cast<unsigned __int128>(std::bit_cast<std::uint64_t>(latency_s)) << 64 | hops;
  }
};

struct AfterHop {
  Distance operator()(const Distance& distance, double latency_s) const {
    return {distance.latency_s + latency_s, distance.hops + 1};
  }
};

// By core vertex: the vertex and the bundle over which the route from the root arrives; kNone at
// the root and where none does.
struct Arrival {
  std::uint32_t from = kNone;
  BundleId bundle{kNone};
};
using Tree = std::vector<Arrival>;

// Keeps, of all predecessors that are equally near, the one with the lowest id (core vertices are
// in order of node id).
struct LowestPredecessor : boost::default_dijkstra_visitor {
  const std::vector<Distance>& distance;
  Tree& tree;

  LowestPredecessor(const std::vector<Distance>& distance_, Tree& tree_)
      : distance(distance_), tree(tree_) {}

  void edge_relaxed(CoreGraph::edge_descriptor edge, const CoreGraph& graph) const {
    tree[boost::target(edge, graph)] = {boost::source(edge, graph), graph[edge].bundle};
  }

  void edge_not_relaxed(CoreGraph::edge_descriptor edge, const CoreGraph& graph) const {
    const std::uint32_t from = boost::source(edge, graph);
    const std::uint32_t to = boost::target(edge, graph);
    // Of two bundles between the same nodes the lower one stays: the graph has it first.
    if (from < tree[to].from && AfterHop()(distance[from], graph[edge].latency_s) == distance[to])
      tree[to] = {from, graph[edge].bundle};
  }
};

Tree shortest_path_tree(const CoreGraph& graph, std::uint32_t root) {
  const std::size_t count = boost::num_vertices(graph);
  std::vector<Distance> distance(count);
  Tree tree(count);
  const auto index = boost::get(boost::vertex_index, graph);
  boost::dijkstra_shortest_paths(
      graph, root,
      boost::weight_map(boost::get(&CoreEdge::latency_s, graph))
          .distance_map(boost::make_iterator_property_map(distance.begin(), index))
          .distance_compare(std::less<Distance>())
          .distance_combine(AfterHop())
          .distance_inf(Distance{kInfinity, kNone})
          .distance_zero(Distance{})
          .visitor(LowestPredecessor(distance, tree)));
  return tree;
}

}  // namespace

struct Router::State {
  State(const Topology& the_topology, std::size_t kept_sources)
      : topology(the_topology), kept(std::max<std::size_t>(kept_sources, 1)) {}

  bool is_up(NodeId node) const { return node.value >= node_down.size() || !node_down[node.value]; }
  bool is_up(LinkId link) const { return link.value >= link_down.size() || !link_down[link.value]; }

  // A stub hangs on the graph by one bundle: routes only start and end there, so it is no part of
  // the core. (Two stubs joined to each other: the lower id counts as core.)
  bool is_stub(NodeId node) const {
    const auto bundles = topology.bundles_at(node);
    if (bundles.size() != 1) return false;
    const NodeId other = other_end(bundles.front(), node);
    return topology.bundles_at(other).size() > 1 || other < node;
  }

  NodeId other_end(BundleId id, NodeId node) const {
    const Bundle& bundle = topology.bundle(id);
    return bundle.a == node ? bundle.b : bundle.a;
  }

  // The hop over a bundle that leaves a node.
  Hop hop_from(NodeId node, BundleId id) const {
    return {id, topology.bundle(id).a == node ? Direction::FORWARD : Direction::BACKWARD};
  }

  // Infinite where the bundle cannot be used.
  double latency_s(const Hop& hop) const {
    const Bundle& bundle = topology.bundle(hop.bundle);
    double least = kInfinity;
    if (!is_up(bundle.a) || !is_up(bundle.b)) return least;
    for (const LinkId member : bundle.members) {
      const auto direction = static_cast<std::size_t>(topology.turned(member, hop.direction));
      if (is_up(member)) least = std::min(least, topology.link(member).latency_s[direction]);
    }
    return least;
  }

  // Keeps the latencies of a bundle's two directions as things are now.
  void refresh(BundleId bundle) {
    if (!core_is_built || built_version != topology.graph_->version) return;  // build_core() will
    for (const Direction direction : {Direction::FORWARD, Direction::BACKWARD})
      hop_latency_s[bundle.value][static_cast<std::size_t>(direction)] =
          latency_s({bundle, direction});
  }

  double kept_latency_s(const Hop& hop) const {
    return hop_latency_s[hop.bundle.value][static_cast<std::size_t>(hop.direction)];
  }

  void drop_trees() {
    trees.clear();
    tree_of_root.clear();
    core_is_built = false;
  }

  void build_core() {
    const Topology::Graph& graph = *topology.graph_;
    core_is_built = true;
    built_version = graph.version;
    hop_latency_s.resize(topology.bundle_count());
    for (std::uint32_t i = 0; i < hop_latency_s.size(); ++i) refresh(BundleId{i});
    core_of_node.assign(topology.node_count(), kNone);
    std::uint32_t count = 0;
    for (std::uint32_t node = 0; node < topology.node_count(); ++node) {
      if (!is_stub({node})) core_of_node[node] = count++;
    }
    std::vector<std::pair<std::uint32_t, std::uint32_t>> ends;
    std::vector<CoreEdge> edges;
    for (const auto& edge : boost::make_iterator_range(boost::edges(graph.adjacency))) {
      const BundleId bundle = graph.adjacency[edge];
      const NodeId a = topology.bundle(bundle).a;
      const NodeId b = topology.bundle(bundle).b;
      if (core_of_node[a.value] == kNone || core_of_node[b.value] == kNone) continue;
      for (const auto& [from, to] : {std::pair(a, b), std::pair(b, a)}) {
        const double latency = kept_latency_s(hop_from(from, bundle));
        if (latency == kInfinity) continue;
        ends.emplace_back(core_of_node[from.value], core_of_node[to.value]);
        edges.push_back({latency, bundle});
      }
    }
    core = CoreGraph(boost::edges_are_unsorted_multi_pass, ends.begin(), ends.end(), edges.begin(),
                     count);
  }

  const Tree& tree_from(std::uint32_t root) {
    if (const auto found = tree_of_root.find(root); found != tree_of_root.end()) {
      trees.splice(trees.begin(), trees, found->second);
      return trees.front().second;
    }
    if (trees.size() >= kept) {
      tree_of_root.erase(trees.back().first);
      trees.pop_back();
    }
    trees.emplace_front(root, shortest_path_tree(core, root));
    tree_of_root[root] = trees.begin();
    return trees.front().second;
  }

  // Appends the hops between two nodes of the core; false: there is no way.
  bool append_core_path(NodeId from, NodeId to, std::vector<Hop>& hops) {
    const std::uint32_t root = core_of_node[from.value];
    const Tree& tree = tree_from(root);
    const auto first = static_cast<std::ptrdiff_t>(hops.size());
    for (std::uint32_t at = core_of_node[to.value]; at != root;) {
      const Arrival& arrival = tree[at];
      if (arrival.bundle.value == kNone) return false;
      // Core vertices are in order of node id, as the ends of a bundle are.
      hops.push_back(
          {arrival.bundle, arrival.from < at ? Direction::FORWARD : Direction::BACKWARD});
      at = arrival.from;
    }
    std::reverse(hops.begin() + first, hops.end());
    return true;
  }

  // The plan's route; none where no plan knows the ends.
  std::optional<Route> planned(NodeId source, NodeId destination) const {
    const RoutePlan* const plan = topology.graph_->plan.get();
    if (plan == nullptr) return std::nullopt;
    const auto steps = plan->find(source, destination);
    if (!steps) return std::nullopt;
    Route route;
    for (const RoutePlan::Step& step : *steps) {
      const Hop hop{topology.bundle_of(step.link), topology.turned(step.link, step.direction)};
      route.hops.push_back(hop);
      route.latency_s += kept_latency_s(hop);
    }
    if (steps->empty() || route.latency_s == kInfinity) fail_no_route(source, destination);
    return route;
  }

  // What is down at one end of a route, for the message that there is none.
  void describe_down(NodeId node, std::vector<std::string>& down) const {
    const std::string& name = topology.node(node).name;
    if (!is_up(node)) down.push_back(fmt::format("{} is down", name));
    for (const BundleId bundle : topology.bundles_at(node)) {
      for (const LinkId link : topology.bundle(bundle).members) {
        if (!is_up(link))
          down.push_back(fmt::format("link {} at {} is down", topology.link(link).name, name));
      }
    }
  }

  [[noreturn]] void fail_no_route(NodeId source, NodeId destination) const {
    std::vector<std::string> down;
    describe_down(source, down);
    if (destination != source) describe_down(destination, down);
    std::string message = fmt::format("no route from {} to {}", topology.node(source).name,
                                      topology.node(destination).name);
    constexpr std::size_t kShown = 5;
    for (std::size_t i = 0; i < std::min(down.size(), kShown); ++i) {
      message += fmt::format("{} {}", i == 0 ? ":" : ",", down[i]);
    }
    if (down.size() > kShown) message += fmt::format(" and {} more", down.size() - kShown);
    throw InputError(message);
  }

  const Topology& topology;
  const std::size_t kept;
  std::vector<bool> node_down;
  std::vector<bool> link_down;

  // Derived from the above; built at the first route after a change.
  bool core_is_built = false;
  std::uint64_t built_version = 0;
  std::vector<std::array<double, 2>> hop_latency_s;  // by bundle and direction, see latency_s()
  std::vector<std::uint32_t> core_of_node;           // core vertex; kNone for a stub
  CoreGraph core;
  std::list<std::pair<std::uint32_t, Tree>> trees;  // by root, the last used first
  std::unordered_map<std::uint32_t, decltype(trees)::iterator> tree_of_root;
};

Router::Router(const Topology& topology, std::size_t kept_sources)
    : state_(std::make_unique<State>(topology, kept_sources)) {}
Router::~Router() = default;

void Router::set_link_up(LinkId link, bool up) {
  if (state_->is_up(link) == up) return;
  const Bundle& bundle = state_->topology.bundle(state_->topology.bundle_of(link));
  state_->link_down.resize(state_->topology.link_count());
  state_->link_down[link.value] = !up;
  state_->refresh(state_->topology.bundle_of(link));
  if (!state_->is_stub(bundle.a) && !state_->is_stub(bundle.b)) state_->drop_trees();
}

void Router::set_node_up(NodeId node, bool up) {
  if (state_->is_up(node) == up) return;
  if (!state_->is_stub(node)) state_->drop_trees();
  state_->node_down.resize(state_->topology.node_count());
  state_->node_down[node.value] = !up;
  for (const BundleId bundle : state_->topology.bundles_at(node)) state_->refresh(bundle);
}

bool Router::link_up(LinkId link) const { return state_->is_up(link); }
bool Router::node_up(NodeId node) const { return state_->is_up(node); }

Route Router::route(NodeId source, NodeId destination) {
  State& s = *state_;
  if (s.built_version != s.topology.graph_->version) s.drop_trees();
  if (!s.core_is_built) s.build_core();
  if (!s.is_up(source) || !s.is_up(destination)) s.fail_no_route(source, destination);

  Route route;
  if (source == destination) return route;
  if (auto planned = s.planned(source, destination)) return *std::move(planned);
  NodeId root = source;
  if (s.is_stub(source)) {
    const BundleId access = s.topology.bundles_at(source).front();
    route.hops.push_back(s.hop_from(source, access));
    root = s.other_end(access, source);
  }
  NodeId target = destination;
  if (s.is_stub(destination))
    target = s.other_end(s.topology.bundles_at(destination).front(), destination);
  if (root != target && !s.append_core_path(root, target, route.hops))
    s.fail_no_route(source, destination);
  if (target != destination) {
    route.hops.push_back(s.hop_from(target, s.topology.bundles_at(destination).front()));
  }
  for (const Hop& hop : route.hops) route.latency_s += s.kept_latency_s(hop);
  // Only the first and the last hop can be over a link that is down: the core has none.
  if (route.latency_s == kInfinity) s.fail_no_route(source, destination);
  return route;
}

}  // namespace syncline
