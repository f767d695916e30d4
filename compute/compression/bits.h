// Bits of fp32 numbers, for the CPU functions and the CUDA kernels alike. Compiled as C++17 by
// nvcc.
#pragma once

#include <cstdint>
#include <cstring>

#ifdef __CUDACC__
#define SYNCLINE_EVERYWHERE __host__ __device__ __forceinline__
#else
#define SYNCLINE_EVERYWHERE inline __attribute__((always_inline))
// The widest vectors that this processor has, as in the trainer's loops.
#define SYNCLINE_CLONES \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#endif

namespace syncline::fp32 {

// |x| as an integer is in the order of |x|, with infinities and then NaNs above all numbers: so a
// largest |x| needs no case for them, and no order.
constexpr std::uint32_t kMagnitude = 0x7fffffff;
constexpr std::uint32_t kInfinity = 0x7f800000;
constexpr std::uint32_t kNaN = 0x7fc00000;

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

}  // namespace syncline::fp32
