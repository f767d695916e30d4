// Small helpers for reading text.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace syncline {

// Without blanks, tabs and line ends on both sides.
inline std::string_view trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

// What a message shows of a text that may be long: it stays a line that people can read.
inline std::string shown(std::string_view text, std::size_t most = 40) {
  return text.size() <= most ? std::string(text) : std::string(text.substr(0, most)) + "...";
}

// The whole text as a number, with nothing but blanks around it; none: it is another text.
template <class Number>
std::optional<Number> number_of(std::string_view text) {
  text = trim(text);
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace syncline
