// The network alone: of a scenario, or of a topology in the text format.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/network/transport.h"
#include "sim/setup.h"
#include "topology/read/imported.h"
#include "topology/topology.h"

namespace syncline {

struct LoadedNetwork {
  Topology topology;
  std::shared_ptr<const ImportedTopology> map;  // that it came from; null: none
  std::vector<TracedLink> traces;
  Transport transport;
  std::vector<std::string> assumptions;
};

// `file` (*.textproto) is a scenario, of which only name, seed, topology and transport are looked
// at, or a message Topology. Throws InputError with file, line and field.
LoadedNetwork load_network(const std::string& file);

}  // namespace syncline
