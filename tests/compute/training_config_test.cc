#include "compute/training_config.h"

#include <gtest/gtest.h>

namespace syncline {
namespace {

InnerOptimizer schedule(std::uint64_t warmup, InnerOptimizer::Decay decay, std::uint64_t horizon) {
  InnerOptimizer inner;
  inner.lr = 0.5;
  inner.warmup = warmup;
  inner.decay = decay;
  inner.horizon = horizon;
  return inner;
}

TEST(LearningRate, WarmsUpLinearlyToTheWholeRate) {
  for (const auto decay : {InnerOptimizer::Decay::CONSTANT, InnerOptimizer::Decay::COSINE}) {
    const InnerOptimizer inner = schedule(4, decay, 100);
    EXPECT_DOUBLE_EQ(inner.lr_at(0), 0.125);
    EXPECT_DOUBLE_EQ(inner.lr_at(1), 0.25);
    EXPECT_DOUBLE_EQ(inner.lr_at(2), 0.375);
    EXPECT_DOUBLE_EQ(inner.lr_at(3), 0.5);
    EXPECT_DOUBLE_EQ(inner.lr_at(4), 0.5);
  }
}

TEST(LearningRate, ConstantStays) {
  const InnerOptimizer inner = schedule(0, InnerOptimizer::Decay::CONSTANT, 10);
  for (const std::uint64_t position : {0u, 1u, 10u, 1000000u}) {
    EXPECT_DOUBLE_EQ(inner.lr_at(position), 0.5);
  }
}

TEST(LearningRate, CosineGoesToATenthAtTheHorizonAndStaysThere) {
  const InnerOptimizer inner = schedule(20, InnerOptimizer::Decay::COSINE, 120);
  EXPECT_DOUBLE_EQ(inner.lr_at(20), 0.5);
  EXPECT_DOUBLE_EQ(inner.lr_at(70), 0.5 * 0.55);  // half way: cos(pi/2) = 0
  EXPECT_NEAR(inner.lr_at(45), 0.5 * 0.868198051534,
              1e-12);  // a quarter: 0.1 + 0.45 (1 + cos(pi/4))
  EXPECT_DOUBLE_EQ(inner.lr_at(120), 0.05);
  EXPECT_DOUBLE_EQ(inner.lr_at(121), 0.05);
  EXPECT_DOUBLE_EQ(inner.lr_at(~std::uint64_t{0}), 0.05);
  for (std::uint64_t position = 20; position < 120; ++position) {
    EXPECT_GT(inner.lr_at(position), inner.lr_at(position + 1));
  }
}

TEST(LearningRate, WithoutWarmUpTheFirstStepHasTheWholeRate) {
  EXPECT_DOUBLE_EQ(schedule(0, InnerOptimizer::Decay::COSINE, 10).lr_at(0), 0.5);
}

TEST(LearningRate, AWarmUpAsLongAsTheScheduleIsFinite) {
  const InnerOptimizer inner = schedule(10, InnerOptimizer::Decay::COSINE, 10);
  EXPECT_DOUBLE_EQ(inner.lr_at(9), 0.5);
  EXPECT_DOUBLE_EQ(inner.lr_at(10), 0.05);
}

}  // namespace
}  // namespace syncline
