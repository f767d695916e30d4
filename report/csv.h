// Fields of a CSV (RFC 4180).
#pragma once

#include <string>

namespace syncline {

// Quoted where it must be.
inline std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    quoted += c;
    if (c == '"') quoted += '"';
  }
  return quoted + '"';
}

}  // namespace syncline
