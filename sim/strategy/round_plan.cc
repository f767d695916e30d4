#include "sim/strategy/round_plan.h"

#include <algorithm>
#include <variant>

#include "topology/check.h"

namespace syncline {
namespace {

const StreamingDiloco* streaming_of(const StrategySetup& strategy) {
  return std::get_if<StreamingDiloco>(&strategy.method);
}

}  // namespace

std::uint64_t round_end(const StrategySetup& strategy, std::uint64_t round, std::uint64_t begin) {
  const std::uint64_t interval = strategy.local_steps;
  if (const StreamingDiloco* streaming = streaming_of(strategy)) {
    const std::uint64_t fragments = streaming->fragments;
    const std::uint64_t done = round + 1;
    return done / fragments * interval +
           (done % fragments * interval + fragments - 1) / fragments;  // rounded up
  }
  return begin + interval;
}

std::uint64_t steps_of_rounds(const StrategySetup& strategy, std::uint64_t rounds,
                              std::uint64_t most) {
  const std::uint64_t fragments =
      streaming_of(strategy) != nullptr ? streaming_of(strategy)->fragments : 1;
  if (rounds / fragments >= most / strategy.local_steps) return most;
  return rounds == 0 ? 0
                     : std::min(most, fragments == 1 ? rounds * strategy.local_steps
                                                     : round_end(strategy, rounds - 1, 0));
}

std::uint64_t rounds_of_steps(const StrategySetup& strategy, std::uint64_t steps) {
  const std::uint64_t interval = strategy.local_steps;
  const std::uint64_t fragments =
      streaming_of(strategy) != nullptr ? streaming_of(strategy)->fragments : 1;
  return steps / interval * fragments + (steps % interval * fragments + interval - 1) / interval +
         closing_rounds(strategy);
}

std::uint64_t closing_rounds(const StrategySetup& strategy) {
  if (const StreamingDiloco* streaming = streaming_of(strategy)) return streaming->fragments - 1;
  return 0;
}

std::uint64_t overlapped_steps(const StrategySetup& strategy) {
  if (const StreamingDiloco* streaming = streaming_of(strategy)) return streaming->overlap;
  const bool whole_round = std::holds_alternative<DelayedDiloco>(strategy.method) ||
                           std::holds_alternative<EagerDiloco>(strategy.method);
  return whole_round ? strategy.local_steps : 0;
}

bool may_lose_workers(const StrategySetup& strategy) {
  return streaming_of(strategy) == nullptr && overlapped_steps(strategy) == 0;
}

Payload payload_of_round(const SimulationSetup& setup, std::uint64_t round) {
  Payload payload = setup.payload;
  if (const StreamingDiloco* streaming = streaming_of(setup.strategy)) {
    SYNCLINE_CHECK(streaming->elements.size() == streaming->fragments,
                   "each fragment has its size");
    payload.elements = streaming->elements[round % streaming->fragments];
  }
  return payload;
}

}  // namespace syncline
