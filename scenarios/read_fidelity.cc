#include <fmt/format.h>

#include <set>

#include "scenarios/readers.h"
#include "sim/collective/ring_stream.h"
#include "sim/strategy/round_plan.h"

namespace syncline {
namespace {

bool several_workers_in_a_cluster(const CheckedScenario& scenario) {
  std::set<std::string> clusters;
  for (const WorkerSetup& worker : scenario.workers) {
    if (!worker.cluster.empty() && !clusters.insert(worker.cluster).second) return true;
  }
  return false;
}

// Why STREAM would not be exact; empty: it is.
std::string obstacle(const proto::Strategy& strategy, const CheckedScenario& scenario) {
  if (strategy.collective().algorithm() != proto::Collective::RING)
    return "the collective is no ring";
  if (!scenario.events.empty()) return "there are events";
  if (!scenario.background.empty()) return "there is background traffic";
  if (!scenario.traces.empty()) return "links change over time";
  if (averages_overlap(scenario.strategy)) return "averages go on while others begin";
  if (strategy.has_within_cluster() && several_workers_in_a_cluster(scenario))
    return "averages inside the clusters use the same links";
  Engine engine;
  Network network(engine, scenario.topology, scenario.transport);
  std::vector<NodeId> hosts;
  for (const WorkerSetup& worker : scenario.workers) hosts.push_back(worker.hosts.front());
  const std::vector<std::uint32_t> places = ring_places(scenario.strategy.collective, hosts);
  std::vector<NodeId> ring(hosts.size());
  for (std::size_t i = 0; i < hosts.size(); ++i) ring[places[i]] = hosts[i];
  if (private_ring(network, ring)) return {};
  return scenario.transport.plain() ? "sends of the ring share a link"
                                    : "the transport sets limits";
}

}  // namespace

void read_fidelity(Document& document, CheckedScenario& scenario) {
  proto::Strategy& strategy = *document.scenario().mutable_strategy();
  if (!strategy.collective().has_fidelity())
    strategy.mutable_collective()->set_fidelity(proto::Collective::CHUNK);
  if (strategy.collective().fidelity() != proto::Collective::STREAM) return;
  const std::string why = obstacle(strategy, scenario);
  if (why.empty()) {
    scenario.strategy.collective.fidelity = Fidelity::STREAM;
  } else {
    scenario.assumptions.push_back(fmt::format(
        "strategy.collective.fidelity: STREAM is carried out as CHUNK, since {}.", why));
  }
}

}  // namespace syncline
