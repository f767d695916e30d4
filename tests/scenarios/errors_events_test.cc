// Events and absences that are wrong, and what right ones mean.
#include <gmock/gmock.h>

#include "tests/scenarios/base_scenario.h"
#include "tests/scenarios/error_case.h"

namespace syncline {
namespace {

// Behind line 9 of the base scenario.
std::string events(const std::string& text) {
  return "stop { steps: 100 }\nevents { " + text + " }";
}
const std::string kOnce = R"(once { at: "1 h" lasting: "1 min" } )";

class EventError : public testing::TestWithParam<ErrorCase> {};
TEST_P(EventError, SaysWhereAndWhat) { expect_error(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Cases, EventError,
    testing::Values(
        ErrorCase{"NoTarget",
                  {{9, events(kOnce + "down {}")}},
                  "base.textproto:10: events[0].target: ",
                  {"is missing"}},
        ErrorCase{"NoTime",
                  {{9, events(R"(target: "milan" down {})")}},
                  "base.textproto:10: events[0]: ",
                  {"does not say when"}},
        ErrorCase{"NoStart",
                  {{9, events(R"(target: "milan" once {} down {})")}},
                  "base.textproto:10: events[0].once.at: ",
                  {"is missing"}},
        ErrorCase{"NoEffect",
                  {{9, events(R"(target: "milan" )" + kOnce)}},
                  "base.textproto:10: events[0]: ",
                  {"has no effect"}},
        ErrorCase{"UnknownTarget",
                  {{9, events(R"(target: "milano" down {} )" + kOnce)}},
                  "base.textproto:10: events[0].target[0]: ",
                  {"nothing is called \"milano\"", "milan"}},
        ErrorCase{"PatternOfNothing",
                  {{9, events(R"(target: "x*" down {} )" + kOnce)}},
                  "base.textproto:10: events[0].target[0]: ",
                  {"nothing is called \"x*\""}},
        ErrorCase{"SpeedOfALink",
                  {{9, events(R"(target: "milan-core" speed: 0.5 )" + kOnce)}},
                  "base.textproto:10: events[0].target[0]: ",
                  {"among the workers"}},
        ErrorCase{"BandwidthOfACluster",
                  {{9, events(R"(target: "milan" bandwidth: "1 Mbit/s" )" + kOnce)}},
                  "base.textproto:10: events[0].target[0]: ",
                  {"among the links"}},
        ErrorCase{"MachineOfALink",
                  {{9, events(R"(target: "milan-core" down { scope: MACHINE } )" + kOnce)}},
                  "base.textproto:10: events[0].down.scope: ",
                  {"is a link"}},
        ErrorCase{
            "MachineThatStalls",
            {{9, events(R"(target: "milan" down { scope: MACHINE in_flight: STALL } )" + kOnce)}},
            "base.textproto:10: events[0].down.in_flight: ",
            {"STALL"}},
        ErrorCase{"NoSpeed",
                  {{9, events(R"(target: "milan" speed: 0 )" + kOnce)}},
                  "base.textproto:10: events[0].speed: ",
                  {"above 0"}},
        ErrorCase{"BandwidthWithoutUnit",
                  {{9, events(R"(target: "milan-core" bandwidth: "5" )" + kOnce)}},
                  "base.textproto:10: events[0].bandwidth: ",
                  {"\"5\""}},
        ErrorCase{"NegativeLatency",
                  {{9, events(R"(target: "milan-core" latency: "-5 ms" )" + kOnce)}},
                  "base.textproto:10: events[0].latency: ",
                  {"-5 ms"}},
        ErrorCase{"ChurnWithoutDown",
                  {{9, events(R"(target: "milan" churn { up: "1 h" } down {})")}},
                  "base.textproto:10: events[0].churn.down: ",
                  {"is missing"}},
        ErrorCase{"ChurnOfNoTime",
                  {{9, events(R"(target: "milan" churn { up: "0 s" down: "1 s" } down {})")}},
                  "base.textproto:10: events[0].churn.up: ",
                  {"above 0"}},
        ErrorCase{"DeadlineWithoutReweight",
                  {{8, R"(strategy { diloco {} local_steps: 20 deadline: "5 min" })"}},
                  "base.textproto:8: strategy.deadline: ",
                  {"absent: REWEIGHT"}},
        ErrorCase{
            "DeadlineOfNothing",
            {{8, R"(strategy { diloco {} local_steps: 20 absent: REWEIGHT deadline: "0 s" })"}},
            "base.textproto:8: strategy.deadline: ",
            {"above 0"}},
        ErrorCase{"TwoStageHosts",
                  {{4, "workers {}"},
                   {8, "strategy { diloco {} local_steps: 20 within_cluster { local_steps: 5 } }"},
                   {9, events(R"(target: "milan" down {} )" + kOnce)}},
                  "base.textproto:10: events[0]: ",
                  {"within_cluster"}},
        ErrorCase{"HierarchicalHosts",
                  {{4, "workers {}"},
                   {8,
                    "strategy { diloco {} local_steps: 20 absent: REWEIGHT collective { algorithm: "
                    "HIERARCHICAL } }"},
                   {9, events(R"(target: "milan" down {} )" + kOnce)}},
                  "base.textproto:10: events[0]: ",
                  {"write RING"}}),
    name_of);

CheckedScenario load(const std::string& event) { return BaseScenario().load({{9, events(event)}}); }

TEST(Events, AClusterWhoseMachinesAreOffIsItsHostsAndItsWorker) {
  const CheckedScenario scenario = load(R"(target: "milan" down { scope: MACHINE } )" + kOnce);
  ASSERT_EQ(scenario.events.size(), 1u);
  const auto& down = std::get<DownEffect>(scenario.events[0].effect);
  EXPECT_EQ(down.workers, std::vector<std::uint32_t>{0});
  EXPECT_EQ(down.nodes, scenario.topology.hosts_of("milan"));
  EXPECT_TRUE(down.links.empty());
  EXPECT_EQ(down.in_flight, InFlight::FAIL);
  const auto& once = std::get<Once>(scenario.events[0].when);
  EXPECT_EQ(once.at, Time::seconds(3600));
  EXPECT_EQ(once.lasting, Time::seconds(60));
}

TEST(Events, AClusterWithoutNetworkKeepsItsFabric) {
  const CheckedScenario scenario = load(R"(target: "milan" down {} )" + kOnce);
  const auto& down = std::get<DownEffect>(scenario.events.at(0).effect);
  EXPECT_EQ(down.links, std::vector<LinkId>{scenario.topology.require_link("milan-core")});
  EXPECT_TRUE(down.workers.empty());
  EXPECT_EQ(down.in_flight, InFlight::STALL);
}

TEST(Events, APatternMeansLinksOnlyWhereNothingElseHasTheName) {
  EXPECT_EQ(load(R"(target: "milan/*" down {} )" + kOnce).events.size(),
            2u);  // its hosts, and not their links
  EXPECT_EQ(load(R"(target: "*-core" down {} )" + kOnce).events.size(), 2u);
  EXPECT_EQ(load(R"(target: "*" latency: "1 s" )" + kOnce).events.size(), 6u);  // all links
  EXPECT_EQ(load(R"(target: ["milan", "paris"] speed: 0.5 )" + kOnce).events.size(), 2u);
}

}  // namespace
}  // namespace syncline
