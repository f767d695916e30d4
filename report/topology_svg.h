// A topology as a picture.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "topology/geo.h"
#include "topology/quantity.h"

namespace syncline {

struct DrawnNode {
  std::string name;
  bool host = true;
  std::optional<GeoPoint> at;
};
struct DrawnLink {
  std::uint32_t a = 0, b = 0;        // indexes of nodes
  std::string name;                  // shown when one points at it
  std::optional<BitRate> bandwidth;  // of the slower direction; none: not known
  std::optional<double> load;        // 0 to 1, of the busier direction
};

enum class LinkColour { BANDWIDTH, LOAD };

// An SVG. Where nodes have coordinates the picture is a map (equirectangular, true to scale at its
// middle), and nodes without stand by their neighbours; else by forces. Links between the same
// nodes are bent apart. The colour of a link is its bandwidth (log scale) or its load, with a
// legend; what is not known is grey and dashed.
std::string topology_svg(const std::string& title, const std::vector<DrawnNode>& nodes,
                         const std::vector<DrawnLink>& links, LinkColour colour);

}  // namespace syncline
