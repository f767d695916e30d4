#include "app/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/untrained.h"
#include "scenarios/setup.h"
#include "sim/collective/all_reduce.h"
#include "sim/strategy/gossip_partners.h"
#include "sim/strategy/round_plan.h"

namespace syncline {
namespace {

bool sends_alone(const SimulationSetup& setup) {
  return std::holds_alternative<AsyncLocalSgd>(setup.strategy.method);
}

// Those of a sync; where they are chosen anew each time the first ones stand for them.
std::vector<CollectiveMember> members(const SimulationSetup& setup) {
  std::vector<CollectiveMember> members;
  const std::size_t count =
      sends_alone(setup) ? 1 : workers_of_a_round(setup.strategy, setup.workers.size());
  for (std::size_t i = 0; i < count; ++i)
    members.push_back({setup.workers[i].hosts, setup.workers[i].cluster});
  return members;
}

// Links with the same values share a line: "cluster0-core and 3 more: 1 Gbit/s, 20 ms".
struct LinkKind {
  const Link* first = nullptr;
  std::size_t count = 0;
};

std::string rate_text(const Link& link) {
  const std::string there =
      std::isinf(link.capacity[0].in_bytes_per_s()) ? "no limit" : to_text(link.capacity[0]);
  if (link.shared) return there + " for both directions together";
  if (link.capacity[0] == link.capacity[1]) return there + " each way";
  return fmt::format("{} there, {} back", there, to_text(link.capacity[1]));
}

bool same_values(const Link& a, const Link& b) {
  return a.capacity == b.capacity && a.latency_s == b.latency_s && a.shared == b.shared;
}

std::vector<LinkKind> link_kinds(const Topology& topology) {
  std::vector<LinkKind> kinds;
  for (std::uint32_t i = 0; i < topology.link_count(); ++i) {
    const Link& link = topology.link(LinkId{i});
    // Neighbours are alike where a generator made them; distant twins may take a line each.
    if (!kinds.empty() && same_values(*kinds.back().first, link)) {
      ++kinds.back().count;
    } else {
      kinds.push_back({&link, 1});
    }
  }
  std::vector<LinkKind> merged;
  for (const LinkKind& kind : kinds) {
    const auto twin = std::find_if(merged.begin(), merged.end(), [&](const LinkKind& other) {
      return same_values(*other.first, *kind.first);
    });
    if (twin == merged.end()) {
      merged.push_back(kind);
    } else {
      twin->count += kind.count;
    }
    if (merged.size() > 64) break;  // drawn values: every link is its own kind
  }
  return merged;
}

struct Meaning {
  SimulationSetup setup;
  Bytes sent_per_sync;             // by all hosts
  Time sync;                       // all workers joining at once, on the idle network
  std::optional<Time> as_written;  // the same, of a ring whose order is another one
  Time within;                     // of one average inside a cluster
  std::optional<Time>
      round;  // H steps of the slowest worker, and the sync; unknown with a measured pace
  double utilisation = 0;  // at best, of the slowest worker
};

// The first one.
IdleAllReduce idle_sync(const Topology& topology, const SimulationSetup& setup) {
  if (const auto* gossip = std::get_if<Gossip>(&setup.strategy.method)) {
    return idle_exchange(topology, first_hosts(members(setup)),
                         gossip_partners(*gossip, setup.workers.size(), setup.seed, 0),
                         gossip_message(setup), setup.transport);
  }
  return idle_all_reduce(setup.strategy.collective, topology, members(setup),
                         payload_of_round(setup, 0), setup.transport);
}

Meaning find_meaning(const CheckedScenario& scenario) {
  // A measured pace is not known before the run; the sync is, and does not depend on it.
  const bool measured = scenario.pace.source == PaceSetup::Source::MEASURED;
  Meaning meaning;
  meaning.setup = simulation_setup(scenario, untrained_parameters(scenario), Time::seconds(1));
  const SimulationSetup& setup = meaning.setup;
  const IdleAllReduce sync = idle_sync(scenario.topology, setup);
  meaning.sync = sync.duration;
  meaning.sent_per_sync = sync.traffic.total();
  if (!setup.strategy.collective.ring.empty()) {
    SimulationSetup written = setup;
    written.strategy.collective.ring.clear();
    meaning.as_written = idle_sync(scenario.topology, written).duration;
  }
  Time slowest;
  Time fastest = Time::max();
  for (const WorkerSetup& worker : setup.workers) {
    slowest = std::max(slowest, worker.step);
    fastest = std::min(fastest, worker.step);
  }
  const auto steps =
      static_cast<std::int64_t>(sends_alone(setup) ? own_steps_of(setup.strategy, fastest, slowest)
                                                   : round_end(setup.strategy, 0, 0));
  std::int64_t inside = 0;
  if (setup.strategy.within_cluster) {
    const WithinCluster& within = *setup.strategy.within_cluster;
    std::vector<CollectiveMember> site;  // of the first worker's cluster
    for (const WorkerSetup& worker : setup.workers) {
      if (worker.cluster != setup.workers.front().cluster) continue;
      for (const NodeId host : worker.hosts) site.push_back({{host}, worker.cluster});
    }
    meaning.within = idle_all_reduce(within.collective, scenario.topology, site,
                                     setup.plain_payload, setup.transport)
                         .duration;
    inside = steps / static_cast<std::int64_t>(within.local_steps);
  }
  if (measured) return meaning;
  const Time computing = slowest * steps;
  const Time hidden = slowest * static_cast<std::int64_t>(overlapped_steps(setup.strategy));
  meaning.round = computing + meaning.within * inside + std::max(meaning.sync - hidden, Time());
  meaning.utilisation = computing.in_seconds() / meaning.round->in_seconds();
  return meaning;
}

std::string stop_text(const CheckedScenario& scenario, const SimulationSetup& setup) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", or ") + part; };
  if (setup.stop.steps) {
    const std::string rounds =
        sends_alone(setup)
            ? std::string()
            : fmt::format("{} rounds, ", rounds_of_steps(setup.strategy, *setup.stop.steps));
    add(fmt::format("{} steps a worker: {}{:.4g} tokens", *setup.stop.steps, rounds,
                    static_cast<double>(*setup.stop.steps) * tokens_per_step_of_a_round(scenario)));
  }
  if (setup.stop.rounds) add(fmt::format("{} rounds", *setup.stop.rounds));
  if (setup.stop.time) add(fmt::format("virtual time {}", to_text(*setup.stop.time)));
  if (setup.stop.loss) add(fmt::format("a loss of {}", *setup.stop.loss));
  return text;
}

void print_text(const CheckedScenario& scenario, const Meaning& meaning) {
  constexpr std::size_t kLinksShown = 8;
  const SimulationSetup& setup = meaning.setup;
  const Topology& topology = scenario.topology;
  const auto line = [](const char* label, const std::string& value) {
    fmt::print("  {:<12}{}\n", label, value);
  };

  fmt::print("{} is right and means:\n", scenario.name);
  line("topology", fmt::format("{} nodes, {} links", topology.node_count(), topology.link_count()));
  const std::vector<LinkKind> kinds = link_kinds(topology);
  for (std::size_t i = 0; i < std::min(kinds.size(), kLinksShown); ++i) {
    const Link& link = *kinds[i].first;
    line("", fmt::format("{}{}: {}, {}", link.name,
                         kinds[i].count > 1 ? fmt::format(" and {} more", kinds[i].count - 1) : "",
                         rate_text(link), to_text(Time::seconds(link.latency_s[0]))));
  }
  if (kinds.size() > kLinksShown) line("", "… and others");
  line("workers", fmt::format("{}, the first is {} ({} host{})", setup.workers.size(),
                              setup.workers.front().name, setup.workers.front().hosts.size(),
                              setup.workers.front().hosts.size() == 1 ? "" : "s"));
  const auto by_step = [](const WorkerSetup& a, const WorkerSetup& b) { return a.step < b.step; };
  const auto [fastest, slowest] =
      std::minmax_element(setup.workers.begin(), setup.workers.end(), by_step);
  line("pace",
       !meaning.round ? std::string("measured on this device before the run")
       : fastest->step == slowest->step
           ? fmt::format("{} a step", to_text(fastest->step))
           : fmt::format("{} to {} a step", to_text(fastest->step), to_text(slowest->step)));
  line("sync",
       fmt::format("every {} steps, {} a worker, {} sent by all", round_end(setup.strategy, 0, 0),
                   to_text(payload_of_round(setup, 0).bytes()), to_text(meaning.sent_per_sync)));
  line("",
       fmt::format("{} on the idle network, all workers joining at once", to_text(meaning.sync)));
  if (meaning.as_written)
    line("", fmt::format("{} with the ring in the workers' order as written: {:.2f} times as long",
                         to_text(*meaning.as_written),
                         meaning.as_written->in_seconds() / meaning.sync.in_seconds()));
  if (setup.strategy.within_cluster) {
    line("", fmt::format("inside a cluster every {} steps, {} on the idle fabric",
                         setup.strategy.within_cluster->local_steps, to_text(meaning.within)));
  }
  if (meaning.round)
    line("round", fmt::format("{}; compute utilisation at best {:.1f} %", to_text(*meaning.round),
                              meaning.utilisation * 100));
  line("stop", stop_text(scenario, setup));
  line("training",
       !scenario.train
           ? std::string("none: time only")
           : fmt::format("{} parameters, {} tokens a step and worker, evaluated every {} steps",
                         untrained_parameters(scenario),
                         std::uint64_t{scenario.training.batch} * scenario.training.model.context,
                         setup.evaluate_every));
  for (const std::string& assumption : scenario.assumptions) line("assumed", assumption);
}

void print_json(const CheckedScenario& scenario, const Meaning& meaning) {
  nlohmann::ordered_json json;
  json["scenario"] = scenario.name;
  json["nodes"] = scenario.topology.node_count();
  json["links"] = scenario.topology.link_count();
  json["workers"] = meaning.setup.workers.size();
  json["local_steps"] = meaning.setup.strategy.local_steps;
  json["payload_bytes"] = payload_of_round(meaning.setup, 0).bytes().count();
  json["bytes_sent_per_sync"] = meaning.sent_per_sync.count();
  json["ideal_sync_s"] = meaning.sync.in_seconds();
  if (meaning.as_written) json["ideal_sync_as_written_s"] = meaning.as_written->in_seconds();
  if (meaning.setup.strategy.within_cluster)
    json["ideal_sync_within_cluster_s"] = meaning.within.in_seconds();
  if (meaning.round) {
    json["round_s"] = meaning.round->in_seconds();
    json["compute_utilisation_at_best"] = meaning.utilisation;
  }
  json["assumptions"] = scenario.assumptions;
  fmt::print("{}\n", json.dump(2));
}

}  // namespace

int check(const ScenarioOptions& options) {
  const CheckedScenario scenario = load_scenario(options.scenario, options.load_options());
  const Meaning meaning = find_meaning(scenario);
  if (options.json) {
    print_json(scenario, meaning);
  } else {
    print_text(scenario, meaning);
  }
  return 0;
}

}  // namespace syncline
