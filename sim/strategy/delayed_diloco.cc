// DiLoCo with outer steps one round late, as in DiLoCoX (Qi et al. 2025: arXiv 2506.21263): the
// average of a round goes on during the whole next one.
#include <memory>
#include <optional>
#include <utility>

#include "sim/strategy/outer.h"
#include "sim/strategy/strategy.h"

namespace syncline {
namespace {

// theta <- OuterOpt(theta, Delta of the round that was sent)
Task<> receive(Fleet& fleet, Worker& worker, Outer& outer, const Fleet::Sync& sent) {
  const SharedValue delta = co_await fleet.finish_average(worker, sent);
  if (fleet.first_back(sent)) {
    outer.step(fleet.record(), delta);
    fleet.publish(sent, outer.theta);
  }
}

Task<> run_worker(Fleet& fleet, Worker& worker, std::shared_ptr<Outer> outer) {
  Recorder& record = fleet.record();
  SharedValue theta = outer->theta;  // that this worker's round began with
  std::optional<Fleet::Sync> sent;
  while (fleet.begin_round(worker)) {
    // theta_k = InnerOpt^H(theta)
    co_await fleet.local_steps(worker);
    // Delta = 1/K sum (theta - theta_k), on its way while the next round is computed
    SharedValue delta = record.difference(theta, record.read_parameters(worker.replica));
    if (sent) co_await receive(fleet, worker, *outer, *sent);
    theta = outer->theta;
    record.write_parameters(worker.replica, theta);
    if (sent) fleet.end_round(*sent);
    sent.emplace(fleet.begin_average(worker, std::move(delta)));
  }
  if (!sent) co_return;
  co_await receive(fleet, worker, *outer, *sent);
  record.write_parameters(worker.replica, outer->theta);
  fleet.end_round(*sent);
}

}  // namespace

void start_delayed_diloco(Fleet& fleet, const OuterRule& rule) {
  const auto outer = std::make_shared<Outer>(fleet, rule);
  fleet.start([&fleet, outer](Worker& worker) { return run_worker(fleet, worker, outer); });
}

}  // namespace syncline
