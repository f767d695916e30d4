// Where to draw the nodes of a graph that says no places.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace syncline {

struct DrawnPoint {
  double x = 0, y = 0;
};

// In a square of side 1, by the forces of Fruchterman and Reingold 1991 (Boost.Graph); the same for
// the same graph. Parts that are not joined stay near each other.
std::vector<DrawnPoint> lay_out(std::uint32_t nodes,
                                std::span<const std::pair<std::uint32_t, std::uint32_t>> edges);

}  // namespace syncline
