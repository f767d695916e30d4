// A topology in the scenario's text format.
#pragma once

#include <string>

#include "topology/topology.h"

namespace syncline {

// The message Topology, nodes and links alone: load_network() reads the same topology from it, and
// --set topology=@FILE takes it. Throws InputError: a name that is not plain text.
std::string write_topology(const Topology& topology);

}  // namespace syncline
