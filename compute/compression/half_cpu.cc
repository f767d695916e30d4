#include "compute/compression/half.h"
#include "compute/compression/half_bits.h"

namespace syncline {

SYNCLINE_CLONES void bf16_encode(const float* in, std::uint64_t elements, std::uint16_t* codes) {
  for (std::uint64_t i = 0; i < elements; ++i) codes[i] = half::bf16_code(in[i]);
}

SYNCLINE_CLONES void bf16_decode(const std::uint16_t* codes, std::uint64_t elements, float* out) {
  for (std::uint64_t i = 0; i < elements; ++i) out[i] = half::bf16_number(codes[i]);
}

SYNCLINE_CLONES void fp16_encode(const float* in, std::uint64_t elements, std::uint16_t* codes) {
  for (std::uint64_t i = 0; i < elements; ++i) codes[i] = half::fp16_code(in[i]);
}

SYNCLINE_CLONES void fp16_decode(const std::uint16_t* codes, std::uint64_t elements, float* out) {
  for (std::uint64_t i = 0; i < elements; ++i) out[i] = half::fp16_number(codes[i]);
}

}  // namespace syncline
