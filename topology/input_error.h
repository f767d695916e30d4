// What the user wrote is wrong: one message with file, line, field, what was read and what would be
// right.
#pragma once

#include <stdexcept>
#include <string>

namespace syncline {

// Thrown for every input that is wrong (exit code 2). `what()` is the whole message, one line a
// problem:
//   quickstart.textproto:3: topology.clusters.wan.bandwidth: "1000" has no unit; write for example
// "1 Gbit/s" Code far from the file throws it with the problem alone; whoever knows the place adds
// it by `at()`.
class InputError : public std::runtime_error {
 public:
  explicit InputError(const std::string& problem) : std::runtime_error(problem) {}

  // The same problem with its place in front: "PLACE: problem". Empty places add nothing.
  InputError at(const std::string& place) const {
    return place.empty() ? *this : InputError(place + ": " + what());
  }
};

}  // namespace syncline
