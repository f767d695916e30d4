// DiLoCo whose averages go on for a whole round: the programs, and the times on an idle network.
#include <gtest/gtest.h>

#include <sstream>

#include "sim/baseline.h"
#include "strategy_run.h"

namespace syncline {
namespace {

class Overlapped : public ::testing::TestWithParam<Method> {};
INSTANTIATE_TEST_SUITE_P(All, Overlapped,
                         ::testing::Values(Method{DelayedDiloco{}}, Method{EagerDiloco{}}));

TEST_P(Overlapped, HideARingThatIsShorterThanARound) {
  const TestStar star(4, kBandwidth, kLatency);
  ASSERT_LT(ring_s(4), 20 * 0.05);
  const SimulationOutcome outcome =
      simulate(star.topology, base_setup(star.workers(kStep), GetParam(), 20, 100), nullptr);
  EXPECT_EQ(outcome.rounds.size(), 5u);
  EXPECT_EQ(outcome.sent.count(), 5 * 2 * 3 * 4'800'000);
  EXPECT_NEAR(outcome.virtual_time.in_seconds(), 100 * 0.05 + ring_s(4), 1e-8);
  for (const WorkerOutcome& worker : outcome.workers) {
    EXPECT_EQ(worker.computing, kStep * 100);
    EXPECT_EQ(worker.waiting, Time());
    EXPECT_NEAR(worker.syncing.in_seconds(), ring_s(4), 1e-8);
  }
}

TEST_P(Overlapped, WaitForARingThatIsLonger) {
  const TestStar star(4, kBandwidth, kLatency);
  const double round = 5 * 0.05;
  ASSERT_GT(ring_s(4), round);
  const SimulationOutcome outcome =
      simulate(star.topology, base_setup(star.workers(kStep), GetParam(), 5, 20), nullptr);
  EXPECT_NEAR(outcome.virtual_time.in_seconds(), round + 4 * ring_s(4), 1e-8);
}

TEST_P(Overlapped, WriteTheSameProgramOverAnyNetwork) {
  const std::vector<Key> hashes = programs_over_networks(GetParam(), 10, 45);
  EXPECT_EQ(hashes[0], hashes[1]);
  EXPECT_EQ(hashes[0], hashes[2]);
}

TEST_P(Overlapped, EndByTimeWithEverythingApplied) { expect_everything_by_the_end(GetParam(), 3); }

TEST_P(Overlapped, AreEvaluatedAtTheirBudget) {
  const TestStar star(3, kBandwidth, kLatency);
  SimulationSetup setup = base_setup(star.workers(kStep), GetParam(), 20, 200);
  setup.recorded_steps = 50;
  Program program("header");
  const SimulationOutcome outcome = simulate(star.topology, setup, &program);
  EXPECT_EQ(outcome.rounds.size(), 10u);
  EXPECT_EQ(outcome.evaluations.back().steps, 50u);
  EXPECT_EQ(outcome.evaluations.back().round, 3u);
  EXPECT_LT(outcome.evaluations.back().at, outcome.virtual_time);
}

TEST(DelayedDiloco, OfOneRoundIsDiloco) {
  const TestStar star(4, kBandwidth, kLatency);
  Program delayed("header"), plain("header");
  simulate(star.topology, base_setup(star.workers(kStep), DelayedDiloco{}, 20, 20), &delayed);
  simulate(star.topology, base_setup(star.workers(kStep), Diloco{}, 20, 20), &plain);
  EXPECT_EQ(delayed.hash(), plain.hash());
}

TEST(DelayedDiloco, WritesItsAlgorithm) {
  const TestStar star(1, kBandwidth, kLatency);
  Program program("header");
  simulate(star.topology, base_setup(star.workers(kStep), DelayedDiloco{}, 5, 10), &program);
  EXPECT_EQ(text_of(program),
            "# header\n"
            "init r0 seed=1\n"
            "read r0 parameters -> v0\n"
            "eval v0 -> n0\n"
            "outer_state -> v1\n"
            "step r0 stream=0 batches=0+5 position=0 -> n1\n"
            "read r0 parameters -> v2\n"
            "linear 1*v0 -1*v2 -> v3\n"
            "free v2\n"
            "write r0 parameters v0\n"
            "linear 1*v3 -> v4\n"
            "step r0 stream=0 batches=5+5 position=5 -> n2\n"
            "read r0 parameters -> v5\n"
            "linear 1*v0 -1*v5 -> v6\n"
            "free v5\n"
            "outer v0 v1 v4 nesterov lr=0.7 momentum=0.9 -> v7 v8\n"
            "free v1\n"
            "eval v7 -> n3\n"
            "free v0\n"
            "write r0 parameters v7\n"
            "free v4\n"
            "free v3\n"
            "linear 1*v6 -> v9\n"
            "outer v7 v8 v9 nesterov lr=0.7 momentum=0.9 -> v10 v11\n"
            "free v8\n"
            "eval v10 -> n4\n"
            "write r0 parameters v10\n"
            "free v9\n"
            "free v6\n"
            "free v7\n"
            "free r0\n"
            "free v11\n"
            "free v10\n");
}

TEST(EagerDiloco, WritesItsAlgorithm) {
  const TestStar star(2, kBandwidth, kLatency);
  Program program("header");
  simulate(star.topology, base_setup(star.workers(kStep), EagerDiloco{}, 5, 10), &program);
  std::string sums;
  std::istringstream lines(text_of(program));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("linear") || line.starts_with("outer ")) sums += line + "\n";
  }
  // v7 and v12 are the workers' models, v20 and v30 their mean.
  EXPECT_EQ(sums,
            "linear 1*v0 -1*v4 -> v5\n"
            "linear 0.5*v5 -> v6\n"
            "outer v0 v2 v6 nesterov lr=0.7 momentum=0.9 -> v7 v8\n"
            "linear 1*v0 -1*v9 -> v10\n"
            "linear 0.5*v10 -> v11\n"
            "outer v0 v3 v11 nesterov lr=0.7 momentum=0.9 -> v12 v13\n"
            "linear 0.5*v5 0.5*v10 -> v14\n"
            "linear 1*v7 -1*v15 -> v16\n"
            "linear 1*v12 -1*v17 -> v18\n"
            "linear 0.5*v14 -> v19\n"
            "outer v0 v1 v19 nesterov lr=0.7 momentum=0.9 -> v20 v21\n"
            "linear 0.5*v16 1*v14 -0.5*v5 -> v22\n"
            "outer v7 v8 v22 nesterov lr=0.7 momentum=0.9 -> v23 v24\n"
            "linear 0.5*v18 1*v14 -0.5*v10 -> v25\n"
            "outer v12 v13 v25 nesterov lr=0.7 momentum=0.9 -> v26 v27\n"
            "linear 0.5*v16 0.5*v18 -> v28\n"
            "linear 0.5*v14 1*v28 -> v29\n"
            "outer v20 v21 v29 nesterov lr=0.7 momentum=0.9 -> v30 v31\n");
}

TEST(EagerDiloco, SendsAsManyBytesAsDiloco) {
  const TestStar star(4, kBandwidth, kLatency);
  const SimulationOutcome eager =
      simulate(star.topology, base_setup(star.workers(kStep), EagerDiloco{}, 20, 100), nullptr);
  const SimulationOutcome plain =
      simulate(star.topology, base_setup(star.workers(kStep), Diloco{}, 20, 100), nullptr);
  EXPECT_EQ(eager.sent, plain.sent);
  EXPECT_LT(eager.virtual_time, plain.virtual_time);
}

}  // namespace
}  // namespace syncline
