#include "sim/strategy/round_plan.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <variant>

#include "topology/check.h"

namespace syncline {
namespace {

const StreamingDiloco* streaming_of(const StrategySetup& strategy) {
  return std::get_if<StreamingDiloco>(&strategy.method);
}

// Rounds of equal length.
struct Stretch {
  std::uint64_t interval = 1;
  std::optional<std::uint64_t> end;  // the first round that begins here or later is another one's

  // From step `begin` to its end, or to `most`.
  std::uint64_t rounds(std::uint64_t begin, std::uint64_t most) const {
    const std::uint64_t last = std::min(end.value_or(most), most);
    return (last - begin + interval - 1) / interval;
  }
};

// That the round which begins at this step belongs to.
Stretch stretch_at(const StrategySetup& strategy, std::uint64_t begin) {
  if (begin < strategy.gradient_steps) return {1, strategy.gradient_steps};
  const std::vector<IntervalChange>& schedule = strategy.schedule;
  const auto next = std::upper_bound(
      schedule.begin(), schedule.end(), begin,
      [](std::uint64_t step, const IntervalChange& change) { return step < change.from; });
  Stretch stretch;
  stretch.interval = next == schedule.begin() ? strategy.local_steps : std::prev(next)->local_steps;
  if (next != schedule.end()) stretch.end = next->from;
  return stretch;
}

}  // namespace

std::uint64_t round_end(const StrategySetup& strategy, std::uint64_t round, std::uint64_t begin) {
  if (const StreamingDiloco* streaming = streaming_of(strategy)) {
    const std::uint64_t fragments = streaming->fragments;
    const std::uint64_t done = round + 1;
    return done / fragments * strategy.local_steps +
           (done % fragments * strategy.local_steps + fragments - 1) / fragments;  // rounded up
  }
  return begin + stretch_at(strategy, begin).interval;
}

std::uint64_t steps_of_rounds(const StrategySetup& strategy, std::uint64_t rounds,
                              std::uint64_t most) {
  if (const StreamingDiloco* streaming = streaming_of(strategy)) {
    if (rounds / streaming->fragments >= most / strategy.local_steps) return most;
    return rounds == 0 ? 0 : std::min(most, round_end(strategy, rounds - 1, 0));
  }
  std::uint64_t steps = 0;
  while (rounds > 0 && steps < most) {
    const Stretch stretch = stretch_at(strategy, steps);
    const std::uint64_t here = std::min(rounds, stretch.rounds(steps, most));
    steps += here * stretch.interval;
    rounds -= here;
  }
  return std::min(steps, most);
}

std::uint64_t rounds_of_steps(const StrategySetup& strategy, std::uint64_t steps) {
  if (const StreamingDiloco* streaming = streaming_of(strategy)) {
    const std::uint64_t interval = strategy.local_steps;
    const std::uint64_t fragments = streaming->fragments;
    return steps / interval * fragments + (steps % interval * fragments + interval - 1) / interval +
           closing_rounds(strategy);
  }
  std::uint64_t rounds = 0;
  for (std::uint64_t begin = 0; begin < steps;) {
    const Stretch stretch = stretch_at(strategy, begin);
    const std::uint64_t here = stretch.rounds(begin, steps);
    rounds += here;
    begin += here * stretch.interval;
  }
  return rounds;
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

bool rounds_overlap(const StrategySetup& strategy) {
  return overlapped_steps(strategy) > 0 || std::holds_alternative<Gossip>(strategy.method) ||
         std::holds_alternative<AsyncLocalSgd>(strategy.method);
}

bool averages_overlap(const StrategySetup& strategy) {
  return streaming_of(strategy) != nullptr || rounds_overlap(strategy);
}

bool may_lose_workers(const StrategySetup& strategy) { return !averages_overlap(strategy); }

std::size_t workers_of_a_round(const StrategySetup& strategy, std::size_t workers) {
  const auto* fed_avg = std::get_if<FedAvg>(&strategy.method);
  return fed_avg == nullptr ? workers : fed_avg->clients;
}

std::uint64_t residual_of_round(const StrategySetup& strategy, std::uint64_t round,
                                std::uint64_t begin) {
  if (const StreamingDiloco* streaming = streaming_of(strategy))
    return round % streaming->fragments;
  return begin < strategy.gradient_steps ? 1 : 0;
}

Bytes gossip_message(const SimulationSetup& setup) {
  const bool model_too = std::get<Gossip>(setup.strategy.method).momentum.has_value();
  return model_too ? setup.payload.bytes() + setup.plain_payload.bytes() : setup.payload.bytes();
}

std::uint64_t own_steps_of(const StrategySetup& strategy, Time fastest_step, Time step) {
  const auto& async = std::get<AsyncLocalSgd>(strategy.method);
  if (!async.by_speed) return strategy.local_steps;
  // Times of whole nanoseconds and at most 10^9 steps: their product may pass 64 bits.
  const auto steps = static_cast<unsigned __int128>(strategy.local_steps) *
                     static_cast<std::uint64_t>(fastest_step.count_ns()) /
                     static_cast<std::uint64_t>(step.count_ns());
  return std::max<std::uint64_t>(static_cast<std::uint64_t>(steps), 1);
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
