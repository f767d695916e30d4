// Topologies of the wide area, in the scenario's topology. Inside scenarios/ only.
#pragma once

#include "scenarios/checked_scenario.h"
#include "scenarios/document.h"
#include "scenarios/read_generator.h"

namespace syncline {

// Each throws InputError.
void read_cloud(Document& document, CheckedScenario& scenario);
void read_edge(Document& document, CheckedScenario& scenario);

}  // namespace syncline
