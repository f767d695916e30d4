// Random networks: the network against the oracle, and its rates against the max-min certificate.
#pragma once

#include <cstdint>

namespace syncline {

struct RandomNetworks {
  double largest_difference_s = 0;  // between finish times
  std::int64_t flows_checked = 0;   // rates compared, over all instants looked at
};

// 1 to 60 hosts; shared and duplex links, bundles, weights, caps, changes of capacity, outages,
// both ways to take them, transfers of nothing, equal instants, traces, transport limits. Stops at
// the first seed that fails.
RandomNetworks compare_random_networks(std::uint64_t first_seed, std::uint64_t last_seed);

}  // namespace syncline
