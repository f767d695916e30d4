// Everything that decides the numbers, as text for Program's keys.
#pragma once

#include <string>

#include "compute/data/dataset.h"
#include "compute/training_config.h"

namespace syncline {

// key=value, a line a subject. `device`: its name and how it executes.
std::string training_header(const TrainingConfig& config, const Dataset& data,
                            const std::string& device);

}  // namespace syncline
