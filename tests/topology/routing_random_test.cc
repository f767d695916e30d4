// Random graphs, against plain references that follow the words of routing.h.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "topology/distribution.h"
#include "topology/input_error.h"
#include "topology/routing.h"

namespace syncline {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::uint32_t below(RandomStream& random, std::size_t count) {
  return static_cast<std::uint32_t>(random.uniform() * static_cast<double>(count));
}

// What is up, as the reference sees it.
struct State {
  std::vector<bool> node_up;
  std::vector<bool> link_up;
};

struct Edge {
  NodeId from, to;
  BundleId bundle;
  double latency_s;
};

// Each direction of each bundle that is up, in order of bundles.
std::vector<Edge> up_edges(const Topology& topology, const State& state) {
  std::vector<Edge> edges;
  for (std::uint32_t i = 0; i < topology.bundle_count(); ++i) {
    const Bundle& bundle = topology.bundle({i});
    if (!state.node_up[bundle.a.value] || !state.node_up[bundle.b.value]) continue;
    for (const auto& [from, to] : {std::pair(bundle.a, bundle.b), std::pair(bundle.b, bundle.a)}) {
      double latency_s = kInfinity;
      for (const LinkId id : bundle.members) {
        const Link& link = topology.link(id);
        if (state.link_up[id.value]) {
          latency_s = std::min(latency_s, link.latency_s[link.a == from ? 0 : 1]);
        }
      }
      if (latency_s < kInfinity) edges.push_back({from, to, {i}, latency_s});
    }
  }
  return edges;
}

// The edges from `root` to `destination`: keys (latency, hops) by Bellman and Ford until nothing
// changes, then back by the lowest predecessor. Empty optional: no way.
std::optional<std::vector<Edge>> reference_path(std::size_t node_count,
                                                const std::vector<Edge>& edges, NodeId root,
                                                NodeId destination) {
  using Key = std::pair<double, int>;
  const Key unreached{kInfinity, 0};
  const auto step = [](const Key& key, double latency_s) {
    return Key{key.first + latency_s, key.second + 1};
  };
  std::vector<Key> keys(node_count, unreached);
  keys[root.value] = {0, 0};
  for (bool changed = true; changed;) {
    std::vector<Key> next(node_count, unreached);
    next[root.value] = {0, 0};
    for (const Edge& edge : edges) {
      if (keys[edge.from.value] == unreached || edge.to == root) continue;
      next[edge.to.value] =
          std::min(next[edge.to.value], step(keys[edge.from.value], edge.latency_s));
    }
    changed = next != keys;
    keys = std::move(next);
  }
  if (keys[destination.value] == unreached) return std::nullopt;
  std::vector<Edge> path;
  for (NodeId at = destination; at != root;) {
    const Edge* best = nullptr;
    for (const Edge& edge : edges) {
      if (edge.to != at || keys[edge.from.value] == unreached ||
          step(keys[edge.from.value], edge.latency_s) != keys[at.value]) {
        continue;
      }
      if (!best || edge.from < best->from) best = &edge;
    }
    path.insert(path.begin(), *best);
    at = best->from;
  }
  return path;
}

// A route by the reference. `stub_roots`: sums for the comparison start at the neighbour of a stub,
// as documented; without, at the source itself, which is the same where sums are exact.
std::optional<Route> reference_route(const Topology& topology, const State& state, NodeId source,
                                     NodeId destination, bool stub_roots) {
  if (!state.node_up[source.value] || !state.node_up[destination.value]) return std::nullopt;
  const std::vector<Edge> edges = up_edges(topology, state);
  std::optional<std::vector<Edge>> path;
  if (stub_roots && source != destination && topology.bundles_at(source).size() == 1) {
    const auto access = std::ranges::find(edges, source, &Edge::from);
    if (access == edges.end()) return std::nullopt;
    path = reference_path(topology.node_count(), edges, access->to, destination);
    if (path) path->insert(path->begin(), *access);
  } else {
    path = reference_path(topology.node_count(), edges, source, destination);
  }
  if (!path) return std::nullopt;
  Route route;
  for (const Edge& edge : *path) {
    route.hops.push_back({edge.bundle, topology.bundle(edge.bundle).a == edge.from
                                           ? Direction::FORWARD
                                           : Direction::BACKWARD});
    route.latency_s += edge.latency_s;
  }
  return route;
}

std::optional<Route> route_or_none(Router& router, NodeId source, NodeId destination) {
  try {
    return router.route(source, destination);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

// All of a route; latencies with as many digits as tell doubles apart.
std::string to_text(const std::optional<Route>& route) {
  if (!route) return "none";
  std::string text = fmt::format("{} s:", route->latency_s);
  for (const Hop& hop : route->hops) {
    text += fmt::format(" {}{}", hop.direction == Direction::FORWARD ? '+' : '-', hop.bundle.value);
  }
  return text;
}

void expect_same(const std::optional<Route>& got, const std::optional<Route>& wanted) {
  const bool same_latency =
      got.has_value() == wanted.has_value() && (!got || got->latency_s == wanted->latency_s);
  EXPECT_TRUE(same_latency && to_text(got) == to_text(wanted))
      << "got " << to_text(got) << ", wanted " << to_text(wanted);
}

// Few different latencies, zero among them, make many ties; some nodes are stubs, some apart; links
// are parallel, shared and different by direction.
Topology random_topology(RandomStream& random, double unit_s) {
  Topology topology;
  const std::uint32_t nodes = 2 + below(random, 9);
  for (std::uint32_t i = 0; i < nodes; ++i) {
    topology.add_node({.name = fmt::format("n{}", i), .host = true, .cluster = ""});
  }
  const std::uint32_t links = below(random, 3 * nodes);
  for (std::uint32_t i = 0; i < links; ++i) {
    const NodeId a{below(random, nodes)};
    const NodeId b{below(random, nodes)};
    if (a == b) continue;
    const double there = unit_s * below(random, 4);
    const double back = random.uniform() < 0.5 ? there : unit_s * below(random, 4);
    topology.add_link({.name = fmt::format("l{}", i),
                       .a = a,
                       .b = b,
                       .capacity = {BitRate::bytes_per_s(1), BitRate::bytes_per_s(1)},
                       .latency_s = {there, back},
                       .shared = random.uniform() < 0.2});
  }
  return topology;
}

// Some rounds of changes, each followed by routes between all pairs in random order.
void compare_all_pairs(const Topology& topology, RandomStream& random, bool stub_roots) {
  Router router(topology, 1 + below(random, 4));
  State state{std::vector<bool>(topology.node_count(), true),
              std::vector<bool>(topology.link_count(), true)};
  for (int round = 0; round < 4; ++round) {
    std::vector<std::pair<NodeId, NodeId>> pairs;
    for (std::uint32_t i = 0; i < topology.node_count(); ++i) {
      for (std::uint32_t j = 0; j < topology.node_count(); ++j) pairs.push_back({{i}, {j}});
    }
    std::shuffle(pairs.begin(), pairs.end(), random);
    for (const auto& [source, destination] : pairs) {
      SCOPED_TRACE(topology.node(source).name + " to " + topology.node(destination).name);
      expect_same(route_or_none(router, source, destination),
                  reference_route(topology, state, source, destination, stub_roots));
    }
    const NodeId node{below(random, topology.node_count())};
    state.node_up[node.value] = !state.node_up[node.value];
    router.set_node_up(node, state.node_up[node.value]);
    for (int i = 0; i < 2 && topology.link_count() > 0; ++i) {
      const LinkId link{below(random, topology.link_count())};
      state.link_up[link.value] = !state.link_up[link.value];
      router.set_link_up(link, state.link_up[link.value]);
    }
  }
}

TEST(RandomRoutes, FollowTheRuleWhereSumsAreExact) {
  for (int i = 0; i < 400 && !testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE(fmt::format("graph {}", i));
    RandomStream random(static_cast<std::uint64_t>(i), "exact");
    compare_all_pairs(random_topology(random, 1), random, false);
  }
}

TEST(RandomRoutes, FollowTheRuleWhereSumsAreRounded) {
  for (int i = 0; i < 400 && !testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE(fmt::format("graph {}", i));
    RandomStream random(static_cast<std::uint64_t>(i), "rounded");
    compare_all_pairs(random_topology(random, 0.1), random, true);
  }
}

// Least latencies from a source to all nodes, by a plain Dijkstra.
std::vector<double> reference_latencies(const std::vector<std::vector<Edge>>& edges_from,
                                        NodeId source) {
  std::vector<double> least(edges_from.size(), kInfinity);
  std::priority_queue<std::pair<double, std::uint32_t>,
                      std::vector<std::pair<double, std::uint32_t>>, std::greater<>>
      queue;
  least[source.value] = 0;
  queue.emplace(0, source.value);
  while (!queue.empty()) {
    const auto [latency_s, at] = queue.top();
    queue.pop();
    if (latency_s > least[at]) continue;
    for (const Edge& edge : edges_from[at]) {
      const double candidate = latency_s + edge.latency_s;
      if (candidate < least[edge.to.value]) {
        least[edge.to.value] = candidate;
        queue.emplace(candidate, edge.to.value);
      }
    }
  }
  return least;
}

TEST(RandomRoutes, TenThousandNodes) {
  constexpr std::uint32_t kNodes = 10'000;
  constexpr std::uint32_t kLinks = 50'000;
  RandomStream random(1, "large");
  Topology topology;
  for (std::uint32_t i = 0; i < kNodes; ++i) {
    topology.add_node({.name = fmt::format("n{}", i), .host = true, .cluster = ""});
  }
  for (std::uint32_t i = 0; i < kLinks; ++i) {
    // First a tree, so that all is connected; the last 1,000 nodes get nothing else and are stubs.
    const std::uint32_t a = i < kNodes - 1 ? i + 1 : below(random, kNodes - 1000);
    std::uint32_t b = below(random, std::min(a, kNodes - 1000));
    if (a == 0 || a == b) b = a + 1;
    topology.add_link({.name = fmt::format("l{}", i),
                       .a = {a},
                       .b = {b},
                       .capacity = {BitRate::bytes_per_s(1), BitRate::bytes_per_s(1)},
                       .latency_s = {1 + below(random, 1000) * 1.0, 1 + below(random, 1000) * 1.0},
                       .shared = false});
  }
  ASSERT_EQ(topology.node_count(), kNodes);
  ASSERT_EQ(topology.link_count(), kLinks);

  const State all_up{std::vector<bool>(kNodes, true), std::vector<bool>(kLinks, true)};
  std::vector<std::vector<Edge>> edges_from(kNodes);
  for (const Edge& edge : up_edges(topology, all_up)) edges_from[edge.from.value].push_back(edge);
  Router router(topology, 8);
  for (int i = 0; i < 20; ++i) {
    // Every other source is a stub.
    const NodeId source{i % 2 == 0 ? below(random, kNodes) : kNodes - 1 - below(random, 1000)};
    const std::vector<double> least = reference_latencies(edges_from, source);
    for (int j = 0; j < 200; ++j) {
      const NodeId destination{below(random, kNodes)};
      const Route route = router.route(source, destination);
      EXPECT_EQ(route.latency_s, least[destination.value]);  // whole seconds: sums are exact
      double along = 0;
      NodeId at = source;
      for (const Hop& hop : route.hops) {
        const Bundle& bundle = topology.bundle(hop.bundle);
        ASSERT_EQ(at, hop.direction == Direction::FORWARD ? bundle.a : bundle.b);
        at = hop.direction == Direction::FORWARD ? bundle.b : bundle.a;
        const auto edge =
            std::ranges::find_if(edges_from[bundle.a == at ? bundle.b.value : bundle.a.value],
                                 [&](const Edge& e) { return e.bundle == hop.bundle; });
        along += edge->latency_s;
      }
      EXPECT_EQ(at, destination);
      EXPECT_EQ(along, route.latency_s);
    }
  }
}

}  // namespace
}  // namespace syncline
