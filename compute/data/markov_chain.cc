#include "compute/data/markov_chain.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <cmath>
#include <functional>
#include <span>

#include "compute/data/counter_hash.h"
#include "compute/data/permutation.h"
#include "topology/check.h"
#include "topology/input_error.h"

namespace syncline {
namespace {

constexpr std::uint64_t kRow = 0x726f77;
constexpr std::uint64_t kDraw = 0x64726177;

// softmax(z / temperature); z[0] is the largest.
std::vector<double> softmax(std::span<const double> z, double temperature) {
  std::vector<double> p;
  double sum = 0;
  for (const double value : z) {
    p.push_back(std::exp((value - z[0]) / temperature));
    sum += p.back();
  }
  for (double& value : p) value /= sum;
  return p;
}

double entropy_of(std::span<const double> p) {
  double entropy = 0;
  for (const double value : p) {
    if (value > 0) entropy -= value * std::log(value);
  }
  return entropy;
}

}  // namespace

MarkovChain::MarkovChain(std::uint32_t states, double entropy, std::uint64_t seed)
    : states_(states), seed_(seed) {
  if (states < 2 || states > 65536) {
    throw InputError(fmt::format("a Markov chain of {} states; 2 to 65536 are possible", states));
  }
  const double largest = std::log(static_cast<double>(states));
  if (!(entropy > 0 && entropy < largest)) {
    throw InputError(
        fmt::format("a Markov chain of {} states with an entropy of {} nats a token; more than 0 "
                    "and less than ln({}) = {:.6g} is possible",
                    states, entropy, states, largest));
  }
  boost::random::mt19937_64 engine(counter_hash({seed, kRow}));
  boost::random::normal_distribution<double> normal;
  std::vector<double> z(states);
  for (double& value : z) value = normal(engine);
  std::sort(z.begin(), z.end(), std::greater<>());

  // The entropy grows with the temperature, from 0 to ln(states); halve in its logarithm, to the
  // last bit.
  double low = -64 * std::log(2.0);
  double high = -low;
  for (int step = 0; step < 200; ++step) {
    const double middle = (low + high) / 2;
    if (middle <= low || middle >= high) break;
    (entropy_of(softmax(z, std::exp(middle))) < entropy ? low : high) = middle;
  }
  probabilities_ = softmax(z, std::exp(high));
  entropy_ = entropy_of(probabilities_);
  SYNCLINE_CHECK(std::abs(entropy_ - entropy) < 1e-9, "the chain misses its entropy");
}

double MarkovChain::probability(std::uint32_t from, std::uint32_t to) const {
  const Permutation row(states_, counter_hash({seed_, kRow, from}));
  for (std::uint32_t j = 0; j < states_; ++j) {
    if (row.at(j) == to) return probabilities_[j];
  }
  return 0;
}

std::vector<std::uint16_t> MarkovChain::draw(std::uint64_t count) const {
  std::vector<double> cumulative;
  double sum = 0;
  for (const double p : probabilities_) cumulative.push_back(sum += p);
  std::vector<std::uint16_t> tokens(count);
  std::uint64_t state = below(counter_hash({seed_, kDraw}), states_);
  for (std::uint64_t i = 0; i < count; ++i) {
    const double draw = unit_interval(counter_hash({seed_, kDraw, i})) * sum;
    const auto found = std::upper_bound(cumulative.begin(), cumulative.end() - 1, draw);
    const auto j = static_cast<std::uint64_t>(found - cumulative.begin());
    state = Permutation(states_, counter_hash({seed_, kRow, state})).at(j);
    tokens[i] = static_cast<std::uint16_t>(state);
  }
  return tokens;
}

}  // namespace syncline
