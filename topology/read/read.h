// Topologies from files, in the formats that people publish them in.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "topology/quantity.h"
#include "topology/read/imported.h"
#include "topology/topology.h"

namespace syncline {

// What the file may leave open.
struct ReadOptions {
  std::string latency_unit = {};                  // "us": of latencies written without a unit
  std::string bandwidth_unit = {};                // "Mbit/s": the same for bandwidths
  std::optional<BitRate> missing_bandwidth = {};  // for links that state none
  std::optional<double> missing_latency_s =
      {};                     // for links without latency, length and coordinates
  double detour = 1;          // way of the fibre / great circle; at least 1
  bool drop_planned = false;  // leave links out that are not built
};

// The format is found by content. Throws InputError with file, line and field for what is wrong,
// and for a file that is of none of the formats.
ImportedTopology read_imported(const std::string& path);

struct ReadTrace {
  LinkId link;
  LinkTrace trace;
};

// A topology to simulate on, and how it came about.
struct ReadTopology {
  Topology topology;
  std::vector<ReadTrace> traces;  // how its links change, one a link at most
  std::vector<ImportWarning> warnings;
  std::vector<std::string> assumed;
};

// Nodes are named by their label where it is unique, else "id:16". Two opposite directed records
// are one link (namesakes first, then those with equal values; else each direction has its own);
// parallel links stay; self-loops are left out. A node with rates of its own hangs on a switch
// "NAME/place". Where the file gives routes or measured paths, the topology has them as its plan.
// Latency is what is written, else length (written, or the great circle between the
// coordinates times the detour) at 2e8 m/s, else `missing_latency_s`. Throws InputError that lists
// which links lack what.
ReadTopology to_topology(const ImportedTopology& imported, const ReadOptions& options = {});

ReadTopology read_topology(const std::string& path, const ReadOptions& options = {});

// The node that is meant by a label ("Paris") or an id ("id:16"), as an index. Throws InputError
// that lists the candidates: a label that repeats, or that is not there.
std::uint32_t find_imported_node(const ImportedTopology& imported, const std::string& name);
// A node of a topology to which more may have been added: by its name, or as find_imported_node()
// where `imported` is the map that it came from (null: none). Throws InputError.
NodeId require_node(const Topology& topology, const ImportedTopology* imported,
                    const std::string& name);
// The names that to_topology() gives to the nodes.
std::vector<std::string> imported_node_names(const ImportedTopology& imported);

}  // namespace syncline
