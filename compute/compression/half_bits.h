// The arithmetic of one number of half.h, for both twins. Compiled as C++17 by nvcc.
#pragma once

#include <cstdint>

#include "compute/compression/bits.h"

namespace syncline::half {

SYNCLINE_EVERYWHERE std::uint16_t bf16_code(float x) {
  const auto bits = fp32::bits_as<std::uint32_t>(x);
  // Half a step, less one where the code below is even: then a tie stays there.
  const std::uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  return static_cast<std::uint16_t>(fp32::magnitude(x) > fp32::kInfinity ? 0x7fc0 : rounded);
}

SYNCLINE_EVERYWHERE float bf16_number(std::uint16_t code) {
  const bool nan = (code & 0x7fff) > 0x7f80;
  return fp32::bits_as<float>(nan ? fp32::kNaN : std::uint32_t{code} << 16);
}

constexpr std::uint32_t kLeastNormal = 0x38800000;    // 2^-14
constexpr std::uint32_t kFirstTooLarge = 0x47800000;  // 2^16

SYNCLINE_EVERYWHERE std::uint16_t fp16_code(float x) {
  const std::uint32_t size = fp32::magnitude(x);
  const std::uint32_t sign = (fp32::bits_as<std::uint32_t>(x) >> 16) & 0x8000;
  // Exponents differ by 112; what rounds up past the largest number becomes infinity by itself.
  const std::uint32_t normal = (size - (112u << 23) + 0xfff + ((size >> 13) & 1)) >> 13;
  // A step of fp32 at 1/2 is fp16's smallest number: the sum rounds to whole ones of it.
  const std::uint32_t small =
      fp32::bits_as<std::uint32_t>(fp32::bits_as<float>(size) + 0.5f) - 0x3f000000;
  std::uint32_t code = size < kLeastNormal ? small : normal;
  code = size >= kFirstTooLarge ? 0x7c00u : code;
  return static_cast<std::uint16_t>(size > fp32::kInfinity ? 0x7e00u : sign | code);
}

SYNCLINE_EVERYWHERE float fp16_number(std::uint16_t code) {
  const std::uint32_t size = code & 0x7fff;
  const std::uint32_t normal = (size << 13) + (112u << 23);
  const auto small = fp32::bits_as<std::uint32_t>(static_cast<float>(size) * 0x1p-24f);
  std::uint32_t bits = size < 0x400 ? small : normal;
  bits = size >= 0x7c00 ? fp32::kInfinity : bits;
  bits |= std::uint32_t{code & 0x8000u} << 16;
  return fp32::bits_as<float>(size > 0x7c00 ? fp32::kNaN : bits);
}

}  // namespace syncline::half
