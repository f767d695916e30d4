#include "sim/simulation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sim/strategy/strategy.h"

namespace syncline {
namespace {

std::string who_waits(const Engine& engine, const Network& network) {
  constexpr std::size_t kNamed = 5;
  std::vector<std::string> waiting = engine.unfinished();
  const std::size_t count = waiting.size();
  waiting.resize(std::min(count, kNamed));
  return fmt::format("no progress at {}: {} of the processes wait ({}{}); {}",
                     to_text(engine.now()), count, fmt::join(waiting, ", "),
                     count > kNamed ? ", …" : "", fmt::join(network.stuck(kNamed), "; "));
}

WorkerOutcome outcome_of(const Worker& worker, const Traffic& traffic) {
  WorkerOutcome outcome;
  outcome.steps = worker.steps;
  outcome.recorded_steps = worker.recorded;
  outcome.computing = worker.computing;
  outcome.within = worker.within;
  outcome.waiting = worker.waiting;
  outcome.syncing = worker.syncing;
  for (const NodeId host : worker.setup->hosts) {
    outcome.sent += traffic.sent(host);
    outcome.received += traffic.received(host);
  }
  return outcome;
}

// The processes refer to the fleet: they end before it does, whatever happens.
struct EndProcesses {
  Engine& engine;
  ~EndProcesses() { engine.cancel_all(); }
};

}  // namespace

SimulationOutcome simulate(const Topology& topology, const SimulationSetup& setup, Program* program,
                           const SimulationHooks& hooks) {
  Engine engine;
  Network network(engine, topology);
  Fleet fleet(network, setup, program, hooks.numbers);
  const EndProcesses end_processes{engine};
  spawn_workers(engine, fleet, setup.strategy);
  engine.run(hooks.interrupted);
  if (!engine.unfinished().empty()) throw NoProgress(who_waits(engine, network));
  fleet.finish();

  SimulationOutcome outcome;
  outcome.virtual_time = engine.now();
  outcome.events = engine.events_handled();
  outcome.rounds = fleet.rounds();
  outcome.evaluations = fleet.evaluations();
  const std::vector<ChannelUse> uses = network.uses();
  for (std::uint32_t i = 0; i < uses.size(); ++i) {
    const ChannelId channel{i};
    outcome.links.push_back({channel, uses[i], fleet.traffic().limited_by_s(channel)});
  }
  Bytes sent_within;
  for (std::size_t i = 0; i < fleet.charged().size(); ++i) {
    const IdleAllReduce& once = fleet.charged()[i];
    const auto times = static_cast<std::int64_t>(fleet.workers()[i].charged_syncs);
    fleet.traffic().add(once.traffic, times);
    sent_within += Bytes(once.traffic.total().count() * times);
    for (std::size_t channel = 0; channel < once.channels.size(); ++channel) {
      ChannelUse& use = outcome.links[channel].use;
      use.bytes += Bytes(once.channels[channel].bytes.count() * times);
      use.busy_s += once.channels[channel].busy_s * static_cast<double>(times);
    }
  }
  for (const Worker& worker : fleet.workers())
    outcome.workers.push_back(outcome_of(worker, fleet.traffic()));
  outcome.sent = fleet.traffic().total();
  outcome.sent_within = sent_within;
  outcome.limited_by_latency_s = fleet.traffic().limited_by_latency_s();
  return outcome;
}

}  // namespace syncline
