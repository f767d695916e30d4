// syncline sweep SCENARIO --vary PATH=V1,V2,…
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/options.h"
#include "compute/torch/torch_trainer.h"

namespace CLI {
class App;
}

namespace syncline {

struct SweepOptions : ScenarioOptions {
  std::vector<std::string> vary;             // --vary PATH=V1,V2,…
  std::string out;                           // --out; empty: runs/NAME-sweep
  DeviceChoice device = DeviceChoice::AUTO;  // --device
  bool quiet = false;                        // --quiet
  std::optional<double> target_loss;         // --target-loss
};

// Adds --vary and --target-loss.
void add_vary_options(CLI::App& command, SweepOptions& options);

// Runs all combinations: each point's folder holds what `syncline run` with the same --set would
// write. All points are checked and simulated first, then every distinct program is trained once.
// Points whose folders are there from before, of the same settings, are kept. Returns the exit
// code: 0, or 1 if a point failed or diverged (the others are finished). Throws for everything
// else; InputErrors name the point, and nothing was trained then.
int sweep(const SweepOptions& options);

}  // namespace syncline
