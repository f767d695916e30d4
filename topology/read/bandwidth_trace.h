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
  struct Hole {
    Time start, end;
  };
  std::vector<Step> steps;  // the first starts at 0; strictly increasing
  Time period;              // after the last step's start
  std::string format;       // "mahimahi"
  // Where nothing was measured: the rate of the step before holds. A rate of 0 is no hole: there
  // was no service.
  std::vector<Hole> holes = {};
};

// Of files with both.
enum class TraceDirection { DOWN, UP };

// Bytes that the trace carries from its start until `end`, which may be beyond its period.
double bytes_until(const BandwidthTrace& trace, Time end);

// Reads one of:
//   mahimahi (Netravali et al., USENIX ATC 2015): a line is a whole number of ms, at which one
//     packet of 1500 bytes may pass. The packets of a ms are spread over it: those of the line t
//     over (t - 1 ms, t], those of the line 0 over the first ms. The period is the last line.
//   Norway 3G, FCC and Lumos5G as Pensieve takes them (Mao et al., SIGCOMM 2017): two columns,
//     seconds and Mbit/s. A row's value holds from the row before until the row, and the first row
//     is where the trace starts. The period is the last row less the first.
//   UCC 5G (Raca et al., MMSys 2020): CSV with Timestamp in whole seconds, DL_bitrate and
//   UL_bitrate
//     in kbit/s, "-" where there is none. Rows of one second share it evenly, each holds until the
//     next, and what is further than a second is a hole. The period ends a second after the last.
//   Starlink on the Autobahn (Laniewski et al., 2024): CSV with timestamp_start_dl,
//   timestamp_end_dl
//     and download in Mbit/s (_ul and upload likewise). What lies over 0.1 s between two rows is a
//     hole.
//   Pantheon as Genet takes it (Xia et al., SIGCOMM 2022): JSON of "timestamps" in s and
//     "bandwidths" in Mbit/s, each of which holds from its time on; the last as long as the one
//     before.
// Throws InputError as TextSource does, and "FILE:LINE: ...": empty text, another format, a number
// that is wrong, negative or not finite, time stamps that decrease (or, in two columns, repeat), no
// time at all, no bandwidth at all.
BandwidthTrace read_bandwidth_trace(const std::string& path,
                                    TraceDirection direction = TraceDirection::DOWN);
BandwidthTrace parse_bandwidth_trace(std::string_view text, const std::string& name,
                                     TraceDirection direction = TraceDirection::DOWN);

}  // namespace syncline
