// The arithmetic of one block, for both twins. Compiled as C++17 by nvcc.
#pragma once

#include <cstdint>
#include <cstring>

#ifdef __CUDACC__
#define SYNCLINE_EVERYWHERE __host__ __device__ __forceinline__
#else
#define SYNCLINE_EVERYWHERE inline __attribute__((always_inline))
#endif

namespace syncline::int8 {

// Bits of fp32 numbers. |x| as an integer is in the order of |x|, with infinities and then NaNs
// above all numbers: so a largest |x| needs no case for them, and no order.
constexpr std::uint32_t kMagnitude = 0x7fffffff;
constexpr std::uint32_t kInfinity = 0x7f800000;
constexpr std::uint32_t kNaN = 0x7fc00000;
constexpr std::uint32_t kSmallest = 0x04800000;  // 2^-118
constexpr float kLargestScale = 0x1.020406p+121f;
// 1.5 · 2^23: a number below 2^22 added to it is rounded to a whole one, which then stands in the
// lowest bits.
constexpr float kRounder = 12582912.0f;

template <typename To, typename From>
SYNCLINE_EVERYWHERE To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From), "a copy of bits");
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

SYNCLINE_EVERYWHERE std::uint32_t magnitude(float x) {
  return bits_as<std::uint32_t>(x) & kMagnitude;
}

// From the largest magnitude of a block.
SYNCLINE_EVERYWHERE float scale_of(std::uint32_t largest) {
  if (largest >= kInfinity) return bits_as<float>(kNaN);
  if (largest < kSmallest) return 0;
  const float scale = bits_as<float>(largest) / 127.0f;
  return scale < kLargestScale ? scale : kLargestScale;
}

// What numbers are multiplied with; 0 for blocks whose codes are all 0.
SYNCLINE_EVERYWHERE float factor_of(std::uint32_t largest, float scale) {
  return largest >= kInfinity || largest < kSmallest ? 0.0f : 1.0f / scale;
}

// Not for infinities and NaNs.
SYNCLINE_EVERYWHERE std::int8_t code_of(float x, float factor) {
  const float product = x * factor;
  return static_cast<std::int8_t>(bits_as<std::uint32_t>(product + kRounder) & 0xff);
}

// The bits of a NaN that a product makes are the processor's choice, so it is chosen here.
SYNCLINE_EVERYWHERE float decoded(std::int8_t code, float scale) {
  const float product = static_cast<float>(code) * scale;
  return scale == scale ? product : bits_as<float>(kNaN);
}

}  // namespace syncline::int8
