#include "compute/data/permutation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace syncline {
namespace {

TEST(Permutation, TakesEachPlaceOnce) {
  std::vector<std::uint64_t> sizes = {1023, 1024, 1025, 4095, 4096, 4097, 65536, 65537, 100003};
  for (std::uint64_t size = 1; size <= 70; ++size) sizes.push_back(size);
  for (const std::uint64_t size : sizes) {
    for (const std::uint64_t key : {0ull, 1ull, 0x123456789abcdefull}) {
      const Permutation permutation(size, key);
      std::vector<int> seen(size);
      for (std::uint64_t i = 0; i < size; ++i) {
        const std::uint64_t to = permutation.at(i);
        ASSERT_LT(to, size);
        ASSERT_EQ(seen[to]++, 0) << size << " " << key;
      }
    }
  }
}

TEST(Permutation, ReachesTheEndsOf64Bits) {
  const std::uint64_t size = ~std::uint64_t{0};
  const Permutation permutation(size, 5);
  EXPECT_LT(permutation.at(0), size);
  EXPECT_NE(permutation.at(0), permutation.at(size - 1));
}

// Over the keys, each element goes to each place equally often.
TEST(Permutation, IsUniformOverKeys) {
  for (const std::uint64_t size : {2u, 3u, 5u, 8u, 17u}) {
    constexpr int kKeys = 20000;
    std::vector<double> counts(size * size);
    for (int key = 0; key < kKeys; ++key) {
      const Permutation permutation(size, static_cast<std::uint64_t>(key));
      for (std::uint64_t i = 0; i < size; ++i) ++counts[i * size + permutation.at(i)];
    }
    const double p = 1.0 / static_cast<double>(size);
    const double deviation = std::sqrt(kKeys * p * (1 - p));
    for (const double count : counts) EXPECT_NEAR(count, kKeys * p, 5 * deviation) << size;
  }
}

}  // namespace
}  // namespace syncline
