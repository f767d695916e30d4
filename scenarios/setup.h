// From a checked scenario to what the simulation and the trainer are given.
#pragma once

#include <cstdint>
#include <optional>

#include "scenarios/checked_scenario.h"
#include "sim/setup.h"

namespace syncline {

// Tokens that one inner step counts for, over all workers: of the large run where the scenario
// projects.
double counted_tokens_per_step(const CheckedScenario& scenario);

// The same of those workers alone that take part in a round: of fed_avg the clients that count.
double tokens_per_step_of_a_round(const CheckedScenario& scenario);

// Inner steps of each real replica that are trained; 0 without training.
std::uint64_t trained_steps(const CheckedScenario& scenario);

// Inner steps of a worker until the run's stop, or until its training ends: what a schedule of H
// that follows the learning rate goes by, with training and without.
std::uint64_t planned_steps(const CheckedScenario& scenario);

// With the schedule's horizon, which is trained_steps().
TrainingConfig training_config(const CheckedScenario& scenario);

// `parameters`: of the model that is trained. `measured_step`: needed where the pace is measured.
// Throws InputError: a pace that rounds to 0 ns.
SimulationSetup simulation_setup(const CheckedScenario& scenario, std::uint64_t parameters,
                                 std::optional<Time> measured_step);

}  // namespace syncline
