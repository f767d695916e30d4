#include "compute/data/markov_chain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "topology/input_error.h"

namespace syncline {
namespace {

TEST(MarkovChain, HasTheEntropyThatWasAskedFor) {
  for (const std::uint32_t states : {2u, 3u, 64u, 1024u}) {
    for (const double part : {1e-6, 0.01, 0.3, 0.5, 0.9, 0.999, 1 - 1e-9}) {
      for (const std::uint64_t seed : {1u, 2u}) {
        const double asked = part * std::log(states);
        EXPECT_NEAR(MarkovChain(states, asked, seed).entropy(), asked, 1e-9);
      }
    }
  }
}

// From the definition: -sum_i pi_i sum_j P_ij ln P_ij with the stationary distribution pi = pi P.
TEST(MarkovChain, TheTransitionsHaveThatEntropyRate) {
  for (const std::uint32_t states : {2u, 7u, 40u}) {
    const double asked = 0.6 * std::log(states);
    const MarkovChain chain(states, asked, 3);
    std::vector<std::vector<double>> p(states, std::vector<double>(states));
    for (std::uint32_t i = 0; i < states; ++i) {
      double sum = 0;
      for (std::uint32_t j = 0; j < states; ++j) sum += p[i][j] = chain.probability(i, j);
      EXPECT_NEAR(sum, 1, 1e-12);
    }
    std::vector<double> pi(states, 1.0 / states);
    for (int round = 0; round < 2000; ++round) {
      std::vector<double> next(states);
      for (std::uint32_t i = 0; i < states; ++i) {
        // Half of it stays: the same stationary distribution, and no period.
        next[i] += pi[i] / 2;
        for (std::uint32_t j = 0; j < states; ++j) next[j] += pi[i] * p[i][j] / 2;
      }
      pi = next;
    }
    double rate = 0;
    for (std::uint32_t i = 0; i < states; ++i) {
      for (std::uint32_t j = 0; j < states; ++j) rate -= pi[i] * p[i][j] * std::log(p[i][j]);
    }
    EXPECT_NEAR(rate, asked, 1e-9);
  }
}

TEST(MarkovChain, DrawsFollowTheTransitions) {
  constexpr std::uint32_t kStates = 12;
  const MarkovChain chain(kStates, 1.5, 9);
  const std::vector<std::uint16_t> tokens = chain.draw(400000);
  std::vector<double> counts(kStates * kStates);
  std::vector<double> from(kStates);
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    ASSERT_LT(tokens[i + 1], kStates);
    ++counts[tokens[i] * kStates + tokens[i + 1]];
    ++from[tokens[i]];
  }
  for (std::uint32_t i = 0; i < kStates; ++i) {
    for (std::uint32_t j = 0; j < kStates; ++j) {
      const double p = chain.probability(i, j);
      EXPECT_NEAR(counts[i * kStates + j], from[i] * p, 5 * std::sqrt(from[i] * p * (1 - p)) + 1);
    }
  }
}

TEST(MarkovChain, RowsDifferSoThatTheContextMatters) {
  const MarkovChain chain(16, 1.0, 4);
  double apart = 0;
  for (std::uint32_t j = 0; j < 16; ++j) {
    apart += std::abs(chain.probability(0, j) - chain.probability(1, j));
  }
  EXPECT_GT(apart, 0.1);
}

TEST(MarkovChain, IsAFunctionOfTheSeed) {
  EXPECT_EQ(MarkovChain(64, 2, 1).draw(1000), MarkovChain(64, 2, 1).draw(1000));
  EXPECT_NE(MarkovChain(64, 2, 1).draw(1000), MarkovChain(64, 2, 2).draw(1000));
}

TEST(MarkovChain, RefusesWhatCannotBe) {
  EXPECT_THROW(MarkovChain(0, 1, 1), InputError);
  EXPECT_THROW(MarkovChain(1, 0.1, 1), InputError);
  EXPECT_THROW(MarkovChain(65537, 1, 1), InputError);
  EXPECT_THROW(MarkovChain(64, 0, 1), InputError);
  EXPECT_THROW(MarkovChain(64, -1, 1), InputError);
  EXPECT_THROW(MarkovChain(64, std::log(64.0), 1), InputError);
  EXPECT_THROW(MarkovChain(64, std::numeric_limits<double>::quiet_NaN(), 1), InputError);
  try {
    MarkovChain(64, 5, 1);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("less than ln(64) = 4.15888"));
  }
}

}  // namespace
}  // namespace syncline
