// One simulation: workers, strategy and network on virtual time, and the training program that
// comes out.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compute/program.h"
#include "sim/network/network.h"
#include "sim/no_progress.h"
#include "sim/setup.h"
#include "sim/strategy/fleet.h"
#include "sim/timeline.h"
#include "topology/topology.h"

namespace syncline {

struct WorkerOutcome {
  std::uint64_t steps = 0;
  std::uint64_t recorded_steps = 0;
  Time computing;  // in finished inner steps that were not lost
  Time within;     // in averages inside its cluster
  Time waiting;    // for other workers to join an average
  Time syncing;    // in averages of all, after everyone had joined
  Time down;       // with its machine off
  Time rejoining;  // until it had a peer's model again
  Time lost;       // in steps that were computed for nothing
  std::uint64_t lost_steps = 0;
  std::uint64_t rejoins = 0;
  Bytes rejoin_bytes;
  Bytes sent, received;  // by its hosts
};

struct LinkOutcome {
  ChannelId channel;
  ChannelUse use;
  double limited_s = 0;  // durations of transfers that it limited, summed
};

struct SimulationOutcome {
  Time virtual_time;
  std::vector<RoundRecord> rounds;
  std::vector<Evaluation> evaluations;
  std::vector<WorkerOutcome> workers;  // by worker
  std::vector<LinkOutcome> links;      // by channel
  Timeline timeline;                   // where the hooks ask for it
  std::vector<LoadSampler::Sample> loads;
  Bytes sent;                       // by all hosts
  Bytes sent_within;                // of these, inside clusters that are one worker
  double limited_by_latency_s = 0;  // durations of transfers, summed
  double limited_by_cap_s = 0;
  std::uint64_t events = 0;
};

struct SimulationHooks {
  NumberSource numbers;               // needed for a stop by loss
  std::function<bool()> interrupted;  // true: simulate() throws Interrupted
  bool timeline = false;              // keep what every worker did when, and sample the links
};

// `program` may be null: time only. Throws NoProgress, Interrupted, InputError (no route between
// two workers).
SimulationOutcome simulate(const Topology& topology, const SimulationSetup& setup, Program* program,
                           const SimulationHooks& hooks = {});

}  // namespace syncline
