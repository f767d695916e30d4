// Topologies as texts. What is written says what the topology says, and reading it again gives the
// same; lines, warnings and assumptions of the file that it came from are not kept.
#pragma once

#include <string>

#include "topology/read/imported.h"
#include "topology/topology.h"

namespace syncline {

// http://graphml.graphdrawing.org, with the names of the attributes that read_graphml() knows.
std::string write_graphml(const ImportedTopology& topology);
// https://graphviz.org/doc/info/lang.html, the same attributes; a digraph where a record is
// directed.
std::string write_dot(const ImportedTopology& topology);

// A topology as a file that says all of it: ids and labels are the names. A link with different
// values each way is two directed records of its name.
ImportedTopology as_imported(const Topology& topology);

}  // namespace syncline
