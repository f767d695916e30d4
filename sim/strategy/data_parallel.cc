// Data parallel: every step the gradients of all workers are averaged, and each worker applies the
// mean.
#include "sim/strategy/strategy.h"

namespace syncline {
namespace {

Task<> run_worker(Fleet& fleet, Worker& worker) {
  while (fleet.begin_round(worker)) co_await data_parallel_round(fleet, worker);
}

}  // namespace

Task<> data_parallel_round(Fleet& fleet, Worker& worker) {
  Recorder& record = fleet.record();
  // g = 1/K sum grad f_k(theta)
  SharedValue gradient = co_await fleet.gradient(worker);
  const SharedValue mean = co_await fleet.average(worker, std::move(gradient));
  // theta = InnerOpt(theta, g)
  record.apply(worker.replica, mean, worker.position - 1);
  if (fleet.first_back(worker)) fleet.publish(worker, record.read_parameters(worker.replica));
  fleet.end_round(worker);
}

void start_data_parallel(Fleet& fleet) {
  fleet.initial();
  fleet.start([&fleet](Worker& worker) { return run_worker(fleet, worker); });
}

}  // namespace syncline
