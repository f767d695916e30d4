#pragma once

#include <stdexcept>

namespace syncline {

// The run cannot go on; the message says who waits for what. Exit code 1.
class NoProgress : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace syncline
