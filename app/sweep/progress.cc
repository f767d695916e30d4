#include "app/sweep/progress.h"

#include <fmt/format.h>

#include <utility>

namespace syncline {
namespace {

// Without a terminal: a sign of life this often.
constexpr double kLineEveryS = 30;

}  // namespace

SweepProgress::SweepProgress(Progress::Style style, std::size_t points)
    : style_(style), line_(style), points_(points) {}

void SweepProgress::say(const std::string& what) { line_.say(what); }

void SweepProgress::keep(std::size_t points) {
  points_done_ += points;
  if (points > 0) line_.say(fmt::format("{}/{} points are there from before", points, points_));
}

void SweepProgress::point_done(const std::string& name, const std::string& what) {
  ++points_done_;
  line_.say(fmt::format("point {}/{} · {} · {}", points_done_, points_, name, what));
}

void SweepProgress::plan(std::vector<std::uint64_t> steps) {
  steps_ = std::move(steps);
  training_since_ = Stopwatch();
}

void SweepProgress::start_training(const std::string& what) {
  if (training_ > 0) {
    executed_ += progress_.steps_done;
    steps_[training_ - 1] = 0;
  }
  ++training_;
  what_ = what;
  progress_ = {};
  loss_ = 0;
  line_.say(fmt::format("training {}/{} · {}", training_, steps_.size(), what_));
}

void SweepProgress::trained(const TrainingProgress& progress) {
  // Another point of the group: its program is known.
  if (progress.steps_done < progress_.steps_done) executed_ += progress_.steps_done;
  progress_ = progress;
  // Less than was planned where the cache knows some of it.
  steps_[training_ - 1] = progress.steps_total - progress.steps_done;
  const double now = training_since_.seconds();
  if (style_ == Progress::Style::LINES && now - last_line_s_ < kLineEveryS) return;
  last_line_s_ = now;
  line_.say(status());
}

double SweepProgress::seconds_left() const {
  const auto executed = static_cast<double>(executed_ + progress_.steps_done);
  double left = 0;
  for (const std::uint64_t steps : steps_) left += static_cast<double>(steps);
  if (executed < 0.01 * (executed + left)) return -1;
  return training_since_.seconds() / executed * left;
}

std::string SweepProgress::status() const {
  const double share = progress_.steps_total == 0 ? 1
                                                  : static_cast<double>(progress_.steps_done) /
                                                        static_cast<double>(progress_.steps_total);
  std::string text = fmt::format("{}/{} points · training {}/{} · {} · {:.0f} %", points_done_,
                                 points_, training_, steps_.size(), what_, share * 100);
  if (loss_ != 0) text += fmt::format(" · loss {:.4f}", loss_);
  const double left = seconds_left();
  if (left > 0) text += fmt::format(" · ETA {:.0f} s", left);
  return text;
}

}  // namespace syncline
