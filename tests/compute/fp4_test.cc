// FP4 against its definition, written again as a search for the nearest magnitude.
#include "compute/compression/fp4.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/compute/codec_numbers.h"

namespace syncline::testing {
namespace {

constexpr std::size_t kBlock = 32;
const std::vector<double> kE2m1{0, 0.5, 1, 1.5, 2, 3, 4, 6};
const std::vector<double> kE3m0{0, 0.25, 0.5, 1, 2, 4, 8, 16};
const std::vector<double>& magnitudes(Fp4 format) { return format == Fp4::E2M1 ? kE2m1 : kE3m0; }

struct Payload {
  std::vector<std::uint8_t> codes, scales;
  std::vector<float> decoded;
  friend bool operator==(const Payload& a, const Payload& b) {
    return a.codes == b.codes && a.scales == b.scales && bits(a.decoded) == bits(b.decoded);
  }
};

// The nearest one; of two, the even code.
int nearest(Fp4 format, double size) {
  int best = 0;
  for (int code = 1; code < 8; ++code) {
    const double than = std::abs(size - magnitudes(format)[best]);
    const double distance = std::abs(size - magnitudes(format)[code]);
    if (distance < than || (distance == than && code % 2 == 0)) best = code;
  }
  return best;
}

Payload by_definition(Fp4 format, const std::vector<float>& in) {
  Payload payload;
  payload.codes.assign(in.size() / 2 + in.size() % 2, 0);
  for (std::size_t begin = 0; begin < in.size(); begin += kBlock) {
    const std::size_t end = std::min(in.size(), begin + kBlock);
    double largest = 0;
    bool finite = true;
    for (std::size_t i = begin; i < end; ++i) {
      finite = finite && std::isfinite(in[i]);
      largest = std::max(largest, std::abs(static_cast<double>(in[i])));
    }
    const bool zeros = largest < 0x1p-118;
    int power = 0;
    if (finite && !zeros) {
      const int e = std::ilogb(largest);
      const double m = std::ldexp(largest, -e);
      power = format == Fp4::E2M1 ? std::min(e - 2 + (m >= 1.75 ? 1 : 0), 125)
                                  : std::min(e - 4 + (m > 1.5 ? 1 : 0), 123);
    }
    payload.scales.push_back(static_cast<std::uint8_t>(!finite ? 255 : zeros ? 0 : power + 127));
    for (std::size_t i = begin; i < end; ++i) {
      int code = 0;
      if (finite && !zeros) {
        code = nearest(format, std::ldexp(std::abs(static_cast<double>(in[i])), -power));
        if (code != 0 && in[i] < 0) code += 8;
      }
      payload.codes[i / 2] =
          static_cast<std::uint8_t>(payload.codes[i / 2] | code << (i % 2 == 0 ? 0 : 4));
      const double size = std::ldexp(magnitudes(format)[code % 8], power);
      payload.decoded.push_back(finite ? static_cast<float>(code < 8 ? size : -size)
                                       : std::bit_cast<float>(kOneNaN));
    }
  }
  return payload;
}

class Fp4Codec : public ::testing::TestWithParam<Fp4> {
 protected:
  Payload through(const std::vector<float>& in) const {
    Payload payload;
    payload.codes.assign(fp4_code_bytes(in.size()) + 1, 0x77);
    payload.scales.assign(fp4_blocks(in.size()) + 1, 0x77);
    payload.decoded.assign(in.size() + 1, 99);
    fp4_quantise(GetParam(), in.data(), in.size(), payload.codes.data(), payload.scales.data());
    fp4_dequantise(GetParam(), payload.codes.data(), payload.scales.data(), in.size(),
                   payload.decoded.data());
    EXPECT_EQ(payload.codes.back(), 0x77) << "written past the end";
    EXPECT_EQ(payload.scales.back(), 0x77) << "written past the end";
    EXPECT_EQ(payload.decoded.back(), 99) << "written past the end";
    payload.codes.pop_back();
    payload.scales.pop_back();
    payload.decoded.pop_back();
    return payload;
  }
  void expect_definition(const std::vector<float>& in) const {
    EXPECT_TRUE(through(in) == by_definition(GetParam(), in));
  }
};

TEST_P(Fp4Codec, EveryCodeAtEveryScale) {
  for (int scale = 5; scale < 256; ++scale) {
    for (int code = 0; code < 16; ++code) {
      if (scale > 250 && scale < 255) continue;  // no payload has them in both formats
      const auto both = static_cast<std::uint8_t>(code | code << 4);
      const auto its = static_cast<std::uint8_t>(scale);
      float out[2];
      fp4_dequantise(GetParam(), &both, &its, 2, out);
      const double size = std::ldexp(magnitudes(GetParam())[code % 8], scale - 127);
      const auto expected = static_cast<float>(code < 8 ? size : -size);
      ASSERT_EQ(bits(out[0]), scale == 255 ? kOneNaN : bits(expected)) << scale << " " << code;
      ASSERT_EQ(bits(out[1]), bits(out[0]));
    }
  }
}

TEST_P(Fp4Codec, IsItsDefinition) {
  for (const std::size_t size : {0u, 1u, 2u, 31u, 32u, 33u, 63u, 64u, 65u, 100'001u}) {
    expect_definition(random_numbers(size, kBlock, static_cast<std::uint32_t>(size)));
    expect_definition(random_numbers(size, 1, static_cast<std::uint32_t>(size)));
  }
}

// The midpoints of all neighbours and the numbers beside them, at several scales.
TEST_P(Fp4Codec, NumbersHalfwayAreRoundedToEven) {
  const std::vector<double>& sizes = magnitudes(GetParam());
  for (const float scale : {1.0f, 0x1p-110f, 0x1p100f}) {
    std::vector<float> in{static_cast<float>(sizes.back()) * scale};
    std::vector<int> codes{7};
    for (int code = 0; code < 7; ++code) {
      const auto middle = static_cast<float>((sizes[code] + sizes[code + 1]) / 2) * scale;
      in.insert(in.end(), {std::nextafter(middle, 0.0f), middle, std::nextafter(middle, kMax)});
      codes.insert(codes.end(), {code, code % 2 == 0 ? code : code + 1, code + 1});
    }
    const Payload payload = through(in);
    for (std::size_t i = 0; i < in.size(); ++i)
      EXPECT_EQ(payload.codes[i / 2] >> (i % 2 * 4) & 15, codes[i]) << in[i];
    expect_definition(in);
  }
}

// Around the mantissas at which the scale goes up, and where it is at its bound.
TEST_P(Fp4Codec, TheLargestNumberOfABlock) {
  for (const int exponent : {-118, -3, 0, 100, 126, 127}) {
    for (const float mantissa : {1.0f, 1.49999f, 1.5f, 1.50001f, 1.74999f, 1.75f, 1.9999f}) {
      const float a = std::ldexp(mantissa, exponent);
      for (const float up : {std::nextafter(a, 0.0f), a, std::nextafter(a, kInf)})
        expect_definition({up, -up / 2, up / 7, 0, -0.0f, up / 100});
    }
  }
  expect_definition({kMax, -kMax, kMax / 2, 1});
  for (const float number : through({kMax, -kMax, kMax / 2, 1}).decoded)
    EXPECT_TRUE(std::isfinite(number));
}

TEST_P(Fp4Codec, ErrorIsBounded) {
  const std::vector<float> in = random_numbers(64'000, kBlock, 5);
  const Payload payload = through(in);
  for (std::size_t i = 0; i < in.size(); ++i) {
    const auto begin = in.begin() + static_cast<std::ptrdiff_t>(i / kBlock * kBlock);
    double largest = 0;
    for (auto x = begin; x < begin + kBlock; ++x)
      largest = std::max(largest, std::abs(static_cast<double>(*x)));
    const double scale = std::ldexp(1.0, payload.scales[i / kBlock] - 127);
    const double bound = GetParam() == Fp4::E2M1 ? scale : largest / 3;
    const bool capped = payload.scales[i / kBlock] >= (GetParam() == Fp4::E2M1 ? 252 : 250);
    const double error = std::abs(static_cast<double>(payload.decoded[i]) - in[i]);
    ASSERT_LE(error, largest < 0x1p-118 ? 0x1p-118 : capped ? largest / 2 : bound) << i;
  }
}

TEST_P(Fp4Codec, TwiceIsOnce) {
  const Payload once = through(random_numbers(64'000, kBlock, 9));
  EXPECT_TRUE(through(once.decoded) == once);
}

TEST_P(Fp4Codec, TinyBlocksAndZerosAreZeros) {
  const float small = std::nextafter(0x1p-118f, 0.0f);
  for (const std::vector<float>& in :
       {std::vector<float>{small, -small, kTiny}, std::vector<float>(70, -0.0f)}) {
    const Payload payload = through(in);
    EXPECT_EQ(bits(payload.decoded), std::vector<std::uint32_t>(in.size(), 0)) << "+0";
    EXPECT_EQ(payload.scales, std::vector<std::uint8_t>(payload.scales.size(), 0));
  }
}

TEST_P(Fp4Codec, ABlockWithoutAllNumbersIsNaN) {
  for (const float bad : {kNaN, -kNaN, kInf, -kInf, std::bit_cast<float>(0x7f800001u)}) {
    std::vector<float> in = random_numbers(96, kBlock, 3);
    in[40] = bad;
    const Payload payload = through(in);
    for (std::size_t i = 0; i < in.size(); ++i)
      ASSERT_EQ(bits(payload.decoded[i]) == kOneNaN, i / kBlock == 1) << i;
    expect_definition(in);
  }
}

TEST_P(Fp4Codec, FlushingSubnormalsChangesNothing) {
  std::vector<float> in = random_numbers(20'000, kBlock, 11);
  for (std::size_t i = 0; i < in.size(); i += 5)
    in[i] = std::ldexp(kTiny, static_cast<int>(i % 22));
  const Payload expected = by_definition(GetParam(), in);
  Payload flushed;
  {
    const FlushSubnormals flush;
    flushed = through(in);
  }
  EXPECT_TRUE(flushed == expected);
}

INSTANTIATE_TEST_SUITE_P(Formats, Fp4Codec, ::testing::Values(Fp4::E2M1, Fp4::E3M0),
                         [](const auto& param) {
                           return std::string(param.param == Fp4::E2M1 ? "E2m1" : "E3m0");
                         });

}  // namespace
}  // namespace syncline::testing
