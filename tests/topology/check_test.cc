#include "topology/check.h"

#include <gtest/gtest.h>

#include <string>

namespace syncline {
namespace {

TEST(Check, HoldsQuietly) {
  int evaluated = 0;
  SYNCLINE_CHECK(++evaluated == 1, "the condition is evaluated once");
  EXPECT_EQ(evaluated, 1);
}

TEST(Check, BuildsItsMessageOnlyWhenItFails) {
  bool built = false;
  const auto message = [&] {
    built = true;
    return std::string("never seen");
  };
  SYNCLINE_CHECK(true, message());
  EXPECT_FALSE(built);
}

TEST(CheckDeathTest, SaysWhereWhatAndWhy) {
  const std::string why = "sum is 5";
  EXPECT_DEATH(SYNCLINE_CHECK(2 + 2 == 5, why),
               "check_test.cc:[0-9]+: check failed: 2 \\+ 2 == 5: sum is 5");
}

}  // namespace
}  // namespace syncline
