// syncline topology convert FILE -o X
#pragma once

#include <string>

#include "app/topology_file.h"

namespace syncline {

struct TopologyConvertOptions : TopologyFileOptions {
  std::string out;  // -o
};

void add_topology_convert_options(CLI::App& command, TopologyConvertOptions& options);

// Writes the topology as the suffix of -o says: .graphml and .dot as far as the file tells,
// .textproto complete. Returns 0. Throws InputError.
int topology_convert(const TopologyConvertOptions& options);

}  // namespace syncline
