#include "sim/strategy/interval_control.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace syncline {

IntervalControl::IntervalControl(const StrategySetup& strategy, Recorder& recorder,
                                 const NumberSource& numbers)
    : rule_(strategy.adaptive),
      recorder_(recorder),
      numbers_(numbers),
      first_(strategy.local_steps),
      interval_(strategy.local_steps) {}

// Values are parameters or what they differ by from one global model: their distances are those of
// the replicas.
void IntervalControl::observe(std::span<const SharedValue> values, const SharedValue& mean,
                              const SharedValue& global) {
  if (rule_->rule != AdaptiveInterval::Rule::DIVERGENCE) return;
  distances_.clear();
  for (const SharedValue& value : values) {
    if (value) distances_.push_back(recorder_.measure(Measure::DISTANCE, value, mean));
  }
  norm_ = recorder_.measure(Measure::NORM, global);
}

void IntervalControl::synchronised(const SharedValue& global) {
  if (rule_ && rule_->rule == AdaptiveInterval::Rule::LOSS) loss_ = recorder_.eval(global);
}

std::optional<double> IntervalControl::value(NumberIndex number) const {
  if (number == kNone || !numbers_) return std::nullopt;
  const double value = numbers_(number);
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::uint64_t IntervalControl::next() {
  if (rule_->rule == AdaptiveInterval::Rule::LOSS) {
    by_loss();
  } else {
    by_divergence();
  }
  return interval_;
}

void IntervalControl::by_loss() {
  const std::optional<double> loss = value(std::exchange(loss_, kNone));
  if (!loss) return;
  if (!first_loss_) first_loss_ = loss;
  const double interval = std::ceil(std::sqrt(*loss / *first_loss_) * static_cast<double>(first_));
  interval_ =
      static_cast<std::uint64_t>(std::clamp(interval, 1.0, static_cast<double>(rule_->most)));
}

void IntervalControl::by_divergence() {
  const std::optional<double> norm = value(std::exchange(norm_, kNone));
  if (!norm) return;
  double squares = 0;
  for (const NumberIndex distance : distances_) {
    const double one = value(distance).value_or(0);
    squares += one * one / static_cast<double>(distances_.size());
  }
  const double divergence = std::sqrt(squares) / *norm;
  const auto now = static_cast<double>(interval_);
  // Where the replicas are equal, the quotient is infinite, and the double the most.
  const double wanted = std::clamp(now * rule_->target / divergence, now / 2, now * 2);
  interval_ = static_cast<std::uint64_t>(
      std::clamp(std::round(wanted), 1.0, static_cast<double>(rule_->most)));
}

}  // namespace syncline
