// Payloads of which few numbers travel: the largest ones (top-k), or random ones (random-k). The
// receiver has zeros for the others.
//
// A payload is cut into blocks of 4096 numbers; the last one may be shorter. Of a block of n
// numbers k = keep · n / 4096 travel, rounded up:
//   top-k      the k of largest |x|; of equal ones those that come first. Infinities and then NaNs
//              count as larger than all numbers, so what has diverged arrives as diverged.
//   random-k   the k of largest r(seed, i) (64 bits, unsigned); i is the number's place in the
//   whole
//              payload, r the i-th output of splitmix64 (Steele, Lea, Flood 2014) that starts at
//              seed · 0xd1342543de82ef95 + 1, i from 0 on. With one seed for all senders, all send
//              the same places.
// On the wire: the numbers as they are, all bits of them, in order of their places. Top-k sends a
// number's place in its block beside it, 12 bits; random-k's follow from the seed, which senders
// and receivers share. This is the selection of SparseLoCo (Sarfi et al. 2025: arXiv 2508.15706),
// with the parameters in a row instead of 64 × 64 squares.
//
// Top-k with 2-bit values: of each block two fp32 levels beside the places, and for each number a
// sign and which level. Single fp32 operations, rounded to nearest, ties to even; only the products
// are exact. With lo and hi the smallest and largest kept |x| of the block:
//   levels   lo + (hi - lo) · 1/4   and   hi - (hi - lo) · 1/4
//   code     bit 0: |x| - lo > (hi - lo) · 1/2; bit 1: the sign bit of x
//   x'       ± the level that bit 0 names
// Two kinds of blocks are apart:
//   hi < 2^-100            levels 0: x' = ±0. (So no difference is ever subnormal.)
//   a NaN or an infinity   levels the NaN 0x7fc00000, codes 0: all kept numbers decode to it.
// |x' - x| <= (1/4 + 2^-22) · (hi - lo) + 2^-23 · hi; one number a block travels unchanged.
#pragma once

#include <cstdint>

namespace syncline {

inline constexpr std::uint64_t kSparseBlock = 4096;    // numbers
inline constexpr std::uint64_t kSparsePlaceBits = 12;  // of a number in its block
inline constexpr std::uint64_t kTwoBitLevels = 2;      // of a block, fp32

constexpr std::uint64_t sparse_blocks(std::uint64_t elements) {
  return elements / kSparseBlock + (elements % kSparseBlock != 0 ? 1 : 0);
}
// Numbers that travel, of one block or of many. 1 <= keep <= kSparseBlock.
constexpr std::uint64_t sparse_kept(std::uint64_t elements, std::uint64_t keep) {
  return elements / kSparseBlock * keep +
         (elements % kSparseBlock * keep + kSparseBlock - 1) / kSparseBlock;
}

// The places in their blocks of what is kept, in order; `places` has room for
// sparse_kept(elements, keep).
void top_k_places(const float* in, std::uint64_t elements, std::uint64_t keep,
                  std::uint16_t* places);
void random_k_places(std::uint64_t elements, std::uint64_t keep, std::uint64_t seed,
                     std::uint16_t* places);

// values[j] = the number at places[j]; and back, `out` (of `elements`) being zero elsewhere.
void sparse_gather(const float* in, const std::uint16_t* places, std::uint64_t elements,
                   std::uint64_t keep, float* values);
void sparse_scatter(const float* values, const std::uint16_t* places, std::uint64_t elements,
                    std::uint64_t keep, float* out);

// The values that were gathered; `codes` has room for as many, one a byte, `levels` for
// kTwoBitLevels a block.
void two_bit_quantise(const float* values, std::uint64_t elements, std::uint64_t keep,
                      std::uint8_t* codes, float* levels);
void two_bit_dequantise(const std::uint8_t* codes, const float* levels, std::uint64_t elements,
                        std::uint64_t keep, float* values);

}  // namespace syncline
