// Topologies of the wide area.
#include <gmock/gmock.h>

#include "tests/scenarios/base_scenario.h"
#include "tests/scenarios/describe.h"
#include "tests/scenarios/error_case.h"

namespace syncline {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

Lines on(const std::string& topology) {
  return {{2, "topology { " + topology}, {3, "}"}, {4, "workers { per: HOST }"}};
}
constexpr const char* kRegions = R"(regions: ["aws:us-east-1", "gcp:europe-west4"])";

TEST(WideArea, Cloud) {
  const BaseScenario base;
  const CheckedScenario scenario = base.load(
      on("cloud { " + std::string(kRegions) + " hosts: 2 link { bandwidth: \"5 Gbit/s\" } }"));
  EXPECT_EQ(scenario.workers.size(), 4u);
  EXPECT_THAT(scenario.assumptions,
              testing::Contains(HasSubstr("latency from the places of the regions")));
  EXPECT_EQ(describe(base.load_text(scenario.written)), describe(scenario));
}

TEST(WideArea, CloudAsMeasured) {
  const BaseScenario base;
  base.write("throughput.csv",
             "src_region,src_tier,dst_region,dst_tier,throughput_sent_bits_per_second\n"
             "aws:us-east-1,PREMIUM,gcp:europe-west4,PREMIUM,2e9\n"
             "gcp:europe-west4,PREMIUM,aws:us-east-1,PREMIUM,3e9\n");
  const CheckedScenario scenario =
      base.load(on("cloud { " + std::string(kRegions) + " measured: \"throughput.csv\" }"));
  const Topology& topology = scenario.topology;
  const Link& ocean = topology.link(topology.require_link("aws:us-east-1-gcp:europe-west4"));
  EXPECT_EQ(ocean.capacity[0], BitRate::bits_per_s(2e9));
  EXPECT_EQ(ocean.capacity[1], BitRate::bits_per_s(3e9));
  EXPECT_EQ(describe(base.load_text(scenario.written)), describe(scenario));
  EXPECT_THAT(base.error(on("cloud { " + std::string(kRegions) +
                            " measured: \"throughput.csv\" link { bandwidth: \"1 Gbit/s\" } }")),
              HasSubstr("topology.cloud.link: its values are in `measured`"));
}

TEST(WideArea, CloudErrors) {
  const BaseScenario base;
  const auto error = [&](const std::string& cloud) {
    return base.error(on("cloud { " + cloud + " }"));
  };
  EXPECT_THAT(error("hosts: 2"), StartsWith("base.textproto:2: topology.cloud.regions: "));
  EXPECT_THAT(error(kRegions), StartsWith("base.textproto:2: topology.cloud.link: is missing"));
  EXPECT_THAT(error(R"(regions: ["aws:us-east-1", "aws:nowhere"] link { bandwidth: "1 Gbit/s" })"),
              AllOf(StartsWith("base.textproto:2: topology.cloud: regions: \"aws:nowhere\""),
                    HasSubstr("near to it")));
  EXPECT_THAT(error(std::string(kRegions) + " measured: \"no.csv\""),
              StartsWith("base.textproto:2: topology.cloud.measured: "));
}

TEST(WideArea, Edge) {
  const BaseScenario base;
  const CheckedScenario scenario = base.load(
      on("edge { count: 6 sites: 2 link { bandwidth: \"uniform(5 Mbit/s, 9 Mbit/s)\" } }"));
  EXPECT_EQ(scenario.workers.size(), 6u);  // the hub is the server
  EXPECT_EQ(scenario.topology.link_count(), 8u);
  EXPECT_EQ(describe(base.load_text(scenario.written)), describe(scenario));
}

TEST(WideArea, EdgeAsMeasured) {
  const BaseScenario base;
  base.write("tests.csv", "downlink_Mbps,uplink_Mbps,latency_ms\n100,10,20\n50,5,40\n");
  base.write("slow.csv", "time_s,bandwidth\n10,1 Mbit/s\n");
  base.write("log.txt", "0.0 2.0\n1.0 3.0\n");
  const CheckedScenario scenario =
      base.load(on(R"(edge { count: 40 measured: "tests.csv" traces: ["slow.csv", "log.txt"] })"));
  const Topology& topology = scenario.topology;
  for (std::uint32_t i = 0; i < topology.link_count(); ++i) {
    const Link& mile = topology.link(LinkId{i});
    EXPECT_EQ(mile.capacity[1], BitRate::bytes_per_s(10 * mile.capacity[0].in_bytes_per_s()));
    EXPECT_THAT(mile.latency_s[0], testing::AnyOf(0.01, 0.02));
  }
  ASSERT_EQ(scenario.traces.size(), 40u);
  std::size_t repeating = 0;
  for (const TracedLink& traced : scenario.traces) repeating += traced.trace.period.has_value();
  EXPECT_GT(repeating, 8u);
  EXPECT_LT(repeating, 32u);
  EXPECT_EQ(base.load_text(scenario.written).written, scenario.written);
}

TEST(WideArea, EdgeErrors) {
  const BaseScenario base;
  const auto error = [&](const std::string& edge) {
    return base.error(on("edge { " + edge + " }"));
  };
  EXPECT_THAT(error("sites: 2"), StartsWith("base.textproto:2: topology.edge.count: is missing"));
  EXPECT_THAT(error("count: 2"), StartsWith("base.textproto:2: topology.edge.link: is missing"));
  EXPECT_THAT(
      error(R"(count: 2 link { bandwidth: "1 Mbit/s" } backhaul { bandwidth: "1 Gbit/s" })"),
      StartsWith("base.textproto:2: topology.edge.backhaul: joins sites"));
  EXPECT_THAT(error(R"(count: 2 sites: 3 link { bandwidth: "1 Mbit/s" })"),
              StartsWith("base.textproto:2: topology.edge: sites: "));
  EXPECT_THAT(error(R"(count: 2 link { bandwidth: "1 Mbit/s" } traces: "no.txt")"),
              StartsWith("base.textproto:2: topology.edge.traces[0]: "));
  base.write("map.csv", "a,b,delay_ms,bandwidth_gbit_per_s\nx,y,1,1\n");
  EXPECT_THAT(error("count: 2 measured: \"map.csv\""),
              HasSubstr("has no devices with rates up and down"));
}

TEST(WideArea, ALinkFollowsAMeasuredTrace) {
  const BaseScenario base;
  base.write("log.txt", "0.0 2.0\n1.0 3.0\n2.5 1.0\n");
  const CheckedScenario scenario =
      base.load(more_topology("links { name: \"milan-core\" trace: \"log.txt\" }"));
  ASSERT_EQ(scenario.traces.size(), 1u);
  EXPECT_EQ(scenario.traces[0].trace.period, Time::seconds(2.5));
}

}  // namespace
}  // namespace syncline
