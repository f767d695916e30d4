// Random flows on random channels: the sharing against progressive filling, against itself in
// another order, and against the max-min certificate.
#pragma once

#include <cstdint>

namespace syncline {

struct RandomSharing {
  std::int64_t rates_checked = 0;
  std::int64_t flows_finished = 0;
  std::int64_t fills = 0;  // instants at which many joined at once
};

// Stops at the first seed that fails.
RandomSharing compare_random_sharing(std::uint64_t first_seed, std::uint64_t last_seed);

}  // namespace syncline
