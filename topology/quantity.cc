#include "topology/quantity.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "topology/check.h"
#include "topology/input_error.h"
#include "topology/text.h"

namespace syncline {
namespace {

// The base unit is value * multiply / divide. Two whole factors instead of one fraction, because
// 0.001 is no double: "3 ms" is then the double next to 0.003.
struct Unit {
  std::string name;
  double multiply = 1;
  double divide = 1;
};

struct Prefix {
  std::string_view name;
  double factor;
};
constexpr std::array<Prefix, 7> kDecimalPrefixes = {
    {{"", 1}, {"k", 1e3}, {"K", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}, {"P", 1e15}}};
constexpr std::array<Prefix, 4> kBinaryPrefixes = {
    {{"Ki", 1024.0}, {"Mi", 1048576.0}, {"Gi", 1073741824.0}, {"Ti", 1099511627776.0}}};

void append_prefixed(std::vector<Unit>& units, std::string_view name, double divide) {
  auto append = [&](const Prefix& prefix) {
    units.push_back({fmt::format("{}{}", prefix.name, name), prefix.factor, divide});
  };
  for (const Prefix& prefix : kDecimalPrefixes) append(prefix);
  for (const Prefix& prefix : kBinaryPrefixes) append(prefix);
}

std::vector<Unit> make_units(Dimension dimension) {
  std::vector<Unit> units;
  switch (dimension) {
    case Dimension::TIME:
      // Both Unicode spellings of the micro sign.
      units = {{"ns", 1, 1e9},      {"us", 1, 1e6}, {"\u00b5s", 1, 1e6},
               {"\u03bcs", 1, 1e6}, {"ms", 1, 1e3}, {"s", 1, 1},
               {"min", 60, 1},      {"h", 3600, 1}, {"d", 86400, 1}};
      break;
    case Dimension::BIT_RATE:
      for (std::string_view bits : {"bit/s", "b/s", "bps"}) append_prefixed(units, bits, 8);
      for (std::string_view bytes : {"B/s", "Bps"}) append_prefixed(units, bytes, 1);
      break;
    case Dimension::BYTES:
      append_prefixed(units, "B", 1);
      break;
    case Dimension::NUMBER:
      break;
  }
  return units;
}

const std::vector<Unit>& units_of(Dimension dimension) {
  static const std::array<std::vector<Unit>, 4> kUnits = {
      make_units(Dimension::TIME), make_units(Dimension::BIT_RATE), make_units(Dimension::BYTES),
      make_units(Dimension::NUMBER)};
  return kUnits[static_cast<std::size_t>(dimension)];
}

const Unit* find_unit(Dimension dimension, std::string_view name) {
  const std::vector<Unit>& units = units_of(dimension);
  auto found = std::ranges::find(units, name, &Unit::name);
  return found == units.end() ? nullptr : &*found;
}

struct DimensionText {
  std::string_view noun;
  std::string_view example;
};
DimensionText text_of(Dimension dimension) {
  switch (dimension) {
    case Dimension::TIME:
      return {"a time", "20 ms"};
    case Dimension::BIT_RATE:
      return {"a bit rate", "1 Gbit/s"};
    case Dimension::BYTES:
      return {"a size in bytes", "3.5 MB"};
    case Dimension::NUMBER:
      break;
  }
  return {"a plain number", "0.5"};
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

[[noreturn]] void fail(std::string_view text, std::string_view problem, Dimension dimension) {
  throw InputError(fmt::format("\"{}\" {}; write for example \"{}\"", text, problem,
                               text_of(dimension).example));
}

// The unit is not one of this dimension. Says the most likely right form: the rate that a "Gbit" is
// short of, the unit that differs by upper and lower case alone, or any example.
[[noreturn]] void fail_for_unit(std::string_view text, std::string_view number,
                                std::string_view unit, Dimension dimension) {
  if (dimension == Dimension::NUMBER) {
    fail(text, fmt::format("has a unit, but {} is wanted", text_of(dimension).noun), dimension);
  }
  if (dimension == Dimension::BIT_RATE && find_unit(dimension, fmt::format("{}/s", unit))) {
    throw InputError(
        fmt::format("\"{}\" is not a bit rate; write \"{} {}/s\"", text, number, unit));
  }
  for (Dimension other : {Dimension::TIME, Dimension::BIT_RATE, Dimension::BYTES}) {
    if (find_unit(other, unit)) {
      fail(text, fmt::format("is {}, not {}", text_of(other).noun, text_of(dimension).noun),
           dimension);
    }
  }
  std::string likely;
  double last_factor = 0;
  for (const Unit& candidate : units_of(dimension)) {
    // "mb/s" may be "Mb/s" or "MB/s"; but not both of "kb/s" and "Kb/s", which are the same.
    const double factor = candidate.multiply / candidate.divide;
    if (!equal_ignoring_case(candidate.name, unit) || factor == last_factor) continue;
    last_factor = factor;
    likely += fmt::format("{}\"{} {}\"", likely.empty() ? "" : " or ", number, candidate.name);
  }
  const std::string problem =
      fmt::format("has the unknown unit \"{}\" for {}", unit, text_of(dimension).noun);
  if (likely.empty()) fail(text, problem, dimension);
  throw InputError(fmt::format("\"{}\" {}; write {}", text, problem, likely));
}

}  // namespace

double parse_quantity(std::string_view whole, Dimension dimension) {
  const std::string_view text = trim(whole);
  const std::string not_a_quantity = fmt::format("is not {}", text_of(dimension).noun);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::invalid_argument) fail(text, not_a_quantity, dimension);
  const auto number = text.substr(0, static_cast<std::size_t>(end - text.data()));
  const std::string_view unit_name = trim(text.substr(number.size()));
  // from_chars takes "inf", "infinity" and "nan".
  if (error == std::errc() && !std::isfinite(value)) fail(text, "is not finite", dimension);
  if (error == std::errc::result_out_of_range) fail(text, "is out of range", dimension);
  if (value < 0)
    fail(text, fmt::format("is negative, but {} is at least 0", text_of(dimension).noun),
         dimension);

  Unit unit;
  if (unit_name.empty()) {
    if (dimension != Dimension::NUMBER) fail(text, "has no unit", dimension);
  } else if (const Unit* known = find_unit(dimension, unit_name)) {
    unit = *known;
  } else {
    // What follows the number is another piece of number: "1,000 ms", "1.2.3 s".
    constexpr std::string_view kNoUnit = "0123456789.,+-_'";
    if (kNoUnit.find(unit_name.front()) != std::string_view::npos)
      fail(text, not_a_quantity, dimension);
    fail_for_unit(text, number, unit_name, dimension);
  }
  const double result = value * unit.multiply / unit.divide + 0.0;  // + 0.0 makes -0 a 0
  if (!std::isfinite(result)) fail(text, "is out of range", dimension);
  return result;
}

Time parse_time(std::string_view text) {
  return Time::seconds(parse_quantity(text, Dimension::TIME));
}

BitRate parse_bit_rate(std::string_view text) {
  return BitRate::bytes_per_s(parse_quantity(text, Dimension::BIT_RATE));
}

Bytes parse_bytes(std::string_view text) {
  const double count = std::round(parse_quantity(text, Dimension::BYTES));
  if (count >= 0x1p63) fail(trim(text), "is out of range", Dimension::BYTES);
  return Bytes(static_cast<std::int64_t>(count));
}

Time Time::seconds(double s) {
  SYNCLINE_CHECK(!std::isnan(s), "a time in seconds is not a number");
  const double ns = s * 1e9;
  if (ns >= 0x1p63) return max();
  if (ns <= -0x1p63) return min();
  return Time(std::llrint(ns));
}

Time operator*(Time a, std::int64_t factor) {
  SYNCLINE_CHECK(factor >= 0, "a time is multiplied by a negative count");
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a.ns_, factor, &product)) return a.ns_ < 0 ? Time::min() : Time::max();
  return Time(product);
}

namespace {

// A unit of output: used when the value is at least `from` (in base units).
struct Step {
  std::string_view name;
  double multiply;
  double divide;
  double from;
};

// 4 significant digits, without an exponent for what is too large for the largest unit.
std::string digits(double value) {
  return value < 1000 ? fmt::format("{:.4g}", value) : fmt::format("{:.0f}", value);
}

// `steps` from the largest unit to the smallest; the last takes all the rest.
std::string in_unit(double value, std::span<const Step> steps) {
  // The unit is chosen for the value as it will be printed, so that 999.96 ms is "1 s" and not
  // "1000 ms".
  const double magnitude = std::abs(value);
  const std::string text = fmt::format("{:.3e}", magnitude);
  double printed = magnitude;
  std::from_chars(text.data(), text.data() + text.size(), printed);
  auto step = std::ranges::find_if(steps, [&](const Step& s) { return printed >= s.from; });
  if (step == steps.end()) --step;
  return fmt::format("{}{} {}", value < 0 ? "-" : "",
                     digits(magnitude * step->divide / step->multiply), step->name);
}

}  // namespace

std::string to_text(Time time) {
  // Minutes only from two on: "90 s" says more than "1.5 min".
  constexpr std::array<Step, 7> kSteps = {{{"d", 86400, 1, 86400},
                                           {"h", 3600, 1, 3600},
                                           {"min", 60, 1, 120},
                                           {"s", 1, 1, 1},
                                           {"ms", 1, 1e3, 1e-3},
                                           {"us", 1, 1e6, 1e-6},
                                           {"ns", 1, 1e9, 1e-9}}};
  if (time == Time::max()) return "never";
  if (time == Time()) return "0 s";
  return in_unit(static_cast<double>(time.count_ns()) / 1e9, kSteps);
}

std::string to_text(BitRate rate) {
  constexpr std::array<Step, 6> kSteps = {{{"Pbit/s", 1e15, 1, 1e15},
                                           {"Tbit/s", 1e12, 1, 1e12},
                                           {"Gbit/s", 1e9, 1, 1e9},
                                           {"Mbit/s", 1e6, 1, 1e6},
                                           {"kbit/s", 1e3, 1, 1e3},
                                           {"bit/s", 1, 1, 0}}};
  if (rate == BitRate::infinite()) return "no limit";
  return in_unit(rate.in_bits_per_s(), kSteps);
}

std::string to_text(Bytes bytes) {
  constexpr std::array<Step, 6> kSteps = {{{"PB", 1e15, 1, 1e15},
                                           {"TB", 1e12, 1, 1e12},
                                           {"GB", 1e9, 1, 1e9},
                                           {"MB", 1e6, 1, 1e6},
                                           {"kB", 1e3, 1, 1e3},
                                           {"B", 1, 1, 0}}};
  return in_unit(static_cast<double>(bytes.count()), kSteps);
}

}  // namespace syncline
