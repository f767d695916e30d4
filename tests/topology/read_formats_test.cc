// The formats of fabrics, tables and matrices, by small samples.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/topology/read_helpers.h"

namespace syncline {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(ReadDot, NodesChainsDefaultsAndComments) {
  const ImportedTopology read = read_imported(sample("graph.dot"));
  EXPECT_EQ(read.format, "DOT");
  ASSERT_EQ(read.nodes.size(), 3U);
  EXPECT_EQ(read.nodes[0].label, "Basel \"Nord\"");
  EXPECT_EQ(read.nodes[1].at->longitude, -70.5);
  EXPECT_FALSE(read.nodes[2].host);
  EXPECT_TRUE(read.nodes[1].host);
  ASSERT_EQ(read.links.size(), 4U);
  EXPECT_TRUE(read.links[0].directed);
  EXPECT_EQ(read.links[0].bandwidth->in_bits_per_s(), 10e9);
  EXPECT_EQ(read.links[2].bandwidth->in_bits_per_s(), 1e9);
  EXPECT_EQ(read.links[3].latency_s, 0.02);
  EXPECT_EQ(read.links[3].line, 10U);
  const ReadTopology made = to_topology(read);
  EXPECT_EQ(made.topology.link_count(), 2U);
}

TEST(ReadDot, Undirected) {
  const Written file("graph{a--b--\"c d\"[bandwidth=5];e}");
  const ImportedTopology read = read_imported(file.path());
  EXPECT_EQ(read.nodes.size(), 4U);
  ASSERT_EQ(read.links.size(), 2U);
  EXPECT_FALSE(read.links[0].directed);
  EXPECT_EQ(read.links[1].bandwidth_number, 5);
}

TEST(ReadDot, Errors) {
  EXPECT_THAT(error_of_text("digraph {\n a -- b }"), HasSubstr(":2:4: edge: a digraph has edges"));
  EXPECT_THAT(error_of_text("graph {\n a - b }"), HasSubstr(":2:4: edge: -> or -- is needed"));
  EXPECT_THAT(error_of_text("graph {\n a [label=<b>] }"), HasSubstr(":2:11: label: HTML"));
  EXPECT_THAT(error_of_text("graph { a -- { b c } }"), HasSubstr("edges to a subgraph"));
  EXPECT_THAT(error_of_text("graph { a:n -- b }"), HasSubstr("ports are not read"));
  EXPECT_THAT(error_of_text("graph { /* a }"), HasSubstr(":1:9: the comment that opens here"));
  EXPECT_THAT(error_of_text("graph { a -- b [bandwidth=-1] }"),
              HasSubstr(":1:27: bandwidth: \"-1\" is negative"));
  EXPECT_THAT(error_of_text("graph { a }\ngraph { b }"), HasSubstr(":2:1: text behind the graph"));
  EXPECT_THAT(error_of_text("graph " + std::string(100, '{')), HasSubstr("nested over 64 deep"));
}

TEST(ReadTiers, LeafSpineWithBundles) {
  const ImportedTopology read = read_imported(sample("leaf_spine.topo"));
  ASSERT_EQ(read.nodes.size(), 4U + 2 + 1);
  ASSERT_EQ(read.links.size(), 4U + 2 * 2);
  EXPECT_TRUE(read.nodes[3].host);
  EXPECT_FALSE(read.nodes[4].host);
  const ImportedLink& up = link_of(read, "tor1", "spine0");
  EXPECT_EQ(up.bandwidth->in_bits_per_s(), 50e9);
  // Through two leaf switches and a spine: 2 * (1000 + 500) on links, 300 + 100 + 300 in switches.
  EXPECT_NEAR(2 * (*read.links[0].latency_s + *up.latency_s), 3700e-9, 1e-15);
  EXPECT_EQ(count(read).components, 1U);
}

TEST(ReadTiers, Errors) {
  const std::string text = text_of(sample("leaf_spine.topo"));
  EXPECT_THAT(error_of_text(replaced(text, "Nodes 4", "Nodes 5")), HasSubstr("do not divide by 2"));
  EXPECT_THAT(error_of_text(replaced(text, "Tiers 2", "Tiers 7")),
              HasSubstr(":3:7: Tiers: 2 or 3"));
  EXPECT_THAT(error_of_text(replaced(text, "Radix_Down 4", "Radix_Down 6")),
              HasSubstr(":12:1: Radix_Down: is 6; 2 switches below with bundles of 2 need 4"));
  EXPECT_THAT(error_of_text(replaced(text, "Radix_Up 2\n", "")),
              HasSubstr(":5:1: radix_up: is missing"));
  EXPECT_THAT(error_of_text(replaced(text, "Gbps 50", "Gbps 0")), HasSubstr("more than 0"));
  EXPECT_THAT(error_of_text(replaced(text, "Tier 1", "Tier 2")), HasSubstr("where tier 1 is next"));
}

TEST(ReadLinkTable, SkyplaneTakesPremiumAndTheFirstRow) {
  const ImportedTopology read = read_imported(sample("skyplane.csv"));
  EXPECT_EQ(read.format, "Skyplane throughput");
  ASSERT_EQ(read.nodes.size(), 3U);
  EXPECT_EQ(read.links.size(), 7U);
  EXPECT_EQ(link_of(read, "aws:a", "gcp:c").bandwidth->in_bits_per_s(), 2e9);
  EXPECT_EQ(read.nodes[0].up->in_bits_per_s(), 5e9);
  EXPECT_EQ(read.nodes[0].down->in_bits_per_s(), 3e9);
  EXPECT_EQ(times_warned(read, "repeated rows"), 1U);
  EXPECT_EQ(times_warned(read, "other tiers"), 1U);
  const std::string sister =
      replaced(replaced(text_of(sample("skyplane.csv")), "sent_bits_per_second", "sent"),
               "throughput_received_bits_per_second", "throughput_recieved");
  const Written file(sister);
  EXPECT_EQ(read_imported(file.path()).nodes[0].up->in_bits_per_s(), 5e9);
}

TEST(ReadLinkTable, Pairs) {
  const ReadTopology made = read_topology(sample("pairs.csv"));
  EXPECT_EQ(made.topology.link_count(), 2U);
  const Link& link = made.topology.link(LinkId{0});
  EXPECT_EQ(made.topology.node(link.a).name, "Basel, CH");
  EXPECT_EQ(link.capacity[1].in_bits_per_s(), 0.5e9);
  EXPECT_EQ(link.latency_s[0], 0.002);
  EXPECT_THAT(error_of_text("a,b,delay_ms\nx,y,-3\n"), HasSubstr(":2:5: delay_ms: \"-3\""));
  EXPECT_THAT(error_of_text("a,b,delay_ms\nx,y\n"), HasSubstr(":2: the row has 2 fields"));
  EXPECT_THAT(error_of_text("a,b,delay_ms\n\"x,y,1\n"), HasSubstr(":2:1: the quote that opens"));
}

TEST(ReadRttMatrix, HalfOfEachValueInTheUnitThatIsGiven) {
  const ImportedTopology read = read_imported(sample("matrix.txt"));
  ASSERT_EQ(read.nodes.size(), 3U);
  ASSERT_EQ(read.links.size(), 7U);  // one of a node to itself
  EXPECT_TRUE(read.paths);
  EXPECT_EQ(link_of(read, "0", "1").latency_number, 0.1);
  EXPECT_FALSE(link_of(read, "0", "2").latency_number);
  EXPECT_EQ(times_warned(read, "missing measurement"), 1U);
  ReadOptions options;
  options.missing_bandwidth = BitRate::bits_per_s(1e9);
  EXPECT_THAT(error_of([&] { to_topology(read, options); }),
              AllOf(HasSubstr("latency without unit"), HasSubstr("no latency")));
  EXPECT_THAT(error_of_text("0 1 2 3\n1 0 2 3\n1 2 0 3\n2 3 4\n"),
              HasSubstr(":4: row: has 3 values; the first row has 4"));
  EXPECT_THAT(error_of_text("0 1 2\n1 0 2\n1 2 0\n1 2 0\n"), HasSubstr("3 columns for 4 rows"));
  EXPECT_THAT(error_of_text("0 1 -2\n1 0 2\n1 2 0\n"), HasSubstr(":1:5: round-trip time: \"-2\""));
}

TEST(ReadSpeedTests, ADeviceARow) {
  const ImportedTopology read = read_imported(sample("ookla.csv"));
  ASSERT_EQ(read.nodes.size(), 5U);
  EXPECT_EQ(read.nodes[1].down->in_bits_per_s(), 2e9);
  EXPECT_EQ(read.nodes[1].up->in_bits_per_s(), 1e8);
  EXPECT_DOUBLE_EQ(*read.links[1].latency_s, 0.009);
  const ReadTopology made = to_topology(read);
  EXPECT_EQ(made.topology.link_count(), 6U);  // each device has its access link
  EXPECT_THAT(error_of_text("downlink_Mbps,latency_ms\n1,2\n"),
              HasSubstr(":1: header: there is no column uplink_Mbps"));
  EXPECT_THAT(error_of_text("downlink_Mbps,uplink_Mbps,latency_ms\n1,nan,2\n"),
              HasSubstr(":2:3: uplink_Mbps: \"nan\""));
}

TEST(OtherKinds, AreRefusedAsWhatTheyAre) {
  EXPECT_THAT(error_of_text("src,dest,src_tier,dest_tier,cost\na,b,P,P,0.1\n"),
              HasSubstr("prices of traffic"));
  EXPECT_THAT(error_of_text("0 0\n1 1\n2 0\n"), HasSubstr("a SimGrid profile"));
  EXPECT_THAT(error_of_text("2 2000000\n4 3000000\nLOOPAFTER 6\n"), HasSubstr("a SimGrid profile"));
  EXPECT_THAT(error_of_text("0\n4\n4\n"), HasSubstr("a link's trace, no topology"));
  EXPECT_THAT(error_of_text("0.0 1.5\n1.0 2.5\n"), HasSubstr("a link's trace, no topology"));
  EXPECT_THAT(error_of_text("# c\n0 25.5 9.4 h 1.4\n"), HasSubstr("network coordinates"));
  EXPECT_EQ(error_of_text("0 1\n1 2\n2 0\n"), "no error");  // Orbis
}

}  // namespace
}  // namespace syncline
