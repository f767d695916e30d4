// Tokens from a random Markov chain whose entropy is known: what a perfect model's loss would be.
#pragma once

#include <cstdint>
#include <vector>

namespace syncline {

// From every state the same probabilities p lead on, each row to other states: P[i][sigma_i(j)] =
// p_j with a random permutation sigma_i. So each row has the entropy H(p), and so has the chain,
// whatever its stationary distribution. p = softmax(z / temperature) of normal draws z, with the
// temperature that gives the entropy that was asked for.
class MarkovChain {
 public:
  // 2 <= states <= 65536, 0 < entropy < ln(states), in nats a token; else throws InputError.
  MarkovChain(std::uint32_t states, double entropy, std::uint64_t seed);

  // Of the chain that was made: what was asked to 1e-9.
  double entropy() const { return entropy_; }
  // P[from][to].
  double probability(std::uint32_t from, std::uint32_t to) const;
  std::vector<std::uint16_t> draw(std::uint64_t count) const;

 private:
  std::uint32_t states_;
  std::uint64_t seed_;
  double entropy_ = 0;
  std::vector<double> probabilities_;
};

}  // namespace syncline
