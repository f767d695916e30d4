// Payloads of 16-bit floats: half the bytes of fp32, and what the receiver makes of them.
//
// bf16 has fp32's 8 exponent bits and 7 of the fraction; fp16 (IEEE 754 binary16) has 5 and 10. A
// payload is one code of 16 bits a number, no blocks and no scales.
//   code  = the nearest number of the format, ties to the even code. Above its largest number, as
//           if the exponent went on: from half a step above, infinity (fp16: from 65520 on).
//   Subnormal numbers are rounded and decoded like others, whatever the processor's treatment.
//   Infinities and the sign of zero stay; every NaN becomes one: 0x7fc0 (bf16), 0x7e00 (fp16).
//   x'    = the code's number, which fp32 has exactly; a NaN's code gives the NaN 0x7fc00000.
// |x' - x| <= 2^-8 |x| (bf16; 2^-134 where that is more) or 2^-11 |x| (fp16; 2^-25 where that is
// more), and encoding x' gives the same code again.
#pragma once

#include <cstdint>

namespace syncline {

inline constexpr std::uint64_t kHalfBytes = 2;  // on the wire, of a number

void bf16_encode(const float* in, std::uint64_t elements, std::uint16_t* codes);
void bf16_decode(const std::uint16_t* codes, std::uint64_t elements, float* out);
void fp16_encode(const float* in, std::uint64_t elements, std::uint16_t* codes);
void fp16_decode(const std::uint16_t* codes, std::uint64_t elements, float* out);

}  // namespace syncline
