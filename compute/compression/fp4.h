// Payloads of 4-bit floats in blocks with a power of two each: 17/32 bytes a number.
//
// A code is a sign (bit 3) and a magnitude (bits 0 to 2); two formats:
//   E2M1   0 1/2 1 3/2 2 3 4 6             (2 exponent bits, 1 of the fraction)
//   E3M0   0 1/4 1/2 1 2 4 8 16            (3 exponent bits, none)
// A payload is cut into blocks of 32 numbers; the last one may be shorter. Blocks, codes of E2M1
// and the scale's byte are those of MXFP4 (OCP Microscaling Formats 1.0), but the scale is chosen
// so that the largest number is rounded and not cut. With a = largest |x| of the block = m · 2^e, 1
// <= m < 2:
//   E2M1   scale = 2^(e - 2), from m = 7/4 on 2^(e - 1); at most 2^125
//   E3M0   scale = 2^(e - 4), above m = 3/2   2^(e - 3); at most 2^123
//   code   = the nearest magnitude to |x| / scale, ties to the even code, above the largest that;
//            the sign of x, but +0 for zero
//   x'     = ± magnitude · scale; all are exact in fp32
// A scale 2^s is the byte s + 127. Two kinds of blocks are apart:
//   a < 2^-118             byte 0, codes 0: decodes to zeros. (So no product is ever subnormal.)
//   a NaN or an infinity   byte 255, codes 0: the whole block decodes to the NaN 0x7fc00000.
// Two codes a byte, the first in the low half; after an odd number of them the last high half is 0.
// |x' - x| <= scale (E2M1) or a / 3 (E3M0), where the scale is not at its bound; encoding x' gives
// the same payload again.
#pragma once

#include <cstdint>

namespace syncline {

enum class Fp4 : std::uint8_t { E2M1, E3M0 };

inline constexpr std::uint64_t kFp4Block = 32;      // numbers
inline constexpr std::uint64_t kFp4ScaleBytes = 1;  // of a block

constexpr std::uint64_t fp4_blocks(std::uint64_t elements) {
  return elements / kFp4Block + (elements % kFp4Block != 0 ? 1 : 0);
}
// Bytes of the codes.
constexpr std::uint64_t fp4_code_bytes(std::uint64_t elements) {
  return elements / 2 + elements % 2;
}

// `codes` has room for fp4_code_bytes(elements), `scales` for fp4_blocks(elements).
void fp4_quantise(Fp4 format, const float* in, std::uint64_t elements, std::uint8_t* codes,
                  std::uint8_t* scales);
void fp4_dequantise(Fp4 format, const std::uint8_t* codes, const std::uint8_t* scales,
                    std::uint64_t elements, float* out);

}  // namespace syncline
