// Compression of values: the kernels of compute/compression/ on tensors.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "compute/program.h"

namespace syncline {

// What a receiver of `value` [N] has: compressed and back, on the value's own device, in its own
// type. Codecs work on fp32; numbers of other types are rounded to it first. `seed`: of RANDOM_K.
at::Tensor through_codec(const at::Tensor& value, const CodecSpec& codec, std::uint64_t seed = 0);

}  // namespace syncline
