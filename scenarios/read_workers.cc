#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "scenarios/readers.h"
#include "topology/read/read.h"

namespace syncline {
namespace {

WorkerSetup host_worker(const Topology& topology, NodeId host) {
  return {topology.node(host).name, {host}, topology.node(host).cluster, Time()};
}

void add_clusters(const Document& document, CheckedScenario& scenario, proto::Workers& workers) {
  const std::vector<std::string> clusters = scenario.topology.clusters();
  if (clusters.empty())
    throw document.error(
        "workers.per",
        "CLUSTER, but the topology has no clusters; write per: HOST, or give nodes with hosts");
  if (workers.at_size() == 0) {
    for (const std::string& cluster : clusters) workers.add_at(cluster);
  }
  for (int i = 0; i < workers.at_size(); ++i) {
    const std::string path = fmt::format("workers.at[{}]", i);
    const std::string& name = workers.at(i);
    if (std::find(clusters.begin(), clusters.end(), name) == clusters.end()) {
      const std::vector<std::string> near = nearest_names(name, clusters);
      throw document.error(path, fmt::format("there is no cluster \"{}\"; near to it: {}", name,
                                             fmt::join(near, ", ")));
    }
    scenario.workers.push_back({name, scenario.topology.hosts_of(name), name, Time()});
  }
}

void add_hosts(const Document& document, CheckedScenario& scenario, const proto::Workers& workers) {
  const Topology& topology = scenario.topology;
  const std::vector<std::string> clusters = topology.clusters();
  for (int i = 0; i < workers.at_size(); ++i) {
    const std::string path = fmt::format("workers.at[{}]", i);
    const std::string& name = workers.at(i);
    if (std::find(clusters.begin(), clusters.end(), name) != clusters.end()) {
      for (const NodeId host : topology.hosts_of(name)) {
        if (topology.node(host).name != workers.server())
          scenario.workers.push_back(host_worker(topology, host));
      }
      continue;
    }
    const NodeId node =
        document.at(path, [&] { return require_node(topology, scenario.map.get(), name); });
    if (!topology.node(node).host)
      throw document.error(
          path,
          fmt::format("\"{}\" is a switch and trains nothing; name a host or a cluster", name));
    if (topology.node(node).name == workers.server())
      throw document.error(path, fmt::format("\"{}\" is the server and trains nothing; leave it "
                                             "out here, or choose another workers.server",
                                             name));
    scenario.workers.push_back(host_worker(topology, node));
  }
  if (workers.at_size() > 0) return;
  for (std::uint32_t i = 0; i < topology.node_count(); ++i) {
    const Node& node = topology.node(NodeId{i});
    if (node.host && node.name != workers.server())
      scenario.workers.push_back(host_worker(topology, NodeId{i}));
  }
}

void read_weights(const Document& document, CheckedScenario& scenario,
                  const proto::Workers& workers) {
  const auto count = static_cast<std::size_t>(workers.weights_size());
  if (count == 0) return;
  if (count != scenario.workers.size())
    throw document.error("workers.weights", fmt::format("{} weights for {} workers; write one each",
                                                        count, scenario.workers.size()));
  for (int i = 0; i < workers.weights_size(); ++i) {
    const double weight = workers.weights(i);
    if (!(weight > 0 && weight <= 1e12))
      throw document.error(fmt::format("workers.weights[{}]", i),
                           fmt::format("{}; write a number above 0", weight));
    scenario.workers[static_cast<std::size_t>(i)].weight = weight;
  }
}

}  // namespace

void read_workers(Document& document, CheckedScenario& scenario) {
  proto::Workers& workers = *document.scenario().mutable_workers();
  if (!workers.has_per()) workers.set_per(proto::Workers::HOST);
  if (workers.has_server()) {
    const NodeId server = document.at(
        "workers.server", [&] { return scenario.topology.require_node(workers.server()); });
    if (!scenario.topology.node(server).host) {
      throw document.error("workers.server",
                           fmt::format("\"{}\" is a switch and only forwards; name a host, or add "
                                       "one: nodes {{ name: \"server\" at: \"{}\" … }}",
                                       workers.server(), workers.server()));
    }
  } else if (document.scenario().topology().has_star()) {
    workers.set_server(document.scenario().topology().star().hub());
  } else if (document.scenario().topology().has_edge()) {
    workers.set_server(document.scenario().topology().edge().hub());
  }
  if (workers.per() == proto::Workers::CLUSTER) {
    add_clusters(document, scenario, workers);
  } else {
    add_hosts(document, scenario, workers);
  }
  if (scenario.workers.empty())
    throw document.error("workers",
                         "there is no host to train on; a topology needs hosts besides the server");
  std::set<std::string> names;
  for (const WorkerSetup& worker : scenario.workers) {
    if (!names.insert(worker.name).second)
      throw document.error(
          "workers.at",
          fmt::format("\"{}\" is named twice; a worker stands at each place once", worker.name));
  }
  read_weights(document, scenario, workers);
}

}  // namespace syncline
