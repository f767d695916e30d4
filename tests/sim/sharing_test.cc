#include <gtest/gtest.h>

#include "tests/sim/random_sharing.h"

namespace syncline {
namespace {

TEST(Sharing, RandomFlows) {
  const RandomSharing found = compare_random_sharing(1, 300);
  EXPECT_GT(found.rates_checked, 100'000);
  EXPECT_GT(found.flows_finished, 10'000);
  EXPECT_GT(found.fills, 500);
}

}  // namespace
}  // namespace syncline
