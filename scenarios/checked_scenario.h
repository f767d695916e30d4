// A scenario that was read and checked: plain values, ready to be put together. No Protobuf here.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compute/training_config.h"
#include "sim/setup.h"
#include "topology/read/imported.h"
#include "topology/topology.h"

namespace syncline {

// The clock and the links are charged for a model of this size.
struct Projection {
  double parameters = 0;
  double bytes_per_parameter = 4;
  std::optional<double> tokens_per_step;  // of one inner step over all workers
};

struct PaceSetup {
  enum class Source : std::uint8_t { MEASURED, FIXED, FLOPS };
  Source source = Source::MEASURED;
  Time fixed;                  // FIXED
  double device_factor = 1;    // MEASURED: virtual step time over the measured one
  double mfu = 0;              // FLOPS
  double peak_flops = 0;       // FLOPS: of one chip
  std::vector<double> chips;   // FLOPS: by worker
  std::vector<double> factor;  // by worker: `spread`
};

struct StopSetup {
  std::optional<double> tokens;  // over all workers
  std::optional<std::uint64_t> steps;
  std::optional<std::uint64_t> rounds;
  std::optional<Time> time;
  std::optional<double> loss;
};

struct CheckedScenario {
  std::string name;
  std::uint64_t seed = 1;
  Topology topology;
  std::shared_ptr<const ImportedTopology> map;  // of topology.file; null: none
  std::vector<WorkerSetup> workers;             // their `step` is still open: the pace decides it
  StrategySetup strategy;
  std::vector<FailureEvent> events;
  Transport transport;
  std::vector<TracedLink> traces;
  std::vector<Flow> background;
  StopSetup stop;
  bool train = true;                      // false: time only
  TrainingConfig training;                // its schedule's horizon is still open
  std::optional<double> training_tokens;  // budget of real training
  std::uint64_t replicas = 0;             // real ones; 0: each worker its own
  std::optional<std::uint64_t> evaluate_every;
  std::optional<Projection> projection;
  PaceSetup pace;
  std::vector<std::string> assumptions;  // what was taken for granted, a sentence each

  // The scenario in its text format, defaults written out and paths of files made absolute.
  std::string written;
  // The same with a measured pace replaced by what was measured, so that the run can be repeated
  // exactly.
  std::string text(std::optional<Time> measured_step) const;
};

}  // namespace syncline
