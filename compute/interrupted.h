// The user wants no more (ctrl-C) while compute/ works or waits.
#pragma once

#include <exception>

namespace syncline {

// Thrown where an `interrupted` callback said so. What was done until then is kept; the next run
// goes on from there.
class TrainingInterrupted : public std::exception {
 public:
  const char* what() const noexcept override { return "interrupted"; }
};

}  // namespace syncline
