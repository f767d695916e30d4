#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "scenarios/readers.h"
#include "sim/strategy/round_plan.h"
#include "topology/distribution.h"

namespace syncline {
namespace {

// "*" stands for any letters, also none.
bool matches(std::string_view pattern, std::string_view text) {
  std::size_t star = std::string_view::npos;
  std::size_t resume = 0;
  std::size_t p = 0;
  std::size_t t = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

// What the names of an event's targets mean.
struct Targets {
  std::vector<std::string> clusters;
  std::vector<NodeId> hosts;  // named one by one
  std::vector<LinkId> links;
};

Targets find_targets(const Document& document, const CheckedScenario& scenario,
                     const proto::Event& event, const std::string& path) {
  const Topology& topology = scenario.topology;
  const bool of_links = event.effect_case() == proto::Event::kBandwidth ||
                        event.effect_case() == proto::Event::kLatency;
  const bool of_workers = event.effect_case() == proto::Event::kSpeed;
  const std::vector<std::string> clusters = topology.clusters();
  Targets targets;
  if (event.target_size() == 0)
    throw document.error(path + ".target", R"(is missing; write for example target: "zurich")");
  for (int i = 0; i < event.target_size(); ++i) {
    const std::string& pattern = event.target(i);
    bool found = false;
    if (!of_links) {
      for (const std::string& cluster : clusters) {
        if (!matches(pattern, cluster)) continue;
        targets.clusters.push_back(cluster);
        found = true;
      }
      for (std::uint32_t node = 0; node < topology.node_count(); ++node) {
        const bool host =
            topology.node(NodeId{node}).host && matches(pattern, topology.node(NodeId{node}).name);
        if (host) targets.hosts.push_back(NodeId{node});
        found |= host;
      }
    }
    for (std::uint32_t link = 0; link < topology.link_count() && !of_workers && !found; ++link) {
      if (matches(pattern, topology.link(LinkId{link}).name)) targets.links.push_back(LinkId{link});
    }
    if (found || !targets.links.empty()) continue;
    std::vector<std::string> names = of_links ? std::vector<std::string>() : clusters;
    for (std::uint32_t node = 0; node < topology.node_count() && !of_links; ++node) {
      if (topology.node(NodeId{node}).host) names.push_back(topology.node(NodeId{node}).name);
    }
    for (std::uint32_t link = 0; link < topology.link_count() && !of_workers; ++link)
      names.push_back(topology.link(LinkId{link}).name);
    throw document.error(fmt::format("{}.target[{}]", path, i),
                         fmt::format("nothing is called \"{}\"{}; near to it: {}", pattern,
                                     of_links     ? " among the links"
                                     : of_workers ? " among the workers"
                                                  : "",
                                     fmt::join(nearest_names(pattern, names), ", ")));
  }
  return targets;
}

// Workers that run on one of these hosts.
std::vector<std::uint32_t> workers_on(const CheckedScenario& scenario,
                                      const std::set<NodeId>& hosts) {
  std::vector<std::uint32_t> workers;
  for (std::uint32_t i = 0; i < scenario.workers.size(); ++i) {
    const std::vector<NodeId>& own = scenario.workers[i].hosts;
    if (std::any_of(own.begin(), own.end(), [&](NodeId host) { return hosts.contains(host); }))
      workers.push_back(i);
  }
  return workers;
}

// The links between these nodes and the rest.
std::vector<LinkId> links_around(const Topology& topology, const std::set<NodeId>& nodes) {
  std::vector<LinkId> links;
  for (std::uint32_t i = 0; i < topology.link_count(); ++i) {
    const Link& link = topology.link(LinkId{i});
    if (nodes.contains(link.a) != nodes.contains(link.b)) links.push_back(LinkId{i});
  }
  return links;
}

// A cluster with its switch.
std::set<NodeId> nodes_of(const Topology& topology, const std::string& cluster) {
  std::set<NodeId> nodes;
  for (std::uint32_t i = 0; i < topology.node_count(); ++i) {
    if (topology.node(NodeId{i}).cluster == cluster) nodes.insert(NodeId{i});
  }
  return nodes;
}

Time read_time(const Document& document, const std::string& text, const std::string& path) {
  return document.at(path, [&] { return parse_time(text); });
}

Distribution read_duration(const Document& document, bool has, const std::string& text,
                           const std::string& path) {
  if (!has) throw document.error(path, R"x(is missing; write for example "exponential(20 h)")x");
  const Distribution duration =
      document.at(path, [&] { return Distribution::parse(text, Dimension::TIME); });
  if (!(duration.median() > 0))
    throw document.error(path, fmt::format("\"{}\"; write a time above 0", text));
  return duration;
}

std::variant<Once, Churn> read_when(Document& document, const proto::Event& event,
                                    const std::string& path) {
  if (event.has_once()) {
    if (!event.once().has_at())
      throw document.error(path + ".once.at", R"(is missing; write for example at: "2 h")");
    Once once;
    once.at = read_time(document, event.once().at(), path + ".once.at");
    if (event.once().has_lasting())
      once.lasting = read_time(document, event.once().lasting(), path + ".once.lasting");
    return once;
  }
  if (event.has_churn()) {
    return Churn{
        read_duration(document, event.churn().has_up(), event.churn().up(), path + ".churn.up"),
        read_duration(document, event.churn().has_down(), event.churn().down(),
                      path + ".churn.down")};
  }
  throw document.error(
      path,
      R"(does not say when; write once { at: "2 h" lasting: "1 h" } or churn { up: "20 h" down: "1 h" })");
}

// The effect of `down` on a host or a cluster.
DownEffect down_of(const CheckedScenario& scenario, const std::set<NodeId>& nodes,
                   const proto::Down& down) {
  DownEffect effect;
  if (down.scope() == proto::Down::NETWORK) {
    effect.links = links_around(scenario.topology, nodes);
    effect.in_flight = down.in_flight() == proto::Down::FAIL ? InFlight::FAIL : InFlight::STALL;
    return effect;
  }
  for (const NodeId node : nodes) {
    if (scenario.topology.node(node).host) effect.nodes.push_back(node);
  }
  effect.workers = workers_on(scenario, nodes);
  effect.in_flight = InFlight::FAIL;
  return effect;
}

void read_down(Document& document, CheckedScenario& scenario, proto::Event& event,
               const std::string& path, const Targets& targets,
               const std::variant<Once, Churn>& when) {
  const Topology& topology = scenario.topology;
  proto::Down& down = *event.mutable_down();
  if (!down.has_scope()) down.set_scope(proto::Down::NETWORK);
  const bool machine = down.scope() == proto::Down::MACHINE;
  if (!down.has_in_flight()) down.set_in_flight(machine ? proto::Down::FAIL : proto::Down::STALL);
  if (machine && down.in_flight() == proto::Down::STALL)
    throw document.error(
        path + ".down.in_flight",
        "STALL, but a machine that is off ends its transfers; write FAIL or leave it out");
  if (machine && !targets.links.empty())
    throw document.error(path + ".down.scope",
                         fmt::format("MACHINE, but \"{}\" is a link; write NETWORK or leave it out",
                                     topology.link(targets.links.front()).name));
  for (const std::string& cluster : targets.clusters) {
    scenario.events.push_back(
        {cluster, when, down_of(scenario, nodes_of(topology, cluster), down)});
  }
  for (const NodeId host : targets.hosts) {
    scenario.events.push_back({topology.node(host).name, when, down_of(scenario, {host}, down)});
  }
  for (const LinkId link : targets.links) {
    DownEffect effect;
    effect.links = {link};
    effect.in_flight = down.in_flight() == proto::Down::FAIL ? InFlight::FAIL : InFlight::STALL;
    scenario.events.push_back({topology.link(link).name, when, effect});
  }
}

void read_speed(const Document& document, CheckedScenario& scenario, const proto::Event& event,
                const std::string& path, const Targets& targets,
                const std::variant<Once, Churn>& when) {
  if (!(event.speed() > 0 && event.speed() <= 1e6))
    throw document.error(
        path + ".speed",
        fmt::format(
            "{}; write a factor above 0; a worker that stands still is down {{ scope: MACHINE }}",
            event.speed()));
  const auto add = [&](const std::string& name, const std::set<NodeId>& hosts) {
    const std::vector<std::uint32_t> workers = workers_on(scenario, hosts);
    if (workers.empty())
      throw document.error(path + ".target", fmt::format("no worker is at \"{}\"", name));
    scenario.events.push_back({name, when, SpeedEffect{workers, event.speed()}});
  };
  for (const std::string& cluster : targets.clusters)
    add(cluster, nodes_of(scenario.topology, cluster));
  for (const NodeId host : targets.hosts) add(scenario.topology.node(host).name, {host});
}

void read_event(Document& document, CheckedScenario& scenario, proto::Event& event,
                const std::string& path) {
  const std::variant<Once, Churn> when = read_when(document, event, path);
  const Targets targets = find_targets(document, scenario, event, path);
  switch (event.effect_case()) {
    case proto::Event::kDown:
      return read_down(document, scenario, event, path, targets, when);
    case proto::Event::kSpeed:
      return read_speed(document, scenario, event, path, targets, when);
    case proto::Event::kBandwidth: {
      const BitRate value =
          document.at(path + ".bandwidth", [&] { return parse_bit_rate(event.bandwidth()); });
      for (const LinkId link : targets.links)
        scenario.events.push_back(
            {scenario.topology.link(link).name, when, BandwidthEffect{link, value}});
      return;
    }
    case proto::Event::kLatency: {
      const double value = document.at(
          path + ".latency", [&] { return parse_quantity(event.latency(), Dimension::TIME); });
      for (const LinkId link : targets.links)
        scenario.events.push_back(
            {scenario.topology.link(link).name, when, LatencyEffect{link, value}});
      return;
    }
    case proto::Event::EFFECT_NOT_SET:
      break;
  }
  throw document.error(
      path,
      "has no effect; write down {}, speed: 0.5, bandwidth: \"10 Mbit/s\" or latency: \"300 ms\"");
}

void read_quorum(const Document& document, CheckedScenario& scenario, proto::Strategy& strategy) {
  if (!strategy.has_quorum()) return;
  const std::string path = "strategy.quorum";
  proto::Quorum& quorum = *strategy.mutable_quorum();
  if (!scenario.strategy.reweight)
    throw document.error(path, "leaves workers out of an average, so it needs absent: REWEIGHT");
  if (strategy.has_deadline())
    throw document.error(path,
                         "has its grace, and strategy.deadline is another end of the wait; "
                         "leave one of them out");
  const std::size_t workers = scenario.workers.size();
  if (!quorum.has_workers())
    throw document.error(path + ".workers",
                         fmt::format("is missing; write 1 to {}, the number of workers", workers));
  if (quorum.workers() == 0 || quorum.workers() > workers)
    throw document.error(path + ".workers", fmt::format("{}; write 1 to {}, the number of workers",
                                                        quorum.workers(), workers));
  if (!quorum.has_grace()) quorum.set_grace("0 s");
  scenario.strategy.quorum =
      Quorum{quorum.workers(), read_time(document, quorum.grace(), path + ".grace")};
}

void read_absent(Document& document, CheckedScenario& scenario) {
  proto::Strategy& strategy = *document.scenario().mutable_strategy();
  if (!strategy.has_absent()) strategy.set_absent(proto::Strategy::WAIT);
  scenario.strategy.reweight = strategy.absent() == proto::Strategy::REWEIGHT;
  read_quorum(document, scenario, strategy);
  if (!strategy.has_deadline()) return;
  if (!scenario.strategy.reweight)
    throw document.error("strategy.deadline",
                         "leaves workers out of an average, so it needs absent: REWEIGHT");
  scenario.strategy.deadline = read_time(document, strategy.deadline(), "strategy.deadline");
  if (*scenario.strategy.deadline <= Time())
    throw document.error("strategy.deadline",
                         fmt::format("\"{}\"; write a time above 0", strategy.deadline()));
}

// A worker that misses an average, or comes back, gets the state in which a round began. Where
// averages go on during later rounds there is no such state.
void check_losses(const Document& document, const CheckedScenario& scenario) {
  if (may_lose_workers(scenario.strategy)) return;
  const proto::Scenario& written = document.scenario();
  const std::string method = std::string(proto::Strategy::GetDescriptor()
                                             ->FindFieldByNumber(written.strategy().method_case())
                                             ->name());
  if (scenario.strategy.reweight)
    throw document.error("strategy.absent",
                         fmt::format("REWEIGHT, but {} needs every worker in every average; write "
                                     "WAIT, or choose diloco {{}}",
                                     method));
  for (int i = 0; i < written.events_size(); ++i) {
    if (!written.events(i).has_down() || written.events(i).down().in_flight() != proto::Down::FAIL)
      continue;
    throw document.error(fmt::format("events[{}].down", i),
                         fmt::format("takes averages away, and {} needs every one; write scope: "
                                     "NETWORK and in_flight: STALL, or choose diloco {{}}",
                                     method));
  }
}

}  // namespace

void read_events(Document& document, CheckedScenario& scenario) {
  read_absent(document, scenario);
  proto::Scenario& written = document.scenario();
  for (int i = 0; i < written.events_size(); ++i) {
    read_event(document, scenario, *written.mutable_events(i), fmt::format("events[{}]", i));
  }
  check_losses(document, scenario);
  if (scenario.events.empty() && !scenario.strategy.deadline && !scenario.strategy.quorum) return;
  const bool per_host = written.workers().per() == proto::Workers::HOST;
  const std::string path = !scenario.events.empty()     ? "events[0]"
                           : scenario.strategy.deadline ? "strategy.deadline"
                                                        : "strategy.quorum";
  if (per_host && scenario.strategy.within_cluster) {
    throw document.error(
        path,
        "events, deadlines and quorums do not go with within_cluster of single hosts yet; "
        "write workers { per: CLUSTER }, or leave within_cluster out");
  }
  if (per_host && scenario.strategy.collective.algorithm == CollectiveAlgorithm::HIERARCHICAL &&
      scenario.strategy.reweight) {
    throw document.error(path,
                         "a HIERARCHICAL collective of single hosts needs all of them; with "
                         "absent: REWEIGHT write RING");
  }
}

}  // namespace syncline
