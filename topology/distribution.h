// A quantity, or a distribution of one: "20 ms", "uniform(10 ms, 60 ms)", "lognormal(8 Mbit/s,
// 0.6)", "exponential(2 h)".
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

#include "topology/quantity.h"

namespace syncline {

// A seeded stream of random numbers. The same seed and name give the same draws everywhere
// (Boost.Random).
class RandomStream {
 public:
  // Streams with different names are independent, so that one more draw in one place changes no
  // other place.
  RandomStream(std::uint64_t seed, std::string_view name);
  double uniform();      // in [0, 1)
  double normal();       // mean 0, variance 1
  std::uint64_t next();  // 64 random bits

  // What Boost.Random's distributions want of a generator: they can draw from a stream as it is.
  using result_type = std::uint64_t;
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }
  result_type operator()() { return next(); }

 private:
  std::uint64_t state_;  // splitmix64 (Steele, Lea, Flood 2014): a counter, so a stream is 8 bytes
};

class Distribution {
 public:
  static Distribution constant(double value);

  // uniform(low, high) · lognormal(median, sigma): exp of a normal with mean ln(median) and
  // standard deviation sigma (a bare number) · exponential(mean) · or a plain quantity, for bit
  // rates also "no limit". Throws
  // InputError as parse_quantity does (a negative sigma is one case), and for unknown names, wrong
  // counts of arguments, low > high.
  static Distribution parse(std::string_view text, Dimension dimension);

  double draw(RandomStream& random) const;  // in the base unit
  bool is_constant() const { return kind_ == Kind::CONSTANT; }
  double median() const;  // of the distribution, in the base unit

 private:
  enum class Kind { CONSTANT, UNIFORM, LOGNORMAL, EXPONENTIAL };
  Kind kind_ = Kind::CONSTANT;
  double a_ = 0;
  double b_ = 0;
};

}  // namespace syncline
