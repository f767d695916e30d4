// DiLoCo with eager updates (Kale et al. 2025: arXiv 2502.12996): each outer step takes the
// worker's own part of the average at once, and everybody else's one round late, so that the
// average goes on during the whole next round.
#include <memory>
#include <optional>
#include <utility>

#include "sim/strategy/outer.h"
#include "sim/strategy/strategy.h"

namespace syncline {
namespace {

// The workers' models differ. Their mean follows from the averages alone, outer steps being linear
// in their gradients; every worker could keep it, and here it is kept once.
struct Mean : Outer {
  Mean(Fleet& fleet, const OuterRule& outer_rule)
      : Outer(fleet, outer_rule), own(1 / static_cast<double>(fleet.replicas())) {}

  SharedValue delta;  // of the round before; null: it was the first
  double own;         // 1/K
};

// Mean over k of the gradients that the workers stepped along at the end of this round. After the
// last round nothing is late any more: the whole average counts.
Task<SharedValue> receive(Fleet& fleet, Worker& worker, Mean& mean, const Fleet::Sync& sent,
                          bool last) {
  Recorder& record = fleet.record();
  SharedValue delta = co_await fleet.finish_average(worker, sent);
  if (fleet.first_back(sent)) {
    const double now = last ? 1 : mean.own;
    const SharedValue gradient = mean.delta ? record.sum({{mean.delta, 1 - mean.own}, {delta, now}})
                                            : record.sum({{delta, now}});
    mean.step(record, gradient);
    mean.delta = delta;
    fleet.publish(sent, mean.theta);
  }
  co_return delta;
}

Task<> run_worker(Fleet& fleet, Worker& worker, std::shared_ptr<Mean> mean) {
  Recorder& record = fleet.record();
  SharedValue theta_k = mean->theta;
  SharedValue state_k = record.outer_state();
  std::optional<Fleet::Sync> sent;
  while (fleet.begin_round(worker)) {
    co_await fleet.local_steps(worker);
    // Delta_k = theta_k - InnerOpt^H(theta_k); g_k = (Delta_k + sum over the others of what they
    // had one round before) / K
    SharedValue delta = record.difference(theta_k, record.read_parameters(worker.replica));
    SharedValue late;
    SharedValue own_late;
    if (sent) {
      late = co_await receive(fleet, worker, *mean, *sent, false);
      own_late = sent->value;
    }
    Fleet::Sync now = fleet.begin_average(worker, std::move(delta));
    const double own = mean->own;
    const SharedValue gradient = sent ? record.sum({{now.value, own}, {late, 1}, {own_late, -own}})
                                      : record.sum({{now.value, own}});
    // theta_k = OuterOpt(theta_k, g_k)
    record.outer(theta_k, state_k, gradient, mean->rule);
    record.write_parameters(worker.replica, theta_k);
    if (sent) fleet.end_round(*sent);
    sent.emplace(std::move(now));
  }
  if (!sent) co_return;
  co_await receive(fleet, worker, *mean, *sent, true);
  record.write_parameters(worker.replica, mean->theta);
  fleet.end_round(*sent);
}

}  // namespace

void start_eager_diloco(Fleet& fleet, const OuterRule& rule) {
  const auto mean = std::make_shared<Mean>(fleet, rule);
  fleet.start([&fleet, mean](Worker& worker) { return run_worker(fleet, worker, mean); });
}

}  // namespace syncline
