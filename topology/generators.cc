#include "topology/generators.h"

#include <fmt/format.h>

#include <string>
#include <unordered_set>

#include "topology/input_error.h"
#include "topology/link_maker.h"

namespace syncline {
namespace {

constexpr const char* kCore = "core";

void check(const ClustersSpec& spec) {
  if (spec.names.empty()) throw InputError("clusters: there is none; give at least one name");
  if (spec.hosts == 0) throw InputError("clusters: hosts is 0; a cluster has at least 1");
  std::unordered_set<std::string> seen;
  for (const std::string& name : spec.names) {
    if (name.empty()) throw InputError("clusters: a name is empty");
    if (name.find('/') != std::string::npos) {
      throw InputError(fmt::format(
          "clusters: the name \"{}\" has a \"/\", which stands between a cluster and its host",
          name));
    }
    if (spec.shape == ClusterShape::STAR && name == kCore) {
      throw InputError(fmt::format(
          "clusters: \"{}\" is the switch in the middle of a STAR; name the cluster otherwise",
          kCore));
    }
    if (!seen.insert(name).second) {
      throw InputError(fmt::format("clusters: two are called \"{}\"; names must differ", name));
    }
  }
  check_link_spec(spec.fabric, "clusters.fabric");
  check_link_spec(spec.wan, "clusters.wan");
}

}  // namespace

void add_clusters(Topology& topology, const ClustersSpec& spec, RandomStream& random) {
  check(spec);
  LinkMaker links(topology, random);
  std::vector<NodeId> switches;
  for (const std::string& name : spec.names) {
    const NodeId cluster = topology.add_node({.name = name, .host = false, .cluster = name});
    switches.push_back(cluster);
    for (std::uint32_t i = 0; i < spec.hosts; ++i) {
      const NodeId host =
          topology.add_node({.name = fmt::format("{}/{}", name, i), .host = true, .cluster = name});
      links.add(host, cluster, spec.fabric);
    }
  }
  if (spec.shape == ClusterShape::STAR) {
    const NodeId core = topology.add_node({.name = kCore, .host = false, .cluster = ""});
    for (const NodeId cluster : switches) links.add(cluster, core, spec.wan);
    return;
  }
  for (std::size_t i = 0; i < switches.size(); ++i) {
    for (std::size_t j = i + 1; j < switches.size(); ++j)
      links.add(switches[i], switches[j], spec.wan);
  }
}

void add_star(Topology& topology, const StarSpec& spec, RandomStream& random) {
  if (spec.count == 0) throw InputError("star: count is 0; it has at least 1 device");
  if (spec.hub.empty()) throw InputError("star: the name of the hub is empty");
  for (std::uint32_t i = 0; i < spec.count; ++i) {
    if (spec.hub == fmt::format("device{}", i)) {
      throw InputError(fmt::format(
          "star: the hub is called \"{}\", like one of its devices; name it otherwise", spec.hub));
    }
  }
  check_link_spec(spec.link, "star.link");
  const auto there = topology.find_node(spec.hub);
  const NodeId hub =
      there ? *there : topology.add_node({.name = spec.hub, .host = true, .cluster = ""});
  LinkMaker links(topology, random);
  for (std::uint32_t i = 0; i < spec.count; ++i) {
    const NodeId device =
        topology.add_node({.name = fmt::format("device{}", i), .host = true, .cluster = ""});
    links.add(device, hub, spec.link);
  }
}

}  // namespace syncline
