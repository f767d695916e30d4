// Who mixes with whom, and what of each.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/setup.h"
#include "sim/strategy/exchange.h"

namespace syncline {

// Of a round, from 0 on; random pairs by the seed.
Partners gossip_partners(const Gossip& method, std::size_t workers, std::uint64_t seed,
                         std::uint64_t round);

// A worker and its partners by number, with their shares W_ij in what it goes on from (struct
// Gossip). They sum to 1, and W_ij = W_ji: so the mean over all workers stays as it is.
struct Share {
  std::uint32_t worker = 0;
  double weight = 0;
};
std::vector<Share> gossip_shares(const Partners& partners, std::uint32_t worker);

}  // namespace syncline
