// A topology as a file says it: nothing merged, nothing invented. All readers write this.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "topology/geo.h"
#include "topology/link_trace.h"
#include "topology/quantity.h"

namespace syncline {

struct ImportedNode {
  std::string id;     // unique in the file
  std::string label;  // for people; may be empty or repeat
  std::optional<GeoPoint> at;
  bool host = true;                      // false: the file says that it is a switch or router
  std::string cluster;                   // that it belongs to; empty: none
  std::optional<BitRate> up, down;       // rates of the node itself: from it, to it
  std::optional<double> self_latency_s;  // between two hosts at this place
  std::size_t line = 0;
};

struct ImportedLink {
  std::string name;                        // may be empty
  std::uint32_t a = 0, b = 0;              // indexes of nodes
  bool directed = false;                   // from a to b only
  bool shared = false;                     // both directions share one capacity
  std::optional<BitRate> bandwidth;        // of each direction that the record stands for
  std::optional<double> latency_s;         // one way
  std::optional<double> bandwidth_number;  // written without a unit
  std::optional<double> latency_number;    // written without a unit
  std::optional<double> length_m;          // of the way on the ground
  bool planned = false;                    // not built yet
  std::string status;                      // as written, "Planned", "Dark Fibre"
  std::size_t line = 0;
};

// One kind of surprise: told once, with the first place and the number of places.
struct ImportWarning {
  std::string kind;  // "parallel links"
  std::string text;  // what was done about it, with an example
  std::size_t line = 0;
  std::size_t count = 0;
};

// "parallel links (line 12 and 3 more): …"
std::string to_text(const ImportWarning& warning);

// Ways that the file itself gives, by indexes of nodes and links.
class ImportedRoutes {
 public:
  struct Step {
    std::uint32_t link = 0;
    bool forward = true;  // from its a to its b
  };
  virtual ~ImportedRoutes() = default;
  // In order; empty: the file gives none.
  virtual std::vector<Step> find(std::uint32_t from, std::uint32_t to) const = 0;
};

// How a link changes over time, as the file says it.
struct ImportedTrace {
  std::uint32_t link = 0;
  LinkTrace trace;
};

struct ImportedTopology {
  std::string file = {};
  std::string format = {};  // "GraphML"
  std::vector<ImportedNode> nodes = {};
  std::vector<ImportedLink> links = {};  // one a record, in the order of the file
  std::vector<ImportWarning> warnings = {};
  std::vector<std::string> assumed = {};  // one sentence each
  // The links are measured ways from end to end: none leads on through a third node.
  bool paths = false;
  std::shared_ptr<const ImportedRoutes> routes = {};  // none: ways follow from the links
  std::vector<ImportedTrace> traces = {};

  void warn(std::string_view kind, const std::string& text, std::size_t line);
};

// What a file says by its shape alone. Pairs are counted without direction; a twin in the opposite
// direction counts as parallel.
struct ImportedCounts {
  std::size_t records = 0;  // of links
  std::size_t links = 0;    // records; opposite directed namesakes or equals are one
  std::size_t components = 0;
  std::size_t parallel_links = 0;  // beyond the first of each pair; self-loops are not counted
  std::size_t self_loops = 0;
  std::size_t isolated_nodes = 0;
  std::size_t links_with_bandwidth = 0;  // with or without a unit, more than 0
};
ImportedCounts count(const ImportedTopology& topology);

}  // namespace syncline
