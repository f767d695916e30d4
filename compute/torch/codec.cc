#include "compute/torch/codec.h"

#include <ATen/ATen.h>
#ifdef SYNCLINE_CUDA
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#endif

#include <functional>
#include <vector>

#include "compute/compression/fp4.h"
#include "compute/compression/half.h"
#include "compute/compression/int8.h"
#include "compute/compression/sparse.h"
#include "topology/check.h"

namespace syncline {

using at::Tensor;

namespace {

Tensor through_int8(const Tensor& value) {
  const Tensor in = value.to(at::kFloat).contiguous();
  const auto elements = static_cast<std::uint64_t>(in.numel());
  const Tensor codes = at::empty({in.numel()}, in.options().dtype(at::kChar));
  const Tensor scales = at::empty({static_cast<std::int64_t>(int8_blocks(elements))}, in.options());
  const Tensor out = at::empty_like(in);
  const float* from = in.data_ptr<float>();
  float* to = out.data_ptr<float>();
  if (in.is_cpu()) {
    int8_quantise(from, elements, codes.data_ptr<std::int8_t>(), scales.data_ptr<float>());
    int8_dequantise(codes.data_ptr<std::int8_t>(), scales.data_ptr<float>(), elements, to);
  } else {
#ifdef SYNCLINE_CUDA
    const c10::cuda::CUDAGuard guard(in.device());
    const c10::cuda::CUDAStream stream = c10::cuda::getCurrentCUDAStream(in.device().index());
    cuda::int8_quantise(from, elements, codes.data_ptr<std::int8_t>(), scales.data_ptr<float>(),
                        stream);
    cuda::int8_dequantise(codes.data_ptr<std::int8_t>(), scales.data_ptr<float>(), elements, to,
                          stream);
#else
    SYNCLINE_CHECK(false, "without CUDA all values are on the CPU");
#endif
  }
  return out.to(value.scalar_type());
}

// Those that have no CUDA twin: a GPU's values take the way over the CPU.
using OnCpu = std::function<void(const float* in, std::uint64_t elements, float* out)>;
Tensor through(const Tensor& value, const OnCpu& there_and_back) {
  const Tensor in = value.to(at::kCPU, at::kFloat).contiguous();
  const Tensor out = at::empty_like(in);
  there_and_back(in.const_data_ptr<float>(), static_cast<std::uint64_t>(in.numel()),
                 out.mutable_data_ptr<float>());
  return out.to(value.device(), value.scalar_type());
}

void bf16(const float* in, std::uint64_t elements, float* out) {
  std::vector<std::uint16_t> codes(elements);
  bf16_encode(in, elements, codes.data());
  bf16_decode(codes.data(), elements, out);
}

void fp16(const float* in, std::uint64_t elements, float* out) {
  std::vector<std::uint16_t> codes(elements);
  fp16_encode(in, elements, codes.data());
  fp16_decode(codes.data(), elements, out);
}

OnCpu fp4(Fp4 format) {
  return [format](const float* in, std::uint64_t elements, float* out) {
    std::vector<std::uint8_t> codes(fp4_code_bytes(elements)), scales(fp4_blocks(elements));
    fp4_quantise(format, in, elements, codes.data(), scales.data());
    fp4_dequantise(format, codes.data(), scales.data(), elements, out);
  };
}

OnCpu sparse(const CodecSpec& codec, std::uint64_t seed) {
  return [codec, seed](const float* in, std::uint64_t elements, float* out) {
    const std::uint64_t keep = codec.keep;
    std::vector<std::uint16_t> places(sparse_kept(elements, keep));
    std::vector<float> values(places.size());
    if (codec.codec == Codec::RANDOM_K) {
      random_k_places(elements, keep, seed, places.data());
    } else {
      top_k_places(in, elements, keep, places.data());
    }
    sparse_gather(in, places.data(), elements, keep, values.data());
    if (codec.codec == Codec::TOP_K_2BIT) {
      std::vector<std::uint8_t> codes(values.size());
      std::vector<float> levels(kTwoBitLevels * sparse_blocks(elements));
      two_bit_quantise(values.data(), elements, keep, codes.data(), levels.data());
      two_bit_dequantise(codes.data(), levels.data(), elements, keep, values.data());
    }
    sparse_scatter(values.data(), places.data(), elements, keep, out);
  };
}

}  // namespace

Tensor through_codec(const Tensor& value, const CodecSpec& codec, std::uint64_t seed) {
  switch (codec.codec) {
    case Codec::INT8:
      return through_int8(value);
    case Codec::BF16:
      return through(value, bf16);
    case Codec::FP16:
      return through(value, fp16);
    case Codec::FP4_E2M1:
      return through(value, fp4(Fp4::E2M1));
    case Codec::FP4_E3M0:
      return through(value, fp4(Fp4::E3M0));
    case Codec::TOP_K:
    case Codec::RANDOM_K:
    case Codec::TOP_K_2BIT:
      return through(value, sparse(codec, seed));
  }
  SYNCLINE_CHECK(false, "a codec that is not known");
}

}  // namespace syncline
