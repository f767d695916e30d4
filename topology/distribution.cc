#include "topology/distribution.h"

#include <fmt/format.h>

#include <boost/random/exponential_distribution.hpp>
#include <boost/random/normal_distribution.hpp>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "topology/input_error.h"
#include "topology/text.h"

namespace syncline {
namespace {

// The finaliser of splitmix64: a bijection in which each bit of the input changes half of the
// output.
std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

// FNV-1a, 64 bits.
std::uint64_t hash(std::string_view text) {
  std::uint64_t h = 0xcbf29ce484222325;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return h;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(trim(text.substr(0, end)));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// What may stand in front of the brackets, with the right form of the whole.
struct Form {
  std::string_view name;
  std::size_t arguments;
  std::string_view example;
};
constexpr Form kUniform = {"uniform", 2, "uniform(LOW, HIGH)"};
constexpr Form kLognormal = {"lognormal", 2, "lognormal(MEDIAN, SIGMA)"};
constexpr Form kExponential = {"exponential", 1, "exponential(MEAN)"};

}  // namespace

// The seed is mixed by itself first: otherwise seeds and names that differ in the same low bits
// could cancel out.
RandomStream::RandomStream(std::uint64_t seed, std::string_view name)
    : state_(mix(hash(name) + mix(seed))) {}

std::uint64_t RandomStream::next() {
  state_ += 0x9e3779b97f4a7c15;
  return mix(state_);
}

double RandomStream::uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

double RandomStream::normal() { return boost::random::normal_distribution<double>()(*this); }

Distribution Distribution::constant(double value) {
  Distribution result;
  result.a_ = value;
  return result;
}

Distribution Distribution::parse(std::string_view whole, Dimension dimension) {
  const std::string_view text = trim(whole);
  if (dimension == Dimension::BIT_RATE && text == "no limit")
    return constant(std::numeric_limits<double>::infinity());
  const std::size_t open = text.find('(');
  if (open == std::string_view::npos) return constant(parse_quantity(text, dimension));

  const auto fail = [&](std::string_view problem) {
    throw InputError(fmt::format("\"{}\" {}", text, problem));
  };
  const std::string_view name = trim(text.substr(0, open));
  const Form* form = nullptr;
  for (const Form* known : {&kUniform, &kLognormal, &kExponential}) {
    if (known->name == name) form = known;
  }
  if (!form) {
    fail(fmt::format("is no distribution; write a quantity, {}, {} or {}", kUniform.example,
                     kLognormal.example, kExponential.example));
  }
  if (text.back() != ')') fail(fmt::format("does not end with \")\"; write {}", form->example));
  const auto arguments = split(text.substr(open + 1, text.size() - open - 2), ',');
  if (arguments.size() != form->arguments) {
    fail(fmt::format("has {} values in brackets, not {}; write {}", arguments.size(),
                     form->arguments, form->example));
  }

  Distribution result;
  try {
    result.a_ = parse_quantity(arguments[0], dimension);
    if (form == &kExponential) {
      result.kind_ = Kind::EXPONENTIAL;
    } else if (form == &kUniform) {
      result.kind_ = Kind::UNIFORM;
      result.b_ = parse_quantity(arguments[1], dimension);
    } else {
      result.kind_ = Kind::LOGNORMAL;
      result.b_ = parse_quantity(arguments[1], Dimension::NUMBER);
    }
  } catch (const InputError& error) {
    throw error.at(fmt::format("\"{}\"", text));
  }
  if (form == &kUniform && result.a_ > result.b_) {
    fail(fmt::format("has a low end above its high end; write uniform({}, {})", arguments[1],
                     arguments[0]));
  }
  return result;
}

double Distribution::draw(RandomStream& random) const {
  switch (kind_) {
    case Kind::CONSTANT:
      return a_;
    case Kind::UNIFORM:
      return a_ + (b_ - a_) * random.uniform();
    case Kind::LOGNORMAL:
      return a_ *
             std::exp(b_ *
                      random.normal());  // a median of 0 is 0, where its logarithm would not be
    case Kind::EXPONENTIAL:
      return a_ * boost::random::exponential_distribution<double>()(random);
  }
  return a_;
}

double Distribution::median() const {
  switch (kind_) {
    case Kind::CONSTANT:
    case Kind::LOGNORMAL:
      return a_;
    case Kind::UNIFORM:
      return a_ + (b_ - a_) / 2;
    case Kind::EXPONENTIAL:
      return a_ * std::numbers::ln2;
  }
  return a_;
}

}  // namespace syncline
