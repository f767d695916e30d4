// SparseLoCo (Sarfi et al. 2025: arXiv 2508.15706, algorithm 1): DiLoCo whose workers send the
// largest part of their pseudo-gradients alone; what each keeps back stands for the outer momentum.
#include <memory>
#include <utility>

#include "sim/strategy/outer.h"
#include "sim/strategy/strategy.h"

namespace syncline {
namespace {

Task<> run_worker(Fleet& fleet, Worker& worker, SparseLoco method, std::shared_ptr<Outer> outer) {
  Recorder& record = fleet.record();
  SharedValue e;  // error feedback; of a worker that comes back to the run it is zero
  while (fleet.begin_round(worker)) {
    // theta_k = InnerOpt^H(theta)
    co_await fleet.local_steps(worker);
    // Delta_k = theta - theta_k
    const SharedValue delta =
        record.difference(outer->theta, record.read_parameters(worker.replica));
    // e = beta e + Delta_k; sent = Q(Top-k(e)); e = e - sent
    SharedValue sent = record.encode(delta, method.codec, 0, e, method.decay);
    // Delta = 1/K sum sent
    const SharedValue mean = co_await fleet.average(worker, std::move(sent));
    // theta = theta - alpha Delta
    if (fleet.first_back(worker)) {
      outer->step(record, mean);
      fleet.publish(worker, outer->theta);
    }
    record.write_parameters(worker.replica, outer->theta);
    fleet.end_round(worker);
  }
}

}  // namespace

void start_sparse_loco(Fleet& fleet, const SparseLoco& method) {
  const auto outer = std::make_shared<Outer>(fleet, OuterRule{OuterRule::Kind::SGD, method.lr, 0});
  fleet.start(
      [&fleet, method, outer](Worker& worker) { return run_worker(fleet, worker, method, outer); });
}

}  // namespace syncline
