// Workers that take their steps alone, and send updates when they have.
#include <algorithm>
#include <utility>

#include "sim/strategy/fleet.h"

namespace syncline {

bool Fleet::begin_own_steps(Worker& worker, std::uint64_t most) {
  const StopRule& stop = setup_.stop;
  if (stop.steps) most = std::min(most, of_all(*stop.steps) - own_.given);
  if (stop.rounds && rounds_.size() + updates_under_way_ >= *stop.rounds) most = 0;
  if (stop.time && engine_.now() + fastest_step_ > *stop.time) most = 0;
  over_ = over_ || most == 0;
  if (over_) return false;
  worker.own_steps = most;
  worker.own_recorded = std::min(most, of_all(setup_.recorded_steps) - own_recorded_.given);
  worker.own_begun = engine_.now();
  worker.at_sync = worker.progress;
  own_.given += worker.own_steps;
  own_recorded_.given += worker.own_recorded;
  ++updates_under_way_;
  failures_.note_progress();
  return true;
}

Task<> Fleet::own_steps(Worker& worker) {
  const std::uint64_t before = worker.position;
  co_await compute(worker, worker.own_steps);
  worker.own_recorded = worker.position - before;
}

void Fleet::publish_update(Worker& worker, Time sent, SharedValue global) {
  own_.applied += steps_in_round(worker);
  own_recorded_.applied += worker.own_recorded;
  --updates_under_way_;
  ++worker.own_updates;
  RoundRecord& record = rounds_.emplace_back();
  record.round = rounds_.size();
  record.begun = worker.own_begun;
  record.all_joined = sent;
  record.workers = 1;
  record.losses = std::exchange(worker.own_losses, {});
  // Steps of a worker in the mean. As far as evaluations go by them, the recorded ones are over
  // when all of them are in the model.
  record.steps = own_.applied / workers_.size();
  const std::uint64_t recorded = setup_.recorded_steps;
  const bool all_recorded = own_recorded_.applied == of_all(recorded);
  ends_.push_back(all_recorded || recorded == 0 ? std::max(record.steps, recorded)
                                                : std::min(record.steps, recorded - 1));
  back_.push_back(1);
  sent_until_.emplace_back();
  const std::uint64_t round = rounds_.size() - 1;
  note_end(round);
  publish(round, std::min(ends_.back(), recorded), std::move(global));
  if (all_recorded) recorder_.set_recording(false);
}

}  // namespace syncline
