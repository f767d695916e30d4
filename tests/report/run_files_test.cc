// The files of a run's folder.
#include <gmock/gmock.h>

#include "tests/report/small_run.h"

namespace syncline {
namespace {

double steady(NumberIndex) { return 2.5; }

std::vector<std::string> names(const std::map<std::string, std::string>& files) {
  std::vector<std::string> names;
  for (const auto& [name, text] : files) names.push_back(name);
  return names;
}

TEST(RunFiles, AreThese) {
  EXPECT_THAT(
      names(run_files(SmallRun(kTwoSites).facts())),
      testing::UnorderedElementsAre("results.json", "real_time.json", "rounds.csv", "workers.csv",
                                    "links.csv", "timeline.json", "scenario.textproto"));
  EXPECT_THAT(names(run_files(SmallRun(kTwoSites, {}, steady).facts())),
              testing::UnorderedElementsAre("results.json", "real_time.json", "rounds.csv",
                                            "workers.csv", "links.csv", "timeline.json",
                                            "scenario.textproto", "program.txt"));
}

// Opens in Perfetto: every event has what the Chrome trace format asks of its kind.
TEST(RunFiles, TimelineIsAChromeTrace) {
  const nlohmann::json trace =
      nlohmann::json::parse(run_files(SmallRun(kTwoSites).facts()).at("timeline.json"));
  ASSERT_TRUE(trace.at("traceEvents").is_array());
  for (const nlohmann::json& event : trace.at("traceEvents")) {
    const std::string kind = event.at("ph");
    EXPECT_TRUE(event.at("name").is_string());
    EXPECT_TRUE(event.at("pid").is_number());
    if (kind == "X") {
      EXPECT_GE(event.at("ts").get<double>(), 0);
      EXPECT_GT(event.at("dur").get<double>(), 0);
      EXPECT_TRUE(event.at("tid").is_number());
    } else if (kind == "C") {
      EXPECT_TRUE(event.at("args").at("Mbit/s").is_number());
    } else {
      EXPECT_EQ(kind, "M");
    }
  }
}

// Programs and people's notebooks read these names; they stay.
TEST(RunFiles, SummaryHasTheNamesOfTheDesign) {
  const nlohmann::json summary =
      nlohmann::json::parse(summary_json(SmallRun(kTwoSites, {}, steady).facts()));
  for (const char* name :
       {"virtual_time_s", "compute_utilisation", "final_loss", "tokens", "bytes_sent", "syncs"}) {
    ASSERT_TRUE(summary.contains(name)) << name;
    EXPECT_TRUE(summary.at(name).is_number()) << name;
  }
  ASSERT_TRUE(summary.at("program_hash").is_string());
  EXPECT_EQ(summary.at("program_hash").get<std::string>().size(), 32u);
}

TEST(RunFiles, CountsAreNumbersAlsoWhenTheyAreLarge) {
  const nlohmann::json summary =
      SmallRun(kTwoSites,
               {"project={parameters: 1e12 tokens_per_step: 1e15}", "seed=18446744073709551615"})
          .summary();
  EXPECT_EQ(summary.at("payload_bytes"), 4e12);
  EXPECT_EQ(summary.at("tokens"), 1e16);
  EXPECT_EQ(summary.at("bytes_sent"), 16e12);
}

TEST(RunFiles, SummaryOfTheCommandLineIsThatOfTheFile) {
  const SmallRun run(kTwoSites, {}, steady);
  EXPECT_EQ(nlohmann::json::parse(summary_json(run.facts())), run.summary());
}

TEST(RunFiles, SameRunSameBytes) {
  for (const SmallRun::Numbers& numbers : {SmallRun::Numbers(), SmallRun::Numbers(steady)}) {
    const SmallRun first(kTwoSites, {"pace.spread=lognormal(1, 0.5)"}, numbers);
    const SmallRun second(kTwoSites, {"pace.spread=lognormal(1, 0.5)"}, numbers);
    const auto before = run_files(first.facts());
    // Another computer, and a training that came from the cache.
    const auto after =
        run_files(second.facts({.steps_executed = 20, .tokens_executed = 640, .seconds = 3}, 99));
    for (const auto& [name, text] : before) {
      if (name == "real_time.json") {
        EXPECT_NE(after.at(name), text);
      } else {
        EXPECT_EQ(after.at(name), text) << name;
      }
    }
    EXPECT_NE(
        run_files(SmallRun(kTwoSites, {"pace.spread=lognormal(1, 0.5)", "seed=2"}, numbers).facts())
            .at("results.json"),
        before.at("results.json"));
  }
}

TEST(RunFiles, ANetworkChangesTimesAndNotTheProgram) {
  const SmallRun fast(kTwoSites, {}, steady);
  const SmallRun slow(kTwoSites, {"topology.clusters.wan.bandwidth=1 Mbit/s"}, steady);
  EXPECT_EQ(slow.summary().at("program_hash"), fast.summary().at("program_hash"));
  EXPECT_EQ(slow.file("program.txt"), fast.file("program.txt"));
  EXPECT_GT(slow.summary().at("virtual_time_s"), fast.summary().at("virtual_time_s"));
  EXPECT_NE(SmallRun(kTwoSites, {"strategy.local_steps=2"}, steady).summary().at("program_hash"),
            fast.summary().at("program_hash"));
}

TEST(RunFiles, RealTimeSaysWhereTheLossesCameFrom) {
  const SmallRun trained(kTwoSites, {}, steady);
  const auto real_time = [](const RunFacts& facts) {
    return nlohmann::json::parse(run_files(facts).at("real_time.json"));
  };
  const nlohmann::json fresh =
      real_time(trained.facts({.steps_executed = 20, .tokens_executed = 640, .seconds = 2}, 3));
  EXPECT_EQ(fresh.at("from_cache"), false);
  EXPECT_EQ(fresh.at("steps_executed"), 20);
  EXPECT_EQ(fresh.at("tokens_per_s"), 320);
  EXPECT_EQ(fresh.at("total_s"), 3);
  const nlohmann::json again = real_time(trained.facts());
  EXPECT_EQ(again.at("from_cache"), true);
  EXPECT_EQ(again.at("steps_executed"), 0);
  EXPECT_FALSE(again.contains("tokens_per_s"));
  EXPECT_EQ(real_time(SmallRun(kTwoSites).facts()).at("from_cache"),
            false);  // nothing was to be trained
}

TEST(RunFiles, PaceIsWhatItWas) {
  EXPECT_EQ(SmallRun(kTwoSites).json().at("pace").at("source"), "fixed");
  const SmallRun measured(kTwoSites, {"pace.measured.device_factor=2"}, steady);
  EXPECT_EQ(measured.json().at("pace").at("source"), "measured");
  EXPECT_EQ(measured.json().at("pace").at("measured_step_s"), 1);
  EXPECT_EQ(measured.json().at("pace").at("slowest_step_s"), 2);
  // The scenario as it was run takes the same time again, without measuring.
  const SmallRun again(measured.file("scenario.textproto"), {}, steady);
  EXPECT_EQ(again.json().at("pace").at("source"), "fixed");
  EXPECT_EQ(again.summary(), measured.summary());
}

TEST(RunFiles, EveryFigureIsMarked) {
  const auto marks = [](const SmallRun& run) {
    const nlohmann::json results = run.json();
    std::map<std::string, std::string> all;
    for (const nlohmann::json& mark : results.at("marks")) all[mark.at("figure")] = mark.at("how");
    return all;
  };
  const auto trained = marks(SmallRun(kTwoSites, {}, steady));
  EXPECT_EQ(trained.at("summary.virtual_time_s"), "SIMULATED");
  EXPECT_EQ(trained.at("summary.final_loss"), "MEASURED");
  EXPECT_EQ(marks(SmallRun(kTwoSites, {"pace.mfu=0.1", "workers.device=T4",
                                       "project={parameters: 1e9 tokens_per_step: 1e6}"}))
                .at("pace"),
            "MODELLED");
  EXPECT_EQ(marks(SmallRun(kTwoSites)).count("summary.final_loss"), 0u);
}

TEST(RunFiles, NamesAreQuotedWhereTheyMustBe) {
  const SmallRun run(R"x(
    topology { nodes { name: "a,b" } nodes { name: "say \"hi\"" } nodes { name: "c" }
               links { a: "a,b" b: "c" bandwidth: "8 Mbit/s" } links { a: "say \"hi\"" b: "c" bandwidth: "8 Mbit/s" } }
    pace { fixed: "1 s" } strategy { local_sgd {} local_steps: 1 } stop { rounds: 1 })x");
  const std::vector<Row> workers = read_csv(run.file("workers.csv"));
  ASSERT_EQ(workers.size(), 3u);
  EXPECT_EQ(workers[0].at("worker"), "a,b");
  EXPECT_EQ(workers[1].at("worker"), "say \"hi\"");
  const std::vector<Row> links = read_csv(run.file("links.csv"));
  ASSERT_EQ(links.size(), 4u);
  EXPECT_EQ(links[0].at("link"), "a,b-c");
  EXPECT_EQ(links[2].at("link"), "say \"hi\"-c");
  EXPECT_NO_THROW(run.json());
}

// Several links between the same two nodes are used together, and stand in one row.
TEST(RunFiles, ParallelLinksAreOneRowADirection) {
  const SmallRun run(R"(
    topology { nodes { name: "a" } nodes { name: "b" } links { name: "one" a: "a" b: "b" bandwidth: "6 Mbit/s" } links { name: "two" a: "b" b: "a" bandwidth: "2 Mbit/s" } }
    pace { fixed: "1 s" } strategy { local_sgd {} local_steps: 1 } stop { rounds: 1 })");
  const std::vector<Row> links = read_csv(run.file("links.csv"));
  ASSERT_EQ(links.size(), 2u);
  for (const Row& link : links) EXPECT_EQ(number(link, "bandwidth_bit_s"), 8e6);
  EXPECT_THAT(links[0].at("link"), testing::HasSubstr("bundle of 2"));
}

}  // namespace
}  // namespace syncline
