#include "topology/wide_area.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "topology/cloud_regions.h"
#include "topology/input_error.h"
#include "topology/link_maker.h"

namespace syncline {
namespace {

constexpr double kSpeedInFibre = 2e8;  // m/s

GeoPoint region_place(const std::string& name) {
  if (const auto place = find_cloud_region(name)) return *place;
  throw InputError(fmt::format("regions: \"{}\" is not known; near to it: {}", name,
                               fmt::join(nearest_names(name, cloud_region_names()), ", ")));
}

LinkSpec constant(const LinkSpec& base, double there, double back) {
  LinkSpec spec = base;
  spec.bandwidth = Distribution::constant(there);
  spec.bandwidth_back = Distribution::constant(back);
  spec.asymmetric = true;
  spec.shared = false;
  return spec;
}

double measured(const CloudSpec& spec, const std::string& from, const std::string& to) {
  const auto found = spec.measured.find({from, to});
  if (found == spec.measured.end())
    throw InputError(fmt::format("regions: nothing was measured from \"{}\" to \"{}\"", from, to));
  return found->second * spec.hosts;
}

}  // namespace

void add_cloud(Topology& topology, const CloudSpec& spec, RandomStream& random) {
  check_count("regions", spec.regions.size(), 2, 1000);
  check_count("hosts", spec.hosts, 1, kMostGenerated / spec.regions.size());
  check_link_spec(spec.fabric, "fabric");
  check_link_spec(spec.link, "link");
  if (!(spec.detour >= 1 && spec.detour <= 1000))
    throw InputError(fmt::format("detour: {}; write a factor of 1 to 1000", spec.detour));
  LinkMaker links(topology, random);
  std::vector<NodeId> switches;
  std::vector<GeoPoint> places;
  for (const std::string& region : spec.regions) {
    places.push_back(region_place(region));
    switches.push_back(topology.add_node({region, false, region, places.back()}));
    LinkSpec fabric = spec.fabric;
    if (const auto machine = spec.machine.find(region); machine != spec.machine.end())
      fabric = constant(spec.fabric, machine->second[0], machine->second[1]);
    for (std::uint32_t i = 0; i < spec.hosts; ++i)
      links.add(topology.add_node({fmt::format("{}/{}", region, i), true, region, places.back()}),
                switches.back(), fabric);
  }
  for (std::size_t i = 0; i < switches.size(); ++i) {
    for (std::size_t j = i + 1; j < switches.size(); ++j) {
      LinkSpec link = spec.link;
      if (!spec.measured.empty()) {
        const double there = measured(spec, spec.regions[i], spec.regions[j]);
        const double back = measured(spec, spec.regions[j], spec.regions[i]);
        link = constant(spec.link, there, back);
      }
      links.add(switches[i], switches[j], link,
                great_circle_m(places[i], places[j]) * spec.detour / kSpeedInFibre);
    }
  }
}

void add_edge(Topology& topology, const EdgeSpec& spec, RandomStream& random) {
  check_count("count", spec.count, 1, kMostGenerated);
  check_count("sites", spec.sites, 0, spec.count);
  check_link_spec(spec.link, "link");
  check_link_spec(spec.backhaul, "backhaul");
  if (spec.hub.empty()) throw InputError("hub: is empty; name the node in the middle");
  LinkMaker links(topology, random);
  const std::uint64_t seed = random.next();
  const std::optional<NodeId> hub = topology.find_node(spec.hub);
  const NodeId middle = hub ? *hub : topology.add_node({spec.hub, true, ""});
  std::vector<NodeId> sites;
  for (std::uint32_t i = 0; i < spec.sites; ++i) {
    sites.push_back(topology.add_node({fmt::format("site{}", i), false, ""}));
    links.add(sites.back(), middle, spec.backhaul);
  }
  for (std::uint32_t i = 0; i < spec.count; ++i) {
    const std::string name = fmt::format("device{}", i);
    const NodeId device = topology.add_node({name, true, ""});
    const NodeId to = sites.empty() ? middle : sites[i % sites.size()];
    if (spec.measured.empty()) {
      links.add(device, to, spec.link);
      continue;
    }
    // By the device's name: one more leaves the others as they are.
    const auto at = static_cast<std::size_t>(RandomStream(seed, name).uniform() *
                                             static_cast<double>(spec.measured.size()));
    const LastMile& mile = spec.measured[at];
    LinkSpec link = constant(spec.link, mile.up, mile.down);
    link.latency = Distribution::constant(mile.latency_s);
    links.add(device, to, link);
  }
}

}  // namespace syncline
