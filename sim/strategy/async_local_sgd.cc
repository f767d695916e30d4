// Asynchronous Local SGD with delayed Nesterov momentum and steps by speed (Liu et al. 2024: arXiv
// 2401.09135, algorithms 1 to 3).
#include <memory>
#include <utility>
#include <vector>

#include "sim/strategy/round_plan.h"
#include "sim/strategy/strategy.h"
#include "topology/check.h"

namespace syncline {
namespace {

struct Server {
  AsyncLocalSgd method;
  SharedValue theta;
  SharedValue m;                      // null: still 0
  std::vector<SharedValue> received;  // since m was renewed

  // theta <- theta - lr (g / N + share momentum m)
  void update(Recorder& record, const SharedValue& g) {
    const auto n = static_cast<double>(method.delay);
    const auto [kind, lr, momentum] = method.outer;
    double share = method.activation;
    received.push_back(g);
    if (received.size() == method.delay) {
      share = 1 - method.activation * n + method.activation;
      // m <- momentum m + 1/N sum g
      std::vector<Recorder::Term> terms;
      if (m) terms.push_back({m, momentum});
      for (const SharedValue& one : received) terms.push_back({one, 1 / n});
      if (momentum > 0) m = record.sum(terms);
      received.clear();
    }
    std::vector<Recorder::Term> terms{{theta, 1}, {g, -lr / n}};
    if (m && share > 0) terms.push_back({m, -lr * share * momentum});
    theta = record.sum(terms);
  }
};

Task<> run_worker(Fleet& fleet, Worker& worker, std::shared_ptr<Server> server) {
  Recorder& record = fleet.record();
  const std::uint64_t steps = own_steps_of(fleet.setup().strategy, fleet.fastest_step(),
                                           worker.setup->step);  // DyLU
  SharedValue theta = server->theta;                             // that all begin with
  bool fresh = true;
  while (fleet.begin_own_steps(worker, steps)) {
    if (!std::exchange(fresh, false)) {
      theta = server->theta;
      const bool arrived = co_await fleet.download(worker);
      SYNCLINE_CHECK(arrived, "the server's transfers stall and do not fail");
      record.write_parameters(worker.replica, theta);
    }
    // theta_k = InnerOpt(theta), several times; g = theta - theta_k
    co_await fleet.own_steps(worker);
    if (fleet.steps_in_round(worker) == 0) break;
    SharedValue g;
    if (worker.own_recorded > 0)
      g = fleet.encoded(worker, record.difference(theta, record.read_parameters(worker.replica)));
    const Time sent = fleet.engine().now();
    const bool arrived = co_await fleet.upload(worker);
    SYNCLINE_CHECK(arrived, "the server's transfers stall and do not fail");
    if (g) server->update(record, g);
    fleet.publish_update(worker, sent, server->theta);
  }
}

}  // namespace

void start_async_local_sgd(Fleet& fleet, const AsyncLocalSgd& method) {
  const auto server = std::make_shared<Server>();
  server->method = method;
  server->theta = fleet.initial();
  fleet.start([&fleet, server](Worker& worker) { return run_worker(fleet, worker, server); });
}

}  // namespace syncline
