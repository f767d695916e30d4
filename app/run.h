// syncline run SCENARIO
#pragma once

#include <string>

#include "app/options.h"
#include "compute/torch/torch_trainer.h"

namespace syncline {

struct RunOptions : ScenarioOptions {
  std::string out;                           // --out; empty: runs/NAME
  DeviceChoice device = DeviceChoice::AUTO;  // --device
  bool quiet = false;                        // --quiet
};

// Returns the exit code: 0, or 1 if the loss diverged. Throws for everything else.
int run(const RunOptions& options);

}  // namespace syncline
