// Block-wise int8 quantisation of a payload of fp32 numbers: about a quarter of the bytes on the
// wire, and what the receiver makes of them.
//
// A CPU function and a CUDA kernel for each direction, bit for bit the same, whatever the
// processor, its vector width and its treatment of subnormals. No CUDA and no LibTorch in this
// header.
//
// A payload of n numbers is cut into blocks of 256; the last one may be shorter. A block is one
// fp32 scale and a signed byte (code) a number. All arithmetic is single fp32 operations, rounded
// to nearest, ties to even, never contracted:
//   a     = largest |x| of the block
//   scale = a / 127, but at most 0x1.020406p+121, the largest whose 127-fold is still finite
//   code  = x · (1 / scale), rounded to the nearest whole number, ties to even: -127 … 127
//   x'    = code · scale (a code of 0 gives +0)
// Two kinds of blocks are apart:
//   a < 2^-118             scale 0, codes 0: decodes to zeros. (So no scale, and no product, is
//   ever
//                          subnormal. Subnormal numbers in other blocks have the code 0.)
//   a NaN or an infinity   scale is the NaN 0x7fc00000, codes 0: the whole block decodes to that
//                          NaN. A payload that has diverged arrives as diverged.
// |x' - x| <= (1/2 + 2^-15) · scale, and quantising x' gives the same scales and codes again.
#pragma once

#include <cstdint>

struct CUstream_st;  // what cudaStream_t points to

namespace syncline {

inline constexpr std::uint64_t kInt8Block = 256;     // numbers
inline constexpr std::uint64_t kInt8ScaleBytes = 4;  // of a block

// Scales of a payload: one a block.
constexpr std::uint64_t int8_blocks(std::uint64_t elements) {
  return elements / kInt8Block + (elements % kInt8Block != 0 ? 1 : 0);
}

// Bytes on the wire: a byte a number and four a block.
constexpr std::uint64_t int8_payload_bytes(std::uint64_t elements) {
  return elements + kInt8ScaleBytes * int8_blocks(elements);
}

// `codes` has room for `elements`, `scales` for int8_blocks(elements). The rounding mode must be
// "to nearest", which it is unless someone changed it.
void int8_quantise(const float* in, std::uint64_t elements, std::int8_t* codes, float* scales);
void int8_dequantise(const std::int8_t* codes, const float* scales, std::uint64_t elements,
                     float* out);

// The same for memory of the current GPU, enqueued on `stream`. Throws std::runtime_error with
// CUDA's words if that fails. Only where syncline is built with CUDA.
namespace cuda {
void int8_quantise(const float* in, std::uint64_t elements, std::int8_t* codes, float* scales,
                   CUstream_st* stream);
void int8_dequantise(const std::int8_t* codes, const float* scales, std::uint64_t elements,
                     float* out, CUstream_st* stream);
}  // namespace cuda

}  // namespace syncline
