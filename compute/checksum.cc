#include "compute/checksum.h"

#include <array>
#include <bit>
#include <cstring>

namespace syncline {
namespace {

constexpr std::uint64_t kPrime1 = 0x9e3779b185ebca87ull;
constexpr std::uint64_t kPrime2 = 0xc2b2ae3d27d4eb4full;
constexpr std::uint64_t kPrime3 = 0x165667b19e3779f9ull;
constexpr std::uint64_t kPrime4 = 0x85ebca77c2b2ae63ull;
constexpr std::uint64_t kPrime5 = 0x27d4eb2f165667c5ull;

template <typename Word>
std::uint64_t read_word(const std::byte* at) {
  static_assert(std::endian::native == std::endian::little);
  Word word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

std::uint64_t round(std::uint64_t lane, std::uint64_t word) {
  return std::rotl(lane + word * kPrime2, 31) * kPrime1;
}

}  // namespace

std::uint64_t checksum(std::span<const std::byte> data, std::uint64_t seed) {
  const std::byte* at = data.data();
  std::size_t left = data.size();
  std::uint64_t hash = seed + kPrime5;
  if (left >= 32) {
    std::array<std::uint64_t, 4> lanes = {seed + kPrime1 + kPrime2, seed + kPrime2, seed,
                                          seed - kPrime1};
    for (; left >= 32; left -= 32) {
      for (std::uint64_t& lane : lanes) {
        lane = round(lane, read_word<std::uint64_t>(at));
        at += 8;
      }
    }
    hash = std::rotl(lanes[0], 1) + std::rotl(lanes[1], 7) + std::rotl(lanes[2], 12) +
           std::rotl(lanes[3], 18);
    for (const std::uint64_t lane : lanes) hash = (hash ^ round(0, lane)) * kPrime1 + kPrime4;
  }
  hash += data.size();
  for (; left >= 8; left -= 8, at += 8) {
    hash = std::rotl(hash ^ round(0, read_word<std::uint64_t>(at)), 27) * kPrime1 + kPrime4;
  }
  if (left >= 4) {
    hash = std::rotl(hash ^ read_word<std::uint32_t>(at) * kPrime1, 23) * kPrime2 + kPrime3;
    left -= 4;
    at += 4;
  }
  for (; left > 0; --left, ++at) {
    hash = std::rotl(hash ^ read_word<std::uint8_t>(at) * kPrime5, 11) * kPrime1;
  }
  hash = (hash ^ (hash >> 33)) * kPrime2;
  hash = (hash ^ (hash >> 29)) * kPrime3;
  return hash ^ (hash >> 32);
}

}  // namespace syncline
