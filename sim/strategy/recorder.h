// Writes the training program on behalf of the strategies.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <vector>

#include "compute/program.h"

namespace syncline {

// A value that several rounds and workers may hold; freed with its last holder. Null: nothing is
// recorded any more.
using SharedValue = std::shared_ptr<const Value>;

// A Program that can be switched off: when the budget of real training is used up, only time goes
// on. Then every value is null and nothing is appended, so that a strategy is written without a
// case for it. The same goes for a worker without a replica of its own. What is made from a null
// value or an empty replica is null; a mean is over the values that are there.
class Recorder {
 public:
  // Without a program nothing is ever recorded.
  explicit Recorder(Program* program) : program_(program) {}

  void set_recording(bool on) { on_ = on && program_ != nullptr; }
  bool recording() const { return on_; }

  Replica init(std::uint64_t seed);
  NumberIndex step(Replica& replica, std::uint32_t stream, std::uint64_t first_batch,
                   std::uint32_t count, std::uint64_t position);
  struct Gradient {
    SharedValue value;
    NumberIndex loss = kNone;
  };
  Gradient grad(const Replica& replica, std::uint32_t stream, std::uint64_t batch);
  void apply(Replica& replica, const SharedValue& gradient, std::uint64_t position);
  SharedValue read_parameters(const Replica& replica, Fragment fragment = {});
  void write_parameters(Replica& replica, const SharedValue& value, Fragment fragment = {});
  // All of its state, moments included.
  SharedValue read_all(const Replica& replica);
  void write_all(Replica& replica, const SharedValue& value);
  // Sum of weight · value; null if one of them is.
  struct Term {
    SharedValue value;
    double weight = 1;
  };
  SharedValue sum(std::span<const Term> terms);
  SharedValue sum(std::initializer_list<Term> terms) {
    return sum(std::span<const Term>(terms.begin(), terms.size()));
  }
  // a - b
  SharedValue difference(const SharedValue& a, const SharedValue& b);
  // What the others get to see of a value.
  SharedValue encode(const SharedValue& value, const CodecSpec& codec, std::uint64_t seed);
  // The same with error feedback: of value + decay · residual. The residual, at first null, is
  // replaced by what they do not get to see.
  SharedValue encode(const SharedValue& value, const CodecSpec& codec, std::uint64_t seed,
                     SharedValue& residual, double decay);
  // Mean of the values that are not null, in their order, with these weights.
  SharedValue mean(std::span<const SharedValue> values, std::span<const double> weights);
  SharedValue outer_state();
  // theta and state are replaced by the next ones.
  void outer(SharedValue& theta, SharedValue& state, const SharedValue& gradient,
             const OuterRule& rule);
  NumberIndex eval(const SharedValue& parameters);
  NumberIndex measure(Measure what, const SharedValue& a, const SharedValue& b = nullptr);

 private:
  Program* program_;
  bool on_ = false;
};

}  // namespace syncline
