// Both twins of the int8 kernels: the CPU's against the definition in int8.h, written again as a
// plain loop, and the GPU's against the same, bit for bit.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "compute/compression/int8.h"
#include "compute/torch/codec.h"
#include "tests/compute/torch_gpu.h"
#ifdef SYNCLINE_CUDA
#include <c10/cuda/CUDAStream.h>
#endif

namespace syncline {
namespace {

using at::Tensor;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kMax = std::numeric_limits<float>::max();
constexpr float kTiny = std::numeric_limits<float>::denorm_min();

struct Payload {
  std::vector<std::int8_t> codes;
  std::vector<float> scales;
  std::vector<float> decoded;
};

std::vector<std::uint32_t> bits(const std::vector<float>& numbers) {
  std::vector<std::uint32_t> all;
  all.reserve(numbers.size());
  for (const float number : numbers) all.push_back(std::bit_cast<std::uint32_t>(number));
  return all;
}

void expect_same_bits(const Payload& a, const Payload& b) {
  EXPECT_EQ(a.codes, b.codes);
  EXPECT_EQ(bits(a.scales), bits(b.scales));
  EXPECT_EQ(bits(a.decoded), bits(b.decoded));
}

// As the header says it, a number at a time.
Payload by_definition(const std::vector<float>& in) {
  Payload payload;
  for (std::size_t begin = 0; begin < in.size(); begin += 256) {
    const std::size_t end = std::min(in.size(), begin + 256);
    float largest = 0;
    bool finite = true;
    for (std::size_t i = begin; i < end; ++i) {
      finite = finite && std::isfinite(in[i]);
      largest = std::max(largest, std::abs(in[i]));
    }
    float scale = std::min(largest / 127, 0x1.020406p+121f);
    if (largest < 0x1p-118f) scale = 0;
    if (!finite) scale = std::bit_cast<float>(0x7fc00000u);
    payload.scales.push_back(scale);
    for (std::size_t i = begin; i < end; ++i) {
      std::int8_t code = 0;
      if (finite && scale != 0) {
        volatile float factor = 1 / scale;
        volatile float product = in[i] * factor;
        code = static_cast<std::int8_t>(std::nearbyint(product));
      }
      payload.codes.push_back(code);
      payload.decoded.push_back(finite ? static_cast<float>(code) * scale : scale);
    }
  }
  return payload;
}

class Int8 : public ::testing::TestWithParam<at::DeviceType> {
 protected:
  void SetUp() override {
    if (GetParam() == at::kCUDA) SYNCLINE_SKIP_WITHOUT_GPU();
  }

  Payload through(const std::vector<float>& in) const {
    // In the middle of a larger one, so that nothing is aligned.
    const auto size = static_cast<std::int64_t>(in.size());
    const Tensor host = at::empty({size + 3}, at::kFloat);
    std::copy(in.begin(), in.end(), host.data_ptr<float>() + 3);
    const Tensor x = host.to(GetParam()).narrow(0, 3, size);
    const auto blocks = static_cast<std::int64_t>(int8_blocks(in.size()));
    const Tensor codes = at::full({size + 1}, 99, x.options().dtype(at::kChar));
    const Tensor scales = at::full({blocks + 1}, 99, x.options());
    const Tensor out = at::full({size + 1}, 99, x.options());
    if (GetParam() == at::kCPU) {
      int8_quantise(x.data_ptr<float>(), in.size(), codes.data_ptr<std::int8_t>(),
                    scales.data_ptr<float>());
      int8_dequantise(codes.data_ptr<std::int8_t>(), scales.data_ptr<float>(), in.size(),
                      out.data_ptr<float>());
    }
#ifdef SYNCLINE_CUDA
    if (GetParam() == at::kCUDA) {
      const c10::cuda::CUDAStream stream = c10::cuda::getCurrentCUDAStream();
      cuda::int8_quantise(x.data_ptr<float>(), in.size(), codes.data_ptr<std::int8_t>(),
                          scales.data_ptr<float>(), stream);
      cuda::int8_dequantise(codes.data_ptr<std::int8_t>(), scales.data_ptr<float>(), in.size(),
                            out.data_ptr<float>(), stream);
    }
#endif
    Payload payload;
    const Tensor all_codes = codes.cpu(), all_scales = scales.cpu(), all_out = out.cpu();
    payload.codes.assign(all_codes.data_ptr<std::int8_t>(),
                         all_codes.data_ptr<std::int8_t>() + size);
    payload.scales.assign(all_scales.data_ptr<float>(), all_scales.data_ptr<float>() + blocks);
    payload.decoded.assign(all_out.data_ptr<float>(), all_out.data_ptr<float>() + size);
    EXPECT_EQ(all_codes.data_ptr<std::int8_t>()[size], 99) << "written past the end";
    EXPECT_EQ(all_scales.data_ptr<float>()[blocks], 99) << "written past the end";
    EXPECT_EQ(all_out.data_ptr<float>()[size], 99) << "written past the end";
    return payload;
  }
};

// Of every magnitude, block by block.
std::vector<float> random_numbers(std::size_t count, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::uniform_int_distribution<int> exponent(-140, 124);
  std::vector<float> numbers;
  float scale = 1;
  for (std::size_t i = 0; i < count; ++i) {
    if (i % 256 == 0) scale = std::ldexp(1.0f, exponent(random));
    numbers.push_back(std::clamp(normal(random) * scale, -kMax, kMax));
  }
  return numbers;
}

TEST_P(Int8, IsItsDefinition) {
  for (const std::size_t size : {1u, 2u, 31u, 255u, 256u, 257u, 511u, 512u, 513u, 100'001u}) {
    const std::vector<float> in = random_numbers(size, static_cast<std::uint32_t>(size));
    expect_same_bits(through(in), by_definition(in));
  }
}

// More blocks than one launch has room for.
TEST_P(Int8, LargePayload) {
  std::vector<float> in = random_numbers(4096, 1);
  in.reserve(20'000'003);
  while (in.size() < 20'000'003) in.push_back(in[in.size() - 4096] * 1.0001f);
  expect_same_bits(through(in), by_definition(in));
}

TEST_P(Int8, NumbersHalfwayAreRoundedToEven) {
  // The scale is exactly 2, so that odd numbers are halfway between two codes.
  std::vector<float> in{254, 1, 3, 5, 7, -1, -3, -5, 253, -253};
  const Payload payload = through(in);
  EXPECT_EQ(payload.scales, std::vector<float>{2});
  EXPECT_EQ(payload.codes, (std::vector<std::int8_t>{127, 0, 2, 2, 4, 0, -2, -2, 126, -126}));
  expect_same_bits(payload, by_definition(in));
}

TEST_P(Int8, ErrorIsHalfAStepAtMost) {
  const std::vector<float> in = random_numbers(50'000, 5);
  const Payload payload = through(in);
  for (std::size_t i = 0; i < in.size(); ++i) {
    const double scale = payload.scales[i / 256];
    const double error = std::abs(static_cast<double>(payload.decoded[i]) - in[i]);
    ASSERT_LE(error, scale == 0 ? 0x1p-118 : scale * (0.5 + 0x1p-15)) << i;
  }
}

TEST_P(Int8, TwiceIsOnce) {
  std::vector<float> in = random_numbers(300'000, 9);
  in[300] = kMax;
  in[301] = -kMax / 3;
  const Payload once = through(in);
  expect_same_bits(through(once.decoded), once);
}

TEST_P(Int8, ZerosStayZeros) {
  for (const float zero : {0.0f, -0.0f}) {
    const Payload payload = through(std::vector<float>(700, zero));
    EXPECT_EQ(bits(payload.decoded), std::vector<std::uint32_t>(700, 0)) << "+0";
    EXPECT_EQ(payload.scales, std::vector<float>(3, 0));
  }
}

TEST_P(Int8, TinyBlocksAreZerosAndLargeOnesFinite) {
  const float small = std::nextafter(0x1p-118f, 0.0f);
  expect_same_bits(through({small, -small, kTiny}), by_definition({small, -small, kTiny}));
  EXPECT_EQ(through({small, -small, kTiny}).decoded, (std::vector<float>{0, 0, 0}));
  const Payload least = through({0x1p-118f, -0x1p-119f, kTiny});
  EXPECT_EQ(least.codes, (std::vector<std::int8_t>{127, -64, 0}));
  EXPECT_TRUE(std::isnormal(least.decoded[0]));

  const Payload huge = through({kMax, -kMax, kMax / 2, 1});
  EXPECT_EQ(huge.codes, (std::vector<std::int8_t>{127, -127, 64, 0}));
  for (const float number : huge.decoded) EXPECT_TRUE(std::isfinite(number));
  EXPECT_NEAR(huge.decoded[0] / kMax, 1, 1e-6);
  expect_same_bits(huge, by_definition({kMax, -kMax, kMax / 2, 1}));
}

TEST_P(Int8, ABlockWithoutAllNumbersIsNaN) {
  for (const float bad : {kNaN, -kNaN, kInf, -kInf, std::bit_cast<float>(0x7f800001u)}) {
    std::vector<float> in = random_numbers(768, 3);
    in[300] = bad;
    const Payload payload = through(in);
    for (std::size_t i = 0; i < in.size(); ++i) {
      const bool in_block = i >= 256 && i < 512;
      ASSERT_EQ(std::isnan(payload.decoded[i]), in_block) << i;
      if (in_block) {
        ASSERT_EQ(std::bit_cast<std::uint32_t>(payload.decoded[i]), 0x7fc00000u);
        ASSERT_EQ(payload.codes[i], 0);
      }
    }
    expect_same_bits(payload, by_definition(in));
  }
}

// Threads of the trainer treat subnormals as zeros; no result may show it.
TEST_P(Int8, FlushingSubnormalsChangesNothing) {
  std::vector<float> in = random_numbers(20'000, 11);
  for (std::size_t i = 0; i < in.size(); i += 5)
    in[i] = std::ldexp(kTiny, static_cast<int>(i % 22));
  const Payload expected = by_definition(in);
  at::globalContext().setFlushDenormal(true);
  const Payload flushed = through(in);
  at::globalContext().setFlushDenormal(false);
  expect_same_bits(flushed, expected);
}

TEST_P(Int8, OfATensor) {
  const std::vector<float> in = random_numbers(1000, 2);
  const Payload expected = by_definition(in);
  const Tensor x = at::tensor(in).to(GetParam());
  const Tensor decoded = through_codec(x, {Codec::INT8});
  EXPECT_EQ(decoded.device().type(), GetParam());
  EXPECT_TRUE(at::equal(decoded.cpu(), at::tensor(expected.decoded)));
  EXPECT_TRUE(at::equal(x.cpu(), at::tensor(in))) << "values never change";

  const Tensor wide = through_codec(x.to(at::kDouble), {Codec::INT8});
  EXPECT_EQ(wide.scalar_type(), at::kDouble);
  EXPECT_TRUE(at::equal(wide, decoded.to(at::kDouble)));
}

INSTANTIATE_TEST_SUITE_P(Twins, Int8, ::testing::Values(at::kCPU, at::kCUDA),
                         [](const auto& param) {
                           return std::string(param.param == at::kCPU ? "Cpu" : "Cuda");
                         });

TEST(Int8Payload, Bytes) {
  static_assert(int8_payload_bytes(0) == 0);
  static_assert(int8_payload_bytes(1) == 5);
  static_assert(int8_payload_bytes(256) == 260);
  static_assert(int8_payload_bytes(257) == 265);
  static_assert(int8_payload_bytes(853'120) == 853'120 + 4 * 3'333);
  for (std::uint64_t elements = 0; elements < 3000; ++elements) {
    const Payload payload = by_definition(std::vector<float>(elements, 1));
    EXPECT_EQ(int8_payload_bytes(elements), payload.codes.size() + 4 * payload.scales.size());
  }
}

}  // namespace
}  // namespace syncline
