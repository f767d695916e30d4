// The arithmetic of one block of fp4.h, for both twins. Compiled as C++17 by nvcc.
#pragma once

#include <cstdint>

#include "compute/compression/bits.h"

namespace syncline::fp4 {

constexpr std::uint32_t kSmallest = 0x04800000;  // 2^-118
constexpr std::uint32_t kNaNScale = 255;

// Comparisons are the midpoints between magnitudes; a tie goes to the even code.
struct E2M1 {
  static constexpr std::uint32_t kCarry = 1u << 21;  // from 7/4 on, the next exponent
  static constexpr std::uint32_t kTopExponent = 2;
  static constexpr std::uint32_t kLargestScale = 252;
  static SYNCLINE_EVERYWHERE std::uint32_t code_of(float size) {
    return std::uint32_t{size > 0.25f} + std::uint32_t{size >= 0.75f} +
           std::uint32_t{size > 1.25f} + std::uint32_t{size >= 1.75f} + std::uint32_t{size > 2.5f} +
           std::uint32_t{size >= 3.5f} + std::uint32_t{size > 5.0f};
  }
  static SYNCLINE_EVERYWHERE float magnitude_of(std::uint32_t code) {
    const std::uint32_t normal = (((code >> 1) + 126) << 23) | ((code & 1) << 22);
    return code < 2 ? 0.5f * static_cast<float>(code) : fp32::bits_as<float>(normal);
  }
};

struct E3M0 {
  static constexpr std::uint32_t kCarry = (1u << 22) - 1;  // above 3/2, the next exponent
  static constexpr std::uint32_t kTopExponent = 4;
  static constexpr std::uint32_t kLargestScale = 250;
  static SYNCLINE_EVERYWHERE std::uint32_t code_of(float size) {
    return std::uint32_t{size > 0.125f} + std::uint32_t{size >= 0.375f} +
           std::uint32_t{size > 0.75f} + std::uint32_t{size >= 1.5f} + std::uint32_t{size > 3.0f} +
           std::uint32_t{size >= 6.0f} + std::uint32_t{size > 12.0f};
  }
  static SYNCLINE_EVERYWHERE float magnitude_of(std::uint32_t code) {
    return fp32::bits_as<float>(code == 0 ? 0 : (code + 124) << 23);
  }
};

// The scale's byte, from the largest magnitude of a block.
template <class Format>
SYNCLINE_EVERYWHERE std::uint32_t scale_of(std::uint32_t largest) {
  if (largest >= fp32::kInfinity) return kNaNScale;
  if (largest < kSmallest) return 0;
  const std::uint32_t scale = ((largest + Format::kCarry) >> 23) - Format::kTopExponent;
  return scale < Format::kLargestScale ? scale : Format::kLargestScale;
}

// What numbers are multiplied with: 1 / scale; 0 for blocks whose codes are all 0.
SYNCLINE_EVERYWHERE float factor_of(std::uint32_t scale) {
  return fp32::bits_as<float>(scale == 0 || scale == kNaNScale ? 0 : (254 - scale) << 23);
}

// Not for infinities and NaNs.
template <class Format>
SYNCLINE_EVERYWHERE std::uint32_t code_of(float x, float factor) {
  const std::uint32_t code = Format::code_of(fp32::bits_as<float>(fp32::magnitude(x)) * factor);
  const std::uint32_t sign = (fp32::bits_as<std::uint32_t>(x) >> 28) & 8;
  return code == 0 ? 0 : sign | code;
}

template <class Format>
SYNCLINE_EVERYWHERE float decoded(std::uint32_t code, std::uint32_t scale) {
  const float size = Format::magnitude_of(code & 7) * fp32::bits_as<float>(scale << 23);
  const std::uint32_t bits = fp32::bits_as<std::uint32_t>(size) | (code & 8) << 28;
  return fp32::bits_as<float>(scale == kNaNScale ? fp32::kNaN : bits);
}

}  // namespace syncline::fp4
