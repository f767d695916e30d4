// Unequal data: each stream has its own mixture of the files.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compute/data/shuffled_order.h"

namespace syncline {

// Stream k reads file f with probability p_kf, p_k ~ Dirichlet(alpha · share), share_f = the file's
// part of all tokens times the number of files: equal files give the symmetric Dirichlet(alpha),
// and for alpha -> infinity all streams read alike, in proportion to the files' lengths (Hsu, Qi,
// Brown 2019, section 3: q ~ Dir(alpha · p) with the prior p; alpha here is theirs over the number
// of files). Windows of context + 1 tokens begin anywhere in the file and may overlap.
class DirichletSplit {
 public:
  // `files`: training parts, each longer than `context`; 1e-6 <= alpha <= 1e6.
  DirichletSplit(std::span<const Stretch> files, std::uint32_t context, double alpha,
                 std::uint32_t streams, std::uint64_t seed);

  // Where the window for this row of this batch begins.
  std::uint64_t at(std::uint32_t stream, std::uint64_t batch, std::uint32_t row) const;
  // p_k, a weight a file.
  std::vector<double> weights(std::uint32_t stream) const;

 private:
  std::vector<Stretch> files_;
  std::uint32_t context_;
  std::uint64_t seed_;
  std::vector<double>
      cumulative_;  // [streams, files]: the sum of the weights up to this file; the last is 1
};

}  // namespace syncline
