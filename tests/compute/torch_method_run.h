// A training method as a user runs it, simulated and trained, beside a plain loop: 4 workers, 3
// rounds, losses of the global model.
#pragma once

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "sim/simulation.h"
#include "tests/compute/torch_fixture.h"
#include "tests/compute/torch_reference_worker.h"
#include "tests/sim/star.h"

namespace syncline::testing {

inline constexpr std::uint32_t kWorkers = 4;
inline constexpr std::uint64_t kRounds = 3;
inline constexpr std::uint64_t kInterval = 4;

inline TrainingConfig method_config(bool exact) {
  TrainingConfig config = small_config();
  config.model.layers = 3;
  config.precision = exact ? Precision::FP64 : Precision::FP32;
  return config;
}

inline std::vector<ReferenceWorker> reference_workers(const TrainingConfig& config,
                                                      torch::Dtype type) {
  std::vector<ReferenceWorker> workers;
  for (std::uint32_t k = 0; k < kWorkers; ++k) workers.emplace_back(config, type, k);
  return workers;
}

// Workers of unequal pace: it must not matter.
inline SimulationSetup method_setup(const TestStar& star, const Method& method,
                                    std::uint64_t evaluate_every) {
  SimulationSetup setup;
  setup.workers = star.workers(Time::seconds(0.05));
  setup.workers[1].step = Time::seconds(0.08);
  setup.strategy.method = method;
  setup.strategy.local_steps = kInterval;
  setup.payload = setup.plain_payload = {100'000, 4};
  setup.stop.steps = kRounds * kInterval;
  setup.recorded_steps = kRounds * kInterval;
  setup.evaluate_every = evaluate_every;
  setup.seed = 7;
  return setup;
}

// The global model's losses, the first before any step.
inline std::vector<double> by_simulation(const Topology& topology, const SimulationSetup& setup,
                                         const TrainingConfig& config) {
  const auto trainer = trainer_of(config);
  Program program(trainer->header());
  SimulationHooks hooks;
  hooks.numbers = [&](NumberIndex number) {
    trainer->run(program, {});
    return trainer->number(number);
  };
  const SimulationOutcome outcome = simulate(topology, setup, &program, hooks);
  trainer->run(program, {});
  std::vector<double> losses;
  for (const Evaluation& evaluation : outcome.evaluations)
    losses.push_back(trainer->number(evaluation.loss));
  return losses;
}

using PlainLoop = std::function<std::vector<double>(const TrainingConfig&, torch::Dtype)>;

inline void expect_setup(const TestStar& star, const SimulationSetup& setup,
                         const PlainLoop& loop) {
  at::set_num_threads(1);
  for (const bool exact : {false, true}) {
    const TrainingConfig config = method_config(exact);
    const std::vector<double> losses = by_simulation(star.topology, setup, config);
    const std::vector<double> expected = loop(config, exact ? torch::kDouble : torch::kFloat);
    ASSERT_EQ(losses.size(), expected.size());
    for (std::size_t i = 0; i < losses.size(); ++i)
      EXPECT_NEAR(losses[i], expected[i], exact ? 1e-10 : 1e-5) << "evaluation " << i;
    EXPECT_GT(losses.front() - losses.back(), 0.01) << "nothing was learned";
  }
}

inline void expect_method(const Method& method, std::uint64_t evaluate_every,
                          const PlainLoop& loop) {
  const TestStar star(kWorkers, 1.25e7, 0.01);
  expect_setup(star, method_setup(star, method, evaluate_every), loop);
}

}  // namespace syncline::testing
