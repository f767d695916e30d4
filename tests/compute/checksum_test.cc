#include "compute/checksum.h"

#include <gtest/gtest.h>

#include <set>
#include <string_view>
#include <vector>

namespace syncline {
namespace {

std::uint64_t of(std::string_view text, std::uint64_t seed = 0) {
  return checksum(std::as_bytes(std::span(text.data(), text.size())), seed);
}

// From the reference implementation (python-xxhash).
TEST(Checksum, IsXxh64) {
  EXPECT_EQ(of(""), 0xef46db3751d8e999ull);
  EXPECT_EQ(of("a"), 0xd24ec4f1a98c6e5bull);
  EXPECT_EQ(of("abc"), 0x44bc2cf5ad770999ull);
  EXPECT_EQ(of("Nobody inspects the spammish repetition"), 0xfbcea83c8a378bf1ull);
  EXPECT_EQ(of("Nobody inspects the spammish repetition", 7), 0x26f1aeb39b9b1f5full);
}

TEST(Checksum, EveryBitCounts) {
  for (const std::size_t length : {1, 4, 7, 8, 31, 32, 77}) {
    std::vector<std::byte> data(length);
    std::set<std::uint64_t> seen = {checksum(data, 0)};
    for (std::size_t bit = 0; bit < 8 * length; ++bit) {
      data[bit / 8] ^= std::byte{1} << (bit % 8);
      seen.insert(checksum(data, 0));
      data[bit / 8] ^= std::byte{1} << (bit % 8);
    }
    EXPECT_EQ(seen.size(), 8 * length + 1);
  }
}

}  // namespace
}  // namespace syncline
