// --set PATH=VALUE: how a field is named, and how its value is written.
#include <gmock/gmock.h>

#include <string>
#include <variant>

#include "tests/scenarios/base_scenario.h"

namespace syncline {
namespace {

const Link& link_of(const CheckedScenario& scenario, const std::string& name) {
  return scenario.topology.link(scenario.topology.require_link(name));
}

TEST(Set, Numbers) {
  const BaseScenario base;
  EXPECT_EQ(base.load({}, {"strategy.local_steps=50"}).strategy.local_steps, 50u);
  EXPECT_EQ(base.load({}, {"stop.tokens=2.5e3"}).stop.tokens, 2500);
  EXPECT_EQ(base.load({}, {"training.inner.lr=0.25"}).training.inner.lr, 0.25);
  EXPECT_EQ(base.load({}, {"seed=18446744073709551615"}).seed, 18446744073709551615u);
}

TEST(Set, TextsWithQuotesAndWithout) {
  const BaseScenario base;
  for (const char* set : {"topology.clusters.wan.bandwidth=100 Mbit/s",
                          R"(topology.clusters.wan.bandwidth="100 Mbit/s")"}) {
    EXPECT_EQ(link_of(base.load({}, {set}), "milan-core").capacity[0], BitRate::bits_per_s(100e6));
  }
  EXPECT_EQ(base.load({}, {"name=other"}).name, "other");
  // What belongs to the value, whatever stands in it.
  EXPECT_THAT(base.error({}, {"name=a=b"}), testing::HasSubstr("\"a=b\" cannot name a folder"));
}

TEST(Set, EnumsAndBooleans) {
  const BaseScenario base;
  EXPECT_EQ(base.load({}, {"workers.per=HOST"}).workers.size(), 4u);
  EXPECT_TRUE(link_of(base.load({}, {"topology.clusters.wan.shared=true"}), "milan-core").shared);
}

TEST(Set, Messages) {
  const BaseScenario base;
  const CheckedScenario scenario = base.load({}, {"stop={rounds: 3}"});
  EXPECT_EQ(scenario.stop.rounds, 3u);
  EXPECT_FALSE(scenario.stop.steps);  // the whole message is replaced
  EXPECT_EQ(base.load({}, {"strategy.collective={algorithm: HIERARCHICAL}"})
                .strategy.collective.algorithm,
            CollectiveAlgorithm::HIERARCHICAL);
}

TEST(Set, AnotherMethodKeepsTheInterval) {
  const BaseScenario base;
  const CheckedScenario scenario = base.load({}, {"strategy.local_sgd={}"});
  EXPECT_TRUE(std::holds_alternative<LocalSgd>(scenario.strategy.method));
  EXPECT_EQ(scenario.strategy.local_steps, 20u);
}

TEST(Set, AnotherPace) {
  const BaseScenario base;
  EXPECT_EQ(base.load({}, {"pace.mfu=0.5", "workers.device=A100"}).pace.source,
            PaceSetup::Source::FLOPS);
  EXPECT_EQ(base.load({}, {"pace.measured={}"}).pace.source, PaceSetup::Source::MEASURED);
  EXPECT_EQ(base.load({}, {"pace.measured.device_factor=2"}).pace.device_factor, 2);
}

TEST(Set, Lists) {
  const BaseScenario base;
  const Lines hosts = {{4, R"(workers { at: ["milan/0", "paris/1"] })"}};
  const CheckedScenario scenario =
      base.load(hosts, {R"(workers.at=["paris/0", "milan/1", "milan/0"])"});
  ASSERT_EQ(scenario.workers.size(), 3u);
  EXPECT_EQ(scenario.workers[0].name, "paris/0");
  EXPECT_EQ(scenario.workers[2].name, "milan/0");
}

TEST(Set, ALinkByItsName) {
  const BaseScenario base;
  for (const char* path : {"topology.links[milan-core].bandwidth", "links[milan-core].bandwidth"}) {
    SCOPED_TRACE(path);
    const CheckedScenario scenario = base.load({}, {std::string(path) + "=5 Mbit/s"});
    EXPECT_EQ(link_of(scenario, "milan-core").capacity[0], BitRate::bits_per_s(5e6));
    EXPECT_EQ(link_of(scenario, "milan-core").capacity[1], BitRate::bits_per_s(5e6));
    EXPECT_EQ(link_of(scenario, "milan-core").latency_s[0], 0.02);  // as it was
    EXPECT_EQ(link_of(scenario, "paris-core").capacity[0], BitRate::bits_per_s(1e9));
  }
  const CheckedScenario slow = base.load({}, {"links[milan-core].latency=70 ms"});
  EXPECT_EQ(link_of(slow, "milan-core").latency_s[0], 0.07);
  EXPECT_EQ(link_of(slow, "milan-core").latency_s[1], 0.07);
  const CheckedScenario back = base.load({}, {"links[milan-core].bandwidth_back=5 Mbit/s"});
  EXPECT_EQ(link_of(back, "milan-core").capacity[0], BitRate::bits_per_s(1e9));
  EXPECT_EQ(link_of(back, "milan-core").capacity[1], BitRate::bits_per_s(5e6));
  EXPECT_EQ(link_of(base.load({}, {"links[milan/0-milan].bandwidth=5 Mbit/s"}), "milan/0-milan")
                .capacity[0],
            BitRate::bits_per_s(5e6));
}

TEST(Set, ALinkOfTheFileByItsNameOrNumber) {
  const BaseScenario base;
  const Lines direct = {
      {3,
       R"(  wan { bandwidth: "1 Gbit/s" } } links { name: "cable.1" a: "milan" b: "paris" bandwidth: "1 Mbit/s" } links { a: "paris" b: "milan" bandwidth: "2 Mbit/s" } })"}};
  EXPECT_EQ(
      link_of(base.load(direct, {"links[cable.1].bandwidth=3 Mbit/s"}), "cable.1").capacity[0],
      BitRate::bits_per_s(3e6));
  EXPECT_EQ(
      link_of(base.load(direct, {"topology.links[0].bandwidth=4 Mbit/s"}), "cable.1").capacity[0],
      BitRate::bits_per_s(4e6));
  // One without a name of its own has that of its ends.
  EXPECT_EQ(link_of(base.load(direct, {"links[paris-milan].bandwidth=5 Mbit/s"}), "paris-milan")
                .capacity[0],
            BitRate::bits_per_s(5e6));
  EXPECT_EQ(
      link_of(base.load(direct, {"links[paris-milan].bandwidth=5 Mbit/s"}), "cable.1").capacity[0],
      BitRate::bits_per_s(1e6));
}

TEST(Set, ANodeByItsName) {
  const BaseScenario base;
  const Lines node = {
      {3,
       R"(  wan { bandwidth: "1 Gbit/s" } } nodes { name: "rome" at: "core" hosts: 2 access { bandwidth: "1 Mbit/s" } } })"}};
  const CheckedScenario scenario =
      base.load(node, {"nodes[rome].access.bandwidth=2 Mbit/s", "nodes[rome].hosts=3"});
  EXPECT_EQ(link_of(scenario, "rome-core").capacity[0], BitRate::bits_per_s(2e6));
  EXPECT_EQ(scenario.topology.hosts_of("rome").size(), 3u);
}

TEST(Set, TheLastOneCounts) {
  const BaseScenario base;
  EXPECT_EQ(
      base.load({}, {"strategy.local_steps=50", "strategy.local_steps=7"}).strategy.local_steps,
      7u);
}

// Each --set, and a part of the message, which starts with the --set.
TEST(Set, Wrong) {
  const BaseScenario base;
  const std::pair<const char*, const char*> wrong[] = {
      {"strategy.local_steps", "write PATH=VALUE"},
      {"=5", "is no path of a field"},
      {"strategy..local_steps=5", "is no path of a field"},
      {"strategy.local_step=5", "schedule; did you mean \"local_steps\"?"},
      {"strategy.local_step=5",
       "Strategy has no field \"local_step\"; it has: data_parallel, local_sgd, diloco, "},
      {"strateg.local_steps=5", "Scenario has no field \"strateg\""},
      {"strategy.local_steps.x=5", "strategy.local_steps is a single value and has no field \"x\""},
      {"strategy.local_steps=", "write a whole number, not negative"},
      {"strategy.local_steps=many", "\"many\" is not right; write a whole number, not negative"},
      {"strategy.local_steps=-1", "write a whole number, not negative"},
      {"strategy.local_steps=1.5", "write a whole number, not negative"},
      {"strategy.local_steps=1e3", "write a whole number, not negative"},
      {"stop.tokens=lots", "write a number"},
      {"workers.per=SITE", "write HOST or CLUSTER"},
      {"workers.per=7", "workers.per: 7 is none of HOST or CLUSTER"},
      {"topology.clusters.wan.shared=maybe", "write true or false"},
      {"stop=5", "with the fields of Stop"},
      {"stop={step: 5}", "no field named \"step\""},
      {"topology.links.latency=5 ms",
       "topology.links is a list; write topology.links[NAME].latency"},
      {"links[milan-core]=5", "is a whole message; name one of its fields"},
      {"links[milan-core=5", "lacks a \"]\""},
      {"links[milan-core]latency=5 ms", "a \".\" belongs after \"]\""},
      {"links[7].latency=5 ms", "there is no links[7]; the scenario has 0 of them"},
      {"links[milan-cor].latency=5 ms", "\"milan-core\""},
      {"stop[0].steps=5", "is no list of messages"},
      {"topology.clusters.wan.bandwidth=5 ms", "topology.clusters.wan.bandwidth: "},
      {"name=a\nb", "not plain text"},
      {"name=\xff", "not plain text"},
  };
  for (const auto& [set, part] : wrong) {
    EXPECT_THAT(base.error({}, {set}),
                testing::AllOf(testing::StartsWith(std::string("--set ") + set + ": "),
                               testing::HasSubstr(part)));
  }
}

}  // namespace
}  // namespace syncline
