// The live line of a run on stderr: round, virtual time, loss, time left.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "compute/trainer.h"
#include "sim/simulation.h"

namespace syncline {

class Progress {
 public:
  enum class Style {
    LIVE,
    LINES,
    QUIET
  };  // a line that is overwritten; a line at each evaluation; nothing

  explicit Progress(Style style) : style_(style) {}
  ~Progress() { finish(); }

  // What goes on now: "measuring the pace".
  void say(const std::string& what);

  // The run that is trained from now on: what its progress means in rounds and virtual time.
  void start_training(const SimulationOutcome& outcome);
  void trained(const TrainingProgress& progress);
  void evaluated(NumberIndex number, double loss);

  // Removes the live line.
  void finish();

 private:
  void show(const std::string& line);
  std::string status() const;

  Style style_;
  bool shown_ = false;
  const SimulationOutcome* outcome_ = nullptr;
  std::chrono::steady_clock::time_point started_;
  TrainingProgress progress_;
  double loss_ = 0;
  bool has_loss_ = false;
};

// Live on a terminal, else a line at a time.
Progress::Style progress_style(bool quiet);

}  // namespace syncline
