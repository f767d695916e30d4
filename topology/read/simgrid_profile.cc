#include <fmt/format.h>

#include <cmath>
#include <map>
#include <numeric>

#include "topology/input_error.h"
#include "topology/read/simgrid.h"

namespace syncline {
namespace {

constexpr double kMostSeconds = 1e9;
constexpr std::size_t kMostPoints = 100'000;

// A profile's time as a count of ns, within one of its periods.
struct Timed {
  std::map<std::int64_t, double> points;
  std::int64_t period = 0;  // 0: it does not repeat
};

Timed timed(const SimgridProfile& profile) {
  Timed result;
  for (const auto& [at, value] : profile.points)
    result.points[Time::seconds(at).count_ns()] = value;
  if (profile.loop_after_s)
    result.period = Time::seconds(profile.points.back().first + *profile.loop_after_s).count_ns();
  return result;
}

}  // namespace

SimgridProfile parse_simgrid_profile(const TextSource& source) {
  SimgridProfile profile;
  LineCursor lines(source, "#%");
  while (lines.next()) {
    const Token& first = lines.field(0, "time");
    if (profile.loop_after_s)
      throw source.error(first.place, "profile", "nothing may follow LOOPAFTER");
    const Token& second = lines.field(1, "value");
    if (lines.fields().size() > 2)
      throw source.error(lines.fields()[2].place, "profile", "a line has a time and a value");
    if (first.text == "LOOPAFTER" || first.text == "PERIODICITY") {
      profile.loop_after_s = to_number(source, second, first.text, Sign::POSITIVE);
      if (*profile.loop_after_s > kMostSeconds)
        throw source.error(second.place, first.text, fmt::format("is above {} s", kMostSeconds));
      continue;
    }
    const double at = to_number(source, first, "time", Sign::NOT_NEGATIVE);
    const double value = to_number(source, second, "value", Sign::NOT_NEGATIVE);
    if (!profile.points.empty() && at <= profile.points.back().first)
      throw source.error(
          first.place, "time",
          fmt::format("{} s after {} s; times must rise", at, profile.points.back().first));
    if (at > kMostSeconds)
      throw source.error(first.place, "time", fmt::format("is above {} s", kMostSeconds));
    profile.points.emplace_back(at, value);
    if (profile.points.size() > kMostPoints)
      throw source.error(first.place, "profile", fmt::format("more than {} points", kMostPoints));
  }
  if (profile.points.empty()) throw source.error({}, "profile", "has no points");
  return profile;
}

LinkTrace merge_simgrid_profiles(const SimgridLinkProfiles& profiles, BitRate nominal) {
  if (profiles.state && profiles.bandwidth)
    throw InputError("a profile of its state and one of its bandwidth together are not read");
  const auto& rates = profiles.state ? profiles.state : profiles.bandwidth;
  LinkTrace trace;
  std::map<std::int64_t, LinkTrace::Point> points;
  std::vector<std::pair<Timed, bool>> parts;  // true: latencies
  if (rates) parts.emplace_back(timed(*rates), false);
  if (profiles.latency) parts.emplace_back(timed(*profiles.latency), true);
  std::int64_t period = 0;
  if (parts.size() == 2 && (parts[0].first.period == 0) != (parts[1].first.period == 0))
    throw InputError("one of its profiles repeats and the other does not; write both alike");
  for (const auto& [part, is_latency] : parts) {
    if (part.period == 0) break;
    // Both begin anew together after the least common multiple of their periods.
    const std::int64_t common = period == 0 ? part.period : period / std::gcd(period, part.period);
    if (period != 0 && __builtin_mul_overflow(common, part.period, &period))
      throw InputError("its profiles repeat together only after 292 years");
    if (period == 0) period = common;
  }
  for (const auto& [part, is_latency] : parts) {
    const std::int64_t rounds = part.period == 0 ? 1 : period / part.period;
    if (rounds > static_cast<std::int64_t>(kMostPoints / part.points.size()))
      throw InputError(fmt::format(
          "its profiles repeat together only after {} rounds of one; choose periods that divide",
          rounds));
    for (std::int64_t round = 0; round < rounds; ++round) {
      for (const auto& [at, value] : part.points) {
        LinkTrace::Point& point = points[round * part.period + at];
        if (is_latency) {
          point.latency_s = value;
        } else if (profiles.state) {
          point.bandwidth = value > 0 ? nominal : BitRate();
        } else {
          point.bandwidth = BitRate::bytes_per_s(value);
        }
      }
    }
  }
  for (auto& [at, point] : points) {
    point.at = Time::ns(at);
    trace.points.push_back(point);
  }
  if (period != 0) trace.period = Time::ns(period);
  return trace;
}

}  // namespace syncline
