// SimGrid's platforms: ways as its own routing takes them, clusters, profiles.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/topology/read_helpers.h"
#include "topology/routing.h"

namespace syncline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The names of the links of a way.
std::vector<std::string> way(const ReadTopology& read, const std::string& a, const std::string& b) {
  Router router(read.topology);
  std::vector<std::string> names;
  for (const Hop& hop :
       router.route(read.topology.require_node(a), read.topology.require_node(b)).hops)
    names.push_back(read.topology.link(read.topology.bundle(hop.bundle).members.front()).name);
  return names;
}

double latency_s(const ReadTopology& read, const std::string& a, const std::string& b) {
  Router router(read.topology);
  return router.route(read.topology.require_node(a), read.topology.require_node(b)).latency_s;
}

BitRate narrowest(const ReadTopology& read, const std::string& a, const std::string& b) {
  Router router(read.topology);
  BitRate least = BitRate::infinite();
  for (const Hop& hop :
       router.route(read.topology.require_node(a), read.topology.require_node(b)).hops) {
    const Link& link = read.topology.link(read.topology.bundle(hop.bundle).members.front());
    least = std::min(least, std::max(link.capacity[0], link.capacity[1]));
  }
  return least;
}

TEST(ReadSimgrid, WaysThroughZonesGatewaysAndClusters) {
  const ReadTopology read = read_topology(sample("platform.xml"));
  EXPECT_THAT(way(read, "a", "b"), ElementsAre("l1", "l2"));
  EXPECT_THAT(way(read, "b", "a"), ElementsAre("l2", "l1"));
  EXPECT_THAT(way(read, "n-0.x", "n-7.x"),
              ElementsAre("farm/link0", "farm_backbone", "farm/link3"));
  EXPECT_THAT(way(read, "b", "n-1.x"),
              ElementsAre("l2", "up", "to_farm", "farm_backbone", "farm/link1"));
  EXPECT_THAT(way(read, "n-1.x", "b"),
              ElementsAre("farm/link1", "farm_backbone", "to_farm", "up", "l2"));
  EXPECT_NEAR(latency_s(read, "b", "n-1.x"), 100e-6 + 10e-3 + 2e-3 + 5e-6 + 50e-6, 1e-12);
  EXPECT_EQ(narrowest(read, "b", "n-1.x").in_bytes_per_s(), 1e6);
  const Topology& topology = read.topology;
  EXPECT_TRUE(topology.link(topology.require_link("l1")).shared);
  EXPECT_FALSE(topology.link(topology.require_link("l2")).shared);
}

TEST(ReadSimgrid, EachDirectionOfASplitLinkIsAChannel) {
  const ReadTopology read = read_topology(sample("platform.xml"));
  Router router(read.topology);
  const NodeId a = read.topology.require_node("a"), b = read.topology.require_node("b");
  EXPECT_NE(router.route(a, b).hops.back().direction, router.route(b, a).hops.front().direction);
  EXPECT_EQ(router.route(a, b).hops.back().direction,
            router.route(read.topology.require_node("gate"), b).hops.back().direction);
}

TEST(ReadSimgrid, ALinkOfAGivenWayThatIsDownLeavesNoWay) {
  const ReadTopology read = read_topology(sample("platform.xml"));
  Router router(read.topology);
  router.set_link_up(read.topology.require_link("l1"), false);
  const NodeId a = read.topology.require_node("a"), b = read.topology.require_node("b");
  EXPECT_THAT(error_of([&] { router.route(a, b); }), HasSubstr("no route from a to b"));
  router.set_link_up(read.topology.require_link("l1"), true);
  EXPECT_EQ(router.route(a, b).hops.size(), 2U);
}

TEST(ReadSimgrid, Profile) {
  const ReadTopology read = read_topology(sample("platform.xml"));
  ASSERT_EQ(read.traces.size(), 1U);
  EXPECT_EQ(read.topology.link(read.traces[0].link).name, "up");
  EXPECT_EQ(read.traces[0].trace.period, Time::seconds(10));
  ASSERT_EQ(read.traces[0].trace.points.size(), 2U);
  EXPECT_EQ(read.traces[0].trace.points[1].bandwidth, BitRate::bytes_per_s(3e6));
}

std::string platform(const std::string& inside) {
  return "<platform version=\"4.1\">\n<zone id=\"z\" routing=\"Full\">\n" + inside +
         "\n</zone>\n</platform>\n";
}

TEST(ReadSimgrid, FatTreeByDModK) {
  const Written file(platform(
      "<cluster id=\"c\" prefix=\"h\" suffix=\"\" radical=\"0-15\" bw=\"125MBps\" lat=\"50us\" "
      "topology=\"FAT_TREE\" topo_parameters=\"2;4,4;1,2;1,2\"/>"));
  const ImportedTopology imported = read_imported(file.path());
  EXPECT_EQ(imported.links.size(), 16U + 4 * 2 * 2);
  const ReadTopology read = to_topology(imported);
  EXPECT_THAT(way(read, "h0", "h3"), ElementsAre("c/up0_0_0", "c/up0_3_0"));
  // Port 5 % 4 = 1 of leaf switch 0: the second core switch; down by the first cable.
  EXPECT_THAT(way(read, "h0", "h5"),
              ElementsAre("c/up0_0_0", "c/up1_0_1", "c/up1_1_1", "c/up0_5_0"));
  EXPECT_THAT(way(read, "h0", "h14"),
              ElementsAre("c/up0_0_0", "c/up1_0_2", "c/up1_3_0", "c/up0_14_0"));
  for (int i = 0; i < 16; ++i) {
    for (int j = 0; j < 16; ++j) {
      if (i != j) {
        EXPECT_EQ(way(read, "h" + std::to_string(i), "h" + std::to_string(j)).size(),
                  i / 4 == j / 4 ? 2U : 4U);
      }
    }
  }
}

TEST(ReadSimgrid, TorusGoesTheShorterWayRound) {
  const Written file(platform(
      "<cluster id=\"c\" prefix=\"h\" suffix=\"\" radical=\"0-9\" bw=\"125MBps\" lat=\"50us\" "
      "topology=\"TORUS\" topo_parameters=\"5,2\"/>"));
  const ReadTopology read = read_topology(file.path());
  EXPECT_EQ(read.topology.link_count(), 10U + 5);
  EXPECT_THAT(way(read, "h0", "h2"), ElementsAre("c/dim0_0", "c/dim0_1"));
  EXPECT_THAT(way(read, "h0", "h4"), ElementsAre("c/dim0_4"));
  EXPECT_THAT(way(read, "h4", "h5"), ElementsAre("c/dim0_4", "c/dim1_0"));
}

TEST(ReadSimgrid, PeersByCoordinates) {
  const Written file(replaced(
      platform(
          "<peer id=\"a\" coordinates=\"0 3 1\" speed=\"1f\" bw_in=\"2MBps\" bw_out=\"1MBps\"/>"
          "<peer id=\"b\" coordinates=\"4 0 2\" speed=\"1f\" bw_in=\"4MBps\" bw_out=\"3MBps\"/>"),
      "Full", "Vivaldi"));
  const ReadTopology read = read_topology(file.path());
  EXPECT_NEAR(latency_s(read, "a", "b"), 8e-3, 1e-12);
  EXPECT_EQ(way(read, "a", "b").size(), 3U);
  const Link& access = read.topology.link(read.topology.require_link("a/access"));
  EXPECT_EQ(access.capacity[0].in_bytes_per_s(), 1e6);
  EXPECT_EQ(access.capacity[1].in_bytes_per_s(), 2e6);
}

TEST(ReadSimgrid, ProfilesOfUnlikePeriodsComeTogether) {
  const Written file(
      platform("<host id=\"a\"/><host id=\"b\"/><link id=\"l\" bandwidth=\"1MBps\" latency=\"0\"/>"
               "<route src=\"a\" dst=\"b\"><link_ctn id=\"l\"/></route>"
               "<trace id=\"x\" periodicity=\"6\">2 2000000\n4 3000000</trace>"
               "<trace id=\"y\" periodicity=\"6\">1 0.003\n3 0.015</trace>"
               "<trace_connect kind=\"BANDWIDTH\" trace=\"x\" element=\"l\"/>"
               "<trace_connect kind=\"LATENCY\" trace=\"y\" element=\"l\"/>"));
  const ReadTopology read = read_topology(file.path());
  ASSERT_EQ(read.traces.size(), 1U);
  const LinkTrace& trace = read.traces[0].trace;
  EXPECT_EQ(trace.period, Time::seconds(90));
  check_trace(trace, "l");
  std::vector<double> fast, far;
  for (const LinkTrace::Point& point : trace.points) {
    if (point.bandwidth == BitRate::bytes_per_s(2e6)) fast.push_back(point.at.in_seconds());
    if (point.latency_s == 0.015) far.push_back(point.at.in_seconds());
  }
  EXPECT_THAT(fast, ElementsAre(2, 12, 22, 32, 42, 52, 62, 72, 82));
  EXPECT_THAT(far, ElementsAre(3, 12, 21, 30, 39, 48, 57, 66, 75, 84));
}

TEST(ReadSimgrid, Errors) {
  const std::string text = text_of(sample("platform.xml"));
  EXPECT_THAT(error_of_text(replaced(text, "version=\"4.1\"", "version=\"3\"")),
              HasSubstr(":3: version: 3 is not 4 or 4.1"));
  EXPECT_THAT(error_of_text(replaced(text, "<link_ctn id=\"up\"/>", "<link_ctn id=\"no\"/>")),
              HasSubstr(":25: link_ctn: there is no link \"no\""));
  EXPECT_THAT(error_of_text(replaced(text, "id=\"l2\" band", "id=\"l1\" band")),
              HasSubstr(":14: link: \"l1\" is there already, in line 13"));
  EXPECT_THAT(error_of_text(replaced(text, "id=\"b\" speed", "id=\"a\" speed")),
              HasSubstr(":11: id: \"a\" is there already, in line 10"));
  EXPECT_THAT(error_of_text(replaced(text, "gw_src=\"gate\"", "gw_src=\"core\"")),
              HasSubstr(":25: gw_src: \"core\" is not in the zone \"site\""));
  EXPECT_THAT(error_of_text(replaced(text, "src=\"gate\" dst=\"b\"", "src=\"b\" dst=\"a\"")),
              HasSubstr(":19: route: b to a is there already"));
  EXPECT_THAT(error_of_text(replaced(text, "10MBps", "nanMBps")), HasSubstr(":13: bandwidth: "));
  EXPECT_THAT(error_of_text(replaced(text, "10MBps", "1e400")), HasSubstr(":13: bandwidth: "));
  EXPECT_THAT(error_of_text(replaced(text, "latency=\"1ms\"", "latency=\"-1ms\"")),
              HasSubstr(":13: latency: \"-1\" is negative"));
  EXPECT_THAT(error_of_text(replaced(text, "4.0 3000000", "1.0 3000000")),
              HasSubstr(":6:5: time: 1 s after 2 s"));
  EXPECT_THAT(error_of_text(replaced(text, "0-2,7", "0-9999999999")), HasSubstr("radical"));
  EXPECT_THAT(error_of_text(replaced(text, "Floyd", "Spiral")), HasSubstr("is none of Full"));
  EXPECT_THAT(error_of_text(replaced(text, "SPLITDUPLEX", "WIFI")), HasSubstr("sharing_policy"));
  EXPECT_THAT(error_of_text(platform("<include file=\"self.xml\"/>")),
              HasSubstr(":3: include: is not read"));
  EXPECT_THAT(error_of_text(platform("<bypassRoute src=\"a\" dst=\"b\"/>")),
              HasSubstr("bypassRoute"));
  EXPECT_THAT(error_of_text(platform("<link id=\"l\" bandwidth=\"1\" bandwidth_file=\"no\"/>")),
              HasSubstr(":3: bandwidth_file: "));
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += "<zone id=\"d" + std::to_string(i) + "\" routing=\"Full\">";
  for (int i = 0; i < 100; ++i) deep += "</zone>";
  EXPECT_THAT(error_of_text(platform(deep)), HasSubstr("nested over 64 deep"));
}

}  // namespace
}  // namespace syncline
