// Streaming DiLoCo: the program that it writes, and its time on an idle network.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "sim/baseline.h"
#include "strategy_run.h"

namespace syncline {
namespace {

StreamingDiloco streaming(std::uint32_t fragments, std::uint64_t overlap, double alpha) {
  StreamingDiloco method;
  method.fragments = fragments;
  method.overlap = overlap;
  method.alpha = alpha;
  for (std::uint32_t p = 0; p < fragments; ++p)
    method.elements.push_back(1'200'000 * (p + 1) / fragments - 1'200'000 * p / fragments);
  return method;
}

TEST(StreamingDiloco, WithOneFragmentAndNoOverlapIsDiloco) {
  const TestStar star(4, kBandwidth, kLatency);
  Program streamed("header"), plain("header");
  const SimulationOutcome outcome = simulate(
      star.topology, base_setup(star.workers(kStep), streaming(1, 0, 0), 20, 50), &streamed);
  const SimulationOutcome expected =
      simulate(star.topology, base_setup(star.workers(kStep), Diloco{}, 20, 50), &plain);
  EXPECT_EQ(streamed.hash(), plain.hash());
  EXPECT_EQ(outcome.virtual_time, expected.virtual_time);
  EXPECT_EQ(outcome.sent, expected.sent);
  EXPECT_EQ(outcome.workers[1].syncing, expected.workers[1].syncing);
}

TEST(StreamingDiloco, SendsEachFragmentInItsTurnAndTheRestAtTheStop) {
  const TestStar star(2, kBandwidth, kLatency);
  Program program("header");
  const SimulationOutcome outcome = simulate(
      star.topology, base_setup(star.workers(kStep), streaming(2, 1, 0.5), 4, 4), &program);
  // After 2 steps fragment 0, after 4 fragment 1, and fragment 0 once more for steps 3 and 4.
  ASSERT_EQ(outcome.rounds.size(), 3u);
  EXPECT_EQ(outcome.rounds[0].steps, 2u);
  EXPECT_EQ(outcome.rounds[1].steps, 4u);
  EXPECT_EQ(outcome.rounds[2].steps, 4u);
  ASSERT_EQ(outcome.evaluations.size(), 2u);
  EXPECT_EQ(outcome.evaluations[1].steps, 4u);
  EXPECT_EQ(outcome.evaluations[1].round, 3u);
  EXPECT_EQ(outcome.evaluations[1].at, outcome.virtual_time);
}

TEST(StreamingDiloco, WritesItsAlgorithm) {
  const TestStar star(1, kBandwidth, kLatency);
  Program program("header");
  simulate(star.topology, base_setup(star.workers(kStep), streaming(2, 1, 0.25), 4, 4), &program);
  std::string text;
  std::istringstream lines(text_of(program));
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("free")) text += line + "\n";
  }
  // r1 holds the global model; v1 and v3 are its fragments.
  EXPECT_EQ(text,
            "# header\n"
            "init r0 seed=1\n"
            "read r0 parameters -> v0\n"
            "eval v0 -> n0\n"
            "init r1 seed=1\n"
            "read r1 parameters 0/2 strided -> v1\n"
            "outer_state -> v2\n"
            "read r1 parameters 1/2 strided -> v3\n"
            "outer_state -> v4\n"
            "step r0 stream=0 batches=0+2 position=0 -> n1\n"
            "read r0 parameters 0/2 strided -> v5\n"
            "linear 1*v1 -1*v5 -> v6\n"
            "linear 1*v6 -> v7\n"
            "step r0 stream=0 batches=2+1 position=2 -> n2\n"
            "outer v1 v2 v7 nesterov lr=0.7 momentum=0.9 -> v8 v9\n"
            "write r1 parameters 0/2 strided v8\n"
            "read r1 parameters -> v10\n"
            "read r0 parameters 0/2 strided -> v11\n"
            "linear 0.25*v11 0.75*v8 -> v12\n"
            "write r0 parameters 0/2 strided v12\n"
            "step r0 stream=0 batches=3+1 position=3 -> n3\n"
            "read r0 parameters 1/2 strided -> v13\n"
            "linear 1*v3 -1*v13 -> v14\n"
            "read r0 parameters 0/2 strided -> v15\n"
            "linear 1*v8 -1*v15 -> v16\n"
            "linear 1*v14 -> v17\n"
            "linear 1*v16 -> v18\n"
            "outer v3 v4 v17 nesterov lr=0.7 momentum=0.9 -> v19 v20\n"
            "write r1 parameters 1/2 strided v19\n"
            "read r1 parameters -> v21\n"
            "read r0 parameters 1/2 strided -> v22\n"
            "linear 0.25*v22 0.75*v19 -> v23\n"
            "write r0 parameters 1/2 strided v23\n"
            "outer v8 v9 v18 nesterov lr=0.7 momentum=0.9 -> v24 v25\n"
            "write r1 parameters 0/2 strided v24\n"
            "read r1 parameters -> v26\n"
            "read r0 parameters 0/2 strided -> v27\n"
            "linear 0.25*v27 0.75*v24 -> v28\n"
            "write r0 parameters 0/2 strided v28\n"
            "eval v26 -> n4\n");
}

// Each fragment's ring is shorter than the tau steps that it has: nobody ever waits, but at the
// end.
TEST(StreamingDiloco, ComputesWhileItSends) {
  const TestStar star(4, kBandwidth, kLatency);
  const double ring = ring_s(4, kPayload / 4);
  ASSERT_LT(ring, 6 * 0.05);
  const SimulationOutcome outcome = simulate(
      star.topology, base_setup(star.workers(kStep), streaming(4, 6, 0.5), 40, 200), nullptr);
  EXPECT_EQ(outcome.rounds.size(), 20u + 3u);
  EXPECT_EQ(outcome.sent.count(), 23 * 2 * 3 * 1'200'000);
  // The last fragment's ring and those of the other three, all at once. Each chunk of a ring waits
  // for the one before it; four rings that share the links take as long as one of all bytes.
  EXPECT_NEAR(outcome.virtual_time.in_seconds(), 200 * 0.05 + ring_s(4), 1e-6);
  for (const WorkerOutcome& worker : outcome.workers) {
    EXPECT_EQ(worker.computing, kStep * 200);
    EXPECT_EQ(worker.waiting, Time());
    EXPECT_NEAR(worker.syncing.in_seconds(), ring_s(4), 1e-6);
  }
}

// A ring that takes longer than its tau steps blocks for the rest, each time.
TEST(StreamingDiloco, WaitsForWhatIsLate) {
  const TestStar star(4, kBandwidth, kLatency);
  const double ring = ring_s(4, kPayload / 2);
  ASSERT_GT(ring, 2 * 0.05);
  const SimulationOutcome outcome = simulate(
      star.topology, base_setup(star.workers(kStep), streaming(2, 2, 0.5), 40, 80), nullptr);
  // Rounds end after 20, 40, 60 and 80 steps; the last two rings go together.
  EXPECT_NEAR(outcome.virtual_time.in_seconds(), 80 * 0.05 + 3 * (ring - 2 * 0.05) + ring_s(4),
              1e-6);
}

TEST(StreamingDiloco, WithoutOverlapTakesItsRings) {
  const TestStar star(4, kBandwidth, kLatency);
  const SimulationOutcome outcome = simulate(
      star.topology, base_setup(star.workers(kStep), streaming(3, 0, 0), 40, 120), nullptr);
  EXPECT_EQ(outcome.rounds.size(), 9u + 2u);
  EXPECT_EQ(outcome.rounds[0].steps, 14u);  // the first step s with 3 s >= 40
  EXPECT_EQ(outcome.rounds[1].steps, 27u);
  EXPECT_EQ(outcome.rounds[2].steps, 40u);
  EXPECT_NEAR(outcome.virtual_time.in_seconds(), 120 * 0.05 + 11 * ring_s(4, kPayload / 3), 1e-6);
}

TEST(StreamingDiloco, WritesTheSameProgramOverAnyNetwork) {
  const std::vector<Key> hashes = programs_over_networks(streaming(4, 3, 0.5), 10, 43);
  EXPECT_EQ(hashes[0], hashes[1]);
  EXPECT_EQ(hashes[0], hashes[2]);
}

TEST(StreamingDiloco, TakesMoreThanOneAverageAtATime) {
  const TestStar star(3, kBandwidth, kLatency);
  Program program("header");
  const SimulationOutcome outcome = simulate(
      star.topology, base_setup(star.workers(kStep), streaming(6, 5, 0.5), 12, 48), &program);
  EXPECT_EQ(outcome.rounds.size(), 24u + 5u);
  for (const RoundRecord& round : outcome.rounds) EXPECT_EQ(round.workers, 3u);
  EXPECT_EQ(count(program, Op::OUTER), 29);
}

TEST(StreamingDiloco, AStopByTimeLeavesNothingUnsynchronised) {
  const TestStar star(3, kBandwidth, kLatency);
  for (const double stop : {0.04, 0.3, 1.0, 1.04, 3.33, 7.0}) {
    SCOPED_TRACE(stop);
    SimulationSetup setup = base_setup(star.workers(kStep), streaming(4, 3, 0.5), 20, 0);
    setup.workers[1].step = Time::seconds(0.07);
    setup.stop.steps.reset();
    setup.recorded_steps = 1'000'000;
    setup.stop.time = Time::seconds(stop);
    Program program("header");
    const SimulationOutcome outcome = simulate(star.topology, setup, &program);
    if (stop < 0.05) {
      EXPECT_EQ(outcome.rounds.size(), 0u);
      continue;
    }
    EXPECT_GE(outcome.rounds.size(), 4u);
    EXPECT_EQ(outcome.evaluations.back().round, outcome.rounds.size());
    EXPECT_EQ(outcome.evaluations.back().at, outcome.virtual_time);
  }
}

TEST(StreamingDiloco, AStopByRoundsCountsFragments) {
  const TestStar star(3, kBandwidth, kLatency);
  SimulationSetup setup = base_setup(star.workers(kStep), streaming(4, 2, 0.5), 20, 0);
  setup.stop.steps.reset();
  setup.stop.rounds = 6;
  setup.recorded_steps = 30;
  Program program("header");
  const SimulationOutcome outcome = simulate(star.topology, setup, &program);
  EXPECT_EQ(outcome.workers[0].steps, 30u);
  EXPECT_EQ(outcome.rounds.size(), 6u + 3u);
  EXPECT_EQ(outcome.evaluations.back().steps, 30u);
}

TEST(StreamingDiloco, AfterTheBudgetOnlyTimeGoesOn) {
  const TestStar star(3, kBandwidth, kLatency);
  SimulationSetup setup = base_setup(star.workers(kStep), streaming(2, 3, 0.5), 20, 200);
  setup.recorded_steps = 50;
  Program program("header");
  const SimulationOutcome outcome = simulate(star.topology, setup, &program);
  EXPECT_EQ(outcome.rounds.size(), 20u + 1u);
  EXPECT_EQ(outcome.evaluations.back().steps, 50u);
  EXPECT_EQ(outcome.evaluations.back().round, 5u);
  std::uint64_t steps = 0;
  for (const Instruction& instruction : program.instructions())
    if (instruction.op == Op::STEP) steps += instruction.count;
  EXPECT_EQ(steps, 3 * 50u);
}

TEST(StreamingDiloco, OnAnIdealNetworkOnlyTheStepsCount) {
  const TestStar star(4, kBandwidth, kLatency);
  const SimulationSetup setup = base_setup(star.workers(kStep), streaming(4, 3, 0.5), 20, 90);
  const SimulationOutcome outcome = simulate(star.topology, setup, nullptr);
  EXPECT_EQ(ideal_network_time(star.topology, setup, outcome), Time::seconds(4.5));
}

}  // namespace
}  // namespace syncline
