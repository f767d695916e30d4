#include <gtest/gtest.h>

#include "tests/sim/random_networks.h"

namespace syncline {
namespace {

TEST(NetworkOracleLong, RandomNetworks) {
  const RandomNetworks found = compare_random_networks(1001, 21000);
  EXPECT_GT(found.flows_checked, 400'000);  // the instants are not empty ones
  RecordProperty("largest_difference_ns", static_cast<int>(found.largest_difference_s * 1e9));
}

}  // namespace
}  // namespace syncline
