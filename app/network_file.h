// The network of a command that needs no scenario: a topology file of any format, or a scenario's.
#pragma once

#include "app/topology_file.h"
#include "scenarios/load_network.h"

namespace syncline {

// Complete: throws InputError that lists what the file leaves open. Flags for what a file leaves
// open are refused for scenarios, which say it themselves.
LoadedNetwork read_network(const TopologyFileOptions& options);
// As the file says it, complete or not.
ImportedTopology read_map(const TopologyFileOptions& options);

}  // namespace syncline
