#pragma once

namespace syncline {

inline constexpr const char* kVersion = "0.1.0";

}  // namespace syncline
