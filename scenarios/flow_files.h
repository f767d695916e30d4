// Transfers and changes of links from CSV files.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/network/flows.h"
#include "topology/read/imported.h"
#include "topology/topology.h"

namespace syncline {

// Header `start_s,source,destination,bytes` in any order: seconds, names of two hosts, whole bytes.
// `map`: where names may be its labels or ids; null: none. Throws InputError with file, line and
// field: also hosts that no link joins.
std::vector<Flow> read_flows(const std::string& path, const Topology& topology,
                             const ImportedTopology* map);

// A link changes; what is not given stays as it was.
struct LinkEvent {
  Time at;
  LinkId link;
  std::vector<Direction> directions;  // of bandwidth and latency
  std::optional<BitRate> bandwidth;
  std::optional<double> latency_s;
  std::optional<bool> up;  // both directions
};
// Header `time_s,link` and at least one of `direction,bandwidth,latency,state`: seconds; the link's
// name; forward (from its first end), backward or both (also where empty); values with their unit;
// up or down. Throws InputError with file, line and field.
std::vector<LinkEvent> read_link_events(const std::string& path, const Topology& topology);
// In the order of the file within one instant.
void schedule(Network& network, const std::vector<LinkEvent>& events);

}  // namespace syncline
