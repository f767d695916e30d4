#include "topology/read/bandwidth_logs.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

namespace syncline {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;  // ns
constexpr Time kGap = Time::ns(kSecond / 10);
constexpr double kMostMbits = 1e9;
constexpr std::size_t kMostOfASecond = 1000;
constexpr double kMostSeconds = 1e9;

// "2019-12-16 11:49:59.001039872" with these signs between its parts; nanoseconds since 1970. It
// must be a time of the years 1970 to 2199.
Time read_stamp(const TextSource& source, const Token& token, std::string_view field,
                std::string_view signs) {
  const auto fail = [&] {
    return source.error(
        token.place, field,
        fmt::format("\"{}\" is no time; write for example 2019{}12{}16{}11{}49{}59",
                    token.text.substr(0, 40), signs[0], signs[1], signs[2], signs[3], signs[4]));
  };
  constexpr std::size_t kWidths[] = {4, 2, 2, 2, 2, 2};
  std::int64_t parts[6] = {};
  std::string_view rest = token.text;
  for (std::size_t i = 0; i < 6; ++i) {
    if (rest.size() < kWidths[i]) throw fail();
    for (const char c : rest.substr(0, kWidths[i])) {
      if (c < '0' || c > '9') throw fail();
      parts[i] = parts[i] * 10 + (c - '0');
    }
    rest.remove_prefix(kWidths[i]);
    if (i < 5 && (rest.empty() || rest.front() != signs[i])) throw fail();
    if (i < 5) rest.remove_prefix(1);
  }
  std::int64_t ns = 0;
  if (!rest.empty()) {
    if (rest.front() != '.' || rest.size() < 2 || rest.size() > 10) throw fail();
    std::int64_t digit = kSecond / 10;
    for (const char c : rest.substr(1)) {
      if (c < '0' || c > '9') throw fail();
      ns += (c - '0') * digit;
      digit /= 10;
    }
  }
  const std::chrono::year_month_day day{std::chrono::year(static_cast<int>(parts[0])),
                                        std::chrono::month(static_cast<unsigned>(parts[1])),
                                        std::chrono::day(static_cast<unsigned>(parts[2]))};
  if (!day.ok() || parts[0] < 1970 || parts[0] > 2199 || parts[3] > 23 || parts[4] > 59 ||
      parts[5] > 59)
    throw fail();
  const std::int64_t days = std::chrono::sys_days(day).time_since_epoch().count();
  return Time::ns((((days * 24 + parts[3]) * 60 + parts[4]) * 60 + parts[5]) * kSecond + ns);
}

// "-" is a missing value.
std::optional<BitRate> read_rate(const TextSource& source, const Token& token,
                                 std::string_view field, double unit) {
  if (token.text == "-" || token.text.empty()) return std::nullopt;
  const double value = to_number(source, token, field, Sign::NOT_NEGATIVE);
  if (value * unit > kMostMbits * 1e6)
    throw source.error(token.place, field, fmt::format("is above {} Mbit/s", kMostMbits));
  return BitRate::bits_per_s(value * unit);
}

// A measured rate from one time to another; none: nothing was measured.
struct Measured {
  Time start, end;
  std::optional<BitRate> rate;
};

// The trace of rows that follow each other, with what lies between them.
BandwidthTrace join(const TextSource& source, const std::vector<Measured>& rows,
                    std::string format) {
  BandwidthTrace trace;
  trace.format = std::move(format);
  const auto add_hole = [&](Time start, Time end) {
    if (!trace.holes.empty() && trace.holes.back().end == start) {
      trace.holes.back().end = end;
    } else {
      trace.holes.push_back({start, end});
    }
  };
  std::optional<Time> first;
  Time until;
  bool any = false;
  for (const Measured& row : rows) {
    if (!first && !row.rate) continue;  // the trace begins with the first value
    if (!first) first = until = row.start;
    if (row.start - until > kGap) add_hole(until - *first, row.start - *first);
    if (row.rate) {
      trace.steps.push_back({row.start - *first, *row.rate});
      any = any || *row.rate > BitRate();
    } else {
      add_hole(row.start - *first, row.end - *first);
    }
    until = row.end;
  }
  if (!any) throw source.error({}, "", "its bandwidth is 0 or missing in every row");
  trace.period = until - *first;
  return trace;
}

std::size_t require_column(const TextSource& source, const CsvCursor& rows, const char* name) {
  const auto column = rows.column({name});
  if (!column) throw source.error({1, 0}, "header", fmt::format("there is no column {}", name));
  return *column;
}

}  // namespace

bool is_ucc_log(const CsvCursor& rows) {
  return rows.column({"DL_bitrate"}).has_value() && rows.column({"Timestamp"}).has_value();
}

bool is_starlink_log(const CsvCursor& rows) {
  return rows.column({"timestamp_start_dl"}).has_value();
}

BandwidthTrace parse_ucc_log(const TextSource& source, CsvCursor& rows, TraceDirection direction) {
  const char* const name = direction == TraceDirection::DOWN ? "DL_bitrate" : "UL_bitrate";
  const std::size_t stamp = require_column(source, rows, "Timestamp");
  const std::size_t rate = require_column(source, rows, name);
  std::vector<Measured> measured;
  std::size_t same = 0;  // rows of the last second
  while (rows.next()) {
    const Time at = read_stamp(source, rows.field(stamp), "Timestamp", ".._..");
    const Time before = measured.empty() ? at : measured[measured.size() - same].start;
    if (at < before)
      throw source.error(rows.field(stamp).place, "Timestamp",
                         "is before that of the row above; time stamps must not decrease");
    if (at > before) same = 0;
    if (++same > kMostOfASecond)
      throw source.error(rows.field(stamp).place, "Timestamp",
                         fmt::format("over {} rows of one second", kMostOfASecond));
    measured.push_back({at, at, read_rate(source, rows.field(rate), name, 1e3)});
    for (std::size_t i = 0; i < same; ++i) {
      const auto share = [&](std::size_t part) {
        return at + Time::ns(kSecond * static_cast<std::int64_t>(part) /
                             static_cast<std::int64_t>(same));
      };
      Measured& row = measured[measured.size() - same + i];
      row.start = share(i);
      row.end = share(i + 1);
    }
  }
  if (measured.empty()) throw source.error({}, "", "there are no rows under the header");
  return join(source, measured, "UCC 5G");
}

BandwidthTrace parse_starlink_log(const TextSource& source, CsvCursor& rows,
                                  TraceDirection direction) {
  const bool down = direction == TraceDirection::DOWN;
  const char* const start_name = down ? "timestamp_start_dl" : "timestamp_start_ul";
  const char* const end_name = down ? "timestamp_end_dl" : "timestamp_end_ul";
  const char* const name = down ? "download" : "upload";
  const std::size_t start = require_column(source, rows, start_name);
  const std::size_t end = require_column(source, rows, end_name);
  const std::size_t rate = require_column(source, rows, name);
  std::vector<Measured> measured;
  while (rows.next()) {
    Measured row;
    row.start = read_stamp(source, rows.field(start), start_name, "-- ::");
    row.end = read_stamp(source, rows.field(end), end_name, "-- ::");
    if (row.end <= row.start)
      throw source.error(rows.field(end).place, end_name, "is not after its start");
    if (!measured.empty() && row.start <= measured.back().start)
      throw source.error(rows.field(start).place, start_name,
                         "is not after that of the row above; time stamps must rise");
    row.rate = read_rate(source, rows.field(rate), name, 1e6);
    measured.push_back(row);
  }
  if (measured.empty()) throw source.error({}, "", "there are no rows under the header");
  return join(source, measured, "Starlink");
}

BandwidthTrace parse_pantheon_log(const TextSource& source) {
  using Json = nlohmann::json;
  Json json;
  try {
    json = Json::parse(source.text());
  } catch (const Json::parse_error& problem) {
    throw source.error(source.place_of(problem.byte > 0 ? problem.byte - 1 : 0), "",
                       "is not well-formed JSON");
  } catch (const Json::exception& problem) {  // a number outside of what a double holds
    throw source.error({}, "", problem.what());
  }
  const auto list = [&](const char* name) -> const Json& {
    if (!json.is_object() || !json.contains(name) || !json.at(name).is_array())
      throw source.error({}, name, "a list is needed");
    return json.at(name);
  };
  const Json& times = list("timestamps");
  const Json& rates = list("bandwidths");
  if (times.size() != rates.size() || times.size() < 2)
    throw source.error({}, "bandwidths",
                       fmt::format("{} values for {} timestamps; write as many, at least 2",
                                   rates.size(), times.size()));
  const auto number = [&](const Json& value, const char* name, std::size_t index, double most) {
    if (!value.is_number() || !(value.get<double>() >= 0) || value.get<double>() > most)
      throw source.error(
          {}, fmt::format("{}[{}]", name, index),
          fmt::format("{} is not a number of 0 to {}", value.dump().substr(0, 40), most));
    return value.get<double>();
  };
  BandwidthTrace trace;
  trace.format = "Pantheon";
  bool any = false;
  double first = 0, before = 0, step = 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const double at = number(times[i], "timestamps", i, kMostSeconds);
    const double rate = number(rates[i], "bandwidths", i, kMostMbits);
    if (i == 0) first = at;
    if (i > 0 && Time::seconds(at - first) <= trace.steps.back().start)
      throw source.error({}, fmt::format("timestamps[{}]", i),
                         fmt::format("{} s after {} s; times must rise", at, before));
    if (i > 0) step = at - before;
    before = at;
    trace.steps.push_back({Time::seconds(at - first), BitRate::bits_per_s(rate * 1e6)});
    any = any || rate > 0;
  }
  if (!any) throw source.error({}, "bandwidths", "are 0 everywhere");
  trace.period = Time::seconds(before + step - first);
  return trace;
}

}  // namespace syncline
