#include "sim/baseline.h"

namespace syncline {

Time ideal_network_time(const Topology& topology, const SimulationSetup& setup,
                        const SimulationOutcome& outcome) {
  Topology ideal = topology;
  for (std::uint32_t i = 0; i < ideal.link_count(); ++i) {
    for (const Direction direction : {Direction::FORWARD, Direction::BACKWARD}) {
      ideal.set_capacity(LinkId{i}, direction, BitRate::infinite());
      ideal.set_latency(LinkId{i}, direction, 0);
    }
  }
  SimulationSetup same = setup;
  same.recorded_steps = 0;
  same.stop = {};
  same.stop.rounds = outcome.rounds.size();
  same.stop.steps = outcome.rounds.empty() ? 0 : outcome.rounds.back().steps;
  same.events.clear();
  same.transport = {};
  same.traces.clear();
  same.background.clear();
  same.strategy.deadline.reset();
  same.strategy.quorum.reset();
  if (same.strategy.adaptive) {
    // H was what the training made it.
    same.strategy.adaptive.reset();
    for (std::size_t i = 1; i < outcome.rounds.size(); ++i) {
      const std::uint64_t begin = outcome.rounds[i - 1].steps;
      const std::uint64_t steps = outcome.rounds[i].steps - begin;
      if (steps > 0) same.strategy.schedule.push_back({begin, steps});
    }
  }
  return simulate(ideal, same, nullptr).virtual_time;
}

}  // namespace syncline
