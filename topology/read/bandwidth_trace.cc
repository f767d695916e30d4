#include "topology/read/bandwidth_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "topology/input_error.h"
#include "topology/read/bandwidth_logs.h"
#include "topology/read/text_source.h"
#include "topology/text.h"

namespace syncline {
namespace {

constexpr double kPacketBytes = 1500;
constexpr std::int64_t kMostMs = 1'000'000'000'000;  // 31 years
constexpr double kMostSeconds = 1e9;

struct Line {
  std::size_t number = 0;  // from 1
  std::string_view text;   // without blanks around it
};

InputError error_at(const std::string& name, std::size_t line, const std::string& problem) {
  return InputError(problem).at(fmt::format("{}:{}", name, line));
}

// All lines; empty ones at the end are left out.
std::vector<Line> lines_of(std::string_view text) {
  std::vector<Line> lines;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    lines.push_back({number, trim(text.substr(0, end))});
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  while (!lines.empty() && lines.back().text.empty()) lines.pop_back();
  return lines;
}

// Two columns: what is before and behind the blanks in the middle.
struct Columns {
  std::string_view first, second;
};
Columns columns_of(std::string_view line) {
  const std::size_t blank = line.find_first_of(" \t");
  if (blank == std::string_view::npos) return {line, {}};
  return {line.substr(0, blank), trim(line.substr(blank))};
}

BandwidthTrace parse_mahimahi(const std::vector<Line>& lines, const std::string& name) {
  BandwidthTrace trace;
  trace.format = "mahimahi";
  std::int64_t covered = 0;  // ms that have their step
  const auto add_ms = [&](std::int64_t ms, double packets) {
    if (ms - 1 > covered) trace.steps.push_back({Time::ns(covered * 1'000'000), BitRate()});
    trace.steps.push_back(
        {Time::ns((ms - 1) * 1'000'000), BitRate::bytes_per_s(packets * kPacketBytes * 1000)});
    covered = ms;
  };
  std::int64_t open = 1;  // the ms that is being counted
  double packets = 0;
  std::int64_t last = 0;
  for (const Line& line : lines) {
    const auto ms = number_of<std::int64_t>(line.text);
    if (!ms || *ms < 0 || *ms > kMostMs) {
      throw error_at(
          name, line.number,
          fmt::format("\"{}\" is no whole number of ms; a mahimahi trace has one of 0 to "
                      "{} a line",
                      shown(line.text), kMostMs));
    }
    if (*ms < last) {
      throw error_at(name, line.number,
                     fmt::format("{} ms after {} ms; time stamps must not decrease", *ms, last));
    }
    last = *ms;
    if (*ms > open) {
      if (packets > 0) add_ms(open, packets);
      open = *ms;
      packets = 0;
    }
    packets += 1;
  }
  if (last == 0) {
    throw error_at(name, lines.back().number,
                   "the last time stamp is 0 ms; it is the period, so it must be above 0");
  }
  add_ms(open, packets);
  trace.period = Time::ns(last * 1'000'000);
  return trace;
}

BandwidthTrace parse_two_columns(const std::vector<Line>& lines, const std::string& name) {
  BandwidthTrace trace;
  trace.format = "seconds and Mbit/s";
  std::optional<double> first;
  double before = 0;
  bool any = false;
  for (const Line& line : lines) {
    const Columns columns = columns_of(line.text);
    const auto time = number_of<double>(columns.first);
    const auto rate = number_of<double>(columns.second);
    if (!time || !(std::abs(*time) <= kMostSeconds)) {
      throw error_at(name, line.number,
                     fmt::format("time: \"{}\" is no number of seconds; write for example 1.5",
                                 shown(columns.first)));
    }
    if (!rate || !(*rate >= 0) || !std::isfinite(*rate)) {
      throw error_at(name, line.number,
                     fmt::format("bandwidth: \"{}\" is no number of Mbit/s that is at least 0",
                                 shown(columns.second)));
    }
    if (first) {
      const Time start = Time::seconds(before - *first);
      if (Time::seconds(*time - *first) <= start) {
        throw error_at(name, line.number,
                       fmt::format("{} s after {} s; time stamps must increase", *time, before));
      }
      trace.steps.push_back({start, BitRate::bits_per_s(*rate * 1e6)});
      any = any || *rate > 0;
    } else {
      first = *time;
    }
    before = *time;
  }
  if (trace.steps.empty()) {
    throw error_at(name, lines.back().number,
                   "there is one row; the first is the start, so a trace has at least 2");
  }
  if (!any) throw InputError("its bandwidth is 0 in every row").at(name);
  trace.period = Time::seconds(before - *first);
  return trace;
}

}  // namespace

double bytes_until(const BandwidthTrace& trace, Time end) {
  const auto within = [&](Time until) {
    double bytes = 0;
    for (std::size_t i = 0; i < trace.steps.size() && trace.steps[i].start < until; ++i) {
      const Time next = i + 1 < trace.steps.size() ? trace.steps[i + 1].start : trace.period;
      bytes += trace.steps[i].rate.in_bytes_per_s() *
               (std::min(next, until) - trace.steps[i].start).in_seconds();
    }
    return bytes;
  };
  const std::int64_t rounds = end.count_ns() / trace.period.count_ns();
  const Time rest = Time::ns(end.count_ns() % trace.period.count_ns());
  return (rounds > 0 ? static_cast<double>(rounds) * within(trace.period) : 0) + within(rest);
}

BandwidthTrace parse_bandwidth_trace(std::string_view text, const std::string& name,
                                     TraceDirection direction) {
  const TextSource source(name, std::string(text));
  text = source.text();
  const std::vector<Line> lines = lines_of(text);
  if (lines.empty())
    throw InputError("it is empty; a bandwidth trace has at least one line").at(name);
  if (trim(text).starts_with('{')) return parse_pantheon_log(source);
  if (lines.front().text.find(',') != std::string_view::npos) {
    CsvCursor rows(source);
    if (is_ucc_log(rows)) return parse_ucc_log(source, rows, direction);
    if (is_starlink_log(rows)) return parse_starlink_log(source, rows, direction);
  }
  for (const Line& line : lines) {
    if (line.text.empty())
      throw error_at(name, line.number, "the line is empty; each line of a trace has a time stamp");
  }
  const Columns columns = columns_of(lines.front().text);
  if (columns.second.empty() && number_of<double>(columns.first))
    return parse_mahimahi(lines, name);
  if (number_of<double>(columns.first) && number_of<double>(columns.second))
    return parse_two_columns(lines, name);
  throw error_at(
      name, lines.front().number,
      fmt::format("\"{}\" begins no bandwidth trace; known are mahimahi (a whole number "
                  "of ms a line), two columns of seconds and Mbit/s, the CSV of UCC 5G and "
                  "Starlink, and the JSON of Pantheon",
                  shown(lines.front().text)));
}

BandwidthTrace read_bandwidth_trace(const std::string& path, TraceDirection direction) {
  const TextSource source = TextSource::load(path);
  return parse_bandwidth_trace(source.text(), source.name(), direction);
}

}  // namespace syncline
