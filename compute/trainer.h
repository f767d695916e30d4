// Executes training programs.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "compute/interrupted.h"
#include "compute/program.h"
#include "topology/quantity.h"

namespace syncline {

struct TrainingProgress {
  std::uint64_t steps_done = 0;   // inner steps over all replicas
  std::uint64_t steps_total = 0;  // that this run needs to execute
};

struct TrainingObserver {
  // At most a few times a second, from the calling thread.
  std::function<void(const TrainingProgress&)> on_progress;
  // Each EVAL in the order of the program's data flow.
  std::function<void(NumberIndex, double)> on_number;
  // Asked between waves: true ends run() by throwing TrainingInterrupted.
  std::function<bool()> interrupted;
};

// What the computer did, for real_time.json; reaches no result.
struct TrainingEffort {
  std::uint64_t steps_executed = 0;  // 0: everything came from the cache
  std::uint64_t tokens_executed = 0;
  double seconds = 0;
};

class Trainer {
 public:
  virtual ~Trainer() = default;

  // For Program: model, initialisation, hash of the tokenised data, optimizer, schedule, dtype,
  // device, LibTorch and trainer version.
  virtual std::string header() const = 0;
  virtual std::uint64_t parameter_count() const = 0;
  // "CPU (2 threads)", "NVIDIA H200": for people; device and thread count also stand in header().
  virtual std::string device_name() const = 0;

  // Virtual step time of one replica alone on this device: median of warm steps.
  virtual Time measure_step() = 0;

  // Brings the numbers of all EVALs that `program` has so far, executing what they need; then
  // numbers() answers for them and for the losses of the steps that were executed or are known. May
  // be called again when the program has grown. A loss that is not finite is reported as it is; the
  // steps after it need not be executed.
  virtual TrainingEffort run(const Program& program, const TrainingObserver& observer) = 0;

  // NaN where it is not known.
  virtual double number(NumberIndex index) const = 0;
};

}  // namespace syncline
