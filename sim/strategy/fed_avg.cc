// Federated averaging (McMahan et al. 2017: arXiv 1602.05629, algorithm 1) of clients that are
// chosen anew each round; more than needed, as in Bonawitz et al. 2019 (arXiv 1902.01046).
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "sim/strategy/outer.h"
#include "sim/strategy/strategy.h"
#include "topology/distribution.h"

namespace syncline {
namespace {

// A client that reports after the round was closed still holds it.
struct Round {
  Round(Engine& engine, std::size_t clients) : wanted(clients), changed(engine) {}

  // Whether it still counts.
  bool report(const Worker& client, SharedValue delta) {
    if (closed) return false;
    reports[client.index] = std::move(delta);
    closed = reports.size() == wanted;
    return true;
  }

  std::size_t wanted;
  std::map<std::uint32_t, SharedValue> reports;  // by client
  std::size_t under_way = 0;                     // clients that may yet report
  bool closed = false;
  Signal changed;
};

// A client's part in a round, from its call to its end, however it ends.
class Part {
 public:
  explicit Part(std::shared_ptr<Round> round) : round_(std::move(round)) { ++round_->under_way; }
  Part(Part&& other) noexcept = default;
  Part& operator=(Part&&) = delete;
  ~Part() {
    if (!round_) return;
    --round_->under_way;
    round_->changed.notify_all();
  }
  Round& round() const { return *round_; }

 private:
  std::shared_ptr<Round> round_;
};

Task<> train(Fleet& fleet, Worker& client, Part part, SharedValue theta) {
  Recorder& record = fleet.record();
  bool reported = co_await fleet.download(client);
  if (reported) {
    // theta_k <- theta, with a fresh inner optimizer; theta_k = InnerOpt^H(theta_k)
    client.replica = fleet.one_more_replica();
    record.write_parameters(client.replica, theta);
    co_await fleet.local_steps(client);
    SharedValue delta =
        fleet.encoded(client, record.difference(theta, record.read_parameters(client.replica)));
    client.replica = {};
    reported = fleet.steps_in_round(client) > 0 && co_await fleet.upload(client) &&
               part.round().report(client, std::move(delta));
  }
  if (!reported) fleet.lose_round(client);
}

// `count` of them, each set as likely as any other; by number.
std::vector<Worker*> choose(std::vector<Worker*> clients, std::size_t count, RandomStream& random) {
  count = std::min(count, clients.size());
  for (std::size_t i = 0; i < count; ++i) {
    const auto rest = static_cast<double>(clients.size() - i);
    std::swap(clients[i], clients[i + static_cast<std::size_t>(random.uniform() * rest)]);
  }
  clients.resize(count);
  std::sort(clients.begin(), clients.end(),
            [](const Worker* a, const Worker* b) { return a->index < b->index; });
  return clients;
}

Task<> ring(std::shared_ptr<Round> round, Engine& engine, Time after) {
  co_await engine.sleep(after);
  round->closed = true;
  round->changed.notify_all();
}

// Until enough have reported, nobody else will, or the deadline has passed.
Task<> collect(Fleet& fleet, std::shared_ptr<Round> round) {
  struct Alarm {
    Engine& engine;
    ProcessId process;
    ~Alarm() { engine.cancel(process); }
  };
  std::optional<Alarm> alarm;
  if (const std::optional<Time> deadline = fleet.setup().strategy.deadline)
    alarm.emplace(fleet.engine(),
                  fleet.engine().spawn("deadline", ring(round, fleet.engine(), *deadline)));
  while (!round->closed && round->under_way > 0) co_await round->changed.wait();
  round->closed = true;
}

Task<> serve(Fleet& fleet, FedAvg method, std::shared_ptr<Outer> outer) {
  Recorder& record = fleet.record();
  RandomStream random(fleet.setup().seed, "clients");
  while (fleet.open_round()) {
    std::vector<Worker*> idle = fleet.idle_clients();
    while (idle.empty()) {
      co_await fleet.somebody_comes();
      idle = fleet.idle_clients();
    }
    const auto round = std::make_shared<Round>(fleet.engine(), method.clients);
    for (Worker* client : choose(std::move(idle), method.chosen, random))
      fleet.call(*client, train(fleet, *client, Part(round), outer->theta));
    co_await collect(fleet, round);
    // Delta = sum n_k / n (theta - theta_k)
    std::vector<const Worker*> clients;
    std::vector<SharedValue> deltas;
    std::vector<double> weights;
    for (const auto& [index, report] : round->reports) {
      clients.push_back(&fleet.workers()[index]);
      deltas.push_back(report);
      weights.push_back(clients.back()->setup->weight);
    }
    // theta <- theta - Delta, or another outer step along it
    outer->step(record, record.mean(deltas, weights));
    fleet.close_round(clients, outer->theta);
  }
}

}  // namespace

void start_fed_avg(Fleet& fleet, const FedAvg& method) {
  const auto outer = std::make_shared<Outer>(fleet, method.outer);
  fleet.start_server(serve(fleet, method, outer));
}

}  // namespace syncline
