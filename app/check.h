// syncline check SCENARIO
#pragma once

#include "app/options.h"

namespace syncline {

// Reads and checks a scenario and prints what it means; trains nothing, writes nothing. Returns 0,
// or throws.
int check(const ScenarioOptions& options);

}  // namespace syncline
