#include <algorithm>

#include "compute/compression/int8.h"
#include "compute/compression/int8_block.h"

namespace syncline {
namespace {

// A whole block has a known length, which the compiler unrolls; it vectorises maxima of signed
// numbers on more processors, and magnitudes are such.
template <typename Length>
SYNCLINE_EVERYWHERE void quantise_block(const float* in, Length length, std::int8_t* codes,
                                        float* scale) {
  std::int32_t largest = 0;
  for (Length i = 0; i < length; ++i)
    largest = std::max(largest, static_cast<std::int32_t>(fp32::magnitude(in[i])));
  const auto magnitude = static_cast<std::uint32_t>(largest);
  *scale = int8::scale_of(magnitude);
  if (magnitude >= fp32::kInfinity) {
    std::fill_n(codes, length, std::int8_t{0});
    return;
  }
  const float factor = int8::factor_of(magnitude, *scale);
  for (Length i = 0; i < length; ++i) codes[i] = int8::code_of(in[i], factor);
}

template <typename Length>
SYNCLINE_EVERYWHERE void dequantise_block(const std::int8_t* codes, float scale, Length length,
                                          float* out) {
  for (Length i = 0; i < length; ++i) out[i] = int8::decoded(codes[i], scale);
}

}  // namespace

SYNCLINE_CLONES void int8_quantise(const float* in, std::uint64_t elements, std::int8_t* codes,
                                   float* scales) {
  for (; elements >= kInt8Block; elements -= kInt8Block) {
    quantise_block(in, static_cast<int>(kInt8Block), codes, scales++);
    in += kInt8Block;
    codes += kInt8Block;
  }
  if (elements > 0) quantise_block(in, static_cast<int>(elements), codes, scales);
}

SYNCLINE_CLONES void int8_dequantise(const std::int8_t* codes, const float* scales,
                                     std::uint64_t elements, float* out) {
  for (; elements >= kInt8Block; elements -= kInt8Block) {
    dequantise_block(codes, *scales++, static_cast<int>(kInt8Block), out);
    codes += kInt8Block;
    out += kInt8Block;
  }
  if (elements > 0) dequantise_block(codes, *scales, static_cast<int>(elements), out);
}

}  // namespace syncline
