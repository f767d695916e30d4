// A run of a strategy on a star of hosts, its closed forms, and the program that it writes.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "sim/simulation.h"
#include "star.h"

namespace syncline {

inline constexpr double kBandwidth = 1.25e7;
inline constexpr double kLatency = 0.010;
inline constexpr double kPayload = 4.8e6;
inline const Time kStep = Time::seconds(0.05);

inline SimulationSetup base_setup(std::vector<WorkerSetup> workers, Method method,
                                  std::uint64_t local_steps, std::uint64_t steps) {
  SimulationSetup setup;
  setup.workers = std::move(workers);
  setup.strategy.method = std::move(method);
  setup.strategy.local_steps = local_steps;
  setup.payload = setup.plain_payload = {1'200'000, 4};
  setup.stop.steps = steps;
  setup.recorded_steps = steps;
  setup.evaluate_every = local_steps;
  return setup;
}

// The ring over hosts of a star that is idle.
inline double ring_s(double hosts, double payload = kPayload) {
  return 2 * (hosts - 1) * (payload / hosts / kBandwidth + 2 * kLatency);
}

// A run that ends by time, between rounds and inside them: its last evaluation is of the last round
// and at the end.
inline void expect_everything_by_the_end(const Method& method, std::size_t hosts) {
  const TestStar star(hosts, kBandwidth, kLatency);
  for (const double stop : {0.04, 0.3, 1.0, 1.04, 3.33}) {
    SCOPED_TRACE(stop);
    SimulationSetup setup = base_setup(star.workers(kStep), method, 20, 0);
    setup.workers[1].step = Time::seconds(0.07);
    setup.stop.steps.reset();
    setup.recorded_steps = 1'000'000;
    setup.stop.time = Time::seconds(stop);
    Program program("header");
    const SimulationOutcome outcome = simulate(star.topology, setup, &program);
    EXPECT_EQ(outcome.rounds.empty(), stop < 0.05);
    if (outcome.rounds.empty()) continue;
    EXPECT_EQ(outcome.evaluations.back().round, outcome.rounds.size());
    EXPECT_EQ(outcome.evaluations.back().at, outcome.virtual_time);
  }
}

// Hashes of the programs that a method writes over three networks: even, uneven, and very uneven
// with a slow worker. Workers of different speed reorder what is independent, and nothing else.
inline std::vector<Key> programs_over_networks(const Method& method, std::uint64_t local_steps,
                                               std::uint64_t steps) {
  std::vector<Key> hashes;
  for (const double jitter : {0.0, 0.5, 0.9}) {
    const TestStar star(5, kBandwidth, kLatency, jitter);
    SimulationSetup setup = base_setup(star.workers(kStep), method, local_steps, steps);
    if (jitter > 0.6) setup.workers[2].step = Time::seconds(0.11);
    Program program("header");
    simulate(star.topology, setup, &program);
    hashes.push_back(program.hash());
  }
  return hashes;
}

inline std::string text_of(const Program& program) {
  std::ostringstream text;
  program.write_text(text);
  return text.str();
}

inline int count(const Program& program, Op op) {
  int found = 0;
  for (const Instruction& instruction : program.instructions()) found += instruction.op == op;
  return found;
}

}  // namespace syncline
