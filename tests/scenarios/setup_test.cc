// What the trainer and the simulation are given; every number worked out by hand. In the base
// scenario 2 workers take 2 sequences of 16 tokens a step: 32 tokens each, 64 together.
#include "scenarios/setup.h"

#include <gmock/gmock.h>

#include <set>
#include <string>

#include "tests/scenarios/base_scenario.h"

namespace syncline {
namespace {

constexpr std::uint64_t kParameters = 1000;

struct Expected {
  std::uint64_t trained;
  std::optional<std::uint64_t> stop_steps;
  std::optional<std::uint64_t> stop_rounds;
  std::uint64_t evaluate_every;
};

void expect_setup(const Lines& lines, const Expected& expected, const Sets& sets = {}) {
  SCOPED_TRACE(BaseScenario::text(lines));
  const BaseScenario base;
  const CheckedScenario scenario = base.load(lines, sets);
  EXPECT_EQ(trained_steps(scenario), expected.trained);
  EXPECT_EQ(training_config(scenario).inner.horizon, std::max<std::uint64_t>(expected.trained, 1));
  const SimulationSetup setup = simulation_setup(scenario, kParameters, std::nullopt);
  EXPECT_EQ(setup.recorded_steps, expected.trained);
  EXPECT_EQ(setup.stop.steps, expected.stop_steps);
  EXPECT_EQ(setup.stop.rounds, expected.stop_rounds);
  EXPECT_EQ(setup.evaluate_every, expected.evaluate_every);
}

TEST(Setup, StopBySteps) { expect_setup({}, {100, 100, {}, 5}); }

TEST(Setup, StopByTokensRoundsStepsUp) {
  expect_setup({{9, "stop { tokens: 6400 }"}}, {100, 100, {}, 5});
  expect_setup({{9, "stop { tokens: 6401 }"}}, {101, 101, {}, 6});
  expect_setup({{9, "stop { tokens: 1 }"}}, {1, 1, {}, 1});
}

TEST(Setup, StopByRoundsIsLocalStepsEach) {
  expect_setup({{9, "stop { rounds: 7 }"}}, {140, {}, 7, 7});
  expect_setup({{8, "strategy { data_parallel {} }"}, {9, "stop { rounds: 7 }"}}, {7, {}, 7, 1});
}

TEST(Setup, TheFirstStopCounts) {
  expect_setup({{9, "stop { rounds: 7 steps: 100 }"}}, {100, 100, 7, 5});
  expect_setup({{9, "stop { rounds: 3 steps: 100 }"}}, {60, 60, 3, 3});
  expect_setup({{9, "stop { tokens: 640 steps: 100 }"}}, {10, 10, {}, 1});
}

TEST(Setup, TrainingEndsAtItsBudgetAndTimeGoesOn) {
  expect_setup({{6, "data { markov {} } tokens: 3200 }"}}, {50, 100, {}, 3});
  expect_setup({{6, "data { markov {} } tokens: 3201 }"}}, {51, 100, {}, 3});
  expect_setup({{6, "data { markov {} } tokens: 3200 }"}, {9, R"(stop { time: "1 h" })"}},
               {50, {}, {}, 3});
  // A budget that is larger than the run does not lengthen it.
  expect_setup({{6, "data { markov {} } tokens: 1e12 }"}}, {100, 100, {}, 5});
}

TEST(Setup, ReplicasThatStandForAllShareTheBudget) {
  // One real replica of two workers: 32 tokens a step.
  expect_setup({{6, "data { markov {} } tokens: 1600 replicas: 1 }"}}, {50, 100, {}, 3});
  const BaseScenario base;
  const CheckedScenario one = base.load({{6, "data { markov {} } replicas: 1 }"}});
  EXPECT_EQ(simulation_setup(one, kParameters, std::nullopt).replicas, 1u);
  EXPECT_EQ(training_config(one).data.streams, 1u);
  EXPECT_THAT(one.assumptions,
              testing::Contains(testing::HasSubstr("1 real replicas stand for all 2 workers")));
  // As many as there are workers is the same as to say nothing.
  const CheckedScenario all = base.load({{6, "data { markov {} } replicas: 2 }"}});
  EXPECT_EQ(simulation_setup(all, kParameters, std::nullopt).replicas, 0u);
  EXPECT_EQ(training_config(all).data.streams, 2u);
}

TEST(Setup, WithoutTrainingOnlyTimeGoesOn) {
  expect_setup({}, {0, 100, {}, 1}, {"training.trainer=NONE"});
  expect_setup({{9, R"(stop { time: "1 h" })"}}, {0, {}, {}, 1}, {"training.trainer=NONE"});
}

TEST(Setup, NoEndBySteps) {
  expect_setup({{5, "training { model { context: 16 } inner { decay: CONSTANT } batch: 2"},
                {9, R"(stop { time: "1 h" })"}},
               {std::uint64_t{1} << 40, {}, {}, 100});
}

TEST(Setup, ALossIsNotWaitedForBeyondTheTraining) {
  const BaseScenario base;
  const auto setup = [&](const Lines& lines) {
    return simulation_setup(base.load(lines), kParameters, std::nullopt);
  };
  const SimulationSetup budget =
      setup({{6, "data { markov {} } tokens: 3200 }"}, {9, "stop { steps: 100 loss: 2.5 }"}});
  EXPECT_EQ(budget.stop.loss, 2.5);
  EXPECT_EQ(budget.stop.steps, 50u);
  const SimulationSetup rounds = setup({{9, "stop { rounds: 3 loss: 2.5 }"}});
  EXPECT_EQ(rounds.stop.rounds, 3u);
  EXPECT_EQ(rounds.stop.steps, 60u);
}

TEST(Setup, EvaluateEveryIsTakenAsWritten) {
  expect_setup({{6, "data { markov {} } evaluate_every: 7 }"}}, {100, 100, {}, 7});
}

TEST(Setup, TheSmallModelIsThePayload) {
  const BaseScenario base;
  const SimulationSetup setup = simulation_setup(base.load(), kParameters, std::nullopt);
  EXPECT_EQ(setup.payload.elements, kParameters);
  EXPECT_EQ(setup.payload.bytes(), Bytes(4000));
  EXPECT_EQ(setup.workers[0].step, Time::ns(50'000'000));
  EXPECT_EQ(setup.seed, 1u);
}

TEST(Setup, AProjectChargesForTheLargeModel) {
  const BaseScenario base;
  const CheckedScenario scenario = base.load({{6, "data { markov {} } tokens: 2e6 }"},
                                              {9,
                                               "stop { tokens: 140e9 } project { parameters: 7e9 "
                                               "bytes_per_parameter: 2 tokens_per_step: 1e6 }"}});
  EXPECT_EQ(counted_tokens_per_step(scenario), 1e6);
  EXPECT_EQ(trained_steps(scenario), 31250u);  // 2e6 / 64
  const SimulationSetup setup = simulation_setup(scenario, kParameters, std::nullopt);
  EXPECT_EQ(setup.stop.steps, 140'000u);
  EXPECT_EQ(setup.payload.elements, 7'000'000'000u);
  EXPECT_EQ(setup.payload.bytes(), Bytes(14'000'000'000));
}

TEST(Setup, AProjectWithoutItsTokensCountsTheSmallOnes) {
  const BaseScenario base;
  const CheckedScenario scenario =
      base.load({{9, "stop { steps: 100 } project { parameters: 7e9 }"}});
  EXPECT_EQ(counted_tokens_per_step(scenario), 64);
  EXPECT_EQ(simulation_setup(scenario, kParameters, std::nullopt).payload.bytes(),
            Bytes(28'000'000'000));
}

TEST(Setup, PaceFromFlops) {
  const BaseScenario base;
  const Lines large = {{4, R"(workers { per: CLUSTER device: "H100" })"},
                       {7, "pace { mfu: 0.4 }"},
                       {9, "stop { steps: 100 } project { parameters: 7e9 tokens_per_step: 1e6 }"}};
  // 6 · 7e9 · 500,000 tokens a worker / (2 chips · 989.4e12 · 0.4) = 26.5312 s
  const SimulationSetup two = simulation_setup(base.load(large), kParameters, std::nullopt);
  EXPECT_NEAR(two.workers[0].step.in_seconds(), 26.5312310, 1e-6);
  EXPECT_EQ(two.workers[0].step, two.workers[1].step);
  const SimulationSetup eight =
      simulation_setup(base.load(large, {"workers.chips=8"}), kParameters, std::nullopt);
  EXPECT_NEAR(eight.workers[0].step.in_seconds(), 26.5312310 / 4, 1e-6);
  // Without a project the small model is charged: 6 · 1000 · 32 / (2 · 989.4e12 · 0.4) = 0.24 ns,
  // which no clock shows.
  const CheckedScenario small =
      base.load({{4, R"(workers { per: CLUSTER device: "H100" })"}, {7, "pace { mfu: 0.4 }"}});
  EXPECT_THROW(simulation_setup(small, kParameters, std::nullopt), InputError);
  EXPECT_EQ(simulation_setup(small, kParameters * 1'000'000, std::nullopt).workers[0].step,
            Time::ns(242'571));
}

TEST(Setup, SpreadGivesEachWorkerItsOwnPace) {
  const BaseScenario base;
  const Lines spread = {{4, "workers { per: HOST }"},
                        {7, R"x(pace { fixed: "50 ms" spread: "uniform(1, 2)" })x"}};
  const auto steps = [&](const Sets& sets) {
    std::vector<std::int64_t> all;
    for (const WorkerSetup& worker :
         simulation_setup(base.load(spread, sets), kParameters, std::nullopt).workers) {
      all.push_back(worker.step.count_ns());
    }
    return all;
  };
  const std::vector<std::int64_t> first = steps({});
  EXPECT_EQ(first.size(), 4u);
  EXPECT_EQ(std::set(first.begin(), first.end()).size(), 4u);
  EXPECT_THAT(first,
              testing::Each(testing::AllOf(testing::Ge(50'000'000), testing::Le(100'000'000))));
  EXPECT_EQ(steps({}), first);
  EXPECT_NE(steps({"seed=2"}), first);
  EXPECT_THAT(steps({"pace.spread=1.5"}), testing::Each(75'000'000));
}

TEST(Setup, APaceThatRoundsToNothingIsAnError) {
  const BaseScenario base;
  const CheckedScenario scenario = base.load({{7, R"(pace { fixed: "1 ns" spread: "0.1" })"}});
  EXPECT_THROW(simulation_setup(scenario, kParameters, std::nullopt), InputError);
}

TEST(Setup, AMeasuredPaceIsWrittenSoThatTheRunCanBeRepeated) {
  const BaseScenario base;
  const CheckedScenario scenario =
      base.load({{7, R"x(pace { measured { device_factor: 2.5 } spread: "uniform(1, 2)" })x"}});
  const Time measured = Time::ns(1'234'568);
  const SimulationSetup first = simulation_setup(scenario, kParameters, measured);
  const CheckedScenario repeated = base.load_text(scenario.text(measured));
  EXPECT_EQ(repeated.pace.source, PaceSetup::Source::FIXED);
  EXPECT_EQ(repeated.pace.fixed, Time::ns(3'086'420));  // 2.5 times the measured one
  const SimulationSetup second = simulation_setup(repeated, kParameters, std::nullopt);
  for (std::size_t i = 0; i < first.workers.size(); ++i)
    EXPECT_EQ(second.workers[i].step, first.workers[i].step);
  // What was written before the measurement still measures.
  EXPECT_EQ(base.load_text(scenario.text(std::nullopt)).pace.source, PaceSetup::Source::MEASURED);
}

// Every base that is made by a few numbers, from the scenario's text to the graph.
TEST(Setup, GeneratedTopologies) {
  struct Case {
    std::string base;
    std::size_t nodes;
    std::size_t links;
  };
  const std::string link = R"(link { bandwidth: "1 Gbit/s" } } })";
  for (const Case& made :
       {Case{"ring { count: 5 " + link, 5, 5}, Case{"mesh { size: [2, 3] " + link, 6, 7},
        Case{"torus { size: [3, 3] " + link, 9, 18}, Case{"tree { arity: 2 depth: 2 " + link, 7, 6},
        Case{"fat_tree { ports: 4 " + link, 36, 48},
        Case{"leaf_spine { leaves: 2 spines: 2 hosts: 2 up" + link, 8, 8},
        Case{R"(dragonfly { routers: 2 global { bandwidth: "1 Gbit/s" } } })", 12, 12},
        Case{"waxman { count: 4 alpha: 1e-9 beta: 1e-9 " + link, 4, 3},
        Case{"barabasi_albert { count: 6 " + link, 6, 9}}) {
    SCOPED_TRACE(made.base);
    const BaseScenario base;
    const CheckedScenario scenario = base.load({{2, "topology { " + made.base}, {3, ""}, {4, ""}});
    EXPECT_EQ(scenario.topology.node_count(), made.nodes);
    EXPECT_EQ(scenario.topology.link_count(), made.links);
  }
}

}  // namespace
}  // namespace syncline
