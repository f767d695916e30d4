// What goes wrong during a run, or changes. Plain values.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "sim/network/network.h"
#include "topology/distribution.h"
#include "topology/quantity.h"
#include "topology/topology.h"

namespace syncline {

// Begins at `at` and ends after `lasting`; Time::max(): never.
struct Once {
  Time at;
  Time lasting = Time::max();
};
// Again and again: quiet for a draw of `up`, in effect for a draw of `down`, quiet, … (seconds).
struct Churn {
  Distribution up;
  Distribution down;
};

// Links that carry nothing; nodes that neither send, receive nor forward; workers whose machine is
// off: they lose what they did since the last sync, and come back with a peer's model.
struct DownEffect {
  std::vector<LinkId> links;
  std::vector<NodeId> nodes;
  std::vector<std::uint32_t> workers;
  InFlight in_flight = InFlight::STALL;  // of transfers that cross them
};
// Workers that take 1/factor of their pace for a step.
struct SpeedEffect {
  std::vector<std::uint32_t> workers;
  double factor = 1;
};
struct BandwidthEffect {
  LinkId link;
  BitRate value;
};
struct LatencyEffect {
  LinkId link;
  double value_s = 0;
};

// One event on one target. Effects of several events on one target add up for what is down; of
// speeds, bandwidths and latencies the one that began last holds, and the plain value after it.
struct FailureEvent {
  std::string target;  // its name; names the stream of random numbers of a churn
  std::variant<Once, Churn> when;
  std::variant<DownEffect, SpeedEffect, BandwidthEffect, LatencyEffect> effect;
};

}  // namespace syncline
