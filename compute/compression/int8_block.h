// The arithmetic of one block, for both twins. Compiled as C++17 by nvcc.
#pragma once

#include <cstdint>

#include "compute/compression/bits.h"

namespace syncline::int8 {

constexpr std::uint32_t kSmallest = 0x04800000;  // 2^-118
constexpr float kLargestScale = 0x1.020406p+121f;
// 1.5 · 2^23: a number below 2^22 added to it is rounded to a whole one, which then stands in the
// lowest bits.
constexpr float kRounder = 12582912.0f;

// From the largest magnitude of a block.
SYNCLINE_EVERYWHERE float scale_of(std::uint32_t largest) {
  if (largest >= fp32::kInfinity) return fp32::bits_as<float>(fp32::kNaN);
  if (largest < kSmallest) return 0;
  const float scale = fp32::bits_as<float>(largest) / 127.0f;
  return scale < kLargestScale ? scale : kLargestScale;
}

// What numbers are multiplied with; 0 for blocks whose codes are all 0.
SYNCLINE_EVERYWHERE float factor_of(std::uint32_t largest, float scale) {
  return largest >= fp32::kInfinity || largest < kSmallest ? 0.0f : 1.0f / scale;
}

// Not for infinities and NaNs.
SYNCLINE_EVERYWHERE std::int8_t code_of(float x, float factor) {
  const float product = x * factor;
  return static_cast<std::int8_t>(fp32::bits_as<std::uint32_t>(product + kRounder) & 0xff);
}

// The bits of a NaN that a product makes are the processor's choice, so it is chosen here.
SYNCLINE_EVERYWHERE float decoded(std::int8_t code, float scale) {
  const float product = static_cast<float>(code) * scale;
  return scale == scale ? product : fp32::bits_as<float>(fp32::kNaN);
}

}  // namespace syncline::int8
