#include "topology/generators.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "topology/input_error.h"

namespace syncline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

LinkSpec link_spec(const char* bandwidth, const char* latency) {
  LinkSpec spec;
  spec.bandwidth = Distribution::parse(bandwidth, Dimension::BIT_RATE);
  spec.latency = Distribution::parse(latency, Dimension::TIME);
  return spec;
}

ClustersSpec three_sites(ClusterShape shape) {
  return {.names = {"zurich", "milan", "paris"},
          .hosts = 2,
          .fabric = link_spec("400 Gbit/s", "2 us"),
          .wan = link_spec("uniform(1 Gbit/s, 2 Gbit/s)", "uniform(5 ms, 50 ms)"),
          .shape = shape};
}

Topology clusters(const ClustersSpec& spec, std::uint64_t seed = 1) {
  Topology topology;
  RandomStream random(seed, "topology");
  add_clusters(topology, spec, random);
  return topology;
}

Topology star(const StarSpec& spec) {
  Topology topology;
  RandomStream random(1, "topology");
  add_star(topology, spec, random);
  return topology;
}

std::string error_of(const ClustersSpec& spec) {
  try {
    clusters(spec);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

std::string error_of(const StarSpec& spec) {
  try {
    star(spec);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

std::vector<std::string> node_names(const Topology& topology) {
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < topology.node_count(); ++i)
    names.push_back(topology.node({i}).name);
  return names;
}

std::vector<std::string> link_names(const Topology& topology) {
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < topology.link_count(); ++i)
    names.push_back(topology.link({i}).name);
  return names;
}

// Two links are made of the same values.
bool same_values(const Link& x, const Link& y) {
  return x.capacity == y.capacity && x.latency_s == y.latency_s;
}

TEST(AddClusters, Star) {
  const Topology topology = clusters(three_sites(ClusterShape::STAR));
  EXPECT_THAT(node_names(topology),
              ElementsAre("zurich", "zurich/0", "zurich/1", "milan", "milan/0", "milan/1", "paris",
                          "paris/0", "paris/1", "core"));
  EXPECT_THAT(
      link_names(topology),
      ElementsAre("zurich/0-zurich", "zurich/1-zurich", "milan/0-milan", "milan/1-milan",
                  "paris/0-paris", "paris/1-paris", "zurich-core", "milan-core", "paris-core"));
  EXPECT_THAT(topology.clusters(), ElementsAre("zurich", "milan", "paris"));
  EXPECT_THAT(topology.hosts_of("milan"),
              ElementsAre(topology.require_node("milan/0"), topology.require_node("milan/1")));
  EXPECT_TRUE(topology.node(topology.require_node("paris/1")).host);
  EXPECT_FALSE(topology.node(topology.require_node("paris")).host);
  EXPECT_EQ(topology.node(topology.require_node("paris")).cluster, "paris");
  EXPECT_FALSE(topology.node(topology.require_node("core")).host);
  EXPECT_EQ(topology.node(topology.require_node("core")).cluster, "");
}

TEST(AddClusters, LinksGoFromTheFirstNamedToTheSecond) {
  const Topology topology = clusters(three_sites(ClusterShape::STAR));
  const Link& fabric = topology.link(topology.require_link("milan/1-milan"));
  EXPECT_EQ(topology.node(fabric.a).name, "milan/1");
  EXPECT_EQ(topology.node(fabric.b).name, "milan");
  EXPECT_EQ(fabric.capacity[0], BitRate::bits_per_s(400e9));
  EXPECT_EQ(fabric.capacity[1], BitRate::bits_per_s(400e9));
  EXPECT_EQ(fabric.latency_s[0], 2e-6);
  EXPECT_FALSE(fabric.shared);
  const Link& wan = topology.link(topology.require_link("milan-core"));
  EXPECT_EQ(topology.node(wan.a).name, "milan");
  EXPECT_EQ(topology.node(wan.b).name, "core");
}

TEST(AddClusters, FullMesh) {
  const Topology topology = clusters(three_sites(ClusterShape::FULL_MESH));
  EXPECT_EQ(topology.node_count(), 9u);
  EXPECT_EQ(topology.find_node("core"), std::nullopt);
  const auto names = link_names(topology);
  EXPECT_THAT(std::vector(names.begin() + 6, names.end()),
              ElementsAre("zurich-milan", "zurich-paris", "milan-paris"));
}

TEST(AddClusters, EachLinkDrawsItsOwnValues) {
  const Topology topology = clusters(three_sites(ClusterShape::FULL_MESH));
  std::set<double> latencies;
  for (const char* name : {"zurich-milan", "zurich-paris", "milan-paris"}) {
    const Link& link = topology.link(topology.require_link(name));
    EXPECT_EQ(link.capacity[0], link.capacity[1]) << "one draw for both directions";
    EXPECT_EQ(link.latency_s[0], link.latency_s[1]);
    EXPECT_GE(link.capacity[0], BitRate::bits_per_s(1e9));
    EXPECT_LT(link.capacity[0], BitRate::bits_per_s(2e9));
    latencies.insert(link.latency_s[0]);
  }
  EXPECT_EQ(latencies.size(), 3u);
}

TEST(AddClusters, MoreHostsOrClustersLeaveTheOtherDraws) {
  ClustersSpec spec = three_sites(ClusterShape::STAR);
  const Topology before = clusters(spec);
  spec.hosts = 5;
  spec.names.insert(spec.names.begin(), "vienna");
  const Topology after = clusters(spec);
  const Topology other_seed = clusters(spec, 2);
  for (const char* name : {"zurich-core", "milan-core", "paris-core"}) {
    EXPECT_TRUE(
        same_values(before.link(before.require_link(name)), after.link(after.require_link(name))))
        << name;
    EXPECT_FALSE(same_values(before.link(before.require_link(name)),
                             other_seed.link(other_seed.require_link(name))))
        << name;
  }
}

TEST(AddClusters, AsymmetricAndShared) {
  ClustersSpec spec = three_sites(ClusterShape::STAR);
  spec.wan.asymmetric = true;
  spec.wan.bandwidth_back = Distribution::parse("3 Gbit/s", Dimension::BIT_RATE);
  spec.fabric.shared = true;
  const Topology topology = clusters(spec);
  const Link& wan = topology.link(topology.require_link("milan-core"));
  EXPECT_LT(wan.capacity[0], BitRate::bits_per_s(2e9));
  EXPECT_EQ(wan.capacity[1], BitRate::bits_per_s(3e9));
  EXPECT_TRUE(topology.link(topology.require_link("milan/0-milan")).shared);

  spec.wan.shared = true;
  EXPECT_EQ(
      error_of(spec),
      "clusters.wan: it is shared by both directions, so it cannot have a bandwidth back of its "
      "own");
}

TEST(AddClusters, Errors) {
  const auto with_names = [](std::vector<std::string> names, ClusterShape shape) {
    ClustersSpec spec = three_sites(shape);
    spec.names = std::move(names);
    return error_of(spec);
  };
  const ClusterShape star = ClusterShape::STAR;
  EXPECT_THAT(with_names({}, star), HasSubstr("clusters: there is none"));
  EXPECT_THAT(with_names({"a", ""}, star), HasSubstr("a name is empty"));
  EXPECT_THAT(with_names({"a", "b", "a"}, star), HasSubstr("two are called \"a\""));
  EXPECT_THAT(with_names({"a/b"}, star), HasSubstr("the name \"a/b\" has a \"/\""));
  EXPECT_THAT(with_names({"core"}, star), HasSubstr("\"core\" is the switch in the middle"));
  EXPECT_EQ(with_names({"core"}, ClusterShape::FULL_MESH), "no error");
  ClustersSpec spec = three_sites(star);
  spec.hosts = 0;
  EXPECT_THAT(error_of(spec), HasSubstr("hosts is 0"));
}

TEST(AddStar, Devices) {
  StarSpec spec{
      .count = 13, .hub = "server", .link = link_spec("lognormal(8 Mbit/s, 0.6)", "20 ms")};
  spec.link.asymmetric = true;
  spec.link.bandwidth_back = Distribution::parse("lognormal(40 Mbit/s, 0.6)", Dimension::BIT_RATE);
  const Topology topology = star(spec);
  EXPECT_EQ(topology.node_count(), 14u);
  EXPECT_EQ(topology.link_count(), 13u);
  EXPECT_TRUE(topology.clusters().empty());
  EXPECT_TRUE(topology.node(topology.require_node("server")).host);
  EXPECT_TRUE(topology.node(topology.require_node("device12")).host);
  const Link& link = topology.link(topology.require_link("device12-server"));
  EXPECT_EQ(topology.node(link.a).name, "device12");
  EXPECT_EQ(topology.node(link.b).name, "server");
  EXPECT_NE(link.capacity[0], link.capacity[1]);
  EXPECT_EQ(link.latency_s[0], 0.02);

  spec.count = 20;
  const Topology larger = star(spec);
  EXPECT_TRUE(same_values(link, larger.link(larger.require_link("device12-server"))));
}

TEST(AddStar, JoinsAHubThatIsThere) {
  Topology topology = clusters(three_sites(ClusterShape::STAR));
  const std::size_t nodes = topology.node_count();
  RandomStream random(1, "star");
  add_star(topology, {.count = 2, .hub = "milan/0", .link = link_spec("1 Gbit/s", "1 ms")}, random);
  EXPECT_EQ(topology.node_count(), nodes + 2);
  EXPECT_EQ(topology.bundles_at(topology.require_node("milan/0")).size(), 3u);
}

TEST(AddStar, Errors) {
  const LinkSpec link = link_spec("1 Gbit/s", "1 ms");
  EXPECT_THAT(error_of(StarSpec{.count = 0, .hub = "server", .link = link}),
              HasSubstr("count is 0"));
  EXPECT_THAT(error_of(StarSpec{.count = 2, .hub = "", .link = link}), HasSubstr("hub is empty"));
  EXPECT_THAT(error_of(StarSpec{.count = 2, .hub = "device1", .link = link}),
              HasSubstr("the hub is called \"device1\", like one of its devices"));
  EXPECT_EQ(error_of(StarSpec{.count = 2, .hub = "device2", .link = link}), "no error");
  StarSpec both{.count = 2, .hub = "server", .link = link};
  both.link.shared = both.link.asymmetric = true;
  EXPECT_THAT(error_of(both), HasSubstr("star.link: it is shared"));
}

}  // namespace
}  // namespace syncline
