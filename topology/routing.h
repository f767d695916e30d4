// Least-latency routes, or those of a plan.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "topology/topology.h"

namespace syncline {

struct Hop {
  BundleId bundle;
  Direction direction;  // within the bundle
};

struct Route {
  std::vector<Hop> hops;  // empty: to oneself
  double latency_s = 0;   // sum of nominal latencies in double, in order of the hops
};

// Routes over the links that are up. Nominal latency of a bundle in a direction: the least of its
// members that are up. A node that is down neither starts, ends nor forwards routes.
//
// Where the topology has a plan that knows both ends, the route is the plan's; there is none while
// a link of it is down.
//
// Ties: fewer hops, then at each node, walking back from the destination, the predecessor with the
// lowest node id (a shared and an unshared bundle between the same nodes: the lower bundle id). So
// a route depends on the graph and not on who asked before.
//
// Stubs, nodes of one bundle, only start and end routes: a source that is one shares the tree of
// its neighbour, and trees have no entries for them. Latencies count as equal when their sums from
// the root of the tree (the neighbour of a source that is a stub, else the source itself) are equal
// as doubles, added hop by hop; for the answer they are added from the source.
//
// Cost: one Dijkstra (Boost.Graph) a root, O((V+E) log V) without the stubs, kept while no core
// link or node goes up or down (stubs come and go for free); never all pairs in memory: at most
// `kept_sources` trees, least recently used evicted.
//
// The topology must outlive the router; where it changes, the next route sees it. Not for use by
// two threads at once.
class Router {
 public:
  explicit Router(const Topology& topology, std::size_t kept_sources = 1024);
  ~Router();

  // Every link and node starts up.
  void set_link_up(LinkId link, bool up);
  void set_node_up(NodeId node, bool up);
  bool link_up(LinkId link) const;
  bool node_up(NodeId node) const;

  // Throws InputError "no route from A to B" (naming what is down, if anything is, at either end).
  Route route(NodeId source, NodeId destination);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace syncline
