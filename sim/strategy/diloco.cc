// DiLoCo (Douillard et al. 2023: arXiv 2311.08105, algorithm 1): H inner steps each on its own,
// then an outer optimizer moves the global parameters along the averaged pseudo-gradient.
#include <memory>
#include <utility>

#include "sim/strategy/outer.h"
#include "sim/strategy/strategy.h"

namespace syncline {
namespace {

Task<> run_worker(Fleet& fleet, Worker& worker, std::shared_ptr<Outer> outer) {
  Recorder& record = fleet.record();
  bool from_gradients = false;
  while (fleet.begin_round(worker)) {
    if (fleet.averages_gradients(worker)) {
      co_await data_parallel_round(fleet, worker);
      from_gradients = true;
      continue;
    }
    if (std::exchange(from_gradients, false) && worker.replica)
      outer->theta = record.read_parameters(worker.replica);
    // theta_k = InnerOpt^H(theta_k)
    co_await fleet.local_steps(worker);
    // Delta = 1/K sum (theta - theta_k)
    SharedValue delta = record.difference(outer->theta, record.read_parameters(worker.replica));
    const SharedValue mean = co_await fleet.average(worker, std::move(delta));
    // theta = OuterOpt(theta, Delta)
    if (fleet.first_back(worker)) {
      outer->step(record, mean);
      fleet.publish(worker, outer->theta);
    }
    record.write_parameters(worker.replica, outer->theta);
    fleet.end_round(worker);
  }
}

}  // namespace

void start_diloco(Fleet& fleet, const OuterRule& rule) {
  const auto outer = std::make_shared<Outer>(fleet, rule);
  fleet.start([&fleet, outer](Worker& worker) { return run_worker(fleet, worker, outer); });
}

}  // namespace syncline
