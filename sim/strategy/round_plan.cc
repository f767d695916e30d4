#include "sim/strategy/round_plan.h"

#include <algorithm>
#include <variant>

namespace syncline {

std::uint64_t round_end(const StrategySetup& strategy, std::uint64_t /*round*/,
                        std::uint64_t begin) {
  return begin + strategy.local_steps;
}

std::uint64_t steps_of_rounds(const StrategySetup& strategy, std::uint64_t rounds,
                              std::uint64_t most) {
  return rounds > most / strategy.local_steps ? most : rounds * strategy.local_steps;
}

std::uint64_t closing_rounds(const StrategySetup& /*strategy*/) { return 0; }

bool overlaps(const StrategySetup& strategy) {
  return std::holds_alternative<DelayedDiloco>(strategy.method) ||
         std::holds_alternative<EagerDiloco>(strategy.method);
}

bool may_lose_workers(const StrategySetup& strategy) { return !overlaps(strategy); }

Payload payload_of_round(const SimulationSetup& setup, std::uint64_t /*round*/) {
  return setup.payload;
}

}  // namespace syncline
