// The scenarios that come with syncline.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "scenarios/setup.h"
#include "tests/scenarios/base_scenario.h"
#include "tests/scenarios/describe.h"

namespace syncline {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> ready_scenarios() {
  std::vector<std::string> files;
  for (const fs::directory_entry& entry : fs::directory_iterator("scenarios")) {
    if (entry.path().extension() == ".textproto") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// A made-up text stands for the one that set-up fetches.
LoadOptions options_with_text(const BaseScenario& base) {
  const LoadOptions options = base.options();
  const std::string folder = options.cache_folder + "/text/shakespeare";
  fs::create_directories(folder);
  base.write("cache/text/shakespeare/a.txt", "To be, or not to be");
  base.write("cache/text/shakespeare/b.txt", "that is the question");
  return options;
}

TEST(ReadyScenarios, AreThere) {
  EXPECT_THAT(
      ready_scenarios(),
      testing::IsSupersetOf({"scenarios/edge_2000.textproto", "scenarios/five_cities.textproto",
                             "scenarios/four_sites_7b.textproto", "scenarios/quickstart.textproto",
                             "scenarios/outage.textproto"}));
}

TEST(ReadyScenarios, LoadAndAreNamedAsTheirFiles) {
  const BaseScenario base;
  const LoadOptions options = options_with_text(base);
  for (const std::string& file : ready_scenarios()) {
    SCOPED_TRACE(file);
    const CheckedScenario scenario = load_scenario(file, options);
    EXPECT_EQ(scenario.name, fs::path(file).stem().string());
    EXPECT_TRUE(scenario.train);
    const SimulationSetup setup = simulation_setup(scenario, 1000, std::nullopt);
    EXPECT_EQ(setup.workers.size(), scenario.workers.size());
    EXPECT_TRUE(setup.stop.steps || setup.stop.rounds || setup.stop.time);
  }
}

TEST(ReadyScenarios, SayTheSameWithDefaultsWrittenOut) {
  const BaseScenario base;
  const LoadOptions options = options_with_text(base);
  for (const std::string& file : ready_scenarios()) {
    SCOPED_TRACE(file);
    const CheckedScenario first = load_scenario(file, options);
    const CheckedScenario second =
        load_scenario(base.write("again.textproto", first.written), options);
    EXPECT_EQ(second.written, first.written);
    EXPECT_EQ(describe(second), describe(first));
  }
}

// A text that set-up has not fetched yet is said to be so, at its line.
TEST(ReadyScenarios, NameTheTextThatIsNotFetchedYet) {
  const BaseScenario base;
  EXPECT_THAT(
      base.error_of("scenarios/quickstart.textproto"),
      testing::AllOf(testing::StartsWith("scenarios/quickstart.textproto:10: training.data.text: "),
                     testing::HasSubstr("\"cache:shakespeare\" is not in the cache"),
                     testing::HasSubstr("./dev setup")));
}

TEST(ReadyScenarios, QuickstartIsFourWorkersBehindACore) {
  const BaseScenario base;
  const CheckedScenario scenario =
      load_scenario("scenarios/quickstart.textproto", options_with_text(base));
  EXPECT_EQ(scenario.topology.node_count(), 9u);  // 4 hosts, 4 switches, the core
  EXPECT_EQ(scenario.topology.link_count(), 8u);
  ASSERT_EQ(scenario.workers.size(), 4u);
  EXPECT_EQ(scenario.workers[3].name, "cluster3");
  EXPECT_EQ(scenario.strategy.local_steps, 20u);
  EXPECT_FALSE(scenario.strategy.within_cluster);  // one host each: nothing to average inside
  EXPECT_EQ(trained_steps(scenario), 320u);
}

TEST(ReadyScenarios, ThinSiteHasItsThinLink) {
  const BaseScenario base;
  const CheckedScenario scenario =
      load_scenario("scenarios/outage.textproto", options_with_text(base));
  const Topology& topology = scenario.topology;
  EXPECT_EQ(topology.link(topology.require_link("milan-core")).capacity[0],
            BitRate::bits_per_s(500e6));
  EXPECT_EQ(topology.link(topology.require_link("milan-core")).capacity[1],
            BitRate::bits_per_s(500e6));
  EXPECT_EQ(topology.link(topology.require_link("paris-core")).capacity[0],
            BitRate::bits_per_s(1e9));
  EXPECT_EQ(topology.link(topology.require_link("milan-core")).latency_s[0], 0.05);
}

}  // namespace
}  // namespace syncline
