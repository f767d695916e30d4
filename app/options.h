// Options that commands share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compute/torch/torch_trainer.h"
#include "scenarios/load.h"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's own
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
// Adds --out; `owner`: whose folder is replaced.
void add_output_options(CLI::App& command, std::string& out, const std::string& by_default,
                        const std::string& owner);
// Adds --device and --quiet.
void add_device_options(CLI::App& command, DeviceChoice& device, bool& quiet);

}  // namespace syncline
