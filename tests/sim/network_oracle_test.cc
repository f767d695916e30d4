#include <gtest/gtest.h>

#include "tests/sim/random_networks.h"

namespace syncline {
namespace {

TEST(NetworkOracle, RandomNetworks) {
  const RandomNetworks found = compare_random_networks(1, 500);
  EXPECT_GT(found.flows_checked, 10'000);  // the instants are not empty ones
  RecordProperty("largest_difference_ns", static_cast<int>(found.largest_difference_s * 1e9));
}

}  // namespace
}  // namespace syncline
