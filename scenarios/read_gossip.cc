#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "scenarios/readers.h"

namespace syncline {
namespace {

const std::string kPath = "strategy.gossip";

using Neighbours = std::vector<std::vector<std::uint32_t>>;

void join(Neighbours& neighbours, std::size_t a, std::size_t b) {
  neighbours[a].push_back(static_cast<std::uint32_t>(b));
  neighbours[b].push_back(static_cast<std::uint32_t>(a));
}

std::size_t worker_called(const Document& document, const CheckedScenario& scenario, bool there,
                          const std::string& name, const std::string& path) {
  if (!there) throw document.error(path, "is missing; write a worker's name");
  std::vector<std::string> names;
  for (std::size_t i = 0; i < scenario.workers.size(); ++i) {
    if (scenario.workers[i].name == name) return i;
    names.push_back(scenario.workers[i].name);
  }
  throw document.error(path, fmt::format("there is no worker \"{}\"; near to it: {}", name,
                                         fmt::join(nearest_names(name, names), ", ")));
}

// One that the first worker does not reach; none: it reaches all.
std::size_t out_of_reach(const Neighbours& neighbours) {
  std::vector<bool> reached(neighbours.size());
  std::vector<std::uint32_t> open{0};
  reached[0] = true;
  while (!open.empty()) {
    const std::uint32_t worker = open.back();
    open.pop_back();
    for (const std::uint32_t next : neighbours[worker]) {
      if (!reached[next]) open.push_back(next);
      reached[next] = true;
    }
  }
  return static_cast<std::size_t>(std::find(reached.begin(), reached.end(), false) -
                                  reached.begin());
}

Neighbours read_edges(const Document& document, const CheckedScenario& scenario,
                      const proto::Gossip& gossip) {
  Neighbours neighbours(scenario.workers.size());
  if (gossip.edges_size() == 0)
    throw document.error(kPath + ".edges",
                         R"(is missing; write for example edges { a: "milan" b: "paris" })");
  for (int i = 0; i < gossip.edges_size(); ++i) {
    const std::string path = fmt::format("{}.edges[{}]", kPath, i);
    const proto::Gossip::Edge& edge = gossip.edges(i);
    const std::size_t a = worker_called(document, scenario, edge.has_a(), edge.a(), path + ".a");
    const std::size_t b = worker_called(document, scenario, edge.has_b(), edge.b(), path + ".b");
    if (a == b)
      throw document.error(path, fmt::format("joins \"{}\" to itself; name two", edge.a()));
    if (std::find(neighbours[a].begin(), neighbours[a].end(), b) != neighbours[a].end())
      throw document.error(path, fmt::format("\"{}\" and \"{}\" are joined already; leave it out",
                                             edge.a(), edge.b()));
    join(neighbours, a, b);
  }
  const std::size_t alone = out_of_reach(neighbours);
  if (alone < neighbours.size())
    throw document.error(
        kPath + ".edges",
        fmt::format("lead nowhere from \"{}\" to \"{}\", which would never hear of each other; add "
                    "edges between them",
                    scenario.workers.front().name, scenario.workers[alone].name));
  return neighbours;
}

Neighbours read_neighbours(const Document& document, const CheckedScenario& scenario,
                           const proto::Gossip& gossip) {
  const std::size_t workers = scenario.workers.size();
  Neighbours neighbours(workers);
  switch (gossip.partners()) {
    case proto::Gossip::FIXED_PAIRS:
      for (std::size_t i = 0; i + 1 < workers; i += 2) join(neighbours, i, i + 1);
      break;
    case proto::Gossip::RING:
      for (std::size_t i = 0; i + 1 < workers; ++i) join(neighbours, i, i + 1);
      if (workers > 2) join(neighbours, 0, workers - 1);
      break;
    case proto::Gossip::COMPLETE:
      for (std::size_t i = 0; i < workers; ++i) {
        for (std::size_t j = i + 1; j < workers; ++j) join(neighbours, i, j);
      }
      break;
    case proto::Gossip::EDGES:
      neighbours = read_edges(document, scenario, gossip);
      break;
    default:
      return {};
  }
  for (std::vector<std::uint32_t>& some : neighbours) std::sort(some.begin(), some.end());
  return neighbours;
}

Gossip::Momentum read_no_loco(const Document& document, proto::NoLoCo& written) {
  const std::string path = kPath + ".no_loco";
  Gossip::Momentum momentum;
  if (!written.has_lr()) written.set_lr(momentum.lr);
  if (!written.has_momentum()) written.set_momentum(momentum.momentum);
  if (!written.has_pull()) written.set_pull(written.lr());
  momentum = {written.lr(), written.momentum(), written.pull()};
  if (!(momentum.lr > 0 && std::isfinite(momentum.lr)))
    throw document.error(path + ".lr", fmt::format("{}; write a number above 0", momentum.lr));
  if (!(momentum.momentum >= 0 && momentum.momentum < 1))
    throw document.error(path + ".momentum",
                         fmt::format("{}; write a number from 0 to below 1", momentum.momentum));
  if (!(momentum.pull > 0 && momentum.pull < 2))
    throw document.error(path + ".pull",
                         fmt::format("{}; write a number above 0, below 2", momentum.pull));
  return momentum;
}

}  // namespace

Gossip read_gossip(const Document& document, const CheckedScenario& scenario,
                   proto::Strategy& strategy) {
  proto::Gossip& written = *strategy.mutable_gossip();
  const proto::Scenario& all = document.scenario();
  if (scenario.workers.size() < 2)
    throw document.error(kPath, "a worker alone has no partner; give the topology more hosts");
  if (strategy.collective().has_algorithm())
    throw document.error("strategy.collective.algorithm",
                         "gossip has no collective: partners send to each other; leave it out");
  if (strategy.has_within_cluster() && all.workers().per() == proto::Workers::HOST)
    throw document.error("strategy.within_cluster",
                         "gossip has one stage; choose diloco {}, or workers { per: CLUSTER }");
  if (all.workers().weights_size() > 0)
    throw document.error("workers.weights",
                         "gossip weighs partners by their numbers of partners; leave them out");
  if (all.training().has_replicas())
    throw document.error("training.replicas",
                         "in gossip every worker has a model of its own; leave it out");
  written.set_partners(written.partners());
  if (written.edges_size() > 0 && written.partners() != proto::Gossip::EDGES)
    throw document.error(kPath + ".edges",
                         fmt::format("goes with partners: EDGES, and there is {}",
                                     proto::Gossip::Partners_Name(written.partners())));
  Gossip method;
  if (written.partners() != proto::Gossip::RANDOM_PAIRS) {
    method.partners = Gossip::Partners::GRAPH;
    method.neighbours = read_neighbours(document, scenario, written);
  }
  if (written.has_no_loco()) method.momentum = read_no_loco(document, *written.mutable_no_loco());
  if (!method.momentum && strategy.compression().kind() != proto::Compression::NONE)
    throw document.error(
        "strategy.compression.kind",
        fmt::format("{} is for differences and gradients, and gossip sends parameters; add "
                    "no_loco {{}}, which sends both",
                    proto::Compression::Kind_Name(strategy.compression().kind())));
  return method;
}

}  // namespace syncline
