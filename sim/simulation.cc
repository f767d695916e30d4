#include "sim/simulation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "sim/strategy/strategy.h"

namespace syncline {
namespace {

constexpr std::size_t kNamed = 5;  // in a message

std::string who_waits(const Engine& engine, const Network& network, const Fleet& fleet) {
  const auto list = [](std::vector<std::string> names) {
    const bool more = names.size() > kNamed;
    names.resize(std::min(names.size(), kNamed));
    return fmt::format("{}{}", fmt::join(names, ", "), more ? ", …" : "");
  };
  std::string text = fmt::format("no progress at {}: nothing more will happen, and {} wait",
                                 to_text(engine.now()), list(engine.unfinished()));
  if (const auto missing = fleet.missing(); !missing.empty()) {
    text += fmt::format("; the average lacks {}", list(missing));
  }
  for (const std::string& transfer : network.stuck(kNamed)) text += "; " + transfer;
  return text;
}

WorkerOutcome outcome_of(const Worker& worker, const Traffic& traffic, Time end) {
  WorkerOutcome outcome;
  outcome.steps = worker.progress.steps;
  outcome.recorded_steps = worker.progress.batches;
  outcome.computing = worker.progress.computing;
  outcome.within = worker.within;
  outcome.waiting = worker.waiting;
  outcome.syncing = worker.syncing;
  outcome.down = worker.down;
  if (worker.state == Worker::State::DOWN)
    outcome.down += std::max(end - worker.down_since, Time());
  outcome.rejoining = worker.rejoining;
  outcome.lost = worker.lost;
  outcome.lost_steps = worker.lost_steps;
  outcome.rejoins = worker.rejoins;
  outcome.rejoin_bytes = worker.rejoin_bytes;
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
  Network network(engine, topology, setup.transport);
  for (const TracedLink& traced : setup.traces) network.follow(traced.link, traced.trace);
  Fleet fleet(network, setup, program, hooks.numbers);
  const EndProcesses end_processes{engine};
  std::optional<LoadSampler> sampler;
  if (hooks.timeline) sampler.emplace(network, setup.workers.front().step);
  FlowRun background(network, setup.background);
  background.begin();
  fleet.when_over([&] {
    if (sampler) sampler->stop();
    background.stop();
  });
  start_workers(fleet, setup.strategy);
  engine.run(hooks.interrupted);
  if (!engine.unfinished().empty()) throw NoProgress(who_waits(engine, network, fleet));
  fleet.finish();

  SimulationOutcome outcome;
  for (const RoundRecord& round : fleet.rounds()) {
    outcome.virtual_time = std::max(outcome.virtual_time, round.ended);
  }
  outcome.events = engine.events_handled();
  outcome.rounds = fleet.rounds();
  outcome.evaluations = fleet.evaluations();
  if (hooks.timeline) {
    outcome.timeline = fleet.timeline();
    outcome.loads = sampler->samples();
  }
  const std::vector<ChannelUse> uses = network.uses();
  for (std::uint32_t i = 0; i < uses.size(); ++i) {
    const ChannelId channel{i};
    outcome.links.push_back(
        {channel, uses[i], uses[i].limited_s - background.limited_by_channel_s(channel)});
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
    outcome.workers.push_back(outcome_of(worker, fleet.traffic(), outcome.virtual_time));
  outcome.sent = fleet.traffic().total();
  outcome.sent_within = sent_within;
  outcome.limited_by_latency_s = network.limited_by_latency_s() - background.limited_by_latency_s();
  outcome.limited_by_cap_s = network.limited_by_cap_s() - background.limited_by_cap_s();
  return outcome;
}

}  // namespace syncline
