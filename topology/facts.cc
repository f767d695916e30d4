#include "topology/facts.h"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>
#include <boost/graph/dijkstra_shortest_paths_no_color_map.hpp>
#include <boost/graph/push_relabel_max_flow.hpp>
#include <cmath>
#include <limits>
#include <utility>

#include "topology/check.h"

namespace syncline {
namespace {

struct Length {
  double length = 0;
};
using Distances =
    boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, Length,
                                       boost::no_property, std::uint32_t, std::uint32_t>;

// Whole bit/s, so that a flow ends exactly.
using Capacity = std::int64_t;
constexpr Capacity kUnlimited = std::numeric_limits<Capacity>::max() / 4;

using FlowTraits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
struct FlowArc {
  Capacity capacity = 0;
  Capacity residual = 0;
  FlowTraits::edge_descriptor back;
};
using FlowGraph =
    boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property, FlowArc>;

void add_arc(FlowGraph& graph, std::uint32_t from, std::uint32_t to, Capacity capacity) {
  const auto there = boost::add_edge(from, to, {capacity, 0, {}}, graph).first;
  const auto back = boost::add_edge(to, from, {0, 0, {}}, graph).first;
  graph[there].back = back;
  graph[back].back = there;
}

// By node: there is room left on a way from `source`.
std::vector<bool> reachable(const FlowGraph& graph, std::uint32_t source) {
  std::vector<bool> reached(boost::num_vertices(graph));
  std::vector<std::size_t> todo{source};
  reached[source] = true;
  while (!todo.empty()) {
    const std::size_t node = todo.back();
    todo.pop_back();
    const auto [first, end] = boost::out_edges(node, graph);
    for (auto arc = first; arc != end; ++arc) {
      const std::size_t next = boost::target(*arc, graph);
      if (graph[*arc].residual == 0 || reached[next]) continue;
      reached[next] = true;
      todo.push_back(next);
    }
  }
  return reached;
}

// A flow from all nodes of one group to all of another.
struct Flow {
  Capacity value = 0;
  std::vector<bool> near;
};
Flow max_flow(std::uint32_t nodes, std::span<const Arc> arcs, Capacity limit,
              const std::vector<std::uint32_t>& from, const std::vector<std::uint32_t>& to) {
  const std::uint32_t source = nodes;
  const std::uint32_t sink = nodes + 1;
  FlowGraph graph(nodes + 2);
  for (const Arc& arc : arcs) {
    const double bits = arc.bandwidth.in_bits_per_s();
    const Capacity capacity = bits < static_cast<double>(limit) ? std::llround(bits) : limit;
    add_arc(graph, arc.from, arc.to, capacity);
  }
  for (const std::uint32_t node : from) add_arc(graph, source, node, kUnlimited);
  for (const std::uint32_t node : to) add_arc(graph, node, sink, kUnlimited);
  Flow flow;
  flow.value = boost::push_relabel_max_flow(
      graph, source, sink, boost::get(&FlowArc::capacity, graph),
      boost::get(&FlowArc::residual, graph), boost::get(&FlowArc::back, graph),
      boost::get(boost::vertex_index, graph));
  flow.near = reachable(graph, source);
  flow.near.resize(nodes);
  return flow;
}

}  // namespace

std::optional<Diameter> find_diameter(std::uint32_t nodes, std::span<const Arc> arcs,
                                      std::uint64_t most_work) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ends;
  std::vector<Length> lengths;
  for (const Arc& arc : arcs) {
    SYNCLINE_CHECK(arc.from < nodes && arc.to < nodes && arc.length >= 0, "a wrong arc");
    ends.emplace_back(arc.from, arc.to);
    lengths.push_back({arc.length});
  }
  const Distances graph(boost::edges_are_unsorted_multi_pass, ends.begin(), ends.end(),
                        lengths.begin(), nodes);
  const std::uint64_t sources = std::min<std::uint64_t>(
      nodes, std::max<std::uint64_t>(most_work / (nodes + arcs.size() + 1), 1));
  std::optional<Diameter> found;
  std::vector<double> distance(nodes);
  for (std::uint64_t i = 0; i < sources; ++i) {
    const auto source = static_cast<std::uint32_t>(i * nodes / sources);
    boost::dijkstra_shortest_paths_no_color_map(
        graph, source,
        boost::distance_map(
            boost::make_iterator_property_map(distance.begin(), get(boost::vertex_index, graph)))
            .weight_map(boost::get(&Length::length, graph))
            .distance_inf(std::numeric_limits<double>::infinity()));
    for (std::uint32_t node = 0; node < nodes; ++node) {
      if (node == source || !std::isfinite(distance[node])) continue;
      if (!found || distance[node] > found->length) found = {distance[node], source, node, true};
    }
  }
  if (found) found->exact = sources == nodes;
  return found;
}

std::optional<Cut> find_narrowest_cut(std::uint32_t nodes, std::span<const Arc> arcs,
                                      std::span<const std::vector<std::uint32_t>> groups,
                                      std::uint64_t most_work) {
  if (groups.size() < 2 || 2 * (groups.size() - 1) * (arcs.size() + nodes) > most_work)
    return std::nullopt;
  const Capacity limit = kUnlimited / static_cast<Capacity>(arcs.size() + 1);
  std::optional<Cut> narrowest;
  Capacity least = 0;
  const auto look = [&](std::uint32_t from, std::uint32_t to) {
    Flow flow = max_flow(nodes, arcs, limit, groups[from], groups[to]);
    if (narrowest && flow.value >= least) return;
    least = flow.value;
    narrowest = {
        least >= limit ? BitRate::infinite() : BitRate::bits_per_s(static_cast<double>(least)),
        std::move(flow.near), from, to};
  };
  for (std::uint32_t i = 1; i < groups.size(); ++i) {
    look(0, i);
    look(i, 0);
  }
  return narrowest;
}

}  // namespace syncline
