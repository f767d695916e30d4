// The size of the model without a trainer.
#pragma once

#include <cstdint>

#include "scenarios/checked_scenario.h"

namespace syncline {

// Parameters of the model that the scenario would train. Reads token files, whose vocabulary
// decides; throws InputError as Dataset::load.
std::uint64_t untrained_parameters(const CheckedScenario& scenario);

}  // namespace syncline
