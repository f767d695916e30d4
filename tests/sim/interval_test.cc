// When the rounds end: schedules of H, H from what was trained, gradients first.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "sim/baseline.h"
#include "sim/strategy/round_plan.h"
#include "strategy_run.h"

namespace syncline {
namespace {

using testing::ElementsAre;

std::vector<std::uint64_t> ends(const SimulationOutcome& outcome) {
  std::vector<std::uint64_t> steps;
  for (const RoundRecord& round : outcome.rounds) steps.push_back(round.steps);
  return steps;
}

TEST(Schedule, GivesEachRoundItsSteps) {
  const TestStar star(3, kBandwidth, kLatency);
  for (const Method& method : {Method{LocalSgd{}}, Method{Diloco{}}, Method{DelayedDiloco{}}}) {
    SimulationSetup setup = base_setup(star.workers(kStep), method, 2, 40);
    setup.strategy.schedule = {{4, 5}, {12, 10}};
    const SimulationOutcome outcome = simulate(star.topology, setup, nullptr);
    // The round that begins at 9 is still one of 5 steps; the last is cut by the stop.
    EXPECT_THAT(ends(outcome), ElementsAre(2, 4, 9, 14, 24, 34, 40));
    EXPECT_EQ(ideal_network_time(star.topology, setup, outcome), Time::seconds(40 * 0.05));
  }
}

TEST(Schedule, StepsOfRoundsAndRoundsOfStepsAreThoseOfTheRounds) {
  StrategySetup strategy;
  strategy.local_steps = 3;
  strategy.gradient_steps = 5;
  strategy.schedule = {{7, 4}, {20, 1}, {25, 9}};
  std::vector<std::uint64_t> steps{0};
  for (std::uint64_t round = 0; round < 30; ++round)
    steps.push_back(round_end(strategy, round, steps.back()));
  for (std::uint64_t rounds = 0; rounds <= 30; ++rounds)
    EXPECT_EQ(steps_of_rounds(strategy, rounds, 1'000), steps[rounds]);
  EXPECT_EQ(steps_of_rounds(strategy, 30, 50), 50u);
  for (std::uint64_t step = 0; step < 80; ++step) {
    std::uint64_t rounds = 0;
    while (steps[rounds] < step) ++rounds;
    EXPECT_EQ(rounds_of_steps(strategy, step), rounds) << step;
  }
}

TEST(Schedule, TakesNoLongerForALongRun) {
  StrategySetup strategy;
  strategy.local_steps = 7;
  const std::uint64_t most = std::uint64_t{1} << 40;
  EXPECT_EQ(steps_of_rounds(strategy, 1'000'000'000'000, most), most);
  EXPECT_EQ(rounds_of_steps(strategy, most), most / 7 + 1);
}

TEST(GradientSteps, AreDataParallelBeforeTheRestIsLocal) {
  const TestStar star(3, kBandwidth, kLatency);
  for (const Method& method : {Method{LocalSgd{}}, Method{Diloco{}}}) {
    SimulationSetup setup = base_setup(star.workers(kStep), method, 10, 24);
    setup.strategy.gradient_steps = 4;
    Program program("header");
    const SimulationOutcome outcome = simulate(star.topology, setup, &program);
    EXPECT_THAT(ends(outcome), ElementsAre(1, 2, 3, 4, 14, 24));
    EXPECT_EQ(count(program, Op::GRAD), 3 * 4);
    EXPECT_EQ(count(program, Op::APPLY), 3 * 4);
    EXPECT_EQ(count(program, Op::STEP), 3 * 2);
    EXPECT_NEAR(outcome.virtual_time.in_seconds(), 24 * 0.05 + 6 * ring_s(3), 1e-7);
  }
}

TEST(GradientSteps, OfTheWholeRunAreDataParallel) {
  const TestStar star(3, kBandwidth, kLatency);
  Program mixed("header"), plain("header");
  SimulationSetup setup = base_setup(star.workers(kStep), Diloco{}, 10, 6);
  setup.strategy.gradient_steps = 6;
  setup.evaluate_every = 1;
  simulate(star.topology, setup, &mixed);
  simulate(star.topology, base_setup(star.workers(kStep), DataParallel{}, 1, 6), &plain);
  EXPECT_EQ(mixed.hash(), plain.hash());
}

// The trainer is played: every number that the program asks for has a value here.
SimulationHooks answering(const Program& program, std::function<double(const Instruction&)> value) {
  SimulationHooks hooks;
  hooks.numbers = [&program, value = std::move(value)](NumberIndex number) {
    for (const Instruction& instruction : program.instructions())
      if (instruction.number == number) return value(instruction);
    return std::nan("");
  };
  return hooks;
}

TEST(Adaptive, ByLossIsTheRootOfItsShare) {
  const TestStar star(3, kBandwidth, kLatency);
  SimulationSetup setup = base_setup(star.workers(kStep), LocalSgd{}, 10, 30);
  setup.strategy.adaptive = AdaptiveInterval{AdaptiveInterval::Rule::LOSS, 0, 100};
  Program program("header");
  std::map<Key, double> losses;  // 4, 2, 1, …
  const SimulationHooks hooks = answering(program, [&](const Instruction& instruction) {
    return losses.try_emplace(instruction.key, 4 / std::pow(2, losses.size())).first->second;
  });
  const SimulationOutcome outcome = simulate(star.topology, setup, &program, hooks);
  // H = 10, 10, ceil(10 · sqrt(1/2)) = 8, 5 — the last one cut.
  EXPECT_THAT(ends(outcome), ElementsAre(10, 20, 28, 30));
  EXPECT_EQ(ideal_network_time(star.topology, setup, outcome), Time::seconds(30 * 0.05));
}

TEST(Adaptive, ByDivergenceAimsAtItsTarget) {
  const TestStar star(3, kBandwidth, kLatency);
  for (const Method& method : {Method{LocalSgd{}}, Method{Diloco{}}}) {
    SimulationSetup setup = base_setup(star.workers(kStep), method, 8, 100);
    setup.strategy.adaptive = AdaptiveInterval{AdaptiveInterval::Rule::DIVERGENCE, 0.02, 24};
    Program program("header");
    int round = 0;
    const SimulationHooks hooks = answering(program, [&](const Instruction& instruction) {
      if (instruction.measure == Measure::NORM) return ++round, 10.0;
      const double divergence[] = {0.016, 0.001, 0.02, 0.1};  // of the norm
      return 10 * divergence[std::min(round - 1, 3)];
    });
    const SimulationOutcome outcome = simulate(star.topology, setup, &program, hooks);
    // 8 · 0.02/0.016 = 10; 20, at most the double; as it is; 10, at least the half; 5, 3, 2, 1.
    EXPECT_THAT(std::vector<std::uint64_t>(ends(outcome)).front(), 8u);
    const std::vector<std::uint64_t> found = ends(outcome);
    EXPECT_THAT(std::vector<std::uint64_t>(found.begin(), found.begin() + 7),
                ElementsAre(8, 18, 38, 58, 68, 73, 76));
  }
}

TEST(Adaptive, KeepsItsIntervalWhereNothingIsTrained) {
  const TestStar star(3, kBandwidth, kLatency);
  SimulationSetup setup = base_setup(star.workers(kStep), LocalSgd{}, 10, 30);
  setup.strategy.adaptive = AdaptiveInterval{AdaptiveInterval::Rule::LOSS, 0, 100};
  EXPECT_THAT(ends(simulate(star.topology, setup, nullptr)), ElementsAre(10, 20, 30));
}

}  // namespace
}  // namespace syncline
