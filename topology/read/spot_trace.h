// When spot instances were there, from the files that people have. The format is found by the
// content.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "topology/quantity.h"

namespace syncline {

struct SpotTrace {
  struct Interval {
    Time up;    // there from here
    Time down;  // until here; Time::max() where the trace does not say
  };
  struct Node {
    std::string name;
    std::vector<Interval> intervals;  // in order, apart, not empty
  };
  std::vector<Node> nodes;
  std::string format;  // "SkyPilot" or "Bamboo"
};

// Nodes that are there at `time`.
std::size_t alive(const SpotTrace& trace, Time time);

// Reads one of:
//   SkyPilot (Mao et al., "SkyServe", 2024): {"metadata": {"gap_seconds": G}, "data": [n0, n1, …]}:
//     nk instances from k*G seconds until (k+1)*G; "0", "1", …, of which the lowest are there.
//   Bamboo (Thorpe et al., NSDI 2023): rows "MS,add,NAME" and "MS,remove,NAME". A name that comes
//     again is the same node.
// Throws InputError as TextSource does, and "FILE:LINE: ..." (SkyPilot: "FILE: ..."): text of
// another format, wrong or decreasing numbers, more than 1,000,000 values, a name added or removed
// twice.
SpotTrace read_spot_trace(const std::string& path);
SpotTrace parse_spot_trace(std::string_view text, const std::string& name);

}  // namespace syncline
