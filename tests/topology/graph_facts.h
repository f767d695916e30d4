// Facts of a graph, counted plainly: for the tests of generators.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "topology/distribution.h"
#include "topology/generators.h"
#include "topology/input_error.h"
#include "topology/topology.h"

namespace syncline {

inline LinkSpec plain_link(const char* bandwidth = "1 Gbit/s", const char* latency = "1 ms") {
  LinkSpec spec;
  spec.bandwidth = Distribution::parse(bandwidth, Dimension::BIT_RATE);
  spec.latency = Distribution::parse(latency, Dimension::TIME);
  return spec;
}

template <class Add, class Spec>
Topology made(Add add, const Spec& spec, std::uint64_t seed = 1) {
  Topology topology;
  RandomStream random(seed, "topology");
  add(topology, spec, random);
  return topology;
}

template <class Add, class Spec>
std::string error_of(Add add, const Spec& spec) {
  try {
    made(add, spec);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

inline std::size_t host_count(const Topology& topology) {
  std::size_t hosts = 0;
  for (std::uint32_t i = 0; i < topology.node_count(); ++i) hosts += topology.node({i}).host;
  return hosts;
}

// Links at each node, in order of the nodes.
inline std::vector<std::size_t> degrees(const Topology& topology) {
  std::vector<std::size_t> degree(topology.node_count(), 0);
  for (std::uint32_t i = 0; i < topology.link_count(); ++i) {
    ++degree[topology.link({i}).a.value];
    ++degree[topology.link({i}).b.value];
  }
  return degree;
}

// Hops from a node to each other by breadth-first search; -1 where there is no way.
inline std::vector<int> hops(const Topology& topology, std::uint32_t from) {
  std::vector<std::vector<std::uint32_t>> next(topology.node_count());
  for (std::uint32_t i = 0; i < topology.link_count(); ++i) {
    const Link& link = topology.link({i});
    next[link.a.value].push_back(link.b.value);
    next[link.b.value].push_back(link.a.value);
  }
  std::vector<int> hops(topology.node_count(), -1);
  std::deque<std::uint32_t> todo = {from};
  hops[from] = 0;
  for (; !todo.empty(); todo.pop_front()) {
    for (const std::uint32_t other : next[todo.front()]) {
      if (hops[other] >= 0) continue;
      hops[other] = hops[todo.front()] + 1;
      todo.push_back(other);
    }
  }
  return hops;
}

// The longest of the shortest ways between hosts; -1 where two are not joined.
inline int diameter(const Topology& topology) {
  int longest = 0;
  for (std::uint32_t i = 0; i < topology.node_count(); ++i) {
    if (!topology.node({i}).host) continue;
    const std::vector<int> from = hops(topology, i);
    for (std::uint32_t j = 0; j < topology.node_count(); ++j) {
      if (!topology.node({j}).host) continue;
      if (from[j] < 0) return -1;
      longest = std::max(longest, from[j]);
    }
  }
  return longest;
}

// Links between the nodes for which `left` holds and the others.
template <class Left>
std::size_t cut(const Topology& topology, Left left) {
  std::size_t count = 0;
  for (std::uint32_t i = 0; i < topology.link_count(); ++i) {
    const Link& link = topology.link({i});
    count += left(topology.node(link.a)) != left(topology.node(link.b));
  }
  return count;
}

}  // namespace syncline
