// Random numbers without state: a hash of counters, so that any draw can be made again at any time.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace syncline {

// The finaliser of splitmix64 (Steele, Lea, Flood 2014), a bijection.
constexpr std::uint64_t scramble_bits(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

// 64 random bits for each tuple of counters.
constexpr std::uint64_t counter_hash(std::initializer_list<std::uint64_t> counters) {
  std::uint64_t hash = 0;
  for (const std::uint64_t counter : counters) {
    hash = scramble_bits((hash + 0x9e3779b97f4a7c15ull) ^ scramble_bits(counter));
  }
  return scramble_bits(hash + 0x9e3779b97f4a7c15ull);
}

// Bits to [0, 1).
constexpr double unit_interval(std::uint64_t bits) {
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

// Bits to 0 … bound - 1; the bias is at most bound / 2^64 (Lemire 2019 without the rejection).
constexpr std::uint64_t below(std::uint64_t bits, std::uint64_t bound) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<Wide>(bits) * bound) >> 64);
}

}  // namespace syncline
