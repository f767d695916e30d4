#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/readers.h"
#include "sim/collective/ring_order.h"
#include "sim/engine/engine.h"

namespace syncline {
namespace {

// Each host of a cluster has its twin in every other one.
void check_equal_clusters(const Document& document, const CheckedScenario& scenario,
                          const std::string& path) {
  std::vector<std::pair<std::string, std::size_t>> hosts;  // by cluster, in order of appearance
  for (const WorkerSetup& worker : scenario.workers) {
    if (worker.cluster.empty())
      throw document.error(
          path + ".algorithm",
          fmt::format("HIERARCHICAL needs workers in clusters; {} is in none", worker.name));
    auto known = std::find_if(hosts.begin(), hosts.end(),
                              [&](const auto& entry) { return entry.first == worker.cluster; });
    if (known == hosts.end()) known = hosts.insert(hosts.end(), {worker.cluster, 0});
    known->second += worker.hosts.size();
  }
  for (const auto& [cluster, count] : hosts) {
    if (count == hosts.front().second) continue;
    throw document.error(path + ".algorithm",
                         fmt::format("HIERARCHICAL needs as many hosts in every cluster: {} has "
                                     "{}, {} has {}; write RING, or give them equal numbers",
                                     hosts.front().first, hosts.front().second, cluster, count));
  }
}

NodeId read_server(const Document& document, const CheckedScenario& scenario,
                   const std::string& path) {
  const std::string& server = document.scenario().workers().server();
  if (server.empty())
    throw document.error(path + ".algorithm",
                         R"(PARAMETER_SERVER needs its node; write workers { server: "NODE" })");
  return scenario.topology.require_node(server);
}

std::vector<NodeId> given_ring(const Document& document, const CheckedScenario& scenario,
                               const proto::Collective& collective, const std::string& path) {
  std::map<std::string, NodeId> left;
  for (const WorkerSetup& worker : scenario.workers) left[worker.name] = worker.hosts.front();
  std::vector<NodeId> ring;
  for (int i = 0; i < collective.ring_size(); ++i) {
    const auto worker = left.find(collective.ring(i));
    const std::string field = fmt::format("{}.ring[{}]", path, i);
    if (worker == left.end()) {
      const bool twice = std::find(collective.ring().begin(), collective.ring().begin() + i,
                                   collective.ring(i)) != collective.ring().begin() + i;
      throw document.error(
          field, fmt::format("\"{}\" {}; write each worker's name once", collective.ring(i),
                             twice ? "is there twice" : "is no worker"));
    }
    ring.push_back(worker->second);
    left.erase(worker);
  }
  if (!left.empty())
    throw document.error(path + ".ring",
                         fmt::format("lacks {} of {} workers, among them {}; write "
                                     "each worker's name once",
                                     left.size(), scenario.workers.size(), left.begin()->first));
  return ring;
}

std::string cost_text(const RingCost& cost) {
  return fmt::format("at least {} a send, {} on the longest one", to_text(cost.narrowest),
                     to_text(cost.longest_latency));
}

// With what is won by it.
std::vector<NodeId> best_ring(const Document& document, CheckedScenario& scenario,
                              const std::vector<NodeId>& as_written, const std::string& path) {
  if (as_written.size() > kMostOrdered)
    throw document.error(path + ".order",
                         fmt::format("BEST is for at most {} workers, and there are {}; write "
                                     "BY_NAME, or their order into ring",
                                     kMostOrdered, as_written.size()));
  Engine engine;
  const Network network(engine, scenario.topology, scenario.transport);
  std::vector<NodeId> ring = best_ring(network, as_written);
  const RingCost before = ring_cost(network, as_written);
  const RingCost after = ring_cost(network, ring);
  if (!after.better_than(before)) {
    scenario.assumptions.push_back(fmt::format(
        "{}.order: no better ring than the one as written was found: {}.", path, cost_text(after)));
    return as_written;
  }
  constexpr std::size_t kMostNamed = 16;
  std::map<NodeId, std::string> names;
  for (const WorkerSetup& worker : scenario.workers) names[worker.hosts.front()] = worker.name;
  std::string order;
  for (std::size_t i = 0; i < std::min(ring.size(), kMostNamed); ++i)
    order += (i > 0 ? ", " : "") + names[ring[i]];
  if (ring.size() > kMostNamed) order += ", ...";
  scenario.assumptions.push_back(
      fmt::format("{}.order: the best ring found is {}: {}; as written {}.", path, order,
                  cost_text(after), cost_text(before)));
  return ring;
}

std::vector<NodeId> read_ring(Document& document, CheckedScenario& scenario,
                              proto::Collective& collective, const std::string& path) {
  const bool ordered = collective.has_order() || collective.ring_size() > 0;
  if (collective.algorithm() != proto::Collective::RING) {
    if (ordered)
      throw document.error(path + (collective.has_order() ? ".order" : ".ring"),
                           fmt::format("is for a RING, and the algorithm is {}; leave it out",
                                       proto::Collective::Algorithm_Name(collective.algorithm())));
    return {};
  }
  if (collective.ring_size() > 0) {
    if (collective.has_order())
      throw document.error(path + ".order", "the order is in ring already; leave one of them out");
    return given_ring(document, scenario, collective, path);
  }
  if (!collective.has_order()) collective.set_order(proto::Collective::AS_WRITTEN);
  if (collective.order() == proto::Collective::AS_WRITTEN) return {};
  std::vector<NodeId> ring;
  if (collective.order() == proto::Collective::BY_NAME) {
    std::map<std::string, NodeId> by_name;
    for (const WorkerSetup& worker : scenario.workers) by_name[worker.name] = worker.hosts.front();
    for (const auto& [name, host] : by_name) ring.push_back(host);
    return ring;
  }
  for (const WorkerSetup& worker : scenario.workers) ring.push_back(worker.hosts.front());
  return best_ring(document, scenario, ring, path);
}

}  // namespace

Collective read_collective(Document& document, CheckedScenario& scenario,
                           proto::Collective& collective, const std::string& path) {
  if (!collective.has_algorithm()) collective.set_algorithm(proto::Collective::RING);
  Collective read;
  read.ring = read_ring(document, scenario, collective, path);
  switch (collective.algorithm()) {
    case proto::Collective::HIERARCHICAL:
      check_equal_clusters(document, scenario, path);
      read.algorithm = CollectiveAlgorithm::HIERARCHICAL;
      break;
    case proto::Collective::PARAMETER_SERVER:
      read.algorithm = CollectiveAlgorithm::PARAMETER_SERVER;
      read.server = read_server(document, scenario, path);
      break;
    case proto::Collective::HALVING_DOUBLING:
      read.algorithm = CollectiveAlgorithm::HALVING_DOUBLING;
      break;
    case proto::Collective::TREE:
      read.algorithm = CollectiveAlgorithm::TREE;
      break;
    case proto::Collective::ALL_TO_ALL:
      read.algorithm = CollectiveAlgorithm::ALL_TO_ALL;
      break;
    case proto::Collective::SHARDED_PARAMETER_SERVER:
      read.algorithm = CollectiveAlgorithm::SHARDED_PARAMETER_SERVER;
      break;
    case proto::Collective::PAIRWISE:
      read.algorithm = CollectiveAlgorithm::PAIRWISE;
      break;
    default:
      break;  // RING
  }
  return read;
}

}  // namespace syncline
