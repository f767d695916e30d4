#include "topology/write/exact_text.h"

#include <fmt/format.h>

namespace syncline {

std::string exact_text(BitRate rate) {
  if (rate == BitRate::infinite()) return "no limit";
  std::string text = to_text(rate);
  if (parse_bit_rate(text) == rate) return text;
  return fmt::format("{} bit/s", rate.in_bits_per_s());
}

std::string exact_time_text(double seconds) {
  std::string text = to_text(Time::seconds(seconds));
  // A time without end has a text that is none of a quantity.
  if (Time::seconds(seconds) != Time::max() && parse_quantity(text, Dimension::TIME) == seconds)
    return text;
  return fmt::format("{} s", seconds);
}

}  // namespace syncline
