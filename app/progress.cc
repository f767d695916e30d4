#include "app/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "app/environment.h"

namespace syncline {

Progress::Style progress_style(bool quiet) {
  if (quiet) return Progress::Style::QUIET;
  return stderr_is_terminal() ? Progress::Style::LIVE : Progress::Style::LINES;
}

void Progress::finish() {
  if (shown_) fmt::print(stderr, "\r\033[K");
  shown_ = false;
}

void Progress::show(const std::string& line) {
  if (style_ == Style::QUIET) return;
  if (style_ == Style::LINES) {
    fmt::print(stderr, "{}\n", line);
    return;
  }
  fmt::print(stderr, "\r\033[K{}", line);
  std::fflush(stderr);
  shown_ = true;
}

void Progress::say(const std::string& what) { show(what); }

void Progress::start_training(const SimulationOutcome& outcome) {
  outcome_ = &outcome;
  started_ = std::chrono::steady_clock::now();
}

std::string Progress::status() const {
  const double share = progress_.steps_total == 0 ? 1
                                                  : static_cast<double>(progress_.steps_done) /
                                                        static_cast<double>(progress_.steps_total);
  std::string text;
  const std::vector<RoundRecord>& rounds = outcome_->rounds;
  if (!rounds.empty()) {
    // The trained part ends with the last evaluation; its rounds are about equally long.
    const std::uint64_t last = outcome_->evaluations.empty()
                                   ? rounds.size()
                                   : std::max<std::uint64_t>(outcome_->evaluations.back().round, 1);
    const auto round = std::min<std::uint64_t>(
        static_cast<std::uint64_t>(share * static_cast<double>(last)), last);
    const Time at = round == 0 ? Time() : rounds[round - 1].ended;
    text = fmt::format("round {}/{} · virtual {}", round, rounds.size(), to_text(at));
  }
  if (has_loss_) text += fmt::format(" · loss {:.4f}", loss_);
  text += fmt::format(" · {:.0f} %", share * 100);
  const double elapsed =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
  if (share > 0.02 && share < 1)
    text += fmt::format(" · ETA {:.0f} s", elapsed / share * (1 - share));
  return text;
}

void Progress::trained(const TrainingProgress& progress) {
  progress_ = progress;
  if (style_ == Style::LIVE) show(status());
}

void Progress::evaluated(NumberIndex number, double loss) {
  loss_ = loss;
  has_loss_ = true;
  if (style_ != Style::LINES) return;
  for (const Evaluation& evaluation : outcome_->evaluations) {
    if (evaluation.loss != number) continue;
    show(fmt::format("round {}/{} · virtual {} · step {} · loss {:.4f}", evaluation.round,
                     outcome_->rounds.size(), to_text(evaluation.at), evaluation.steps, loss));
  }
}

}  // namespace syncline
