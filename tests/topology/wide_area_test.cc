#include "topology/wide_area.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "topology/cloud_regions.h"
#include "topology/input_error.h"

namespace syncline {
namespace {

using testing::HasSubstr;

LinkSpec link(double rate, double latency_s = 0) {
  LinkSpec spec;
  spec.bandwidth = Distribution::constant(rate);
  spec.latency = Distribution::constant(latency_s);
  return spec;
}

const Link& named(const Topology& topology, const char* name) {
  return topology.link(topology.require_link(name));
}

template <class Spec, class Add>
std::string error_of(const Spec& spec, const Add& add) {
  Topology topology;
  RandomStream random(1, "test");
  try {
    add(topology, spec, random);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(CloudRegionsTest, AreOrderedAndOnTheGlobe) {
  const std::vector<std::string> names = cloud_region_names();
  EXPECT_GT(names.size(), 90U);
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
  for (const std::string& name : names) {
    const GeoPoint at = *find_cloud_region(name);
    EXPECT_LE(std::abs(at.latitude), 90) << name;
    EXPECT_LE(std::abs(at.longitude), 180) << name;
  }
  EXPECT_EQ(find_cloud_region("gcp:europe-west4-a"), find_cloud_region("gcp:europe-west4"));
  EXPECT_FALSE(find_cloud_region("aws:eu-west-1-a"));
  EXPECT_FALSE(find_cloud_region("a"));
  EXPECT_FALSE(find_cloud_region(""));
}

TEST(CloudTest, LatencyIsTheGreatCircle) {
  CloudSpec spec;
  spec.regions = {"aws:us-east-1", "aws:eu-central-1", "gcp:asia-northeast1"};
  spec.hosts = 2;
  spec.fabric = link(10);
  spec.link = link(5, 0.001);
  spec.detour = 1.5;
  Topology topology;
  RandomStream random(1, "test");
  add_cloud(topology, spec, random);
  EXPECT_EQ(topology.node_count(), 3U * 3);
  EXPECT_EQ(topology.link_count(), 6U + 3);
  EXPECT_EQ(topology.hosts_of("aws:eu-central-1").size(), 2U);
  // Virginia to Frankfurt is 6,530 km.
  const Link& ocean = named(topology, "aws:us-east-1-aws:eu-central-1");
  EXPECT_NEAR(ocean.latency_s[0], 0.001 + 1.5 * 6.53e6 / 2e8, 2e-4);
  EXPECT_EQ(ocean.capacity[1].in_bytes_per_s(), 5);
  EXPECT_TRUE(topology.node(ocean.a).at);
}

TEST(CloudTest, WhatWasMeasured) {
  CloudSpec spec;
  spec.regions = {"aws:us-east-1", "aws:eu-central-1"};
  spec.hosts = 3;
  spec.measured = {{{"aws:us-east-1", "aws:eu-central-1"}, 5},
                   {{"aws:eu-central-1", "aws:us-east-1"}, 7}};
  spec.machine = {{"aws:us-east-1", {8, 9}}};
  Topology topology;
  RandomStream random(1, "test");
  add_cloud(topology, spec, random);
  const Link& ocean = named(topology, "aws:us-east-1-aws:eu-central-1");
  EXPECT_EQ(ocean.capacity[0].in_bytes_per_s(), 15);
  EXPECT_EQ(ocean.capacity[1].in_bytes_per_s(), 21);
  const Link& machine = named(topology, "aws:us-east-1/2-aws:us-east-1");
  EXPECT_EQ(machine.capacity[0].in_bytes_per_s(), 8);
  EXPECT_EQ(machine.capacity[1].in_bytes_per_s(), 9);
  spec.regions.push_back("aws:eu-west-1");
  EXPECT_THAT(error_of(spec, add_cloud),
              HasSubstr("nothing was measured from \"aws:us-east-1\" to \"aws:eu-west-1\""));
}

TEST(CloudTest, Errors) {
  CloudSpec spec;
  spec.regions = {"aws:us-east-1"};
  EXPECT_THAT(error_of(spec, add_cloud), HasSubstr("regions: "));
  spec.regions = {"aws:us-east-1", "aws:us-esat-2"};
  EXPECT_THAT(error_of(spec, add_cloud), HasSubstr("near to it: aws:us-east-2"));
  spec.regions = {"aws:us-east-1", "aws:us-east-1"};
  EXPECT_THAT(error_of(spec, add_cloud), HasSubstr("two nodes are called"));
  spec.regions = {"aws:us-east-1", "aws:us-east-2"};
  spec.detour = 0.5;
  EXPECT_THAT(error_of(spec, add_cloud), HasSubstr("detour: 0.5"));
  spec.detour = 1;
  spec.hosts = 0;
  EXPECT_THAT(error_of(spec, add_cloud), HasSubstr("hosts: "));
}

TEST(EdgeTest, DevicesBehindSites) {
  EdgeSpec spec;
  spec.count = 5;
  spec.sites = 2;
  spec.link = link(3, 0.01);
  spec.backhaul = link(100, 0.002);
  Topology topology;
  RandomStream random(1, "test");
  add_edge(topology, spec, random);
  EXPECT_EQ(topology.node_count(), 1U + 2 + 5);
  EXPECT_EQ(topology.link_count(), 7U);
  EXPECT_EQ(named(topology, "device3-site1").capacity[0].in_bytes_per_s(), 3);
  EXPECT_EQ(named(topology, "site0-server").latency_s[0], 0.002);
  EXPECT_FALSE(topology.node(topology.require_node("site1")).host);
}

TEST(EdgeTest, LastMilesAreDrawnByName) {
  EdgeSpec spec;
  spec.count = 400;
  for (int i = 1; i <= 4; ++i) spec.measured.push_back({i * 1.0, i * 10.0, i * 0.001});
  const auto make = [&](std::uint32_t count) {
    spec.count = count;
    Topology topology;
    RandomStream random(1, "test");
    add_edge(topology, spec, random);
    return topology;
  };
  const Topology all = make(400);
  std::array<int, 5> drawn{};
  for (std::uint32_t i = 0; i < all.link_count(); ++i) {
    const Link& mile = all.link(LinkId{i});
    EXPECT_EQ(mile.capacity[1].in_bytes_per_s(), 10 * mile.capacity[0].in_bytes_per_s());
    EXPECT_EQ(mile.latency_s[0], mile.capacity[0].in_bytes_per_s() * 0.001);
    ++drawn[static_cast<std::size_t>(mile.capacity[0].in_bytes_per_s())];
  }
  for (int i = 1; i <= 4; ++i) EXPECT_NEAR(drawn[static_cast<std::size_t>(i)], 100, 40);
  const Topology fewer = make(100);
  for (std::uint32_t i = 0; i < fewer.link_count(); ++i)
    EXPECT_EQ(fewer.link(LinkId{i}).capacity, all.link(LinkId{i}).capacity);
}

TEST(EdgeTest, Errors) {
  EdgeSpec spec;
  EXPECT_THAT(error_of(spec, add_edge), HasSubstr("count: "));
  spec.count = 2;
  spec.sites = 3;
  EXPECT_THAT(error_of(spec, add_edge), HasSubstr("sites: "));
  spec.sites = 0;
  spec.hub = "";
  EXPECT_THAT(error_of(spec, add_edge), HasSubstr("hub: "));
}

}  // namespace
}  // namespace syncline
