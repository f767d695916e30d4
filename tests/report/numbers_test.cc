// The numbers of a run that can be worked out by hand, and sums that must agree between its files.
#include <gmock/gmock.h>

#include <cmath>

#include "tests/report/small_run.h"

namespace syncline {
namespace {

// A ring of two: 2 steps of half a million bytes, each 4 ms at 1 Gbit/s after 40 ms of two links'
// latency. A round is 250 ms of steps and 88 ms of sync.
TEST(Numbers, OfTwoSites) {
  const SmallRun run(kTwoSites);
  const nlohmann::json summary = run.summary();
  EXPECT_DOUBLE_EQ(summary.at("virtual_time_s"), 0.676);
  EXPECT_DOUBLE_EQ(summary.at("ideal_network_time_s"), 0.5);
  EXPECT_DOUBLE_EQ(summary.at("compute_utilisation"), 0.5 / 0.676);
  EXPECT_EQ(summary.at("tokens"), 640);  // 10 steps of 2 workers with 2 · 16 tokens
  EXPECT_EQ(summary.at("steps"), 10);
  EXPECT_EQ(summary.at("syncs"), 2);
  EXPECT_EQ(summary.at("workers"), 2);
  EXPECT_EQ(summary.at("parameters"), 250'000);
  EXPECT_EQ(summary.at("payload_bytes"), 1'000'000);
  EXPECT_EQ(summary.at("bytes_sent"), 4'000'000);
}

TEST(Numbers, RoundsOfTwoSites) {
  const std::vector<Row> rounds = read_csv(SmallRun(kTwoSites).file("rounds.csv"));
  ASSERT_EQ(rounds.size(), 2u);
  EXPECT_EQ(number(rounds[1], "round"), 2);
  EXPECT_EQ(number(rounds[1], "steps"), 10);
  EXPECT_DOUBLE_EQ(number(rounds[1], "begun_s"), 0.338);
  EXPECT_DOUBLE_EQ(number(rounds[1], "all_joined_s"), 0.588);
  EXPECT_DOUBLE_EQ(number(rounds[1], "ended_s"), 0.676);
  EXPECT_EQ(number(rounds[1], "bytes_sent"), 2'000'000);
  EXPECT_EQ(rounds[1].at("loss"), "");
  EXPECT_EQ(rounds[1].at("training_loss"), "");
}

TEST(Numbers, LinksOfTwoSites) {
  const std::vector<Row> links = read_csv(SmallRun(kTwoSites).file("links.csv"));
  ASSERT_EQ(links.size(), 8u);  // two of fabric, two to the core, each both ways
  int found = 0;
  for (const Row& link : links) {
    // Every byte goes up to the core and down from it.
    EXPECT_EQ(number(link, "bytes"), 2'000'000);
    if (link.at("link") != "paris-core") continue;
    ++found;
    EXPECT_EQ(number(link, "bandwidth_bit_s"), 1e9);
    EXPECT_EQ(number(link, "latency_s"), 0.02);
    EXPECT_NEAR(number(link, "busy_s"), 0.016, 1e-8);
    EXPECT_NEAR(number(link, "mean_load"), 0.016 / 0.676, 1e-8);
    EXPECT_THAT((std::vector{link.at("from"), link.at("to")}),
                testing::UnorderedElementsAre("paris", "core"));
  }
  EXPECT_EQ(found, 2);
}

TEST(Numbers, EachDirectionOfALinkHasItsOwnValues) {
  const SmallRun run(R"(
    topology { nodes { name: "b" } nodes { name: "a" }
               links { name: "cable" a: "a" b: "b" bandwidth: "8 Mbit/s" bandwidth_back: "2 Mbit/s" latency: "1 ms" } }
    pace { fixed: "1 s" } strategy { local_sgd {} local_steps: 1 } stop { rounds: 1 })");
  const std::vector<Row> links = read_csv(run.file("links.csv"));
  ASSERT_EQ(links.size(), 2u);
  for (const Row& link : links) {
    EXPECT_EQ(link.at("link"), "cable");
    EXPECT_EQ(number(link, "bandwidth_bit_s"), link.at("from") == "a" ? 8e6 : 2e6);
    EXPECT_EQ(link.at("to"), link.at("from") == "a" ? "b" : "a");
    EXPECT_NEAR(number(link, "busy_s"), link.at("from") == "a" ? 1.0 : 4.0, 1e-8);
  }
}

// Ways to run that differ in who sends what.
const std::vector<std::vector<std::string>>& ways() {
  static const std::vector<std::vector<std::string>> all = {
      {},
      {"strategy={data_parallel {}}"},
      {"strategy={local_sgd {} local_steps: 3}"},
      {"topology.clusters.hosts=3", "workers.per=HOST"},
      {"topology.clusters.hosts=3", "workers.per=HOST",
       "strategy.collective.algorithm=HIERARCHICAL"},
      {"topology.clusters.hosts=2", "workers.per=HOST", "strategy.within_cluster={local_steps: 1}"},
      {"topology.clusters.hosts=3", "workers.server=milan/0",
       "strategy.collective.algorithm=PARAMETER_SERVER"},
      {"pace.spread=uniform(1, 3)"},
      {"stop={time: \"0.5 s\"}"},
      {"links[milan-core].bandwidth=10 Mbit/s"},
      {"topology.clusters.wan.shared=true"},
      {"topology.clusters={count: 1}"},
  };
  return all;
}

TEST(Numbers, ATimeOfAWorkerIsSpentOnce) {
  for (const std::vector<std::string>& sets : ways()) {
    SCOPED_TRACE(testing::PrintToString(sets));
    const SmallRun run(kTwoSites, sets);
    const nlohmann::json results = run.json();
    double share = 0;
    double seconds = 0;
    for (const nlohmann::json& part : results.at("time_of_a_worker")) {
      EXPECT_GE(part.at("seconds"), 0);
      share += part.at("share").get<double>();
      seconds += part.at("seconds").get<double>();
    }
    EXPECT_NEAR(share, 1, 1e-9);
    EXPECT_NEAR(seconds, results.at("summary").at("virtual_time_s"), 1e-9);
    EXPECT_EQ(results.at("time_of_a_worker").at(0).at("what"), "inner_steps");
    EXPECT_NEAR(results.at("time_of_a_worker").at(0).at("share"),
                results.at("summary").at("compute_utilisation"), 1e-12);
    for (const Row& worker : read_csv(run.file("workers.csv"))) {
      const double used = number(worker, "inner_steps_s") +
                          number(worker, "sync_within_cluster_s") +
                          number(worker, "waiting_for_others_s") + number(worker, "sync_s");
      EXPECT_LE(used, results.at("summary").at("virtual_time_s").get<double>() + 1e-9);
      EXPECT_NEAR(number(worker, "inner_steps_s"),
                  number(worker, "steps") * number(worker, "step_s"), 1e-8);
    }
  }
}

TEST(Numbers, BytesAreCountedOnce) {
  for (const std::vector<std::string>& sets : ways()) {
    SCOPED_TRACE(testing::PrintToString(sets));
    const SmallRun run(kTwoSites, sets);
    const double sent = run.summary().at("bytes_sent");
    const std::vector<Row> workers = read_csv(run.file("workers.csv"));
    EXPECT_EQ(sum(read_csv(run.file("rounds.csv")), "bytes_sent"), sent);
    if (run.scenario().strategy.collective.algorithm == CollectiveAlgorithm::PARAMETER_SERVER) {
      // The other end is the server, which is no worker.
      EXPECT_EQ(sum(workers, "bytes_sent") + sum(workers, "bytes_received"), sent);
    } else {
      EXPECT_EQ(sum(workers, "bytes_sent"), sent);
      EXPECT_EQ(sum(workers, "bytes_received"), sent);
    }
  }
}

TEST(Numbers, LinksCarryWhatTheirRoutesSend) {
  // From host to host of two sites there are four links.
  const SmallRun apart(kTwoSites);
  EXPECT_EQ(sum(read_csv(apart.file("links.csv")), "bytes"),
            4 * apart.summary().at("bytes_sent").get<double>());
  // In one site there are two.
  const SmallRun together(kTwoSites, {"topology.clusters={count: 1 hosts: 3}"});
  EXPECT_GT(together.summary().at("bytes_sent"), 0);
  EXPECT_EQ(sum(read_csv(together.file("links.csv")), "bytes"),
            2 * together.summary().at("bytes_sent").get<double>());
  // What goes into the core comes out of it.
  const SmallRun many(
      kTwoSites, {"topology.clusters.names=[\"a\", \"b\", \"c\"]", "pace.spread=uniform(1, 2)"});
  double up = 0;
  double down = 0;
  for (const Row& link : read_csv(many.file("links.csv"))) {
    if (link.at("to") == "core") up += number(link, "bytes");
    if (link.at("from") == "core") down += number(link, "bytes");
  }
  EXPECT_GT(up, 0);
  EXPECT_EQ(up, down);
}

// Averages inside a cluster that is one worker are charged, not carried: they count in all, and in
// no round.
TEST(Numbers, ChargedBytesCount) {
  const SmallRun run(kTwoSites, {"topology.clusters.hosts=2", "workers.per=CLUSTER"});
  const double carried = sum(read_csv(run.file("rounds.csv")), "bytes_sent");
  EXPECT_EQ(carried, 4'000'000);
  // 10 averages of two hosts in each of two clusters: both send a payload.
  EXPECT_EQ(run.summary().at("bytes_sent").get<double>() - carried, 10 * 2 * 2 * 1'000'000.0);
  EXPECT_EQ(sum(read_csv(run.file("workers.csv")), "bytes_sent"), run.summary().at("bytes_sent"));
}

TEST(Numbers, NoMeanLoadAboveOne) {
  for (const std::vector<std::string>& sets : ways()) {
    SCOPED_TRACE(testing::PrintToString(sets));
    for (const Row& link : read_csv(SmallRun(kTwoSites, sets).file("links.csv"))) {
      EXPECT_GE(number(link, "mean_load"), 0);
      EXPECT_LE(number(link, "mean_load"), 1 + 1e-9);
    }
  }
}

TEST(Numbers, LimitsShareOne) {
  const nlohmann::json results =
      SmallRun(kTwoSites, {"links[milan-core].bandwidth=10 Mbit/s"}).json();
  double share = 0;
  double last = 1;
  for (const nlohmann::json& part : results.at("transfers_limited_by")) {
    EXPECT_LE(part.at("share"), last);
    last = part.at("share");
    share += last;
  }
  EXPECT_NEAR(share, 1, 1e-9);
  EXPECT_THAT(results.at("transfers_limited_by").at(0).at("what"),
              testing::HasSubstr("milan-core"));
}

TEST(Numbers, OfALargeRun) {
  const SmallRun run(kTwoSites,
                     {"project={parameters: 7e9 bytes_per_parameter: 2 tokens_per_step: 1e6}"});
  EXPECT_EQ(run.summary().at("parameters"), 7e9);
  EXPECT_EQ(run.summary().at("payload_bytes"), 14e9);
  EXPECT_EQ(run.summary().at("tokens"), 10e6);
}

TEST(Numbers, OfARunThatEndsBeforeItsFirstStep) {
  const SmallRun run(kTwoSites, {"stop={time: \"1 ms\"}"});
  EXPECT_EQ(run.summary().at("syncs"), 0);
  EXPECT_EQ(run.summary().at("steps"), 0);
  EXPECT_EQ(run.summary().at("bytes_sent"), 0);
  EXPECT_EQ(read_csv(run.file("rounds.csv")).size(), 0u);
  EXPECT_EQ(read_csv(run.file("workers.csv")).size(), 2u);
  const nlohmann::json summary = run.summary();
  for (const auto& [name, value] : summary.items()) EXPECT_TRUE(value.is_number()) << name;
}

}  // namespace
}  // namespace syncline
