// From a scenario file to a checked scenario.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/checked_scenario.h"

namespace syncline {

struct LoadOptions {
  std::vector<std::string> sets;      // "PATH=VALUE", applied in order after the file is read;
                                      // VALUE @FILE: a message from a file beside the scenario
  std::optional<std::uint64_t> seed;  // takes the place of the scenario's
  bool without_training = false;      // --no-train: as training.trainer: NONE
  std::string cache_folder;           // where "cache:NAME" texts lie, below text/
};

// Throws InputError: "FILE:LINE: FIELD: what was read and what would be right".
CheckedScenario load_scenario(const std::string& file, const LoadOptions& options);

}  // namespace syncline
