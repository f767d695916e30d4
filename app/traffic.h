// syncline traffic TOPOLOGY FLOWS.csv
#pragma once

#include <string>
#include <vector>

#include "app/topology_file.h"

namespace syncline {

struct TrafficOptions : TopologyFileOptions {
  std::string flows;               // FLOWS.csv
  std::string events;              // --events
  std::string in_flight;           // --in-flight
  bool all_pairs = false;          // --all-pairs
  std::string collective;          // --collective
  std::string bytes;               // --bytes
  std::vector<std::string> hosts;  // --hosts; none: all
  std::string server;              // --server
  std::string out;                 // --out; empty: nothing is written
  bool json = false;               // --json
};

void add_traffic_options(CLI::App& command, TrafficOptions& options);

// Carries plain transfers, or one collective, and prints what became of each; with --out also
// writes a folder, whole or not at all. Returns the exit code: 0, 1 if something waits for ever
// (the rest is reported), 130 on ctrl-C (nothing is written). Throws InputError.
int traffic(const TrafficOptions& options);

}  // namespace syncline
