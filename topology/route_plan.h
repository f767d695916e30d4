// Routes that are given, not found: of platform files that write them out, and of measured paths.
#pragma once

#include <optional>
#include <vector>

#include "topology/topology.h"

namespace syncline {

class RoutePlan {
 public:
  struct Step {
    LinkId link;
    Direction direction = Direction::FORWARD;  // of the link
  };

  virtual ~RoutePlan() = default;
  // The steps of a route between two nodes, in order. They need not meet in nodes: what counts is
  // the capacity and the latency of each. Empty: there is no way. None: the plan does not know both
  // nodes, and the router looks for the way itself.
  virtual std::optional<std::vector<Step>> find(NodeId source, NodeId destination) const = 0;
};

}  // namespace syncline
