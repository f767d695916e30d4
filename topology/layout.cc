#include "topology/layout.h"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/fruchterman_reingold.hpp>
#include <boost/graph/topology.hpp>
#include <cmath>
#include <numbers>

namespace syncline {
namespace {

using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS>;
using Plane = boost::rectangle_topology<>;

// Nodes in the order of a walk along the edges: neighbours begin near each other.
std::vector<std::uint32_t> walk(const Graph& graph) {
  std::vector<std::uint32_t> order;
  std::vector<bool> seen(boost::num_vertices(graph));
  for (std::uint32_t first = 0; first < seen.size(); ++first) {
    std::vector<std::uint32_t> todo{first};
    while (!todo.empty()) {
      const std::uint32_t node = todo.back();
      todo.pop_back();
      if (seen[node]) continue;
      seen[node] = true;
      order.push_back(node);
      const auto [begin, end] = boost::adjacent_vertices(node, graph);
      for (auto next = begin; next != end; ++next)
        todo.push_back(static_cast<std::uint32_t>(*next));
    }
  }
  return order;
}

}  // namespace

std::vector<DrawnPoint> lay_out(std::uint32_t nodes,
                                std::span<const std::pair<std::uint32_t, std::uint32_t>> edges) {
  Graph graph(nodes);
  for (const auto& [a, b] : edges) {
    if (a != b) boost::add_edge(a, b, graph);
  }
  boost::minstd_rand random;
  const Plane plane(random, 0, 0, 1, 1);
  std::vector<Plane::point_type> places(nodes);
  const std::vector<std::uint32_t> order = walk(graph);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double angle =
        2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(order.size());
    places[order[i]][0] = 0.5 + 0.4 * std::cos(angle);
    places[order[i]][1] = 0.5 + 0.4 * std::sin(angle);
  }
  if (nodes > 2) {
    const int steps = nodes > 2000 ? 30 : 300;
    boost::fruchterman_reingold_force_directed_layout(
        graph, boost::make_iterator_property_map(places.begin(), get(boost::vertex_index, graph)),
        plane, boost::cooling(boost::linear_cooling<double>(steps, 0.1)));
  }
  std::vector<DrawnPoint> points;
  for (const Plane::point_type& place : places)
    points.push_back({std::clamp(place[0], 0.0, 1.0), std::clamp(place[1], 0.0, 1.0)});
  return points;
}

}  // namespace syncline
