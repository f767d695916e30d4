// In which order hosts form a ring.
#pragma once

#include <cstddef>
#include <vector>

#include "sim/network/network.h"

namespace syncline {

// What a step of a ring meets: all edges of the ring send at the same time, and the slowest decides
// (a host cannot begin its next step before its own send has ended). Less is better.
struct RingCost {
  BitRate narrowest;     // the least share that an edge gets of a link: its rate by the edges on it
  Time longest_latency;  // of an edge
  Time total_latency;

  // The widest first, then the least latency of the slowest edge, then of all.
  bool better_than(const RingCost& other) const;
};
// Throws InputError where there is no route.
RingCost ring_cost(const Network& network, const std::vector<NodeId>& hosts);

// The best order of all up to kExhaustive hosts; above, the best of several simple ones, improved
// while turning a part of the ring or moving one helps. It begins with the first of `hosts`. At
// most kMostOrdered hosts: ways between all pairs are kept.
inline constexpr std::size_t kExhaustive = 8;
inline constexpr std::size_t kMostOrdered = 256;
std::vector<NodeId> best_ring(const Network& network, const std::vector<NodeId>& hosts);

}  // namespace syncline
