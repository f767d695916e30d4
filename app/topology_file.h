// Options and reading of the commands that take a topology file.
#pragma once

#include <string>

#include "topology/read/read.h"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's own
class App;
}

namespace syncline {

struct TopologyFileOptions {
  std::string file;
  std::string latency_unit;       // --latency-unit
  std::string bandwidth_unit;     // --bandwidth-unit
  std::string missing_latency;    // --missing-latency
  std::string missing_bandwidth;  // --missing-bandwidth
  double detour = 1;              // --detour
  bool drop_planned = false;      // --drop-planned

  // Throws InputError that begins with the flag.
  ReadOptions read_options() const;
  // The first flag that was given; null: none.
  const char* given_flag() const;
};

// Adds `name` (the file) and the flags for what a file leaves open.
void add_topology_file_options(CLI::App& command, TopologyFileOptions& options,
                               const std::string& name);

}  // namespace syncline
