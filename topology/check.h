// Assertions that stay on in release builds: for what only a bug in syncline can break. Wrong input
// throws InputError instead.
#pragma once

#include <string_view>

namespace syncline {

// Prints "FILE:LINE: check failed: CONDITION: MESSAGE" to stderr and aborts.
[[noreturn]] void check_failed(const char* file, int line, const char* condition,
                               std::string_view message);

}  // namespace syncline

// The message (text or std::string) is only built when the condition fails.
#define SYNCLINE_CHECK(condition, message)                                 \
  do {                                                                     \
    if (!(condition)) [[unlikely]] {                                       \
      ::syncline::check_failed(__FILE__, __LINE__, #condition, (message)); \
    }                                                                      \
  } while (false)
