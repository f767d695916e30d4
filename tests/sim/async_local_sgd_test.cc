// Asynchronous Local SGD: steps by speed, how they are shared out, times and bytes in closed form.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "sim/baseline.h"
#include "sim/strategy/round_plan.h"
#include "strategy_run.h"

namespace syncline {
namespace {

constexpr double kOnce = kPayload / kBandwidth + 2 * kLatency;  // one model, one way

AsyncLocalSgd method(std::uint64_t delay, bool by_speed = true) {
  AsyncLocalSgd method;
  method.delay = delay;
  method.by_speed = by_speed;
  return method;
}

// Workers on a star, whose last host is the server.
struct Updates {
  Updates(std::size_t count, std::uint64_t steps, const AsyncLocalSgd& async)
      : star(count + 1, kBandwidth, kLatency) {
    std::vector<WorkerSetup> workers = star.workers(kStep);
    workers.pop_back();
    setup = base_setup(std::move(workers), async, 20, steps);
    setup.strategy.collective = {CollectiveAlgorithm::PARAMETER_SERVER, star.hosts.back()};
  }
  SimulationOutcome run(Program* program = nullptr) const {
    return simulate(star.topology, setup, program);
  }

  TestStar star;
  SimulationSetup setup;
};

std::uint64_t recorded_steps(const Program& program) {
  std::uint64_t steps = 0;
  for (const Instruction& instruction : program.instructions())
    if (instruction.op == Op::STEP) steps += instruction.count;
  return steps;
}

TEST(StepsBySpeed, AreThoseThatFitWhileTheFastestTakesAll) {
  StrategySetup strategy;
  strategy.method = AsyncLocalSgd{};
  strategy.local_steps = 20;
  const Time fastest = Time::seconds(0.05);
  EXPECT_EQ(own_steps_of(strategy, fastest, fastest), 20u);
  EXPECT_EQ(own_steps_of(strategy, fastest, Time::seconds(0.1)), 10u);
  EXPECT_EQ(own_steps_of(strategy, fastest, Time::seconds(0.07)), 14u);  // 14.28
  EXPECT_EQ(own_steps_of(strategy, fastest, Time::seconds(50)), 1u);
  strategy.local_steps = 1'000'000'000;
  EXPECT_EQ(own_steps_of(strategy, Time::seconds(1e6), Time::seconds(2e6)), 500'000'000u);
  strategy.method = method(1, false);
  EXPECT_EQ(own_steps_of(strategy, fastest, Time::seconds(50)), 1'000'000'000u);
}

TEST(AsyncLocalSgd, AloneTakesItsStepsAndItsTransfers) {
  const Updates updates(1, 100, {});
  const SimulationOutcome outcome = updates.run();
  EXPECT_EQ(outcome.rounds.size(), 5u);
  // Nothing comes down before the first steps, nor after the last ones.
  EXPECT_NEAR(outcome.virtual_time.in_seconds(), 5 + 5 * kOnce + 4 * kOnce, 1e-7);
  EXPECT_EQ(outcome.sent.count(), 9 * 4'800'000);
  EXPECT_EQ(outcome.workers[0].steps, 100u);
  EXPECT_NEAR(outcome.workers[0].syncing.in_seconds(), 9 * kOnce, 1e-7);
  EXPECT_EQ(outcome.rounds[1].steps, 40u);
  EXPECT_NEAR((outcome.rounds[1].ended - outcome.rounds[1].begun).in_seconds(), 1 + 2 * kOnce,
              1e-7);
}

TEST(AsyncLocalSgd, SharesOutTheStepsOfAll) {
  for (const bool by_speed : {true, false}) {
    Updates updates(4, 100, method(1, by_speed));
    updates.setup.workers[3].step = Time::seconds(0.2);
    const SimulationOutcome outcome = updates.run();
    std::uint64_t steps = 0;
    for (const WorkerOutcome& worker : outcome.workers) steps += worker.steps;
    EXPECT_EQ(steps, 400u);
    EXPECT_LT(outcome.workers[3].steps, 100u);
    EXPECT_GT(outcome.workers[0].steps, 100u);
    EXPECT_EQ(outcome.rounds.back().steps, 100u);
    // A fast worker never waits for the slow one.
    for (const WorkerOutcome& worker : outcome.workers) EXPECT_EQ(worker.waiting, Time());
    EXPECT_EQ(outcome.sent.count(),
              4'800'000 * static_cast<std::int64_t>(2 * outcome.rounds.size() - 4));
  }
}

TEST(AsyncLocalSgd, WritesItsAlgorithm) {
  Updates updates(1, 20,
                  {.outer = {OuterRule::Kind::NESTEROV, 0.5, 0.5}, .delay = 2, .activation = 0.25});
  updates.setup.strategy.local_steps = 5;
  Program program("header");
  updates.run(&program);
  std::string sums;
  std::istringstream lines(text_of(program));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("linear") || line.starts_with("write")) sums += line + "\n";
  }
  EXPECT_EQ(sums,
            "linear 1*v0 -1*v1 -> v2\n"
            "linear 1*v0 -0.25*v2 -> v3\n"  // no momentum yet
            "write r0 parameters v3\n"
            "linear 1*v3 -1*v4 -> v5\n"
            "linear 0.5*v2 0.5*v5 -> v6\n"
            "linear 1*v3 -0.25*v5 -0.1875*v6 -> v7\n"  // 1 - cN + c = 0.75 of it
            "write r0 parameters v7\n"
            "linear 1*v7 -1*v8 -> v9\n"
            "linear 1*v7 -0.25*v9 -0.0625*v6 -> v10\n"  // c = 0.25 of it
            "write r0 parameters v10\n"
            "linear 1*v10 -1*v11 -> v12\n"
            "linear 0.5*v6 0.5*v9 0.5*v12 -> v13\n"
            "linear 1*v10 -0.25*v12 -0.1875*v13 -> v14\n");
}

TEST(AsyncLocalSgd, GoesOnFromStaleModels) {
  // The slow worker's only update begins at the first model and is applied to a later one.
  Updates updates(2, 60, method(2, false));
  updates.setup.workers[1].step = Time::seconds(0.11);
  Program program("header");
  const SimulationOutcome outcome = updates.run(&program);
  EXPECT_EQ(outcome.rounds.size(), 6u);
  EXPECT_EQ(recorded_steps(program), 120u);
  EXPECT_GT(outcome.workers[0].steps, outcome.workers[1].steps);
}

TEST(AsyncLocalSgd, AfterTheBudgetOnlyTimeGoesOn) {
  Updates updates(3, 200, method(3));
  updates.setup.workers[1].step = Time::seconds(0.17);
  updates.setup.recorded_steps = 50;
  Program program("header");
  const SimulationOutcome outcome = updates.run(&program);
  EXPECT_EQ(recorded_steps(program), 3 * 50u);
  EXPECT_EQ(outcome.evaluations.back().steps, 50u);
  EXPECT_LT(outcome.evaluations.back().at, outcome.virtual_time);
  std::uint64_t last = 0;
  for (const Evaluation& evaluation : outcome.evaluations) {
    EXPECT_TRUE(evaluation.round == 0 || evaluation.steps > last);
    last = evaluation.steps;
  }
}

TEST(AsyncLocalSgd, EndsByTimeWithEverythingApplied) {
  Updates updates(3, 1, method(3));
  updates.setup.workers[1].step = Time::seconds(0.07);
  updates.setup.stop.steps.reset();
  updates.setup.recorded_steps = 1'000'000;
  for (const double stop : {0.04, 0.06, 0.3, 1.0, 1.04, 3.33, 9.0}) {
    SCOPED_TRACE(stop);
    updates.setup.stop.time = Time::seconds(stop);
    Program program("header");
    const SimulationOutcome outcome = updates.run(&program);
    EXPECT_EQ(outcome.rounds.empty(), stop < 0.05);
    std::uint64_t steps = 0;
    for (const WorkerOutcome& worker : outcome.workers) steps += worker.steps;
    EXPECT_EQ(recorded_steps(program), steps);
    if (outcome.rounds.empty()) continue;
    EXPECT_EQ(outcome.evaluations.back().round, outcome.rounds.size());
    EXPECT_EQ(outcome.evaluations.back().at, outcome.virtual_time);
  }
}

TEST(AsyncLocalSgd, AStalledLinkHoldsUpItsWorkerAlone) {
  Updates updates(3, 200, method(3));
  DownEffect down;
  down.links = {updates.star.links[0]};
  down.in_flight = InFlight::STALL;
  updates.setup.events = {{"h0", Once{Time::seconds(1.1), Time::seconds(6)}, down}};
  const SimulationOutcome outcome = updates.run();
  EXPECT_LT(outcome.workers[0].steps, outcome.workers[1].steps);
  std::uint64_t steps = 0;
  for (const WorkerOutcome& worker : outcome.workers) steps += worker.steps;
  EXPECT_EQ(steps, 600u);
}

TEST(AsyncLocalSgd, OnAnIdealNetworkOnlyTheStepsCount) {
  const Updates updates(4, 100, method(4));
  EXPECT_EQ(ideal_network_time(updates.star.topology, updates.setup, updates.run()),
            Time::seconds(5));
}

}  // namespace
}  // namespace syncline
