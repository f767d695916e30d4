// A keyed permutation of 0 … size - 1 that is computed, not stored.
#pragma once

#include <cstdint>

namespace syncline {

// A Feistel network over the next power of 4 (at least 64), with cycle walking back into the range
// (Black, Rogaway 2002: "Ciphers with arbitrary finite domains"). The domain is less than 4 · size
// from 64 on, so a walk takes less than 4 steps on average.
class Permutation {
 public:
  // size > 0.
  Permutation(std::uint64_t size, std::uint64_t key);
  // Where `index` < size goes.
  std::uint64_t at(std::uint64_t index) const;

 private:
  std::uint64_t size_;
  std::uint64_t key_;
  unsigned half_bits_;
};

}  // namespace syncline
