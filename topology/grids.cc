#include "topology/grids.h"

#include <fmt/format.h>

#include <cstddef>
#include <string>

#include "topology/input_error.h"
#include "topology/link_maker.h"

namespace syncline {
namespace {

NodeId add_host(Topology& topology, std::string name) {
  return topology.add_node({.name = std::move(name), .host = true, .cluster = ""});
}

std::string grid_name(std::uint32_t index, const std::vector<std::uint32_t>& size) {
  std::string name;  // the last dimension runs fastest
  for (std::size_t d = size.size(); d-- > 0; index /= size[d])
    name = fmt::format("{}{}{}", index % size[d], name.empty() ? "" : ".", name);
  return "node" + name;
}

}  // namespace

void add_ring(Topology& topology, const RingSpec& spec, RandomStream& random) {
  check_count("count", spec.count, 3, kMostGenerated);
  check_link_spec(spec.link, "link");
  std::vector<NodeId> nodes;
  for (std::uint32_t i = 0; i < spec.count; ++i)
    nodes.push_back(add_host(topology, fmt::format("node{}", i)));
  LinkMaker links(topology, random);
  for (std::uint32_t i = 0; i < spec.count; ++i)
    links.add(nodes[i], nodes[(i + 1) % spec.count], spec.link);
}

void add_grid(Topology& topology, const GridSpec& spec, RandomStream& random) {
  if (spec.size.empty()) throw InputError("size: is missing; write for example size: [4, 4]");
  std::uint64_t count = 1;
  for (const std::uint32_t size : spec.size) {
    check_count("size", size, 1, kMostGenerated);
    count *= size;
    if (count > kMostGenerated)
      throw InputError(fmt::format("size: more than {} hosts in all", kMostGenerated));
  }
  if (count < 2) throw InputError("size: it is one host; a grid has at least 2");
  check_link_spec(spec.link, "link");

  std::vector<NodeId> nodes;
  for (std::uint32_t i = 0; i < count; ++i)
    nodes.push_back(add_host(topology, grid_name(i, spec.size)));
  LinkMaker links(topology, random);
  for (std::uint32_t i = 0; i < count; ++i) {
    std::uint32_t stride = 1;
    for (std::size_t d = spec.size.size(); d-- > 0; stride *= spec.size[d]) {
      const std::uint32_t size = spec.size[d];
      const std::uint32_t along = i / stride % size;
      if (along + 1 < size) {
        links.add(nodes[i], nodes[i + stride], spec.link);
      } else if (spec.wrap && size >= 3) {
        links.add(nodes[i], nodes[i - along * stride], spec.link);
      }
    }
  }
}

void add_tree(Topology& topology, const TreeSpec& spec, RandomStream& random) {
  check_count("arity", spec.arity, 2, kMostGenerated);
  check_count("depth", spec.depth, 1, 32);
  std::uint64_t nodes = 1;
  for (std::uint32_t level = 0; level < spec.depth; ++level) {
    nodes = nodes * spec.arity + 1;
    if (nodes > kMostGenerated)
      throw InputError(fmt::format("depth: more than {} nodes in all", kMostGenerated));
  }
  check_link_spec(spec.link, "link");

  LinkMaker links(topology, random);
  std::uint32_t switches = 0;
  std::uint32_t hosts = 0;
  const auto add_switch = [&] {
    return topology.add_node(
        {.name = fmt::format("switch{}", switches++), .host = false, .cluster = ""});
  };
  std::vector<NodeId> level = {add_switch()};
  for (std::uint32_t depth = 1; depth <= spec.depth; ++depth) {
    std::vector<NodeId> next;
    for (const NodeId parent : level) {
      for (std::uint32_t child = 0; child < spec.arity; ++child) {
        next.push_back(depth == spec.depth ? add_host(topology, fmt::format("host{}", hosts++))
                                           : add_switch());
        links.add(next.back(), parent, spec.link);
      }
    }
    level = std::move(next);
  }
}

}  // namespace syncline
