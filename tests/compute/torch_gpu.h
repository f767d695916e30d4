// For tests that need a GPU.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "compute/torch/torch_trainer.h"

namespace syncline::testing {

// Empty where there is one to use; else why not.
inline std::string reason_to_skip() {
  return gpu_count() > 0 ? std::string() : "needs a GPU: " + why_no_gpu();
}

}  // namespace syncline::testing

// Reported by ctest as skipped, with the reason.
#define SYNCLINE_SKIP_WITHOUT_GPU()                                                  \
  do {                                                                               \
    if (const std::string why = ::syncline::testing::reason_to_skip(); !why.empty()) \
      GTEST_SKIP() << why;                                                           \
  } while (false)
