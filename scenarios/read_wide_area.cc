#include "scenarios/read_wide_area.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "topology/link_trace.h"
#include "topology/read/read.h"
#include "topology/wide_area.h"

namespace syncline {
namespace {

LinkSpec fabric_of(const Document& document, bool has, const proto::Link& link,
                   const std::string& path) {
  return has ? read_made_link(document, link, path) : unlimited();
}

// A link that is required, or must not be there where a file says its values.
LinkSpec link_of(const Document& document, bool has, const proto::Link& link,
                 const std::string& path, bool measured) {
  if (has && measured)
    throw document.error(path, "its values are in `measured`; leave one of the two out");
  if (measured) return {};
  if (!has)
    throw document.error(
        path,
        R"(is missing; write for example link { bandwidth: "5 Gbit/s" } or measured: "FILE")");
  return read_made_link(document, link, path);
}

// Rates from each region to each other one, and of the machines themselves.
void read_measured(const ImportedTopology& map, CloudSpec& spec) {
  for (const ImportedLink& link : map.links) {
    if (!link.bandwidth) continue;
    const std::string &from = map.nodes[link.a].id, &to = map.nodes[link.b].id;
    const double rate = link.bandwidth->in_bytes_per_s();
    spec.measured.try_emplace({from, to}, rate);
    if (!link.directed) spec.measured.try_emplace({to, from}, rate);
  }
  for (const ImportedNode& node : map.nodes) {
    if (node.up && node.down)
      spec.machine[node.id] = {node.up->in_bytes_per_s(), node.down->in_bytes_per_s()};
  }
  if (spec.measured.empty()) throw InputError(map.file + ": says no bandwidth between regions");
}

// Nodes with rates of their own, and the latency of their link.
std::vector<LastMile> last_miles(const ImportedTopology& map) {
  std::vector<LastMile> miles;
  for (const ImportedLink& link : map.links) {
    for (const std::uint32_t end : {link.a, link.b}) {
      const ImportedNode& node = map.nodes[end];
      if (node.up && node.down && link.latency_s)
        miles.push_back({node.up->in_bytes_per_s(), node.down->in_bytes_per_s(), *link.latency_s});
    }
  }
  if (miles.empty())
    throw InputError(map.file + ": has no devices with rates up and down and a latency");
  return miles;
}

// Each device's link follows one of the files, drawn by its name.
void add_traces(const Document& document, CheckedScenario& scenario, const proto::Edge& edge,
                const EdgeSpec& spec) {
  constexpr std::size_t kMostPoints = 10'000'000;
  std::vector<LinkTrace> traces;
  for (int i = 0; i < edge.traces_size(); ++i)
    traces.push_back(document.at(fmt::format("topology.edge.traces[{}]", i), [&] {
      return read_link_trace(document.path_of(edge.traces(i)));
    }));
  if (traces.empty()) return;
  const std::uint64_t seed = RandomStream(scenario.seed, "topology.edge.traces").next();
  std::size_t points = 0;
  for (std::uint32_t i = 0; i < spec.count; ++i) {
    const std::string device = fmt::format("device{}", i);
    const std::string to = spec.sites > 0 ? fmt::format("site{}", i % spec.sites) : spec.hub;
    const auto drawn = static_cast<std::size_t>(RandomStream(seed, device).uniform() *
                                                static_cast<double>(traces.size()));
    points += traces[drawn].points.size();
    if (points > kMostPoints)
      throw document.error("topology.edge.traces",
                           fmt::format("more than {} points over all devices", kMostPoints));
    scenario.traces.push_back({scenario.topology.require_link(device + "-" + to), traces[drawn]});
  }
}

}  // namespace

void read_cloud(Document& document, CheckedScenario& scenario) {
  const std::string path = "topology.cloud";
  proto::Cloud& cloud = *document.scenario().mutable_topology()->mutable_cloud();
  if (!cloud.has_hosts()) cloud.set_hosts(1);
  if (!cloud.has_detour()) cloud.set_detour(1);
  if (cloud.regions_size() == 0)
    throw document.error(path + ".regions",
                         R"(is missing; write for example ["aws:us-east-1", "gcp:europe-west4"])");
  CloudSpec spec;
  spec.regions.assign(cloud.regions().begin(), cloud.regions().end());
  spec.hosts = cloud.hosts();
  spec.detour = cloud.detour();
  spec.fabric = fabric_of(document, cloud.has_fabric(), cloud.fabric(), path + ".fabric");
  spec.link =
      link_of(document, cloud.has_link(), cloud.link(), path + ".link", cloud.has_measured());
  if (cloud.has_measured()) {
    document.at(path + ".measured",
                [&] { read_measured(read_imported(document.path_of(cloud.measured())), spec); });
    if (cloud.has_fabric())
      throw document.error(path + ".fabric",
                           "the limits of machines are in `measured`; leave one of the two out");
  }
  RandomStream random(scenario.seed, path);
  document.at(path, [&] { add_cloud(scenario.topology, spec, random); });
  scenario.assumptions.push_back(fmt::format(
      "{}: latency from the places of the regions, 2e8 m/s, detour {}", path, spec.detour));
}

void read_edge(Document& document, CheckedScenario& scenario) {
  const std::string path = "topology.edge";
  proto::Edge& edge = *document.scenario().mutable_topology()->mutable_edge();
  if (!edge.has_hub()) edge.set_hub("server");
  if (!edge.has_sites()) edge.set_sites(0);
  if (!edge.has_count())
    throw document.error(path + ".count", "is missing; write for example count: 100");
  EdgeSpec spec;
  spec.count = edge.count();
  spec.hub = edge.hub();
  spec.sites = edge.sites();
  spec.link = link_of(document, edge.has_link(), edge.link(), path + ".link", edge.has_measured());
  if (edge.has_backhaul() && spec.sites == 0)
    throw document.error(path + ".backhaul", "joins sites to the hub; give sites as well");
  spec.backhaul = fabric_of(document, edge.has_backhaul(), edge.backhaul(), path + ".backhaul");
  if (edge.has_measured())
    spec.measured = document.at(path + ".measured", [&] {
      return last_miles(read_imported(document.path_of(edge.measured())));
    });
  RandomStream random(scenario.seed, path);
  document.at(path, [&] { add_edge(scenario.topology, spec, random); });
  add_traces(document, scenario, edge, spec);
}

}  // namespace syncline
