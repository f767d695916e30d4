#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

#include "compute/compression/int8.h"
#include "compute/compression/int8_block.h"

namespace syncline::cuda {
namespace {

constexpr int kWarp = 32;
constexpr int kWarpsABlock = 8;
constexpr int kThreads = kWarp * kWarpsABlock;
constexpr int kNumbersALane = static_cast<int>(kInt8Block) / kWarp;
constexpr std::uint64_t kMostBlocks = 1u << 16;  // of a launch: more work is looped over

// A warp takes a block of the payload: lane l has the numbers l, l + 32, …, so that every load of
// a warp is 128 bytes in a row.
__global__ void quantise(const float* in, std::uint64_t elements, std::uint64_t blocks,
                         std::int8_t* codes, float* scales) {
  const unsigned lane = threadIdx.x % kWarp;
  const std::uint64_t warps = std::uint64_t{gridDim.x} * kWarpsABlock;
  for (std::uint64_t block = std::uint64_t{blockIdx.x} * kWarpsABlock + threadIdx.x / kWarp;
       block < blocks; block += warps) {
    const std::uint64_t first = block * kInt8Block + lane;
    float x[kNumbersALane];
    std::uint32_t largest = 0;
#pragma unroll
    for (int i = 0; i < kNumbersALane; ++i) {
      const std::uint64_t at = first + static_cast<unsigned>(i * kWarp);
      x[i] = at < elements ? in[at] : 0.0f;
      largest = max(largest, fp32::magnitude(x[i]));
    }
#pragma unroll
    for (int distance = kWarp / 2; distance > 0; distance /= 2)
      largest = max(largest, __shfl_xor_sync(0xffffffffu, largest, distance));

    const float scale = int8::scale_of(largest);
    const float factor = int8::factor_of(largest, scale);
    const bool finite = largest < fp32::kInfinity;
    if (lane == 0) scales[block] = scale;
#pragma unroll
    for (int i = 0; i < kNumbersALane; ++i) {
      const std::uint64_t at = first + static_cast<unsigned>(i * kWarp);
      if (at < elements) codes[at] = finite ? int8::code_of(x[i], factor) : std::int8_t{0};
    }
  }
}

__global__ void dequantise(const std::int8_t* codes, const float* scales, std::uint64_t elements,
                           float* out) {
  const std::uint64_t threads = std::uint64_t{gridDim.x} * kThreads;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; i < elements;
       i += threads) {
    out[i] = int8::decoded(codes[i], scales[i / kInt8Block]);
  }
}

unsigned grid(std::uint64_t blocks) {
  return static_cast<unsigned>(blocks < kMostBlocks ? blocks : kMostBlocks);
}

void check_launch(const char* what) {
  const cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess)
    throw std::runtime_error(std::string(what) + " on the GPU: " + cudaGetErrorString(error));
}

}  // namespace

void int8_quantise(const float* in, std::uint64_t elements, std::int8_t* codes, float* scales,
                   CUstream_st* stream) {
  if (elements == 0) return;
  const std::uint64_t blocks = int8_blocks(elements);
  quantise<<<grid((blocks + kWarpsABlock - 1) / kWarpsABlock), kThreads, 0, stream>>>(
      in, elements, blocks, codes, scales);
  check_launch("int8 quantisation");
}

void int8_dequantise(const std::int8_t* codes, const float* scales, std::uint64_t elements,
                     float* out, CUstream_st* stream) {
  if (elements == 0) return;
  dequantise<<<grid((elements + kThreads - 1) / kThreads), kThreads, 0, stream>>>(codes, scales,
                                                                                  elements, out);
  check_launch("int8 dequantisation");
}

}  // namespace syncline::cuda
