#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/readers.h"

namespace syncline {
namespace {

constexpr const char* kLocalStepsForm = "write for example local_steps: 50";

void read_within(Document& document, CheckedScenario& scenario, proto::Strategy& strategy) {
  const std::string path = "strategy.within_cluster";
  const bool per_cluster = document.scenario().workers().per() == proto::Workers::CLUSTER;
  bool work_inside = false;
  for (const WorkerSetup& worker : scenario.workers) work_inside |= worker.hosts.size() > 1;
  if (!strategy.has_within_cluster()) {
    if (!per_cluster || !work_inside) return;
    strategy.mutable_within_cluster();  // a replica that is spread over hosts must sync inside
  }
  proto::Within& within = *strategy.mutable_within_cluster();
  if (!within.has_local_steps()) within.set_local_steps(1);
  if (!within.mutable_collective()->has_algorithm())
    within.mutable_collective()->set_algorithm(proto::Collective::RING);
  if (within.local_steps() == 0) throw document.error(path + ".local_steps", "0; write 1 or more");
  if (within.collective().algorithm() != proto::Collective::RING)
    throw document.error(path + ".collective.algorithm", "inside a cluster there is RING");
  if (strategy.has_data_parallel()) {
    if (!per_cluster)
      throw document.error(path,
                           "data_parallel averages everywhere at every step; for two stages write "
                           "collective { algorithm: HIERARCHICAL }");
    if (within.local_steps() != 1)
      throw document.error(path + ".local_steps",
                           "data_parallel averages at every step; write 1 or leave it out");
  } else if (strategy.local_steps() % within.local_steps() != 0) {
    throw document.error(path + ".local_steps",
                         fmt::format("{} does not divide strategy.local_steps, {}",
                                     within.local_steps(), strategy.local_steps()));
  }
  if (!per_cluster) {
    if (strategy.has_streaming_diloco()) {
      throw document.error(path,
                           "streaming_diloco has one stage; choose diloco {}, or workers { per: "
                           "CLUSTER }");
    }
    for (const WorkerSetup& worker : scenario.workers) {
      if (worker.cluster.empty())
        throw document.error(path,
                             fmt::format("needs workers in clusters; {} is in none", worker.name));
    }
  } else if (work_inside) {
    scenario.assumptions.push_back(
        "Averages inside a cluster that is one worker take the time of its ring on the idle "
        "fabric.");
  }
  scenario.strategy.within_cluster =
      WithinCluster{within.local_steps(), {CollectiveAlgorithm::RING, {}}};
}

}  // namespace

void read_strategy(Document& document, CheckedScenario& scenario) {
  if (!document.scenario().has_strategy())
    throw document.error("strategy",
                         "is missing; write for example strategy { diloco {} local_steps: 50 }");
  proto::Strategy& strategy = *document.scenario().mutable_strategy();
  if (strategy.method_case() == proto::Strategy::METHOD_NOT_SET) {
    throw document.error("strategy",
                         "has no method; write one of data_parallel {}, local_sgd {}, diloco {}, "
                         "streaming_diloco {}, delayed_diloco {}, eager_diloco {}, fed_avg {}, "
                         "gossip {}, async_local_sgd {}, sparse_loco {}");
  }
  if (strategy.has_data_parallel()) {
    if (strategy.has_local_steps()) {
      throw document.error(
          "strategy.local_steps",
          fmt::format("{}, but data_parallel syncs at every step and has no interval; leave it "
                      "out, or choose local_sgd {{}} or diloco {{}}",
                      strategy.local_steps()));
    }
    scenario.strategy.local_steps = 1;
  } else {
    if (!strategy.has_local_steps())
      throw document.error(
          "strategy.local_steps",
          fmt::format("is missing: inner steps between syncs; {}", kLocalStepsForm));
    if (strategy.local_steps() == 0)
      throw document.error(
          "strategy.local_steps",
          fmt::format("0, but a round has at least one inner step; {}", kLocalStepsForm));
    if (strategy.local_steps() > 1'000'000'000)
      throw document.error("strategy.local_steps",
                           fmt::format("{}; write at most 1000000000", strategy.local_steps()));
    scenario.strategy.local_steps = strategy.local_steps();
  }
  scenario.strategy.method = read_method(document, scenario, strategy);
  if (!strategy.has_gossip())
    scenario.strategy.collective =
        read_collective(document, scenario, *strategy.mutable_collective(), "strategy.collective");
  read_compression(document, scenario, strategy);
  read_within(document, scenario, strategy);
}

}  // namespace syncline
