// Measured bandwidth of a link over time, from the files that people have. The format is found by
// the content.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "topology/quantity.h"

namespace syncline {

// A step function of time: the rate holds from `start` until the next step's start, the last one
// until `period`, where the trace begins again.
struct BandwidthTrace {
  struct Step {
    Time start;
    BitRate rate;
  };
  std::vector<Step> steps;  // the first starts at 0; strictly increasing
  Time period;              // after the last step's start
  std::string format;       // "mahimahi" or "seconds and Mbit/s"
};

// Bytes that the trace carries from its start until `end`, which may be beyond its period.
double bytes_until(const BandwidthTrace& trace, Time end);

// Reads one of:
//   mahimahi (Netravali et al., USENIX ATC 2015): a line is a whole number of ms, at which one
//     packet of 1500 bytes may pass. The packets of a ms are spread over it: those of the line t
//     over (t - 1 ms, t], those of the line 0 over the first ms. The period is the last line.
//   Norway 3G, FCC and Lumos5G as Pensieve takes them (Mao et al., SIGCOMM 2017): two columns,
//     seconds and Mbit/s. A row's value holds from the row before until the row, and the first row
//     is where the trace starts. The period is the last row less the first.
// Throws InputError as TextSource does, and "FILE:LINE: ...": empty text, another format, a number
// that is wrong, negative or not finite, time stamps that decrease (or, in two columns, repeat), no
// time at all, no bandwidth at all.
BandwidthTrace read_bandwidth_trace(const std::string& path);
BandwidthTrace parse_bandwidth_trace(std::string_view text, const std::string& name);

}  // namespace syncline
