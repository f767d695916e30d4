#include "sim/strategy/fleet.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "topology/check.h"

namespace syncline {

Fleet::Fleet(Network& network, const SimulationSetup& setup, Program* program, NumberSource numbers)
    : network_(network),
      engine_(network.engine()),
      setup_(setup),
      traffic_(network.topology()),
      recorder_(program),
      numbers_(std::move(numbers)) {
  SYNCLINE_CHECK(!setup.workers.empty(), "a simulation has workers");
  SYNCLINE_CHECK(setup.stop.steps || setup.stop.rounds || setup.stop.time,
                 "a simulation has a stop that time alone reaches");
  SYNCLINE_CHECK(setup.strategy.local_steps > 0 && setup.evaluate_every > 0,
                 "intervals are at least one step");
  recorder_.set_recording(setup.recorded_steps > 0);
  workers_.resize(setup.workers.size());
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    Worker& worker = workers_[i];
    worker.index = static_cast<std::uint32_t>(i);
    worker.setup = &setup.workers[i];
    if (setup.replicas == 0 || i < setup.replicas) worker.replica = recorder_.init(setup.seed);
    slowest_step_ = std::max(slowest_step_, worker.setup->step);
  }
  set_up_groups();
}

void Fleet::set_up_groups() {
  std::vector<CollectiveMember> everyone;
  for (const Worker& worker : workers_)
    everyone.push_back({worker.setup->hosts, worker.setup->cluster});
  all_ = std::make_unique<Group>(network_, traffic_, recorder_, setup_.strategy.collective,
                                 everyone, setup_.payload);
  if (!setup_.strategy.within_cluster) return;
  const WithinCluster& within = *setup_.strategy.within_cluster;

  std::vector<std::string> names;
  std::vector<std::vector<CollectiveMember>> members;
  for (Worker& worker : workers_) {
    if (worker.setup->hosts.size() > 1) {
      std::vector<CollectiveMember> hosts;
      for (const NodeId host : worker.setup->hosts)
        hosts.push_back({{host}, worker.setup->cluster});
      charged_.push_back(
          idle_all_reduce(within.collective, network_.topology(), hosts, setup_.payload));
      continue;
    }
    const auto known = std::find(names.begin(), names.end(), worker.setup->cluster);
    worker.site = static_cast<std::size_t>(known - names.begin());
    if (known == names.end()) {
      names.push_back(worker.setup->cluster);
      members.emplace_back();
    }
    worker.site_member = members[worker.site].size();
    members[worker.site].push_back({worker.setup->hosts, worker.setup->cluster});
  }
  SYNCLINE_CHECK(charged_.empty() || charged_.size() == workers_.size(),
                 "all workers are hosts, or all are clusters");
  for (const std::vector<CollectiveMember>& site : members) {
    sites_.push_back(std::make_unique<Group>(network_, traffic_, recorder_, within.collective, site,
                                             setup_.payload));
  }
  blocks_open_.resize(sites_.size());
}

SharedValue Fleet::initial() {
  SharedValue theta = recorder_.read_parameters(workers_.front().replica);
  global_ = theta;
  evaluate(0, 0, Time());
  return theta;
}

std::uint64_t Fleet::planned_end(std::uint64_t round) const {
  const std::uint64_t end = (round + 1) * setup_.strategy.local_steps;
  return setup_.stop.steps ? std::min(end, *setup_.stop.steps) : end;
}

std::uint64_t Fleet::round_steps(const Worker& worker) const {
  const std::uint64_t round = worker.round - 1;
  return planned_end(round) - (round == 0 ? 0 : planned_end(round - 1));
}

bool Fleet::opens(std::uint64_t round) const {
  const StopRule& stop = setup_.stop;
  if (stop.rounds && round >= *stop.rounds) return false;
  if (stop.steps && round > 0 && planned_end(round - 1) >= *stop.steps) return false;
  if (!stop.time) return true;
  // A round in which nobody finishes a step would be a sync of nothing. In data parallel all steps
  // count or none does.
  Time step = slowest_step_;
  if (!std::holds_alternative<DataParallel>(setup_.strategy.method)) {
    for (const Worker& worker : workers_) step = std::min(step, worker.setup->step);
  }
  return engine_.now() + step <= *stop.time;
}

bool Fleet::begin_round(Worker& worker) {
  const std::uint64_t round = worker.round;
  if (round == rounds_.size()) {
    over_ = over_ || !opens(round);
    if (over_) return false;
    RoundRecord& record = rounds_.emplace_back();
    record.round = round + 1;
    record.begun = engine_.now();
    back_.push_back(0);
    ended_.push_back(0);
    // Only values that some evaluation reads matter, and the last recorded round ends with one:
    // what workers that are still on their way from the previous round would write after this is
    // read by nobody.
    recorder_.set_recording((round == 0 ? 0 : planned_end(round - 1)) < setup_.recorded_steps);
  }
  ++worker.round;
  return true;
}

Time Fleet::duration(const Worker& worker, std::uint64_t steps) const {
  Time time = worker.setup->step * static_cast<std::int64_t>(steps);
  if (!charged_.empty()) {
    const std::uint64_t interval = setup_.strategy.within_cluster->local_steps;
    const std::uint64_t syncs = (worker.steps + steps) / interval - worker.steps / interval;
    time += charged_[worker.index].duration * static_cast<std::int64_t>(syncs);
  }
  return time;
}

std::uint64_t Fleet::record_limit(const Worker& worker, std::uint64_t steps) const {
  return std::min(steps, setup_.recorded_steps - std::min(setup_.recorded_steps, worker.recorded));
}

void Fleet::keep_loss(const Worker& worker, NumberIndex loss, std::uint64_t steps) {
  if (loss != kNone)
    rounds_[worker.round - 1].losses.emplace_back(loss, static_cast<std::uint32_t>(steps));
}

Task<> Fleet::compute(Worker& worker, std::uint64_t steps) {
  const Time begun = engine_.now();
  std::uint64_t finished = steps;
  Time end = begun + duration(worker, steps);
  if (setup_.stop.time && end > *setup_.stop.time) {
    end = std::max(begun, *setup_.stop.time);
    std::uint64_t unfinished =
        steps;  // bisection: `finished` steps end in time, `unfinished` do not
    finished = 0;
    while (finished + 1 < unfinished) {
      const std::uint64_t middle = finished + (unfinished - finished) / 2;
      (begun + duration(worker, middle) <= end ? finished : unfinished) = middle;
    }
  }
  co_await engine_.sleep_until(end);

  const Time used = duration(worker, finished);
  const Time computing = worker.setup->step * static_cast<std::int64_t>(finished);
  worker.computing += computing;
  worker.within += used - computing;
  if (!charged_.empty()) {
    const std::uint64_t interval = setup_.strategy.within_cluster->local_steps;
    worker.charged_syncs += (worker.steps + finished) / interval - worker.steps / interval;
  }
  const std::uint64_t recorded = record_limit(worker, finished);
  SYNCLINE_CHECK(recorded <= std::numeric_limits<std::uint32_t>::max(),
                 "a round has less than 2^32 recorded steps");
  keep_loss(worker,
            recorder_.step(worker.replica, worker.index, worker.recorded,
                           static_cast<std::uint32_t>(recorded), worker.recorded),
            recorded);
  worker.steps += finished;
  worker.recorded += recorded;
}

bool Fleet::opens_block(const Worker& worker, std::uint64_t block) {
  std::vector<bool>& open = blocks_open_[worker.site];
  if (block == open.size()) {
    // With gradients inside the cluster a step counts for all of its workers or for none.
    const Time step = setup_.strategy.within_cluster->local_steps == 1 ? slowest_step_ : Time();
    open.push_back(!setup_.stop.time || engine_.now() + step <= *setup_.stop.time);
    over_ = over_ || !open.back();
  }
  return open[block];
}

Task<> Fleet::local_steps(Worker& worker) {
  std::uint64_t left = round_steps(worker);
  if (sites_.empty()) {
    co_await compute(worker, left);
    co_return;
  }
  Group& site = *sites_[worker.site];
  const std::uint64_t interval = setup_.strategy.within_cluster->local_steps;
  while (left > 0 && opens_block(worker, worker.site_syncs)) {
    const std::uint64_t steps = std::min(interval, left);
    left -= steps;
    SharedValue mine;
    if (interval == 1) {
      mine = co_await gradient(worker);
    } else {
      co_await compute(worker, steps);
      mine = recorder_.read_parameters(worker.replica);
    }
    const Group::Result result =
        co_await site.average(worker.site_member, worker.site_syncs++, std::move(mine));
    worker.waiting += result.times.all_joined - result.times.joined;
    worker.within += result.times.back - result.times.all_joined;
    if (interval == 1) {
      recorder_.apply(worker.replica, result.mean, worker.recorded - 1);
    } else {
      recorder_.write_parameters(worker.replica, result.mean);
    }
  }
}

Task<SharedValue> Fleet::gradient(Worker& worker) {
  const Time used = duration(worker, 1);
  co_await engine_.sleep(used);
  worker.computing += worker.setup->step;
  worker.within += used - worker.setup->step;
  if (!charged_.empty()) ++worker.charged_syncs;
  Recorder::Gradient gradient;
  if (record_limit(worker, 1) == 1) {
    gradient = recorder_.grad(worker.replica, worker.index, worker.recorded);
    keep_loss(worker, gradient.loss, 1);
    ++worker.recorded;
  }
  ++worker.steps;
  co_return gradient.value;
}

Task<SharedValue> Fleet::average(Worker& worker, SharedValue value) {
  const std::uint64_t round = worker.round - 1;
  const Group::Result result = co_await all_->average(worker.index, round, std::move(value));
  worker.waiting += result.times.all_joined - result.times.joined;
  worker.syncing += result.times.back - result.times.all_joined;
  rounds_[round].all_joined = result.times.all_joined;
  ++back_[round];
  co_return result.mean;
}

bool Fleet::first_back(const Worker& worker) { return back_[worker.round - 1] == 1; }

void Fleet::publish(const Worker& worker, SharedValue global) {
  if (!global || !recorder_.recording()) return;
  global_ = std::move(global);
  global_evaluated_ = false;
  const std::uint64_t round = worker.round - 1;
  const std::uint64_t begin = round == 0 ? 0 : planned_end(round - 1);
  const std::uint64_t end = planned_end(round);
  const bool due =
      end / setup_.evaluate_every > begin / setup_.evaluate_every || end >= setup_.recorded_steps;
  if (due) evaluate(worker.round, worker.recorded, engine_.now());
}

void Fleet::evaluate(std::uint64_t round, std::uint64_t steps, Time at) {
  const NumberIndex loss = recorder_.eval(global_);
  if (loss == kNone) return;
  global_evaluated_ = true;
  evaluations_.push_back({round, steps, at, loss});
  if (setup_.stop.loss && numbers_) {
    const double value = numbers_(loss);
    over_ = over_ || value <= *setup_.stop.loss || !std::isfinite(value);
  }
}

void Fleet::end_round(Worker& worker) {
  const std::uint64_t round = worker.round - 1;
  RoundRecord& record = rounds_[round];
  record.steps = std::max(record.steps, worker.steps);
  record.ended = engine_.now();
  if (++ended_[round] < workers_.size()) return;
  record.sent = traffic_.total() - sent_before_;
  sent_before_ = traffic_.total();
  // The loss belongs to the moment at which every worker has the new model.
  if (!evaluations_.empty() && evaluations_.back().round == record.round)
    evaluations_.back().at = record.ended;
}

void Fleet::finish() {
  if (!global_ || global_evaluated_) return;
  recorder_.set_recording(true);
  evaluate(rounds_.back().round, rounds_.back().steps, rounds_.back().ended);
}

}  // namespace syncline
