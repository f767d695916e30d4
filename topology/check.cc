#include "topology/check.h"

#include <cstdio>
#include <cstdlib>

namespace syncline {

void check_failed(const char* file, int line, const char* condition, std::string_view message) {
  // Plain stdio: the state that failed may be one in which allocating or logging does too.
  std::fprintf(stderr, "%s:%d: check failed: %s: %.*s\n", file, line, condition,
               static_cast<int>(message.size()), message.data());
  std::fflush(stderr);
  std::abort();
}

}  // namespace syncline
