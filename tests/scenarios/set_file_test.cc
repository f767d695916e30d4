// --set PATH=@FILE: a message from a file beside the scenario.
#include <gmock/gmock.h>

#include "tests/scenarios/base_scenario.h"

namespace syncline {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kFarAway = R"(# far away
clusters {
  names: ["milan", "paris"]
  wan { bandwidth: "1 Mbit/s" latency: "90 ms" }
}
)";

TEST(SetFromFile, ReplacesTheMessage) {
  const BaseScenario base;
  base.write("far.textproto", kFarAway);
  const CheckedScenario scenario = base.load({}, {"topology=@far.textproto"});
  EXPECT_EQ(scenario.topology.node_count(), 5u);  // one host in each cluster now
  EXPECT_EQ(scenario.topology.link(scenario.topology.require_link("milan-core")).capacity[0],
            BitRate::bits_per_s(1e6));
  // As if it had stood in the scenario.
  EXPECT_EQ(scenario.written,
            base.load({{2, "topology {"}, {3, kFarAway + std::string("}")}}).written);
}

TEST(SetFromFile, IsLaterChangedAsOthers) {
  const BaseScenario base;
  base.write("far.textproto", kFarAway);
  const CheckedScenario scenario =
      base.load({}, {"topology=@far.textproto", "topology.clusters.wan.bandwidth=2 Mbit/s"});
  EXPECT_EQ(scenario.topology.link(scenario.topology.require_link("paris-core")).capacity[0],
            BitRate::bits_per_s(2e6));
}

TEST(SetFromFile, ErrorsNameTheFileAndTheLine) {
  const BaseScenario base;
  base.write("unit.textproto", "clusters {\n  count: 2\n  wan { bandwidth: \"1\" }\n}\n");
  EXPECT_THAT(base.error({}, {"topology=@unit.textproto"}),
              StartsWith("unit.textproto:3: topology.clusters.wan.bandwidth: \"1\" has no unit"));
  base.write("field.textproto", "clusters {\n  counts: 2\n}\n");
  EXPECT_THAT(base.error({}, {"topology=@field.textproto"}),
              testing::AllOf(StartsWith("--set topology=@field.textproto: "),
                             HasSubstr("field.textproto:2:"), HasSubstr("did you mean \"count\"")));
  EXPECT_THAT(base.error({}, {"topology=@nowhere.textproto"}),
              HasSubstr("nowhere.textproto: there is no such file"));
}

TEST(SetFromFile, OnlyMessagesComeFromFiles) {
  const BaseScenario base;
  EXPECT_THAT(base.error({}, {"topology.clusters.wan.bandwidth=@1"}), HasSubstr("\"@1\""));
  EXPECT_THAT(base.error({}, {"strategy.local_steps=@5"}), HasSubstr("write a whole number"));
}

}  // namespace
}  // namespace syncline
