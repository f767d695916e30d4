// Numbers to compress, and how to compare what comes back.
#pragma once

#include <pmmintrin.h>
#include <xmmintrin.h>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace syncline::testing {

inline constexpr float kInf = std::numeric_limits<float>::infinity();
inline constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
inline constexpr float kMax = std::numeric_limits<float>::max();
inline constexpr float kTiny = std::numeric_limits<float>::denorm_min();
inline constexpr std::uint32_t kOneNaN = 0x7fc00000;

inline std::uint32_t bits(float number) { return std::bit_cast<std::uint32_t>(number); }
inline std::vector<std::uint32_t> bits(const std::vector<float>& numbers) {
  std::vector<std::uint32_t> all;
  all.reserve(numbers.size());
  for (const float number : numbers) all.push_back(bits(number));
  return all;
}

// Of every magnitude, subnormal ones too; `run` in a row are of one size.
inline std::vector<float> random_numbers(std::size_t count, std::size_t run, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::uniform_int_distribution<int> exponent(-148, 126);
  std::vector<float> numbers;
  numbers.reserve(count);
  float scale = 1;
  for (std::size_t i = 0; i < count; ++i) {
    if (i % run == 0) scale = std::ldexp(1.0f, exponent(random));
    const float number = normal(random) * scale;
    numbers.push_back(std::isfinite(number) ? number : std::copysign(kMax, number));
  }
  return numbers;
}

// The trainer's threads treat subnormal numbers as zeros; no result may show it.
class FlushSubnormals {
 public:
  FlushSubnormals() : before_(_mm_getcsr()) {
    _MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_ON);
    _MM_SET_DENORMALS_ZERO_MODE(_MM_DENORMALS_ZERO_ON);
  }
  ~FlushSubnormals() { _mm_setcsr(before_); }
  FlushSubnormals(const FlushSubnormals&) = delete;
  FlushSubnormals& operator=(const FlushSubnormals&) = delete;

 private:
  unsigned before_;
};

}  // namespace syncline::testing
