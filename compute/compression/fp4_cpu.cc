#include <algorithm>

#include "compute/compression/fp4.h"
#include "compute/compression/fp4_block.h"

namespace syncline {
namespace {

template <class Format>
SYNCLINE_EVERYWHERE void quantise(const float* in, std::uint64_t elements, std::uint8_t* codes,
                                  std::uint8_t* scales) {
  while (elements > 0) {
    const auto length = static_cast<int>(std::min(elements, kFp4Block));
    std::int32_t largest = 0;
    for (int i = 0; i < length; ++i)
      largest = std::max(largest, static_cast<std::int32_t>(fp32::magnitude(in[i])));
    const std::uint32_t scale = fp4::scale_of<Format>(static_cast<std::uint32_t>(largest));
    *scales++ = static_cast<std::uint8_t>(scale);
    const float factor = fp4::factor_of(scale);
    std::uint32_t block[kFp4Block] = {};
    if (scale != fp4::kNaNScale) {
      for (int i = 0; i < length; ++i) block[i] = fp4::code_of<Format>(in[i], factor);
    }
    const auto bytes = static_cast<int>(fp4_code_bytes(static_cast<std::uint64_t>(length)));
    for (int i = 0; i < bytes; ++i)
      codes[i] = static_cast<std::uint8_t>(block[2 * i] | block[2 * i + 1] << 4);
    in += length;
    codes += bytes;
    elements -= static_cast<std::uint64_t>(length);
  }
}

template <class Format>
SYNCLINE_EVERYWHERE void dequantise(const std::uint8_t* codes, const std::uint8_t* scales,
                                    std::uint64_t elements, float* out) {
  for (std::uint64_t i = 0; i < elements; ++i) {
    const std::uint32_t code = codes[i / 2] >> (i % 2 * 4) & 15u;
    out[i] = fp4::decoded<Format>(code, scales[i / kFp4Block]);
  }
}

}  // namespace

SYNCLINE_CLONES void fp4_quantise(Fp4 format, const float* in, std::uint64_t elements,
                                  std::uint8_t* codes, std::uint8_t* scales) {
  if (format == Fp4::E2M1) {
    quantise<fp4::E2M1>(in, elements, codes, scales);
  } else {
    quantise<fp4::E3M0>(in, elements, codes, scales);
  }
}

SYNCLINE_CLONES void fp4_dequantise(Fp4 format, const std::uint8_t* codes,
                                    const std::uint8_t* scales, std::uint64_t elements,
                                    float* out) {
  if (format == Fp4::E2M1) {
    dequantise<fp4::E2M1>(codes, scales, elements, out);
  } else {
    dequantise<fp4::E3M0>(codes, scales, elements, out);
  }
}

}  // namespace syncline
