// A message names the place where the value that is wrong was written last.
#include <gmock/gmock.h>

#include <string>

#include "tests/scenarios/base_scenario.h"

namespace syncline {
namespace {

TEST(Places, AValueOfTheCommandLine) {
  const BaseScenario base;
  EXPECT_THAT(base.error({}, {"strategy.local_steps=0"}),
              testing::StartsWith("--set strategy.local_steps=0: strategy.local_steps: 0"));
}

TEST(Places, AValueOfTheFileBesideOneOfTheCommandLine) {
  const BaseScenario base;
  EXPECT_THAT(base.error({{9, "stop { steps: 0 }"}}, {"strategy.local_steps=5"}),
              testing::StartsWith("base.textproto:9: stop.steps: 0"));
  EXPECT_THAT(base.error({{3, R"(  wan { bandwidth: "1" latency: "20 ms" } } })"}},
                         {"topology.clusters.wan.latency=5 ms"}),
              testing::StartsWith("base.textproto:3: topology.clusters.wan.bandwidth: "));
}

TEST(Places, AMessageOfTheCommandLineIsItsFieldsPlace) {
  const BaseScenario base;
  EXPECT_THAT(base.error({}, {"stop={steps: 0}"}),
              testing::StartsWith("--set stop={steps: 0}: stop.steps: "));
  EXPECT_THAT(base.error({{9, ""}}, {"stop.steps=0"}),
              testing::StartsWith("--set stop.steps=0: stop.steps: "));
}

TEST(Places, AListOfTheCommandLineIsItsElementsPlace) {
  const BaseScenario base;
  const Lines hosts = {{4, R"(workers { at: ["milan/0", "paris/1"] })"}};
  EXPECT_THAT(base.error(hosts, {R"(workers.at=["milan/9"])"}),
              testing::StartsWith(R"(--set workers.at=["milan/9"]: workers.at[0]: )"));
}

TEST(Places, AnElementThatTheCommandLineAdded) {
  const BaseScenario base;
  EXPECT_THAT(
      base.error({}, {"links[cable].bandwidth=1 Mbit/s"}),
      testing::StartsWith("--set links[cable].bandwidth=1 Mbit/s: topology.links[0].name: "));
}

TEST(Places, WhatIsMissingIsMissedAtWhatItBelongsTo) {
  const BaseScenario base;
  EXPECT_THAT(base.error({{3, R"(  wan {
        latency: "20 ms" } } })"}}),
              testing::StartsWith("base.textproto:3: topology.clusters.wan.bandwidth: is missing"));
  EXPECT_THAT(base.error({{8, ""}}), testing::StartsWith("base.textproto: strategy: is missing"));
}

TEST(Places, EveryElementOfAList) {
  const BaseScenario base;
  EXPECT_THAT(base.error({{4, "workers { at: [\"milan/0\",\n\"milan/1\",\n\"milan/9\"] }"}}),
              testing::StartsWith("base.textproto:4: workers.at[2]: "));
  EXPECT_THAT(base.error({{4, "workers { at: \"milan/0\"\nat: \"milan/1\"\nat: \"milan/9\" }"}}),
              testing::StartsWith("base.textproto:6: workers.at[2]: "));
  EXPECT_THAT(base.error({{3,
                           "wan { bandwidth: \"1 Gbit/s\" } } links: [\n{ name: \"milan-core\" "
                           "},\n{ name: \"rome-core\" }] }"}}),
              testing::StartsWith("base.textproto:5: topology.links[1].name: "));
}

// Fields are counted where they stand, also after many lines.
TEST(Places, FarDown) {
  const BaseScenario base;
  EXPECT_THAT(
      base.error({{8, std::string(100'000, '\n') + "strategy { diloco {} local_steps: 0 }"}}),
      testing::StartsWith("base.textproto:100008: strategy.local_steps: "));
}

}  // namespace
}  // namespace syncline
