// Workers that die, are cut off, and come back.
#include <fmt/format.h>

#include <algorithm>

#include "sim/network/transfer_set.h"
#include "sim/strategy/fleet.h"
#include "topology/check.h"

namespace syncline {

// The body, and again from a peer's model each time the worker missed an average.
Task<> Fleet::live(Worker& worker) {
  while (true) {
    bool missed = false;
    try {
      co_await body_(worker);
    } catch (const MissedRound&) {
      missed = true;
    }
    if (!missed) break;
    worker.state = Worker::State::RETURNING;
    co_await rejoin(worker);
    if (worker.state != Worker::State::ACTIVE) break;
  }
  worker.state = Worker::State::ENDED;
  worker_ended();
}

Task<> Fleet::come_back(Worker& worker) {
  co_await rejoin(worker);
  if (worker.state == Worker::State::ACTIVE) {
    co_await live(worker);
  } else {
    worker.state = Worker::State::ENDED;
    worker_ended();
  }
}

// Gets the state in which the next round that it can take part in began, from a live peer, over the
// network. Afterwards the worker is ACTIVE; or the run is over.
Task<> Fleet::rejoin(Worker& worker) {
  worker.returning_since = engine_.now();
  Time able_since = engine_.now();
  all_->reconsider();
  changed_.notify_all();
  co_await engine_.sleep(Time());
  while (!over_) {
    // While others average without it, it waits for their next round; where they wait for it, it
    // takes part in this one.
    const std::uint64_t latest = rounds_.size() - 1;
    const bool nobody = alone(worker);
    if (!nobody && !reaches_somebody(worker)) {
      co_await changed_.wait();
      able_since = engine_.now();
      continue;
    }
    const std::uint64_t round = nobody && all_->settled(latest) ? latest + 1 : latest;
    const bool late = setup_.strategy.reweight && rounds_[latest].begun < able_since;
    Worker* const peer = nobody ? nullptr : find_peer(worker, round);
    if (!nobody && (peer == nullptr || late || all_->settled(round))) {
      co_await changed_.wait();
      continue;
    }
    worker.state = Worker::State::FETCHING;
    worker.round = round;
    const SharedValue state = nobody ? checkpoint_ : peer->start_state;
    if (!nobody) {
      const TransferSpec spec{.source = peer->setup->hosts.front(),
                              .destination = worker.setup->hosts.front(),
                              .bytes = setup_.rejoin.bytes(),
                              .wait_for_route = true};
      TransferSet fetch(network_);
      worker.fetch_from = peer->index;
      worker.fetch = fetch.start(spec);
      co_await fetch.all();
      worker.fetch = 0;
      traffic_.credit(spec.source, spec.destination, fetch.last().delivered);
      worker.rejoin_bytes += fetch.delivered();
      if (fetch.failed() > 0 || all_->settled(round)) {
        worker.state = Worker::State::RETURNING;
        all_->reconsider();
        continue;
      }
    }
    recorder_.write_all(worker.replica, state);
    worker.position = std::min(planned_begin(round), setup_.recorded_steps);
    worker.state = Worker::State::ACTIVE;
    ++worker.rejoins;
    break;
  }
  worker.rejoining += engine_.now() - worker.returning_since;
  timeline_.add(worker.index, Activity::REJOIN, worker.returning_since, engine_.now());
}

// Somebody who has begun this round and can be reached; the first by number.
Worker* Fleet::find_peer(const Worker& worker, std::uint64_t round) {
  for (Worker& peer : workers_) {
    const bool has_it = peer.state == Worker::State::ACTIVE && peer.round == round + 1;
    if (has_it && peer.index != worker.index && connected(peer, worker)) return &peer;
  }
  return nullptr;
}

bool Fleet::reaches_somebody(const Worker& worker) const {
  return std::any_of(workers_.begin(), workers_.end(), [&](const Worker& peer) {
    return peer.state == Worker::State::ACTIVE && connected(peer, worker);
  });
}

// Nobody has a newer model than what this worker has on its own disk: the last one that all had.
bool Fleet::alone(const Worker& worker) const {
  for (const Worker& other : workers_) {
    if (other.state == Worker::State::ACTIVE || other.state == Worker::State::FETCHING)
      return false;
    if (other.state == Worker::State::RETURNING && other.index < worker.index) return false;
  }
  return true;
}

// What it did in this round is gone; its stream goes back with it, and so does error feedback.
void Fleet::lose_round(Worker& worker) {
  worker.lost_steps += worker.progress.steps - worker.at_sync.steps;
  worker.lost += worker.progress.computing - worker.at_sync.computing;
  worker.progress = worker.at_sync;
  worker.residuals = worker.residuals_at_sync;
}

void Fleet::give_up_fetch(Worker& worker) {
  if (worker.fetch == 0) return;
  const Bytes delivered = network_.delivered(worker.fetch);
  traffic_.credit(workers_[worker.fetch_from].setup->hosts.front(), worker.setup->hosts.front(),
                  delivered);
  worker.rejoin_bytes += delivered;
  worker.fetch = 0;
}

void Fleet::worker_ended() {
  // From the one that was found the last time on: those before it have mostly ended.
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    if (workers_[known_active_].state == Worker::State::ACTIVE) return;
    known_active_ = (known_active_ + 1) % workers_.size();
  }
  if (!over_) return;
  failures_.stop();
  if (when_over_) when_over_();
  // Who is still on its way back would find a run that is over.
  for (Worker& worker : workers_) {
    const bool on_its_way =
        worker.state == Worker::State::RETURNING || worker.state == Worker::State::FETCHING;
    if (!on_its_way || worker.process == engine_.current_process()) continue;
    give_up_fetch(worker);
    engine_.cancel(worker.process);
  }
}

bool Fleet::coming(std::size_t member, std::uint64_t sequence) const {
  const Worker& worker = workers_[member];
  switch (worker.state) {
    case Worker::State::ACTIVE:
      return true;
    case Worker::State::FETCHING:
      return worker.round <= sequence;
    default:
      return false;
  }
}

std::optional<std::uint32_t> Fleet::part(std::size_t member) const {
  const std::uint32_t own = failures_.component(workers_[member].setup->hosts.front());
  const Collective& collective = setup_.strategy.collective;
  const bool has_server = collective.algorithm == CollectiveAlgorithm::PARAMETER_SERVER;
  if (has_server && own != failures_.component(collective.server)) return std::nullopt;
  return own;
}

bool Fleet::cut_off(std::size_t a, std::size_t b) const {
  const NodeId first = workers_[a].setup->hosts.front();
  const Collective& collective = setup_.strategy.collective;
  const bool has_server = collective.algorithm == CollectiveAlgorithm::PARAMETER_SERVER;
  return failures_.cut_off(first, workers_[b].setup->hosts.front()) ||
         (has_server && failures_.cut_off(first, collective.server));
}

void Fleet::machine_down(std::uint32_t index) {
  Worker& worker = workers_[index];
  if (worker.state == Worker::State::ENDED) return;
  worker.down_since = engine_.now();
  if (worker.state == Worker::State::RETURNING || worker.state == Worker::State::FETCHING) {
    worker.rejoining += engine_.now() - worker.returning_since;
    give_up_fetch(worker);
  } else if (worker.state == Worker::State::ACTIVE) {
    if (worker.segment_steps > 0) {
      const std::uint64_t steps = finished(worker, segment_done(worker), worker.segment_steps);
      worker.progress.steps += steps;
      worker.progress.computing += worker.setup->step * static_cast<std::int64_t>(steps);
      worker.segment_steps = 0;
      timeline_.add(index, Activity::COMPUTE, worker.work_begun, engine_.now());
    }
    if (worker.round > 0) lose_round(worker);
  }
  worker.residuals.clear();
  worker.state = Worker::State::DOWN;
  engine_.cancel(worker.process);
  all_->remove(index);
  changed_.notify_all();
}

void Fleet::machine_up(std::uint32_t index) {
  Worker& worker = workers_[index];
  if (worker.state != Worker::State::DOWN) return;
  worker.down += engine_.now() - worker.down_since;
  timeline_.add(index, Activity::DOWN, worker.down_since, engine_.now());
  if (has_server_) {
    worker.state = Worker::State::IDLE;
    changed_.notify_all();
    return;
  }
  worker.state = Worker::State::RETURNING;
  worker.process = engine_.spawn(worker.setup->name, come_back(worker));
}

void Fleet::speed_changed(std::uint32_t index) { speed_changes_[index]->notify_all(); }

void Fleet::network_changed() {
  all_->reconsider();
  changed_.notify_all();
}

std::vector<std::string> Fleet::missing() const {
  std::vector<std::string> names;
  for (const std::size_t i : all_->missing()) {
    const Worker& worker = workers_[i];
    const char* why = worker.state == Worker::State::DOWN        ? " (down)"
                      : worker.state == Worker::State::RETURNING ? " (waits for a peer)"
                                                                 : "";
    names.push_back(worker.setup->name + why);
  }
  return names;
}

}  // namespace syncline
