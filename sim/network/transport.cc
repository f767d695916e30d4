#include "sim/network/transport.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace syncline {
namespace {

constexpr double kInitialWindow = 10;  // packets

}  // namespace

Bytes Transport::header_bytes(Bytes payload) const {
  const std::int64_t packets = (payload.count() + mss.count() - 1) / mss.count();
  return Bytes(packets * header.count());
}

double Transport::largest_rate(Time rtt) const {
  double rate = std::numeric_limits<double>::infinity();
  if (rtt == Time()) return rate;
  const double seconds = rtt.in_seconds();
  if (window) rate = static_cast<double>(window->count()) / seconds;
  if (loss > 0) {
    const double packets = std::sqrt(1.5 / loss);  // in flight, the mean
    rate = std::min(rate, static_cast<double>(mss.count()) * packets / seconds);
  }
  return rate * streams;
}

double Transport::slow_start_rate(Time rtt, std::uint32_t round) const {
  const double window_bytes =
      std::ldexp(kInitialWindow * static_cast<double>(mss.count()), static_cast<int>(round));
  return window_bytes * streams / rtt.in_seconds();
}

}  // namespace syncline
