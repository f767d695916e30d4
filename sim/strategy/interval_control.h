// H of the next round from what the last one has trained.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "compute/program.h"
#include "sim/setup.h"
#include "sim/strategy/recorder.h"

namespace syncline {

// Asked for the value of a number while the simulation stands still.
using NumberSource = std::function<double(NumberIndex)>;

// The rules of AdaptiveInterval. Where nothing is recorded any more, H stays as it is.
class IntervalControl {
 public:
  IntervalControl(const StrategySetup& strategy, Recorder& recorder, const NumberSource& numbers);

  // What an average is made of, and the global model before it.
  void observe(std::span<const SharedValue> values, const SharedValue& mean,
               const SharedValue& global);
  // The global model after it.
  void synchronised(const SharedValue& global);
  // H of the round that begins now. Once a round.
  std::uint64_t next();

 private:
  std::optional<double> value(NumberIndex number) const;
  void by_loss();
  void by_divergence();

  const std::optional<AdaptiveInterval>& rule_;
  Recorder& recorder_;
  const NumberSource& numbers_;
  std::uint64_t first_;
  std::uint64_t interval_;
  NumberIndex loss_ = kNone;  // of the latest global model
  std::optional<double> first_loss_;
  std::vector<NumberIndex> distances_;  // of the replicas from their average
  NumberIndex norm_ = kNone;            // of the parameters
};

}  // namespace syncline
