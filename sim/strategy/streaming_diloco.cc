// Streaming DiLoCo (Douillard et al. 2025: arXiv 2501.18512, algorithm 2): DiLoCo of one fragment
// of the parameters at a time, whose average goes on while the next tau steps are computed.
#include <deque>
#include <memory>
#include <utility>

#include "sim/strategy/strategy.h"

namespace syncline {
namespace {

// Every worker holds the same theta and outer state; here they are held once for all.
struct Outer {
  StreamingDiloco method;
  std::vector<SharedValue> theta, state;  // by fragment
  Replica global;                         // all of theta, where it has several fragments

  std::uint32_t fragment_of(std::uint64_t round) const {
    return static_cast<std::uint32_t>(round % method.fragments);
  }
  Fragment fragment(std::uint32_t p) const { return {p, method.fragments, method.pattern}; }
};

// theta_p <- OuterOpt(theta_p, Delta_p), and into the worker's own parameters.
Task<> receive(Fleet& fleet, Worker& worker, Outer& outer, Fleet::Sync sync) {
  Recorder& record = fleet.record();
  const std::uint32_t p = outer.fragment_of(sync.round);
  const SharedValue delta = co_await fleet.finish_average(worker, sync);
  if (fleet.first_back(sync)) {
    record.outer(outer.theta[p], outer.state[p], delta, outer.method.outer);
    if (outer.method.fragments == 1) {
      fleet.publish(sync, outer.theta[p]);
    } else {
      record.write_parameters(outer.global, outer.theta[p], outer.fragment(p));
      fleet.publish(sync, record.read_parameters(outer.global));
    }
  }
  // theta_kp <- alpha theta_kp + (1 - alpha) theta_p
  const double alpha = outer.method.alpha;
  SharedValue next = outer.theta[p];
  if (alpha > 0) {
    next = record.sum({{record.read_parameters(worker.replica, outer.fragment(p)), alpha},
                       {outer.theta[p], 1 - alpha}});
  }
  record.write_parameters(worker.replica, next, outer.fragment(p));
  fleet.end_round(sync);
}

Task<> run_worker(Fleet& fleet, Worker& worker, std::shared_ptr<Outer> outer) {
  Recorder& record = fleet.record();
  const std::uint64_t tau = outer->method.overlap;
  std::deque<Fleet::Sync> sent;
  const auto received = [&] {
    Fleet::Sync sync = std::move(sent.front());
    sent.pop_front();
    return receive(fleet, worker, *outer, std::move(sync));
  };
  while (fleet.begin_round(worker)) {
    const std::uint64_t round = worker.round - 1;
    const std::uint64_t end = fleet.round_end(worker);
    // theta_k <- InnerOpt(theta_k); what was sent tau steps ago is due
    while (!sent.empty() && sent.front().end + tau < end) {
      co_await fleet.local_steps(worker, sent.front().end + tau);
      co_await received();
    }
    co_await fleet.local_steps(worker);
    // At the stop a fragment may have its turn sooner.
    while (!sent.empty() && sent.front().round + outer->method.fragments <= round) {
      co_await received();
    }
    // Delta_p = 1/K sum (theta_p - theta_kp)
    const std::uint32_t p = outer->fragment_of(round);
    SharedValue delta = record.difference(
        outer->theta[p], record.read_parameters(worker.replica, outer->fragment(p)));
    sent.push_back(fleet.begin_average(worker, std::move(delta)));
    while (!sent.empty() && sent.front().end + tau <= end) co_await received();
  }
  while (!sent.empty()) co_await received();
}

}  // namespace

void start_streaming_diloco(Fleet& fleet, const StreamingDiloco& method) {
  const auto outer = std::make_shared<Outer>();
  outer->method = method;
  SharedValue whole = fleet.initial();
  if (method.fragments > 1) outer->global = fleet.one_more_replica();
  for (std::uint32_t p = 0; p < method.fragments; ++p) {
    outer->theta.push_back(method.fragments == 1
                               ? whole
                               : fleet.record().read_parameters(outer->global, outer->fragment(p)));
    outer->state.push_back(fleet.record().outer_state());
  }
  fleet.start([&fleet, outer](Worker& worker) { return run_worker(fleet, worker, outer); });
}

}  // namespace syncline
