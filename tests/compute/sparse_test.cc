// Top-k, random-k and 2-bit values against their definitions, written again with sorting.
#include "compute/compression/sparse.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "tests/compute/codec_numbers.h"

namespace syncline::testing {
namespace {

constexpr std::size_t kBlock = 4096;
using Places = std::vector<std::uint16_t>;

Places top_k(const std::vector<float>& in, std::uint64_t keep) {
  Places places(sparse_kept(in.size(), keep) + 1, 0xffff);
  top_k_places(in.data(), in.size(), keep, places.data());
  EXPECT_EQ(places.back(), 0xffff) << "written past the end";
  places.pop_back();
  return places;
}

Places random_k(std::uint64_t elements, std::uint64_t keep, std::uint64_t seed) {
  Places places(sparse_kept(elements, keep) + 1, 0xffff);
  random_k_places(elements, keep, seed, places.data());
  EXPECT_EQ(places.back(), 0xffff) << "written past the end";
  places.pop_back();
  return places;
}

// Of each block the first k in a stable order of falling keys, then by place.
template <typename Key>
Places by_sorting(const std::vector<Key>& keys, std::uint64_t keep) {
  Places places;
  for (std::size_t begin = 0; begin < keys.size(); begin += kBlock) {
    const std::size_t length = std::min(kBlock, keys.size() - begin);
    Places order(length);
    std::iota(order.begin(), order.end(), std::uint16_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::uint16_t a, std::uint16_t b) {
      return keys[begin + a] > keys[begin + b];
    });
    const auto kept = static_cast<std::size_t>(
        std::ceil(static_cast<double>(length) * static_cast<double>(keep) / kBlock));
    order.resize(kept);
    std::sort(order.begin(), order.end());
    places.insert(places.end(), order.begin(), order.end());
  }
  return places;
}

std::vector<std::uint32_t> sizes(const std::vector<float>& in) {
  std::vector<std::uint32_t> all = bits(in);
  for (std::uint32_t& each : all) each &= 0x7fffffff;
  return all;
}

const std::size_t kSizes[] = {0, 1, 63, 64, 65, 4095, 4096, 4097, 8191, 30'001};
const std::uint64_t kKeeps[] = {1, 7, 64, 2048, 4095, 4096};

TEST(TopK, IsItsDefinition) {
  for (const std::size_t size : kSizes) {
    for (const std::uint64_t keep : kKeeps) {
      const std::vector<float> in = random_numbers(size, 64, static_cast<std::uint32_t>(size));
      EXPECT_EQ(top_k(in, keep), by_sorting(sizes(in), keep)) << size << " " << keep;
    }
  }
}

TEST(TopK, OfEqualNumbersTheFirst) {
  std::vector<float> in(5000);
  for (std::size_t i = 0; i < in.size(); ++i)
    in[i] = static_cast<float>(i % 3 + 1) * (i % 2 == 0 ? 1 : -1);
  EXPECT_EQ(top_k(in, 64), by_sorting(sizes(in), 64));
  EXPECT_EQ(top_k(std::vector<float>(4096, -0.0f), 3), (Places{0, 1, 2}));
}

TEST(TopK, WhatHasDivergedTravels) {
  std::vector<float> in(4096, kMax);
  in[70] = -kInf;
  in[80] = kNaN;
  in[90] = -kNaN;
  EXPECT_EQ(top_k(in, 3), (Places{70, 80, 90}));
  EXPECT_EQ(top_k(in, 2), (Places{80, 90}));
}

TEST(TopK, SubnormalNumbersHaveTheirOrder) {
  const std::vector<float> in{0, kTiny, 3 * kTiny, -4 * kTiny, 2 * kTiny};
  const FlushSubnormals flush;
  EXPECT_EQ(top_k(in, 4 * 4096 / 10), (Places{2, 3}));
}

TEST(RandomK, IsItsDefinition) {
  for (const std::uint64_t seed : {0ull, 1ull, 0xffffffffffffffffull}) {
    for (const std::size_t size : kSizes) {
      // The generator, as its authors have it.
      std::uint64_t x = seed * 0xd1342543de82ef95ull + 1;
      std::vector<std::uint64_t> keys;
      for (std::size_t i = 0; i < size; ++i) {
        std::uint64_t z = (x += 0x9e3779b97f4a7c15ull);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
        keys.push_back(z ^ (z >> 31));
      }
      for (const std::uint64_t keep : kKeeps)
        EXPECT_EQ(random_k(size, keep, seed), by_sorting(keys, keep));
    }
  }
}

TEST(RandomK, ReachesEveryPlaceAboutEquallyOften) {
  std::vector<int> often(4096, 0);
  constexpr int kDraws = 640;
  for (std::uint64_t seed = 0; seed < kDraws; ++seed) {
    for (const std::uint16_t place : random_k(4096, 64, seed)) ++often[place];
  }
  // Binomial: mean 10, standard deviation 3.1.
  const auto [least, most] = std::minmax_element(often.begin(), often.end());
  EXPECT_GE(*least, 0);
  EXPECT_LE(*most, 30);
  EXPECT_LT(std::count(often.begin(), often.end(), 0), 5);
  EXPECT_NE(random_k(4096, 64, 1), random_k(4096, 64, 2));
}

TEST(Sparse, ScatterIsGatherBackAndZeros) {
  for (const std::size_t size : kSizes) {
    std::vector<float> in = random_numbers(size, 64, 3);
    if (size > 10) in[10] = -kInf;
    const Places places = top_k(in, 64);
    std::vector<float> values(places.size()), out(size + 1, 99);
    sparse_gather(in.data(), places.data(), size, 64, values.data());
    sparse_scatter(values.data(), places.data(), size, 64, out.data());
    EXPECT_EQ(out.back(), 99) << "written past the end";
    std::set<std::size_t> kept;
    for (std::size_t j = 0; j < places.size(); ++j) kept.insert(j / 64 * kBlock + places[j]);
    for (std::size_t i = 0; i < size; ++i)
      ASSERT_EQ(bits(out[i]), kept.contains(i) ? bits(in[i]) : 0) << i;
  }
}

struct TwoBit {
  std::vector<std::uint8_t> codes;
  std::vector<float> levels, decoded;
  friend bool operator==(const TwoBit& a, const TwoBit& b) {
    return a.codes == b.codes && bits(a.levels) == bits(b.levels) &&
           bits(a.decoded) == bits(b.decoded);
  }
};

// Of the values that `elements` numbers have at this keep.
TwoBit two_bit(const std::vector<float>& values, std::uint64_t elements, std::uint64_t keep) {
  TwoBit all{std::vector<std::uint8_t>(values.size() + 1, 0x77),
             std::vector<float>(2 * sparse_blocks(elements) + 1, 99),
             std::vector<float>(values.size() + 1, 99)};
  two_bit_quantise(values.data(), elements, keep, all.codes.data(), all.levels.data());
  two_bit_dequantise(all.codes.data(), all.levels.data(), elements, keep, all.decoded.data());
  EXPECT_EQ(all.codes.back(), 0x77) << "written past the end";
  EXPECT_EQ(all.levels.back(), 99) << "written past the end";
  EXPECT_EQ(all.decoded.back(), 99) << "written past the end";
  all.codes.pop_back();
  all.levels.pop_back();
  all.decoded.pop_back();
  return all;
}

// One block; float arithmetic, each result in a variable of its own.
TwoBit by_definition(const std::vector<float>& values) {
  TwoBit block;
  float lo = kInf, hi = 0;
  bool finite = true;
  for (const float x : values) {
    finite = finite && std::isfinite(x);
    lo = std::min(lo, std::abs(x));
    hi = std::max(hi, std::abs(x));
  }
  const bool zeros = hi < 0x1p-100f;
  volatile const float range = hi - lo;
  volatile const float quarter = range / 4;
  volatile const float low = lo + quarter;
  volatile const float high = hi - quarter;
  block.levels = {low, high};
  if (zeros) block.levels = {0, 0};
  if (!finite) block.levels.assign(2, std::bit_cast<float>(kOneNaN));
  for (const float x : values) {
    volatile const float above = std::abs(x) - lo;
    const bool upper = finite && !zeros && above > range / 2;
    const bool negative = finite && std::signbit(x);
    block.codes.push_back(static_cast<std::uint8_t>((negative ? 2 : 0) + (upper ? 1 : 0)));
    const float level = block.levels[upper ? 1 : 0];
    block.decoded.push_back(negative ? -level : level);
  }
  return block;
}

TEST(TwoBitValues, AreTheirDefinition) {
  for (const std::size_t count : {1u, 2u, 3u, 64u, 500u}) {
    for (std::uint32_t seed = 0; seed < 200; ++seed) {
      const std::vector<float> values = random_numbers(count, count, seed);
      EXPECT_TRUE(two_bit(values, 4096, count) == by_definition(values)) << count << " " << seed;
    }
  }
}

// A block each, the last one short.
TEST(TwoBitValues, BlockByBlock) {
  constexpr std::uint64_t kElements = 2 * 4096 + 100;
  const std::vector<float> values = random_numbers(sparse_kept(kElements, 64), 64, 6);
  ASSERT_EQ(values.size(), 64u + 64 + 2);
  TwoBit expected;
  for (const auto& [begin, end] : {std::pair{0, 64}, {64, 128}, {128, 130}}) {
    const TwoBit block = by_definition({values.begin() + begin, values.begin() + end});
    expected.codes.insert(expected.codes.end(), block.codes.begin(), block.codes.end());
    expected.levels.insert(expected.levels.end(), block.levels.begin(), block.levels.end());
    expected.decoded.insert(expected.decoded.end(), block.decoded.begin(), block.decoded.end());
  }
  EXPECT_TRUE(two_bit(values, kElements, 64) == expected);
}

TEST(TwoBitValues, ByHand) {
  const TwoBit all = two_bit({1, -9, 5, -5.5f}, 4096, 4);
  EXPECT_EQ(all.levels, (std::vector<float>{3, 7}));
  EXPECT_EQ(all.decoded, (std::vector<float>{3, -7, 3, -7}));  // 5 is halfway: the lower one
  EXPECT_EQ(two_bit({-3.7f}, 4096, 1).decoded, std::vector<float>{-3.7f});
}

TEST(TwoBitValues, ErrorIsAQuarterOfTheRange) {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    const std::vector<float> values = random_numbers(64, 64, seed);
    const TwoBit all = two_bit(values, 4096, 64);
    double lo = kMax, hi = 0;
    for (const float x : values) {
      lo = std::min<double>(lo, std::abs(x));
      hi = std::max<double>(hi, std::abs(x));
    }
    const double bound = hi < 0x1p-100 ? 0x1p-100 : (0.25 + 0x1p-22) * (hi - lo) + 0x1p-23 * hi;
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_LE(std::abs(static_cast<double>(all.decoded[i]) - values[i]), bound);
      ASSERT_EQ(std::signbit(all.decoded[i]), std::signbit(values[i]));
    }
  }
}

TEST(TwoBitValues, TinyHugeZeroAndDiverged) {
  const float small = std::nextafter(0x1p-100f, 0.0f);
  for (const std::vector<float>& values : {std::vector<float>{small, -small, kTiny},
                                           {0, -0.0f, 0},
                                           {0x1p-100f, -kTiny, 0x1p-101f},
                                           {kMax, -kMax, 1},
                                           {kMax, 0, -kMax / 2},
                                           {1, kNaN, 2},
                                           {-kInf, 3, 4},
                                           {kInf, kInf, -kInf}}) {
    EXPECT_TRUE(two_bit(values, 4096, 3) == by_definition(values)) << values[0];
  }
}

TEST(TwoBitValues, FlushingSubnormalsChangesNothing) {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    std::vector<float> values = random_numbers(64, 64, seed);
    for (std::size_t i = 0; i < values.size(); i += 7)
      values[i] = std::ldexp(kTiny, static_cast<int>(i % 22));
    const TwoBit expected = two_bit(values, 4096, 64);
    const auto flushed = [&] {
      const FlushSubnormals flush;
      return two_bit(values, 4096, 64);
    }();
    EXPECT_TRUE(flushed == expected);
  }
}

TEST(Sparse, KeptNumbersAreTheSharesOfEachBlockRoundedUp) {
  static_assert(sparse_kept(0, 64) == 0);
  static_assert(sparse_kept(1, 64) == 1);
  static_assert(sparse_kept(64, 64) == 1);
  static_assert(sparse_kept(65, 64) == 2);
  static_assert(sparse_kept(853'120, 64) == 13'330);
  static_assert(sparse_kept(8192, 4096) == 8192);
  for (std::uint64_t elements = 0; elements < 9000; elements += 7) {
    for (const std::uint64_t keep : kKeeps)
      EXPECT_EQ(sparse_kept(elements, keep), by_sorting(std::vector<int>(elements), keep).size());
  }
}

}  // namespace
}  // namespace syncline::testing
