#include "compute/data/permutation.h"

#include <algorithm>
#include <bit>

#include "compute/data/counter_hash.h"
#include "topology/check.h"

namespace syncline {
namespace {

// Over smaller domains than 64 a Feistel network is visibly not uniform.
constexpr unsigned kLeastHalfBits = 3;

}  // namespace

Permutation::Permutation(std::uint64_t size, std::uint64_t key)
    : size_(size),
      key_(key),
      half_bits_(
          std::max(kLeastHalfBits, (static_cast<unsigned>(std::bit_width(size - 1)) + 1) / 2)) {
  SYNCLINE_CHECK(size > 0, "a permutation of nothing");
}

std::uint64_t Permutation::at(std::uint64_t index) const {
  SYNCLINE_CHECK(index < size_, "outside of the permutation");
  if (size_ == 1) return 0;
  const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
  do {
    std::uint64_t left = index >> half_bits_;
    std::uint64_t right = index & mask;
    for (std::uint64_t round = 0; round < 6; ++round) {
      const std::uint64_t mixed = scramble_bits(key_ + scramble_bits((right << 3) + round));
      const std::uint64_t next = left ^ (mixed & mask);
      left = right;
      right = next;
    }
    index = (left << half_bits_) | right;
  } while (index >= size_);
  return index;
}

}  // namespace syncline
