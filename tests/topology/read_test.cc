#include "topology/read/read.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/topology/read_helpers.h"
#include "topology/read/text_source.h"

namespace syncline {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;

TEST(ReadTopologyTest, GraphMl) {
  const ImportedTopology read = read_imported(sample("zoo.graphml"));
  EXPECT_EQ(read.format, "GraphML");
  ASSERT_EQ(read.nodes.size(), 3U);
  ASSERT_EQ(read.links.size(), 4U);
  EXPECT_EQ(read.nodes[0].label, "Basel");
  EXPECT_EQ(read.nodes[0].at->latitude, 47.56);
  EXPECT_EQ(read.links[0].bandwidth->in_bits_per_s(), 2e6);
  EXPECT_EQ(read.links[1].bandwidth->in_bits_per_s(), 2.5e9);
  EXPECT_TRUE(read.links[2].planned);
  EXPECT_EQ(read.links[2].line, 16U);
  const ImportedCounts counts = count(read);
  EXPECT_EQ(counts.components, 1U);
  EXPECT_EQ(counts.parallel_links, 1U);
  EXPECT_EQ(counts.self_loops, 1U);
}

TEST(ReadTopologyTest, MissingFactsAreAskedFor) {
  const std::string path = sample("zoo.graphml");
  EXPECT_THAT(error_of([&] { read_topology(path); }),
              AllOf(HasSubstr("1 link has no bandwidth"), HasSubstr("line 16: id:1 - id:2"),
                    HasSubstr("1 link has no latency")));
  ReadOptions options;
  options.missing_bandwidth = BitRate::bits_per_s(1e6);
  options.missing_latency_s = 0.002;
  const ReadTopology all = read_topology(path, options);
  EXPECT_EQ(all.topology.link_count(), 3U);
  EXPECT_EQ(all.topology.node(NodeId{1}).name, "id:1");
  EXPECT_EQ(all.topology.link(LinkId{2}).latency_s[0], 0.002);
  EXPECT_EQ(all.assumed.size(), 3U);  // bandwidth, latency, coordinates
  options.drop_planned = true;
  EXPECT_EQ(read_topology(path, options).topology.link_count(), 2U);
}

TEST(ReadTopologyTest, RepeatedLabelsAreAskedBackWithTheirIds) {
  const ImportedTopology read = read_imported(sample("zoo.graphml"));
  EXPECT_EQ(find_imported_node(read, "Basel"), 0U);
  EXPECT_EQ(find_imported_node(read, "id:2"), 2U);
  EXPECT_THAT(error_of([&] { find_imported_node(read, "Bern"); }),
              AllOf(HasSubstr("\"id:1\""), HasSubstr("\"id:2\"")));
  EXPECT_THAT(error_of([&] { find_imported_node(read, "Bsael"); }), HasSubstr("Basel"));
}

TEST(ReadTopologyTest, ShadowGml) {
  const ImportedTopology read = read_imported(sample("shadow.gml"));
  EXPECT_EQ(read.nodes[0].up->in_bits_per_s(), 4e6);
  EXPECT_EQ(read.nodes[1].down->in_bits_per_s(), 1024);
  EXPECT_EQ(read.nodes[0].self_latency_s, 0.001);
  const ReadTopology made = to_topology(read);
  EXPECT_EQ(made.topology.node_count(), 4U);
  const Link& access = made.topology.link(*made.topology.find_link("a/access"));
  EXPECT_EQ(access.capacity[0].in_bits_per_s(), 4e6);
  EXPECT_EQ(access.capacity[1].in_bits_per_s(), 8e6);
}

TEST(ReadTopologyTest, Sndlib) {
  const ImportedTopology native = read_imported(sample("native.sndlib.txt"));
  ASSERT_EQ(native.links.size(), 2U);
  EXPECT_EQ(native.links[0].bandwidth->in_bits_per_s(), 1e8);
  EXPECT_FALSE(native.links[1].bandwidth);  // a module that could be bought is no capacity
  EXPECT_EQ(native.nodes[0].at->latitude, 47.56);
  const ImportedTopology xml = read_imported(sample("sndlib.xml"));
  ASSERT_EQ(xml.links.size(), 1U);
  EXPECT_EQ(xml.links[0].bandwidth->in_bits_per_s(), 1e8);
}

TEST(ReadTopologyTest, RepetitaNeedsTheUnitOfItsDelays) {
  const std::string path = sample("pair.graph");
  EXPECT_THAT(error_of([&] { read_topology(path); }), HasSubstr("a latency without unit"));
  const ReadTopology made = read_topology(path, {.latency_unit = "us"});
  ASSERT_EQ(made.topology.link_count(), 1U);
  EXPECT_DOUBLE_EQ(made.topology.link(LinkId{0}).latency_s[1], 400e-6);
  EXPECT_EQ(made.topology.link(LinkId{0}).capacity[1].in_bits_per_s(), 1e6);
}

TEST(ReadTopologyTest, HpccReadsAsManyLinksAsItsFirstLineSays) {
  const ImportedTopology read = read_imported(sample("hpcc.txt"));
  ASSERT_EQ(read.links.size(), 2U);
  EXPECT_FALSE(read.nodes[2].host);
  EXPECT_EQ(read.links[0].bandwidth->in_bits_per_s(), 1e11);
  EXPECT_DOUBLE_EQ(*read.links[1].latency_s, 1e-6);
  ASSERT_EQ(read.warnings.size(), 1U);
  EXPECT_EQ(read.warnings[0].line, 5U);
}

TEST(ReadTopologyTest, InetAndJson) {
  EXPECT_EQ(read_imported(sample("inet.txt")).links.size(), 2U);
  const ReadTopology made = read_topology(sample("node_link.json"),
                                          {.bandwidth_unit = "Gbit/s", .missing_latency_s = 0.001});
  ASSERT_EQ(made.topology.link_count(), 1U);
  EXPECT_EQ(made.topology.link(LinkId{0}).capacity[0].in_bits_per_s(), 5e9);
}

TEST(ReadTopologyTest, Orbis) {
  const ImportedTopology read = read_imported(sample("orbis.txt"));
  EXPECT_EQ(read.format, "Orbis");
  EXPECT_EQ(read.nodes.size(), 3U);
  EXPECT_EQ(read.links.size(), 3U);
  EXPECT_THAT(error_of_text("1 2\n3 x\n"), HasSubstr(":2:3: destination: \"x\""));
}

TEST(ReadTopologyTest, RocketfuelNamesEachLinkTwice) {
  const ImportedTopology read = read_imported(sample("rocketfuel.txt"));
  EXPECT_EQ(read.nodes[0].label, "Basel,+CH");
  EXPECT_EQ(read.links.size(), 2U);
  ReadOptions options;
  options.missing_bandwidth = BitRate::bits_per_s(1e9);
  options.missing_latency_s = 0.001;
  EXPECT_EQ(to_topology(read, options).topology.link_count(), 1U);
  EXPECT_THAT(error_of_text("1 @a (1) -> <7> r0\n"), HasSubstr("neighbour: there is no node"));
}

TEST(ReadTopologyTest, WrongNumbers) {
  const std::string graph = text_of(sample("pair.graph"));
  for (const char* const wrong : {"nan", "inf", "1e400", "-1", "12x", "0x10", "1,5"}) {
    EXPECT_THAT(error_of_text(replaced(graph, "10 1000 ", std::string("10 ") + wrong + " ")),
                HasSubstr(":8:15: bw: \"" + std::string(wrong) + "\""));
  }
  EXPECT_THAT(error_of_text(replaced(graph, "edge_0 0 1", "edge_0 0 7")), HasSubstr("dest: 7"));
  EXPECT_THAT(error_of_text(replaced(graph, "47.56", "147.56")), HasSubstr("-90 to 90"));
  const std::string json = text_of(sample("node_link.json"));
  EXPECT_THAT(error_of_text(replaced(json, "5.0", "1e400")), Not(EndsWith("no error")));
  EXPECT_THAT(error_of_text(replaced(json, "5.0", "-5.0")), HasSubstr("links[0].capacity"));
  EXPECT_THAT(error_of_text(replaced(text_of(sample("zoo.graphml")), "2000000.0", "-1")),
              HasSubstr(":14: LinkSpeedRaw: \"-1\" is negative"));
}

TEST(ReadTopologyTest, RepeatedIdsAndUnknownEnds) {
  const std::string graphml = text_of(sample("zoo.graphml"));
  EXPECT_THAT(error_of_text(replaced(graphml, "node id=\"1\"", "node id=\"0\"")),
              HasSubstr(":12: node: \"0\" is there already, in line 11"));
  EXPECT_THAT(error_of_text(replaced(graphml, "target=\"1\"", "target=\"9\"")),
              HasSubstr(":14: edge target: there is no node \"9\""));
  EXPECT_THAT(error_of_text(replaced(text_of(sample("shadow.gml")), "id 1", "id 0")),
              HasSubstr("is there already"));
}

TEST(ReadTopologyTest, XmlWithEntitiesIsRefused) {
  EXPECT_THAT(error_of_text("<?xml version=\"1.0\"?>\n<!DOCTYPE g [\n<!ENTITY a \"aaaa\">\n"
                            "<!ENTITY b SYSTEM \"file:///etc/passwd\">]>\n<graphml>&a;</graphml>"),
              HasSubstr(":3:1: entities are not read"));
}

TEST(TextSourceTest, WhatIsNoTextOfRightSize) {
  EXPECT_THAT(error_of([] { read_imported("/nowhere/x.gml"); }), HasSubstr("no such file"));
  EXPECT_THAT(error_of([] { read_imported(testing::TempDir()); }), HasSubstr("is a directory"));
  EXPECT_THAT(error_of([] { read_imported("/dev/zero"); }), HasSubstr("is not a plain file"));
  EXPECT_THAT(error_of_text(std::string("graph [\n\0", 9)), HasSubstr(":2:1: a zero byte"));
  EXPECT_THAT(error_of_text(""), HasSubstr("is empty"));
  EXPECT_THAT(error_of_text("hello world"), HasSubstr("format is not known"));
  const TextLimits limits{.file_bytes = 100, .line_bytes = 10};
  EXPECT_THAT(error_of([&] { TextSource("f", std::string(101, '\n'), limits); }),
              HasSubstr("f: has 101 bytes; at most 100"));
  EXPECT_THAT(error_of([&] { TextSource("f", "a\n" + std::string(11, 'x'), limits); }),
              HasSubstr("f:2: the line has more than 10 bytes"));
}

// The published files; skipped where SYNCLINE_DATA does not name their folder.
class PublishedTopologies : public testing::Test {
 protected:
  void SetUp() override {
    const char* const data = std::getenv("SYNCLINE_DATA");
    if (data == nullptr) GTEST_SKIP() << "SYNCLINE_DATA names no folder";
    folder_ = std::string(data) + "/topologies/";
  }
  std::string folder_;
};

TEST_F(PublishedTopologies, HaveTheExpectedShape) {
  std::ifstream table(folder_ + "EXPECTED.tsv");
  std::string line;
  std::getline(table, line);
  std::size_t files = 0;
  while (std::getline(table, line)) {
    std::istringstream row(line);
    std::string file;
    std::size_t nodes = 0, records = 0, parallel = 0, loops = 0, components = 0, speeds = 0;
    row >> file >> nodes >> records >> parallel >> loops >> components >> speeds;
    SCOPED_TRACE(file);
    const ImportedTopology read = read_imported(folder_ + file);
    const ImportedCounts counts = count(read);
    EXPECT_EQ(read.nodes.size(), nodes);
    EXPECT_EQ(read.links.size(), records);
    EXPECT_EQ(counts.parallel_links, parallel);
    EXPECT_EQ(counts.self_loops, loops);
    EXPECT_EQ(counts.components, components);
    EXPECT_EQ(counts.links_with_bandwidth, speeds);
    ++files;
  }
  EXPECT_EQ(files, 21U);
}

}  // namespace
}  // namespace syncline
