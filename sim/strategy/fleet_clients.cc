// Workers as the clients of a server that calls them.
#include <algorithm>

#include "sim/network/transfer_set.h"
#include "sim/strategy/fleet.h"
#include "topology/check.h"

namespace syncline {

void Fleet::start_server(Task<> server) {
  SYNCLINE_CHECK(setup_.strategy.collective.algorithm == CollectiveAlgorithm::PARAMETER_SERVER,
                 "a server has its node");
  has_server_ = true;
  for (Worker& worker : workers_) worker.state = Worker::State::IDLE;
  engine_.spawn("server", serve(std::move(server)));
  failures_.start();
}

Task<> Fleet::serve(Task<> server) {
  co_await server;
  for (Worker& worker : workers_) {
    if (worker.state != Worker::State::ACTIVE) continue;
    engine_.cancel(worker.process);
    lose_round(worker);
    worker.state = Worker::State::ENDED;
  }
  failures_.stop();
  if (when_over_) when_over_();
}

std::vector<Worker*> Fleet::idle_clients() {
  const NodeId server = setup_.strategy.collective.server;
  std::vector<Worker*> idle;
  for (Worker& worker : workers_) {
    if (worker.state == Worker::State::IDLE &&
        failures_.connected(worker.setup->hosts.front(), server))
      idle.push_back(&worker);
  }
  return idle;
}

void Fleet::call(Worker& client, Task<> body) {
  SYNCLINE_CHECK(client.state == Worker::State::IDLE, "a client is called when it is idle");
  client.state = Worker::State::ACTIVE;
  client.round = rounds_.size();
  client.position = std::min(planned_begin(client.round - 1), setup_.recorded_steps);
  client.at_sync = client.progress;
  client.residuals_at_sync = client.residuals;
  client.process = engine_.spawn(client.setup->name, work_for_server(client, std::move(body)));
  failures_.note_progress();
}

Task<> Fleet::work_for_server(Worker& client, Task<> body) {
  co_await body;
  client.state = Worker::State::IDLE;
  changed_.notify_all();
}

Task<bool> Fleet::download(Worker& client) {
  return carry(client, setup_.strategy.collective.server, client.setup->hosts.front(),
               setup_.plain_payload.bytes());
}

Task<bool> Fleet::upload(Worker& client) {
  return carry(client, client.setup->hosts.front(), setup_.strategy.collective.server,
               setup_.payload.bytes());
}

// What has arrived is counted, also of a transfer that fails or is given up.
Task<bool> Fleet::carry(Worker& client, NodeId source, NodeId destination, Bytes bytes) {
  struct Carried {
    Fleet& fleet;
    Worker& client;
    NodeId source, destination;
    TransferSet transfers;
    TransferId transfer = 0;
    Time begun;
    ~Carried() {
      const Time now = fleet.engine_.now();
      fleet.traffic_.credit(
          source, destination,
          transfers.pending() > 0 ? fleet.network_.delivered(transfer) : transfers.delivered());
      client.syncing += now - begun;
      fleet.timeline_.add(client.index, Activity::SYNC, begun, now);
    }
  };
  Carried carried{*this, client, source, destination, TransferSet(network_), 0, engine_.now()};
  carried.transfer = carried.transfers.start(
      {.source = source, .destination = destination, .bytes = bytes, .wait_for_route = true});
  co_await carried.transfers.all();
  co_return carried.transfers.failed() == 0;
}

void Fleet::close_round(const std::vector<const Worker*>& clients, SharedValue global) {
  const std::uint64_t round = rounds_.size() - 1;
  RoundRecord& record = rounds_[round];
  record.steps = planned_begin(round);
  for (const Worker* client : clients) note_steps(*client, round);
  record.workers = clients.size();
  record.all_joined = engine_.now();
  note_end(round);
  publish(round, std::min(record.steps, setup_.recorded_steps), std::move(global));
}

}  // namespace syncline
