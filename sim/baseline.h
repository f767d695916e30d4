// Base lines that a run is held against.
#pragma once

#include "sim/simulation.h"

namespace syncline {

// Virtual time of the same rounds and steps on a network without limits and latency, and nothing
// going wrong: what workers and strategy alone take.
Time ideal_network_time(const Topology& topology, const SimulationSetup& setup,
                        const SimulationOutcome& outcome);

}  // namespace syncline
