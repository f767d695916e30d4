// XXH64 (Yann Collet, xxHash specification 0.1.1): fast and well mixed; not against an adversary.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace syncline {

std::uint64_t checksum(std::span<const std::byte> data, std::uint64_t seed);

}  // namespace syncline
