// syncline topology info FILE
#pragma once

#include <string>
#include <vector>

#include "app/topology_file.h"

namespace syncline {

struct TopologyInfoOptions : TopologyFileOptions {
  std::vector<std::string> between;  // --between NODE: the cut lies between these
  bool json = false;                 // --json
};

void add_topology_info_options(CLI::App& command, TopologyInfoOptions& options);

// Prints what the file says: its shape always, the rest as far as the file and the flags tell.
// Returns 0. Throws InputError.
int topology_info(const TopologyInfoOptions& options);

}  // namespace syncline
