// bf16 and fp16 against their definition, written again with doubles.
#include "compute/compression/half.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/compute/codec_numbers.h"

namespace syncline::testing {
namespace {

struct Format {
  const char* name;
  void (*encode)(const float*, std::uint64_t, std::uint16_t*);
  void (*decode)(const std::uint16_t*, std::uint64_t, float*);
  int fraction;        // bits
  int least_exponent;  // of a normal number
  std::uint16_t infinity, nan;
};
const Format kFormats[] = {{"Bf16", bf16_encode, bf16_decode, 7, -126, 0x7f80, 0x7fc0},
                           {"Fp16", fp16_encode, fp16_decode, 10, -14, 0x7c00, 0x7e00}};

// The number of a finite code; that of infinity's code is where the numbers would go on.
double number_of(const Format& format, std::uint16_t code) {
  const int exponent = (code & 0x7fff) >> format.fraction;
  const double fraction = std::ldexp(code & ((1 << format.fraction) - 1), -format.fraction);
  const double size = exponent == 0
                          ? std::ldexp(fraction, format.least_exponent)
                          : std::ldexp(1 + fraction, format.least_exponent + exponent - 1);
  return (code & 0x8000) != 0 ? -size : size;
}

// By the distance between the format's numbers around x.
std::uint16_t by_definition(const Format& format, float x) {
  if (std::isnan(x)) return format.nan;
  const auto sign = static_cast<std::uint16_t>(std::signbit(x) ? 0x8000 : 0);
  if (std::isinf(x)) return sign | format.infinity;
  if (x == 0) return sign;
  const double size = std::abs(static_cast<double>(x));
  const int exponent = std::max(std::ilogb(size), format.least_exponent);
  // Steps of this exponent, to even; codes count on from one exponent to the next.
  const double steps = std::nearbyint(std::ldexp(size, format.fraction - exponent));
  const double before = std::ldexp(exponent - format.least_exponent, format.fraction);
  const double code = std::min<double>(steps + before, format.infinity);
  return static_cast<std::uint16_t>(sign | static_cast<std::uint16_t>(code));
}

class Half : public ::testing::TestWithParam<Format> {
 protected:
  std::vector<std::uint16_t> encode(const std::vector<float>& in) const {
    std::vector<std::uint16_t> codes(in.size() + 1, 0x1234);
    GetParam().encode(in.data(), in.size(), codes.data());
    EXPECT_EQ(codes.back(), 0x1234) << "written past the end";
    codes.pop_back();
    return codes;
  }
  std::vector<float> decode(const std::vector<std::uint16_t>& codes) const {
    std::vector<float> out(codes.size() + 1, 99);
    GetParam().decode(codes.data(), codes.size(), out.data());
    EXPECT_EQ(out.back(), 99) << "written past the end";
    out.pop_back();
    return out;
  }
  std::uint16_t encode(float x) const { return encode(std::vector<float>{x})[0]; }
};

std::vector<std::uint16_t> all_codes() {
  std::vector<std::uint16_t> codes;
  for (std::uint32_t code = 0; code < 65536; ++code)
    codes.push_back(static_cast<std::uint16_t>(code));
  return codes;
}

TEST_P(Half, EveryCodeIsItsNumberAndComesBack) {
  const Format& format = GetParam();
  const std::vector<std::uint16_t> codes = all_codes();
  const std::vector<float> numbers = decode(codes);
  const std::vector<std::uint16_t> again = encode(numbers);
  for (std::size_t i = 0; i < codes.size(); ++i) {
    const int size = codes[i] & 0x7fff;
    if (size > format.infinity) {
      ASSERT_EQ(bits(numbers[i]), kOneNaN) << i;
      ASSERT_EQ(again[i], format.nan) << i;
      continue;
    }
    const double expected =
        size == format.infinity ? (codes[i] == size ? kInf : -kInf) : number_of(format, codes[i]);
    ASSERT_EQ(numbers[i], expected) << i;
    ASSERT_EQ(std::signbit(numbers[i]), std::signbit(expected)) << i;
    ASSERT_EQ(again[i], codes[i]) << i;
  }
}

// Between any two neighbours: the last number that is rounded down, the tie, the first one up.
TEST_P(Half, EveryMidpoint) {
  const Format& format = GetParam();
  for (std::uint16_t code = 0; code < format.infinity; ++code) {
    const auto next = static_cast<std::uint16_t>(code + 1);
    const auto middle = static_cast<float>((number_of(format, code) + number_of(format, next)) / 2);
    const std::uint16_t even = code % 2 == 0 ? code : next;
    ASSERT_EQ(encode(std::nextafter(middle, 0.0f)), code);
    ASSERT_EQ(encode(middle), even) << code;
    ASSERT_EQ(encode(std::nextafter(middle, kInf)), next);
    ASSERT_EQ(encode(-middle), even | 0x8000);
  }
}

std::vector<float> of_all_kinds() {
  std::vector<float> in = random_numbers(300'000, 1, 5);
  for (const float x : {0.0f, kTiny, kMax, kInf, kNaN, std::bit_cast<float>(0x7f800001u), 65519.0f,
                        65520.0f, 65504.0f, 0x1p-24f, 0x1p-25f, 0x1.8p-25f, 0x1.000002p-25f}) {
    in.push_back(x);
    in.push_back(-x);
  }
  return in;
}

TEST_P(Half, IsItsDefinition) {
  const std::vector<float> in = of_all_kinds();
  const std::vector<std::uint16_t> codes = encode(in);
  for (std::size_t i = 0; i < in.size(); ++i)
    ASSERT_EQ(codes[i], by_definition(GetParam(), in[i])) << in[i];
}

TEST_P(Half, FlushingSubnormalsChangesNothing) {
  const std::vector<float> in = of_all_kinds();
  const std::vector<std::uint16_t> expected = encode(in);
  const std::vector<float> decoded = decode(all_codes());
  std::vector<std::uint16_t> flushed;
  std::vector<float> flushed_back;
  {
    const FlushSubnormals flush;
    flushed = encode(in);
    flushed_back = decode(all_codes());
  }
  EXPECT_EQ(flushed, expected);
  EXPECT_EQ(bits(flushed_back), bits(decoded));
}

TEST_P(Half, ErrorIsHalfAStepAtMost) {
  const Format& format = GetParam();
  const std::vector<float> in = random_numbers(100'000, 1, 8);
  const std::vector<float> out = decode(encode(in));
  const double half_step = std::ldexp(1.0, -format.fraction - 1);
  const double largest = number_of(format, static_cast<std::uint16_t>(format.infinity - 1));
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (std::abs(in[i]) > largest) continue;
    const double least = std::ldexp(half_step, format.least_exponent);
    ASSERT_LE(std::abs(static_cast<double>(out[i]) - in[i]),
              std::max(half_step * std::abs(in[i]), least));
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, Half, ::testing::ValuesIn(kFormats),
                         [](const auto& param) { return std::string(param.param.name); });

}  // namespace
}  // namespace syncline::testing
