#include "topology/fabrics.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "topology/input_error.h"
#include "topology/link_maker.h"

namespace syncline {
namespace {

NodeId add_switch(Topology& topology, std::string name, std::string cluster) {
  return topology.add_node({.name = std::move(name), .host = false, .cluster = std::move(cluster)});
}

// Hosts "CLUSTER/FIRST", … joined to `at`.
void add_hosts(Topology& topology, LinkMaker& links, const std::string& cluster,
               std::uint32_t first, std::uint32_t count, NodeId at, const LinkSpec& spec) {
  for (std::uint32_t i = first; i < first + count; ++i) {
    const NodeId host = topology.add_node(
        {.name = fmt::format("{}/{}", cluster, i), .host = true, .cluster = cluster});
    links.add(host, at, spec);
  }
}

void check_total(double nodes, double links) {
  if (nodes > double{kMostGenerated} || links > double{kMostGenerated}) {
    throw InputError(fmt::format("{:.0f} nodes and {:.0f} links in all; at most {} of each", nodes,
                                 links, kMostGenerated));
  }
}

}  // namespace

void add_leaf_spine(Topology& topology, const LeafSpineSpec& spec, RandomStream& random) {
  check_count("leaves", spec.leaves, 1, kMostGenerated);
  check_count("spines", spec.spines, 1, kMostGenerated);
  check_count("hosts", spec.hosts, 1, kMostGenerated);
  const double leaves = spec.leaves;
  check_total(leaves * (1.0 + spec.hosts) + spec.spines, leaves * (spec.hosts + spec.spines));
  check_link_spec(spec.link, "link");
  check_link_spec(spec.uplink, "uplink");

  LinkMaker links(topology, random);
  std::vector<NodeId> spines;
  for (std::uint32_t s = 0; s < spec.spines; ++s)
    spines.push_back(add_switch(topology, fmt::format("spine{}", s), ""));
  for (std::uint32_t l = 0; l < spec.leaves; ++l) {
    const std::string name = fmt::format("leaf{}", l);
    const NodeId leaf = add_switch(topology, name, name);
    add_hosts(topology, links, name, 0, spec.hosts, leaf, spec.link);
    for (const NodeId spine : spines) links.add(leaf, spine, spec.uplink);
  }
}

void add_fat_tree(Topology& topology, const FatTreeSpec& spec, RandomStream& random) {
  check_count("ports", spec.ports, 2, 200);
  if (spec.ports % 2 != 0) {
    throw InputError(fmt::format("ports: {} is odd; half of a switch's ports lead up, so write {}",
                                 spec.ports, spec.ports + 1));
  }
  check_link_spec(spec.link, "link");

  const std::uint32_t half = spec.ports / 2;
  LinkMaker links(topology, random);
  std::vector<NodeId> cores;
  for (std::uint32_t c = 0; c < half * half; ++c)
    cores.push_back(add_switch(topology, fmt::format("core{}", c), ""));
  for (std::uint32_t p = 0; p < spec.ports; ++p) {
    const std::string pod = fmt::format("pod{}", p);
    std::vector<NodeId> aggregation;
    for (std::uint32_t a = 0; a < half; ++a) {
      aggregation.push_back(add_switch(topology, fmt::format("{}.agg{}", pod, a), pod));
      for (std::uint32_t c = 0; c < half; ++c)
        links.add(aggregation[a], cores[a * half + c], spec.link);
    }
    for (std::uint32_t e = 0; e < half; ++e) {
      const NodeId edge = add_switch(topology, fmt::format("{}.edge{}", pod, e), pod);
      for (const NodeId agg : aggregation) links.add(edge, agg, spec.link);
      add_hosts(topology, links, pod, e * half, half, edge, spec.link);
    }
  }
}

void add_dragonfly(Topology& topology, const DragonflySpec& spec, RandomStream& random) {
  check_count("routers", spec.routers, 1, kMostGenerated);
  check_count("hosts", spec.hosts, 1, kMostGenerated);
  check_count("global_links", spec.global_links, 1, kMostGenerated);
  const double a = spec.routers;
  const double g = a * spec.global_links + 1;
  check_total(g * a * (1.0 + spec.hosts), g * a * (spec.hosts + (a - 1) / 2) + g * (g - 1) / 2);
  check_link_spec(spec.link, "link");
  check_link_spec(spec.global, "global");

  LinkMaker links(topology, random);
  const std::uint32_t groups = spec.routers * spec.global_links + 1;
  std::vector<std::vector<NodeId>> routers(groups);
  for (std::uint32_t i = 0; i < groups; ++i) {
    const std::string group = fmt::format("group{}", i);
    for (std::uint32_t r = 0; r < spec.routers; ++r) {
      const NodeId router = add_switch(topology, fmt::format("{}.router{}", group, r), group);
      for (const NodeId other : routers[i]) links.add(other, router, spec.link);
      routers[i].push_back(router);
      add_hosts(topology, links, group, r * spec.hosts, spec.hosts, router, spec.link);
    }
  }
  // A group's global links are numbered by the other group, its own left out; each router has
  // global_links of them in a row.
  for (std::uint32_t i = 0; i < groups; ++i) {
    for (std::uint32_t j = i + 1; j < groups; ++j)
      links.add(routers[i][(j - 1) / spec.global_links], routers[j][i / spec.global_links],
                spec.global);
  }
}

}  // namespace syncline
