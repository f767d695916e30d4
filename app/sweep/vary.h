// --vary PATH=V1,V2,…: what a sweep varies, and the points that come of it. Texts only; what they
// mean is the scenario's to say.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/sweep_facts.h"

namespace syncline {

// The values of a list: split at commas outside quotes, brackets, braces and parentheses; spaces
// around a value fall away. Throws InputError: an empty value, a quote or bracket that is not
// closed.
std::vector<std::string> split_values(std::string_view list);

// Throws InputError: no "=", no path, a value or a path twice, more than kMostPoints combinations.
// Labels are as short as they can be and differ.
inline constexpr std::size_t kMostPoints = 10'000;
std::vector<SweepDimension> parse_vary(std::span<const std::string> varied);

// All combinations, the last dimension changing fastest: by point, the index of the value in each
// dimension.
std::vector<std::vector<std::size_t>> combinations(std::span<const SweepDimension> dimensions);

// "local_steps=20, bandwidth=1 Gbit/s": for people.
std::string point_name(std::span<const SweepDimension> dimensions,
                       std::span<const std::size_t> values);
// "local_steps=20,bandwidth=1-Gbit-s": of each point a name for its folder, all different.
std::vector<std::string> folder_names(std::span<const SweepDimension> dimensions,
                                      std::span<const std::vector<std::size_t>> points);

}  // namespace syncline
