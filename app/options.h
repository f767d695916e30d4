// Options that commands share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/load.h"

namespace CLI {
class App;
}

namespace syncline {

struct ScenarioOptions {
  std::string scenario;               // file
  std::vector<std::string> sets;      // --set PATH=VALUE
  std::optional<std::uint64_t> seed;  // --seed
  bool no_train = false;              // --no-train
  bool json = false;                  // --json

  LoadOptions load_options() const;
};

// Adds SCENARIO, --set, --seed, --no-train and --json.
void add_scenario_options(CLI::App& command, ScenarioOptions& options);

}  // namespace syncline
