#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "scenarios/read_generator.h"
#include "scenarios/read_wide_area.h"
#include "scenarios/readers.h"
#include "topology/distribution.h"
#include "topology/generators.h"
#include "topology/read/read.h"

namespace syncline {
namespace {

constexpr std::uint32_t kMostHosts = 10'000'000;

// A link's values, without its ends. The bandwidth is required.
LinkSpec read_link_values(const Document& document, const proto::Link& link,
                          const std::string& path) {
  if (!link.has_bandwidth())
    throw document.error(path + ".bandwidth",
                         R"(is missing; write for example bandwidth: "1 Gbit/s")");
  LinkSpec spec;
  spec.bandwidth = document.at(path + ".bandwidth", [&] {
    return Distribution::parse(link.bandwidth(), Dimension::BIT_RATE);
  });
  if (link.has_bandwidth_back()) {
    spec.asymmetric = true;
    spec.bandwidth_back = document.at(path + ".bandwidth_back", [&] {
      return Distribution::parse(link.bandwidth_back(), Dimension::BIT_RATE);
    });
  }
  if (link.has_latency())
    spec.latency = document.at(
        path + ".latency", [&] { return Distribution::parse(link.latency(), Dimension::TIME); });
  spec.shared = link.shared();
  if (spec.shared && spec.asymmetric) {
    throw document.error(
        path + ".bandwidth_back",
        "a shared link has one capacity for both directions; leave bandwidth_back or shared out");
  }
  return spec;
}

}  // namespace

LinkSpec unlimited() {
  LinkSpec spec;
  spec.bandwidth = Distribution::constant(std::numeric_limits<double>::infinity());
  return spec;
}

LinkSpec read_made_link(const Document& document, const proto::Link& link,
                        const std::string& path) {
  if (link.has_name())
    throw document.error(path + ".name", "the links made here name themselves; leave it out");
  if (link.has_a())
    throw document.error(path + ".a", "the links made here have their ends; leave it out");
  if (link.has_b())
    throw document.error(path + ".b", "the links made here have their ends; leave it out");
  if (link.has_trace())
    throw document.error(path + ".trace",
                         "is for one link; name the link in topology.links and write it there");
  if (link.has_latency_back())
    throw document.error(path + ".latency_back",
                         "is for one link; name the link in topology.links and write it there");
  return read_link_values(document, link, path);
}

namespace {

void read_clusters(Document& document, CheckedScenario& scenario) {
  const std::string path = "topology.clusters";
  proto::Clusters& clusters = *document.scenario().mutable_topology()->mutable_clusters();
  if (!clusters.has_hosts()) clusters.set_hosts(1);
  if (!clusters.has_shape()) clusters.set_shape(proto::Clusters::STAR);
  if (clusters.names_size() == 0) {
    if (!clusters.has_count())
      throw document.error(path, R"(give names: ["zurich", "milan"] or count: 4)");
    if (clusters.count() == 0 || clusters.count() > kMostHosts)
      throw document.error(path + ".count",
                           fmt::format("{} clusters; write 1 to {}", clusters.count(), kMostHosts));
    for (std::uint32_t i = 0; i < clusters.count(); ++i)
      clusters.add_names(fmt::format("cluster{}", i));
  } else if (clusters.has_count() &&
             clusters.count() != static_cast<std::uint32_t>(clusters.names_size())) {
    throw document.error(path + ".count", fmt::format("{}, but there are {} names; leave count out",
                                                      clusters.count(), clusters.names_size()));
  }
  clusters.set_count(static_cast<std::uint32_t>(clusters.names_size()));
  if (std::uint64_t{clusters.hosts()} * clusters.count() > kMostHosts)
    throw document.error(path + ".hosts", fmt::format("more than {} hosts in all", kMostHosts));

  ClustersSpec spec;
  spec.names.assign(clusters.names().begin(), clusters.names().end());
  spec.hosts = clusters.hosts();
  spec.shape =
      clusters.shape() == proto::Clusters::STAR ? ClusterShape::STAR : ClusterShape::FULL_MESH;
  spec.fabric = clusters.has_fabric()
                    ? read_made_link(document, clusters.fabric(), path + ".fabric")
                    : unlimited();
  if (clusters.has_wan()) {
    spec.wan = read_made_link(document, clusters.wan(), path + ".wan");
  } else if (spec.names.size() > 1) {
    throw document.error(
        path + ".wan",
        R"(is missing; write for example wan { bandwidth: "1 Gbit/s" latency: "20 ms" })");
  } else {
    spec.wan = unlimited();
  }
  RandomStream random(scenario.seed, "topology.clusters");
  document.at(path, [&] { add_clusters(scenario.topology, spec, random); });
}

void read_star(Document& document, CheckedScenario& scenario) {
  const std::string path = "topology.star";
  proto::Star& star = *document.scenario().mutable_topology()->mutable_star();
  if (!star.has_hub()) star.set_hub("server");
  if (!star.has_count())
    throw document.error(path + ".count", "is missing; write for example count: 100");
  if (star.count() == 0 || star.count() > kMostHosts)
    throw document.error(path + ".count",
                         fmt::format("{} devices; write 1 to {}", star.count(), kMostHosts));
  if (!star.has_link())
    throw document.error(
        path + ".link",
        R"(is missing; write for example link { bandwidth: "8 Mbit/s" latency: "30 ms" })");
  StarSpec spec;
  spec.count = star.count();
  spec.hub = star.hub();
  spec.link = read_made_link(document, star.link(), path + ".link");
  RandomStream random(scenario.seed, "topology.star");
  document.at(path, [&] { add_star(scenario.topology, spec, random); });
}

Link draw_link(const LinkSpec& spec, std::string name, NodeId a, NodeId b, RandomStream& random) {
  Link link;
  link.name = std::move(name);
  link.a = a;
  link.b = b;
  const double forward = spec.bandwidth.draw(random);
  link.capacity = {
      BitRate::bytes_per_s(forward),
      BitRate::bytes_per_s(spec.asymmetric ? spec.bandwidth_back.draw(random) : forward)};
  const double latency = spec.latency.draw(random);
  link.latency_s = {latency, latency};
  link.shared = spec.shared;
  return link;
}

// None: it stands nowhere.
std::optional<GeoPoint> read_place(const Document& document, const proto::Node& node,
                                   const std::string& path) {
  if (!node.has_latitude() && !node.has_longitude()) return std::nullopt;
  if (!node.has_latitude() || !node.has_longitude())
    throw document.error(path + (node.has_latitude() ? ".longitude" : ".latitude"),
                         "is missing; a place has both");
  if (!(std::abs(node.latitude()) <= 90))
    throw document.error(path + ".latitude",
                         fmt::format("{}; write degrees, -90 to 90", node.latitude()));
  if (!(std::abs(node.longitude()) <= 180))
    throw document.error(path + ".longitude",
                         fmt::format("{}; write degrees, -180 to 180", node.longitude()));
  return GeoPoint{node.latitude(), node.longitude()};
}

void read_node(Document& document, CheckedScenario& scenario, proto::Node& node,
               const std::string& path) {
  Topology& topology = scenario.topology;
  if (!node.has_name())
    throw document.error(path + ".name", R"(is missing; write for example name: "london")");
  if (topology.find_node(node.name()))
    throw document.error(path + ".name", fmt::format("a node \"{}\" exists already", node.name()));
  RandomStream random(scenario.seed, "topology.nodes." + node.name());
  NodeId made;
  if (node.has_hosts()) {
    if (node.has_host())
      throw document.error(
          path + ".host", "says whether a single node is a host; a node with `hosts` is a cluster");
    if (node.hosts() == 0)
      throw document.error(path + ".hosts",
                           "a cluster has at least one host; leave hosts out for a single node");
    if (node.hosts() > kMostHosts)
      throw document.error(path + ".hosts",
                           fmt::format("{} hosts; write 1 to {}", node.hosts(), kMostHosts));
    if (node.has_cluster())
      throw document.error(path + ".cluster", "a node with hosts is a cluster of its own name");
    const auto at = read_place(document, node, path);
    const LinkSpec fabric =
        node.has_fabric() ? read_made_link(document, node.fabric(), path + ".fabric") : unlimited();
    made = document.at(path, [&] {
      return topology.add_node({node.name(), false, node.name(), at});
    });
    for (std::uint32_t i = 0; i < node.hosts(); ++i) {
      const std::string name = fmt::format("{}/{}", node.name(), i);
      const NodeId host = document.at(path, [&] {
        return topology.add_node({name, true, node.name()});
      });
      document.at(path, [&] {
        return topology.add_link(draw_link(fabric, name + "-" + node.name(), host, made, random));
      });
    }
  } else {
    if (node.has_fabric())
      throw document.error(path + ".fabric", "joins the hosts of a cluster; give hosts as well");
    if (!node.has_host()) node.set_host(true);
    const auto at = read_place(document, node, path);
    made = document.at(path, [&] {
      return topology.add_node({node.name(), node.host(), node.cluster(), at});
    });
  }
  if (!node.has_at()) {
    if (node.has_access())
      throw document.error(path + ".access", "joins the node to `at`; give at as well");
    return;
  }
  if (!node.has_access())
    throw document.error(
        path + ".access",
        R"(is missing; write for example access { bandwidth: "10 Gbit/s" latency: "0.2 ms" })");
  const NodeId at = document.at(
      path + ".at", [&] { return require_node(topology, scenario.map.get(), node.at()); });
  const LinkSpec access = read_made_link(document, node.access(), path + ".access");
  document.at(path, [&] {
    return topology.add_link(draw_link(access, node.name() + "-" + node.at(), made, at, random));
  });
}

void read_trace(const Document& document, CheckedScenario& scenario, const proto::Link& link,
                const std::string& path) {
  if (!link.has_trace()) return;
  LinkTrace trace = document.at(path + ".trace", [&] {
    LinkTrace read = read_link_trace(document.path_of(link.trace()));
    check_trace(read, link.name());
    return read;
  });
  const LinkId id = scenario.topology.require_link(link.name());
  // It takes the place of one that a topology file gave.
  std::erase_if(scenario.traces, [&](const TracedLink& traced) { return traced.link == id; });
  scenario.traces.push_back({id, std::move(trace)});
}

double read_latency_back(const Document& document, const proto::Link& link, const std::string& path,
                         RandomStream& random) {
  return document
      .at(path + ".latency_back",
          [&] { return Distribution::parse(link.latency_back(), Dimension::TIME); })
      .draw(random);
}

// New values for a link that the base made.
void change_link(const Document& document, CheckedScenario& scenario, const proto::Link& link,
                 const std::string& path) {
  Topology& topology = scenario.topology;
  const LinkId id = *topology.find_link(link.name());
  if (link.has_a() || link.has_b())
    throw document.error(
        path, fmt::format(
                  "the link \"{}\" exists and has its ends; leave a and b out to change its values",
                  link.name()));
  if (link.has_shared())
    throw document.error(path + ".shared", "of a link that exists stays as it is");
  RandomStream random(scenario.seed, "topology.links." + link.name());
  const bool shared = topology.link(id).shared;
  if (link.has_bandwidth()) {
    const double value =
        document
            .at(path + ".bandwidth",
                [&] { return Distribution::parse(link.bandwidth(), Dimension::BIT_RATE); })
            .draw(random);
    topology.set_capacity(id, Direction::FORWARD, BitRate::bytes_per_s(value));
    if (!link.has_bandwidth_back() && !shared)
      topology.set_capacity(id, Direction::BACKWARD, BitRate::bytes_per_s(value));
  }
  if (link.has_bandwidth_back()) {
    if (shared)
      throw document.error(path + ".bandwidth_back",
                           "a shared link has one capacity for both directions; change bandwidth");
    const double value =
        document
            .at(path + ".bandwidth_back",
                [&] { return Distribution::parse(link.bandwidth_back(), Dimension::BIT_RATE); })
            .draw(random);
    topology.set_capacity(id, Direction::BACKWARD, BitRate::bytes_per_s(value));
  }
  if (link.has_latency()) {
    const double value =
        document
            .at(path + ".latency",
                [&] { return Distribution::parse(link.latency(), Dimension::TIME); })
            .draw(random);
    topology.set_latency(id, Direction::FORWARD, value);
    topology.set_latency(id, Direction::BACKWARD, value);
  }
  if (link.has_latency_back())
    topology.set_latency(id, Direction::BACKWARD, read_latency_back(document, link, path, random));
}

void read_link(Document& document, CheckedScenario& scenario, proto::Link& link,
               const std::string& path) {
  Topology& topology = scenario.topology;
  if (link.has_name() && topology.find_link(link.name()))
    return change_link(document, scenario, link, path);
  if (!link.has_a() && !link.has_b() && link.has_name()) {
    document.at(path + ".name", [&] { return topology.require_link(link.name()); });
  }
  if (!link.has_a())
    throw document.error(path + ".a", "is missing: the node that the link starts from");
  if (!link.has_b())
    throw document.error(path + ".b", "is missing: the node that the link leads to");
  if (!link.has_name()) link.set_name(link.a() + "-" + link.b());
  const auto end = [&](const char* field, const std::string& name) {
    return document.at(path + field,
                       [&] { return require_node(topology, scenario.map.get(), name); });
  };
  const NodeId a = end(".a", link.a());
  const NodeId b = end(".b", link.b());
  const LinkSpec spec = read_link_values(document, link, path);
  RandomStream random(scenario.seed, "topology.links." + link.name());
  Link made = draw_link(spec, link.name(), a, b, random);
  if (link.has_latency_back()) made.latency_s[1] = read_latency_back(document, link, path, random);
  document.at(path, [&] { return topology.add_link(std::move(made)); });
}

}  // namespace

void read_topology(Document& document, CheckedScenario& scenario) {
  if (!document.scenario().has_topology()) {
    throw document.error(
        "topology",
        R"(is missing; write for example topology { clusters { count: 4 wan { bandwidth: "1 Gbit/s" latency: "20 ms" } } })");
  }
  proto::Topology& topology = *document.scenario().mutable_topology();
  if (topology.has_clusters()) read_clusters(document, scenario);
  if (topology.has_star()) read_star(document, scenario);
  if (topology.has_file()) read_topology_file(document, scenario);
  if (topology.has_cloud()) read_cloud(document, scenario);
  if (topology.has_edge()) read_edge(document, scenario);
  read_generator(document, scenario);
  for (int i = 0; i < topology.nodes_size(); ++i) {
    read_node(document, scenario, *topology.mutable_nodes(i), fmt::format("topology.nodes[{}]", i));
  }
  std::set<std::string> names;
  for (int i = 0; i < topology.links_size(); ++i) {
    const std::string& name = topology.links(i).name();
    if (!name.empty() && !names.insert(name).second)
      throw document.error(fmt::format("topology.links[{}].name", i),
                           fmt::format("\"{}\" is written twice; put its values into one", name));
    const std::string path = fmt::format("topology.links[{}]", i);
    read_link(document, scenario, *topology.mutable_links(i), path);
    read_trace(document, scenario, topology.links(i), path);
  }
  if (scenario.topology.node_count() == 0)
    throw document.error(
        "topology", "is empty; give a base such as clusters, a ring or a file, or nodes and links");
}

}  // namespace syncline
