#include "compute/torch/codec.h"

#include <ATen/ATen.h>
#ifdef SYNCLINE_CUDA
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#endif

#include "compute/compression/int8.h"
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

}  // namespace

Tensor through_codec(const Tensor& value, Codec codec) {
  switch (codec) {
    case Codec::INT8:
      return through_int8(value);
  }
  SYNCLINE_CHECK(false, "a codec that is not known");
}

}  // namespace syncline
