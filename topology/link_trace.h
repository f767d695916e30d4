// How a link changes over time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "topology/quantity.h"

namespace syncline {

// A step function: each point's values hold from its time on, until a later point gives another
// one. Before the first point the link is as the topology says. Points at or after the period do
// not happen.
struct LinkTrace {
  struct Point {
    Time at = Time();
    std::optional<BitRate> bandwidth = std::nullopt;  // both directions; none: unchanged
    std::optional<double> latency_s = std::nullopt;
  };
  std::vector<Point> points = {};  // strictly rising in time
  std::optional<Time> period =
      std::nullopt;  // the points again, so much later, without end; above the last point
};

// Throws InputError: no points, times that do not rise or are negative, a period that is not above
// the last point, a bandwidth that is NaN, a latency that is not finite or negative. `name`: of the
// link, for the message.
void check_trace(const LinkTrace& trace, const std::string& name);

// A CSV with the header `time_s,bandwidth` or `time_s,bandwidth,latency` (any order; either may be
// missing): seconds as a plain number, the others with their unit ("20 Mbit/s", "35 ms"); an empty
// field leaves the value as it is. A line `period_s,NUMBER` before the header makes it repeat. `#`
// begins a comment. Or a bandwidth log of those that topology/read/bandwidth_trace.h reads, which
// repeats with its period; of logs with two directions, the download. Throws InputError with file
// and line.
LinkTrace read_link_trace(const std::string& path);

}  // namespace syncline
