#include <gtest/gtest.h>

#include "tests/sim/random_sharing.h"

namespace syncline {
namespace {

TEST(SharingLong, RandomFlows) {
  const RandomSharing found = compare_random_sharing(1001, 11000);
  EXPECT_GT(found.rates_checked, 4'000'000);
  EXPECT_GT(found.flows_finished, 400'000);
  EXPECT_GT(found.fills, 10'000);
}

}  // namespace
}  // namespace syncline
