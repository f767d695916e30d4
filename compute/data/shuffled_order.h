// The order in which the sequences of some stretches of tokens are read: epoch after epoch, each in
// its own random order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace syncline {

// Tokens begin … end - 1 of the concatenated data, within one file.
struct Stretch {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// Each stretch is cut into sequences of context + 1 tokens at stride `context` (the last target is
// the next one's first input); an epoch reads each once. A new epoch has a new permutation and cuts
// every stretch at a new place, within the tokens that are left over.
class ShuffledOrder {
 public:
  ShuffledOrder(std::span<const Stretch> stretches, std::uint32_t context, std::uint64_t seed);

  // Of an epoch; 0 if no stretch is long enough.
  std::uint64_t sequences() const { return sequences_; }
  // Where sequence `index` of the endless order begins; epoch e holds the indices from e ·
  // sequences() on.
  std::uint64_t at(std::uint64_t index) const;

 private:
  struct Cut {
    Stretch stretch;
    std::uint64_t first_sequence;  // of an epoch, before the permutation
  };
  std::vector<Cut> cuts_;
  std::uint32_t context_;
  std::uint64_t seed_;
  std::uint64_t sequences_ = 0;
};

}  // namespace syncline
