// Local SGD (Stich 2019: arXiv 1805.09767, algorithm 1): H steps each on its own, then the
// parameters are averaged.
#include "sim/strategy/strategy.h"

namespace syncline {
namespace {

Task<> run_worker(Fleet& fleet, Worker& worker, LocalSgd method) {
  Recorder& record = fleet.record();
  while (fleet.begin_round(worker)) {
    if (fleet.averages_gradients(worker)) {
      co_await data_parallel_round(fleet, worker);
      continue;
    }
    // theta_k = InnerOpt^H(theta_k)
    co_await fleet.local_steps(worker);
    // theta_k = theta = 1/K sum theta_k
    SharedValue theta_k =
        method.optimizer ? record.read_all(worker.replica) : record.read_parameters(worker.replica);
    const SharedValue mean = co_await fleet.average(worker, std::move(theta_k));
    if (method.optimizer) {
      record.write_all(worker.replica, mean);
    } else {
      record.write_parameters(worker.replica, mean);
    }
    if (fleet.first_back(worker)) fleet.publish(worker, mean);
    fleet.end_round(worker);
  }
}

}  // namespace

void start_local_sgd(Fleet& fleet, const LocalSgd& method) {
  fleet.initial();
  fleet.start([&fleet, method](Worker& worker) { return run_worker(fleet, worker, method); });
}

}  // namespace syncline
