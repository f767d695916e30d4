// ASTRA-sim's networks and Shadow's experiments.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/topology/read_helpers.h"
#include "topology/routing.h"

namespace syncline {
namespace {

using testing::HasSubstr;

double latency_s(const Topology& topology, const std::string& a, const std::string& b) {
  Router router(topology);
  return router.route(topology.require_node(a), topology.require_node(b)).latency_s;
}

TEST(ReadAstra, SwitchesAndRings) {
  const ImportedTopology read = read_imported(sample("astra.yml"));
  EXPECT_EQ(read.format, "ASTRA-sim network");
  ASSERT_EQ(read.nodes.size(), 6U + 3);
  EXPECT_EQ(read.links.size(), 6U + 2 * 3);
  EXPECT_EQ(link_of(read, "npu2", "dim0_switch1").bandwidth->in_bytes_per_s(), 400.0 * (1 << 30));
  EXPECT_EQ(link_of(read, "npu0", "npu2").bandwidth->in_bytes_per_s(), 50.0 * (1 << 30));
  EXPECT_EQ(link_of(read, "npu5", "npu1").latency_s, 500.5e-9);
  const ReadTopology made = to_topology(read);
  EXPECT_NEAR(latency_s(made.topology, "npu0", "npu1"), 1800e-9, 1e-15);  // the switch: twice
}

TEST(ReadAstra, FullyConnectedAndPairs) {
  const Written file(
      "topology: [FullyConnected, Ring]\nnpus_count: [4, 2]\nbandwidth: [1, 1]\nlatency: [1, 1]\n");
  EXPECT_EQ(read_imported(file.path()).links.size(), 2U * 6 + 4);
}

TEST(ReadAstra, Errors) {
  const std::string text = text_of(sample("astra.yml"));
  EXPECT_THAT(error_of_text(replaced(text, "Switch,", "Star,")),
              HasSubstr(":2:13: topology: \"Star\" is none of Ring"));
  EXPECT_THAT(error_of_text(replaced(text, "[ 2, 3 ]", "[ 2 ]")),
              HasSubstr(":3:13: npus_count: has 1 values; topology has 2"));
  EXPECT_THAT(error_of_text(replaced(text, "2, 3", "2, 0")), HasSubstr("npus_count: is 0"));
  EXPECT_THAT(error_of_text(replaced(text, "2, 3", "999999, 999999")),
              HasSubstr("more than 1000000"));
  EXPECT_THAT(error_of_text(replaced(text, "400.0", ".nan")), HasSubstr("bandwidth: \".nan\""));
  EXPECT_THAT(error_of_text(replaced(text, "900", "-1")),
              HasSubstr(":5:12: latency: \"-1\" is negative"));
  EXPECT_THAT(error_of_text(replaced(text, "latency", "delay")), HasSubstr("latency: is missing"));
  EXPECT_THAT(error_of_text(text + "latency: [1, 1]\n"), HasSubstr("is written twice"));
  EXPECT_THAT(error_of_text("a: [1, 2\nb: {"), HasSubstr("is not well-formed YAML"));
  EXPECT_THAT(error_of_text("a: b\n"), HasSubstr("neither npus_count"));
  EXPECT_THAT(error_of_text("a: " + std::string(100'000, '[')), HasSubstr("not well-formed YAML"));
}

TEST(ReadShadow, HostsStandAtTheirPlaces) {
  const ImportedTopology read = read_imported(sample("shadow.yaml"));
  EXPECT_EQ(read.format, "Shadow");
  ASSERT_EQ(read.nodes.size(), 2U + 4);
  EXPECT_EQ(read.nodes[2].down->in_bits_per_s(), 20e6);
  EXPECT_EQ(read.nodes[5].up->in_bits_per_s(), 2e3);
  const Topology topology = to_topology(read).topology;
  EXPECT_NEAR(latency_s(topology, "client1", "client2"), 0.010, 1e-12);
  EXPECT_NEAR(latency_s(topology, "server", "client1"), 0.010, 1e-12);
  EXPECT_NEAR(latency_s(topology, "server", "far"), 0.050, 1e-12);
}

TEST(ReadShadow, Errors) {
  const std::string text = text_of(sample("shadow.yaml"));
  // Lines count as in the file, in the graph as well.
  EXPECT_THAT(error_of_text(replaced(text, "target 1 latency \"4", "target 7 latency \"4")),
              HasSubstr(":11:32: edge.target: there is no node \"7\""));
  EXPECT_THAT(error_of_text(replaced(text, "network_node_id: 1", "network_node_id: 5")),
              HasSubstr(":21:22: hosts.far.network_node_id: there is no node \"5\""));
  EXPECT_THAT(error_of_text(replaced(text, "bandwidth_down: 1 Gbit", "")),
              HasSubstr(":20: hosts.far: has no bandwidth"));
  EXPECT_THAT(error_of_text(replaced(text, "count: 2", "count: -2")),
              HasSubstr("hosts.client.count: \"-2\""));
  EXPECT_THAT(error_of_text(replaced(text, "type: gml", "type: tree")), HasSubstr("neither gml"));
  EXPECT_THAT(error_of_text("network:\n  graph:\n    type: gml\n    file: {path: nowhere.gml}\n"),
              HasSubstr("nowhere.gml: there is no such file"));
}

}  // namespace
}  // namespace syncline
