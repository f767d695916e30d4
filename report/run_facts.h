// All that is known of a run when it ends; what every report is made from.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "compute/program.h"
#include "compute/trainer.h"
#include "scenarios/checked_scenario.h"
#include "sim/setup.h"
#include "sim/simulation.h"

namespace syncline {

struct RunFacts {
  // Must outlive the facts.
  const CheckedScenario& scenario;
  const SimulationSetup& setup;
  const SimulationOutcome& outcome;
  const Program* program = nullptr;           // null: nothing was trained
  std::function<double(NumberIndex)> number;  // NaN: not known
  std::string device;                         // that it was trained on
  std::optional<Time> measured_step;
  Time ideal_network_time;
  // Of this computer, apart from the results:
  TrainingEffort effort;
  double total_s = 0;
  double simulation_s = 0;
};

}  // namespace syncline
