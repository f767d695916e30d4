// All that a checked scenario says, as text that tests compare.
#pragma once

#include <string>

#include "scenarios/checked_scenario.h"

namespace syncline {

// Every value in full precision; without what was written (`written`).
std::string describe(const CheckedScenario& scenario);

}  // namespace syncline
