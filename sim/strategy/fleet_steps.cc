// Inner steps: the time that they take, and what of them goes into the program.
#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/strategy/fleet.h"
#include "topology/check.h"

namespace syncline {

// Averages inside a cluster-wide worker that fall into its next steps.
std::uint64_t Fleet::syncs_within(const Worker& worker, std::uint64_t steps) const {
  if (charged_.empty()) return 0;
  const std::uint64_t interval = setup_.strategy.within_cluster->local_steps;
  const std::uint64_t before = worker.progress.steps;
  return (before + steps) / interval - before / interval;
}

// At the plain pace, with these averages.
Time Fleet::duration(const Worker& worker, std::uint64_t steps) const {
  Time time = worker.setup->step * static_cast<std::int64_t>(steps);
  if (!charged_.empty()) {
    time +=
        charged_[worker.index].duration * static_cast<std::int64_t>(syncs_within(worker, steps));
  }
  return time;
}

// How many of at most `most` steps end within `done` of their plain duration.
std::uint64_t Fleet::finished(const Worker& worker, Time done, std::uint64_t most) const {
  if (duration(worker, most) <= done) return most;
  std::uint64_t ended = 0;  // bisection: `ended` steps do, `open` do not
  std::uint64_t open = most;
  while (ended + 1 < open) {
    const std::uint64_t middle = ended + (open - ended) / 2;
    (duration(worker, middle) <= done ? ended : open) = middle;
  }
  return ended;
}

std::uint64_t Fleet::record_limit(const Worker& worker, std::uint64_t steps) const {
  if (worker.round == 0) return std::min(steps, worker.own_recorded);
  return std::min(steps, setup_.recorded_steps - std::min(setup_.recorded_steps, worker.position));
}

void Fleet::keep_loss(Worker& worker, NumberIndex loss, std::uint64_t steps) {
  if (loss == kNone) return;
  auto& losses = worker.round == 0 ? worker.own_losses : rounds_[worker.round - 1].losses;
  losses.emplace_back(loss, static_cast<std::uint32_t>(steps));
}

// Until `end`, or until the worker's speed changes.
Task<> Fleet::sleep_until(Worker& worker, Time end) {
  if (setup_.events.empty()) {
    co_await engine_.sleep_until(end);
    co_return;
  }
  Signal& signal = *speed_changes_[worker.index];
  const auto ring = [](Engine& engine, Signal& bell, Time at) -> Task<> {
    co_await engine.sleep_until(at);
    bell.notify_all();
  };
  struct Alarm {
    Engine& engine;
    ProcessId process;
    ~Alarm() { engine.cancel(process); }
  };
  const Alarm alarm{engine_, engine_.spawn("alarm", ring(engine_, signal, end))};
  co_await signal.wait();
}

// Works on `steps` steps until they end, or the time of a stop that may cut them. Returns the time
// that it took.
Task<Time> Fleet::work(Worker& worker, std::uint64_t steps, bool may_be_cut) {
  const Time all = duration(worker, steps);
  worker.work_begun = engine_.now();
  worker.segment_done = Time();
  worker.segment_steps = steps;
  while (worker.segment_done < all) {
    worker.segment_begun = engine_.now();
    worker.segment_speed = failures_.speed(worker.index);
    const Time left = all - worker.segment_done;
    // Rounded up: a step is not over before its time.
    Time end = engine_.now() +
               (worker.segment_speed == 1
                    ? left
                    : Time::ns(static_cast<std::int64_t>(
                          std::ceil(static_cast<double>(left.count_ns()) / worker.segment_speed))));
    const bool cut = may_be_cut && setup_.stop.time && end > *setup_.stop.time;
    if (cut) end = std::max(engine_.now(), *setup_.stop.time);
    co_await sleep_until(worker, end);
    worker.segment_done = segment_done(worker);
    if (cut && engine_.now() >= end) break;
  }
  worker.segment_steps = 0;
  timeline_.add(worker.index, Activity::COMPUTE, worker.work_begun, engine_.now());
  co_return engine_.now() - worker.work_begun;
}

// Plain duration of what the running segment has done by now.
Time Fleet::segment_done(const Worker& worker) const {
  const Time passed = engine_.now() - worker.segment_begun;
  if (worker.segment_speed == 1) return worker.segment_done + passed;
  return worker.segment_done + Time::seconds(passed.in_seconds() * worker.segment_speed);
}

// Credits finished steps that took `took`, of which a part went into averages inside the cluster.
void Fleet::credit_steps(Worker& worker, std::uint64_t steps, Time took) {
  const Time computing = worker.setup->step * static_cast<std::int64_t>(steps);
  const Time plain = duration(worker, steps);
  // What a changed speed made of it; a cut-off step is in `took`, and in neither.
  const double slower =
      worker.segment_done > Time() ? took.in_seconds() / worker.segment_done.in_seconds() : 1;
  const bool steady = took == worker.segment_done;
  worker.progress.computing += steady ? computing : Time::seconds(computing.in_seconds() * slower);
  worker.within += plain - computing;
  worker.charged_syncs += syncs_within(worker, steps);
  worker.progress.steps += steps;
}

Task<> Fleet::compute(Worker& worker, std::uint64_t steps) {
  const Time took = co_await work(worker, steps, true);
  const std::uint64_t done = finished(worker, worker.segment_done, steps);
  credit_steps(worker, done, took);
  const std::uint64_t recorded = record_limit(worker, done);
  SYNCLINE_CHECK(recorded <= std::numeric_limits<std::uint32_t>::max(),
                 "a round has less than 2^32 recorded steps");
  const NumberIndex loss = recorder_.step(worker.replica, worker.index, worker.progress.batches,
                                          static_cast<std::uint32_t>(recorded), worker.position);
  keep_loss(worker, loss, recorded);
  worker.progress.batches += recorded;
  worker.position += recorded;
}

Task<SharedValue> Fleet::gradient(Worker& worker) {
  const Time took = co_await work(worker, 1, false);
  credit_steps(worker, 1, took);
  Recorder::Gradient gradient;
  if (record_limit(worker, 1) == 1) {
    gradient = recorder_.grad(worker.replica, worker.index, worker.progress.batches);
    keep_loss(worker, gradient.loss, 1);
    ++worker.progress.batches;
    ++worker.position;
  }
  co_return gradient.value;
}

}  // namespace syncline
