#include "topology/random_graphs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <vector>

#include "topology/input_error.h"
#include "topology/link_maker.h"

namespace syncline {
namespace {

struct Place {
  double x = 0;
  double y = 0;
};

double distance(const Place& a, const Place& b) { return std::hypot(a.x - b.x, a.y - b.y); }

std::vector<NodeId> add_nodes(Topology& topology, std::uint32_t count) {
  std::vector<NodeId> nodes;
  for (std::uint32_t i = 0; i < count; ++i) {
    nodes.push_back(
        topology.add_node({.name = fmt::format("node{}", i), .host = true, .cluster = ""}));
  }
  return nodes;
}

void check_share(const char* field, double value) {
  if (!(value > 0 && value <= 1))
    throw InputError(fmt::format("{}: {}; write a number above 0 and at most 1", field, value));
}

// Calls join(i, j) for the shortest links that connect everything to node 0 (Prim's algorithm,
// started with the edges that are there at no cost).
template <class Join>
void connect(const std::vector<Place>& places, const std::vector<std::vector<std::uint32_t>>& edges,
             Join join) {
  const std::size_t count = places.size();
  std::vector<bool> inside(count, false);
  std::vector<double> nearest(count, std::numeric_limits<double>::infinity());
  std::vector<std::uint32_t> by(count, 0);
  const auto enter = [&](std::uint32_t first) {
    std::vector<std::uint32_t> todo = {first};
    inside[first] = true;
    while (!todo.empty()) {
      const std::uint32_t at = todo.back();
      todo.pop_back();
      for (const std::uint32_t other : edges[at]) {
        if (!inside[other]) {
          inside[other] = true;
          todo.push_back(other);
        }
      }
      for (std::uint32_t other = 0; other < count; ++other) {
        const double length = distance(places[at], places[other]);
        if (!inside[other] && length < nearest[other]) {
          nearest[other] = length;
          by[other] = at;
        }
      }
    }
  };
  enter(0);
  for (;;) {
    std::size_t best = count;
    for (std::size_t i = 0; i < count; ++i) {
      if (!inside[i] && (best == count || nearest[i] < nearest[best])) best = i;
    }
    if (best == count) return;
    const auto other = static_cast<std::uint32_t>(best);
    join(by[other], other);
    enter(other);
  }
}

}  // namespace

void add_waxman(Topology& topology, const WaxmanSpec& spec, RandomStream& random) {
  check_count("count", spec.count, 2, 20'000);
  check_share("alpha", spec.alpha);
  check_share("beta", spec.beta);
  if (!(spec.side_s >= 0) || !std::isfinite(spec.side_s))
    throw InputError(fmt::format("side: {} s; it must be finite and at least 0", spec.side_s));
  check_link_spec(spec.link, "link");

  LinkMaker links(topology, random);
  const std::vector<NodeId> nodes = add_nodes(topology, spec.count);
  std::vector<Place> places(spec.count);
  for (Place& place : places) {
    place.x = random.uniform();
    place.y = random.uniform();
  }
  std::vector<std::vector<std::uint32_t>> edges(spec.count);
  const auto join = [&](std::uint32_t i, std::uint32_t j) {
    links.add(nodes[i], nodes[j], spec.link, spec.side_s * distance(places[i], places[j]));
  };
  for (std::uint32_t i = 0; i < spec.count; ++i) {
    for (std::uint32_t j = i + 1; j < spec.count; ++j) {
      const double length = distance(places[i], places[j]);
      const double chance = spec.beta * std::exp(-length / (spec.alpha * std::numbers::sqrt2));
      if (random.uniform() >= chance) continue;
      edges[i].push_back(j);
      edges[j].push_back(i);
      join(i, j);
    }
  }
  connect(places, edges, join);
}

void add_barabasi_albert(Topology& topology, const BarabasiAlbertSpec& spec, RandomStream& random) {
  check_count("links", spec.links, 1, 10'000);
  check_count("count", spec.count, std::uint64_t{spec.links} + 1, kMostGenerated);
  if (std::uint64_t{spec.count} * spec.links > kMostGenerated)
    throw InputError(fmt::format("links: more than {} in all", kMostGenerated));
  check_link_spec(spec.link, "link");

  LinkMaker links(topology, random);
  const std::vector<NodeId> nodes = add_nodes(topology, spec.count);
  std::vector<std::uint32_t> ends;  // each node once for each of its links: a draw is by degree
  const auto join = [&](std::uint32_t i, std::uint32_t j) {
    links.add(nodes[i], nodes[j], spec.link);
    ends.push_back(i);
    ends.push_back(j);
  };
  for (std::uint32_t i = 0; i <= spec.links; ++i) {
    for (std::uint32_t j = 0; j < i; ++j) join(j, i);
  }
  for (std::uint32_t i = spec.links + 1; i < spec.count; ++i) {
    std::vector<std::uint32_t> chosen;
    while (chosen.size() < spec.links) {
      const auto at = static_cast<std::size_t>(random.uniform() * static_cast<double>(ends.size()));
      if (std::find(chosen.begin(), chosen.end(), ends[at]) == chosen.end())
        chosen.push_back(ends[at]);
    }
    for (const std::uint32_t other : chosen) join(other, i);
  }
}

}  // namespace syncline
