// syncline topology draw FILE
#pragma once

#include <string>

#include "app/topology_file.h"

namespace syncline {

struct TopologyDrawOptions : TopologyFileOptions {
  std::string out;   // -o; empty: stdout
  std::string load;  // --load: a run's or traffic's folder
};

void add_topology_draw_options(CLI::App& command, TopologyDrawOptions& options);

// Draws the topology as an SVG, as far as the file tells. Returns 0. Throws InputError.
int topology_draw(const TopologyDrawOptions& options);

}  // namespace syncline
