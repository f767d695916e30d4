#include <algorithm>
#include <array>
#include <functional>

#include "compute/compression/bits.h"
#include "compute/compression/sparse.h"

namespace syncline {
namespace {

// A block: where its numbers are, and what of it is kept.
struct Block {
  std::uint64_t begin = 0;
  std::uint64_t length = 0;
  std::uint64_t first_kept = 0;
  std::uint64_t kept = 0;
};

template <typename Do>
void for_each_block(std::uint64_t elements, std::uint64_t keep, Do&& what) {
  Block block;
  for (; block.begin < elements; block.begin += kSparseBlock) {
    block.length = std::min(elements - block.begin, kSparseBlock);
    block.kept = sparse_kept(block.length, keep);
    what(block);
    block.first_kept += block.kept;
  }
}

// The places of the largest keys, of equal ones the first.
template <typename Key>
void places_of_largest(const std::array<Key, kSparseBlock>& keys, const Block& block,
                       std::uint16_t* places) {
  std::array<Key, kSparseBlock> sorted;
  const auto end = std::copy_n(keys.begin(), block.length, sorted.begin());
  const auto last = sorted.begin() + static_cast<std::ptrdiff_t>(block.kept) - 1;
  std::nth_element(sorted.begin(), last, end, std::greater<>());
  const Key least = *last;
  const auto larger = std::count_if(sorted.begin(), last, [&](Key key) { return key > least; });
  std::uint64_t ties = block.kept - static_cast<std::uint64_t>(larger);
  for (std::uint64_t i = 0; i < block.length; ++i) {
    const bool tie = keys[i] == least && ties > 0;
    if (tie) --ties;
    if (tie || keys[i] > least) *places++ = static_cast<std::uint16_t>(i);
  }
}

// The i-th output of splitmix64 that starts at `state`.
std::uint64_t splitmix64(std::uint64_t state, std::uint64_t i) {
  std::uint64_t z = state + (i + 1) * 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

constexpr std::uint32_t kSmallest = 0x0d800000;  // 2^-100

void quantise_block(const float* values, std::uint64_t count, std::uint8_t* codes, float* levels) {
  std::uint32_t least = fp32::kMagnitude;
  std::uint32_t largest = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    least = std::min(least, fp32::magnitude(values[i]));
    largest = std::max(largest, fp32::magnitude(values[i]));
  }
  if (largest >= fp32::kInfinity) {
    levels[0] = levels[1] = fp32::bits_as<float>(fp32::kNaN);
    std::fill_n(codes, count, std::uint8_t{0});
    return;
  }
  const bool zeros = largest < kSmallest;
  const auto lo = fp32::bits_as<float>(least);
  const auto hi = fp32::bits_as<float>(largest);
  const float range = hi - lo;
  levels[0] = zeros ? 0 : lo + range * 0.25f;
  levels[1] = zeros ? 0 : hi - range * 0.25f;
  for (std::uint64_t i = 0; i < count; ++i) {
    const float above = fp32::bits_as<float>(fp32::magnitude(values[i])) - lo;
    const std::uint32_t upper = !zeros && above > range * 0.5f ? 1 : 0;
    const std::uint32_t sign = fp32::bits_as<std::uint32_t>(values[i]) >> 31;
    codes[i] = static_cast<std::uint8_t>(sign << 1 | upper);
  }
}

}  // namespace

void top_k_places(const float* in, std::uint64_t elements, std::uint64_t keep,
                  std::uint16_t* places) {
  std::array<std::uint32_t, kSparseBlock> keys;
  for_each_block(elements, keep, [&](const Block& block) {
    for (std::uint64_t i = 0; i < block.length; ++i) keys[i] = fp32::magnitude(in[block.begin + i]);
    places_of_largest(keys, block, places + block.first_kept);
  });
}

void random_k_places(std::uint64_t elements, std::uint64_t keep, std::uint64_t seed,
                     std::uint16_t* places) {
  const std::uint64_t state = seed * 0xd1342543de82ef95ull + 1;
  std::array<std::uint64_t, kSparseBlock> keys;
  for_each_block(elements, keep, [&](const Block& block) {
    for (std::uint64_t i = 0; i < block.length; ++i) keys[i] = splitmix64(state, block.begin + i);
    places_of_largest(keys, block, places + block.first_kept);
  });
}

void sparse_gather(const float* in, const std::uint16_t* places, std::uint64_t elements,
                   std::uint64_t keep, float* values) {
  for_each_block(elements, keep, [&](const Block& block) {
    for (std::uint64_t j = block.first_kept; j < block.first_kept + block.kept; ++j)
      values[j] = in[block.begin + places[j]];
  });
}

void sparse_scatter(const float* values, const std::uint16_t* places, std::uint64_t elements,
                    std::uint64_t keep, float* out) {
  std::fill_n(out, elements, 0.0f);
  for_each_block(elements, keep, [&](const Block& block) {
    for (std::uint64_t j = block.first_kept; j < block.first_kept + block.kept; ++j)
      out[block.begin + places[j]] = values[j];
  });
}

void two_bit_quantise(const float* values, std::uint64_t elements, std::uint64_t keep,
                      std::uint8_t* codes, float* levels) {
  for_each_block(elements, keep, [&](const Block& block) {
    quantise_block(values + block.first_kept, block.kept, codes + block.first_kept, levels);
    levels += kTwoBitLevels;
  });
}

void two_bit_dequantise(const std::uint8_t* codes, const float* levels, std::uint64_t elements,
                        std::uint64_t keep, float* values) {
  for_each_block(elements, keep, [&](const Block& block) {
    for (std::uint64_t j = block.first_kept; j < block.first_kept + block.kept; ++j) {
      const auto level = fp32::bits_as<std::uint32_t>(levels[codes[j] & 1]);
      values[j] = fp32::bits_as<float>(level | (codes[j] & 2u) << 30);
    }
    levels += kTwoBitLevels;
  });
}

}  // namespace syncline
