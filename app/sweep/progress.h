// The live line of a sweep on stderr: points, trainings, time left over all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "app/progress.h"
#include "app/stopwatch.h"
#include "compute/trainer.h"

namespace syncline {

class SweepProgress {
 public:
  SweepProgress(Progress::Style style, std::size_t points);

  // A line that stays, or the live one until the next.
  void say(const std::string& what);

  // Points that need not run.
  void keep(std::size_t points);
  void point_done(const std::string& name, const std::string& what);
  // What each training will take, in inner steps over all replicas; known when all is simulated.
  void plan(std::vector<std::uint64_t> steps);
  // The next of these. `what`: "local_steps=20; 3 points".
  void start_training(const std::string& what);
  void trained(const TrainingProgress& progress);
  void evaluated(double loss) { loss_ = loss; }
  void finish() { line_.finish(); }

 private:
  std::string status() const;
  double seconds_left() const;  // < 0: not known yet

  Progress::Style style_;
  Progress line_;
  std::size_t points_;
  std::size_t points_done_ = 0;
  std::vector<std::uint64_t> steps_;  // by training: still to be executed, as far as is known
  std::size_t training_ = 0;          // from 1 on
  std::string what_;
  TrainingProgress progress_;
  std::uint64_t executed_ = 0;  // by the trainings before this one
  double loss_ = 0;
  Stopwatch training_since_;
  double last_line_s_ = 0;
};

}  // namespace syncline
