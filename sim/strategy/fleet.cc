#include "sim/strategy/fleet.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "sim/strategy/round_plan.h"
#include "topology/check.h"

namespace syncline {

Fleet::Fleet(Network& network, const SimulationSetup& setup, Program* program, NumberSource numbers)
    : network_(network),
      engine_(network.engine()),
      setup_(setup),
      traffic_(network.topology()),
      recorder_(program),
      numbers_(std::move(numbers)),
      interval_(setup.strategy, recorder_, numbers_),
      failures_(network, setup.events, setup.workers.size(), setup.seed, *this),
      changed_(engine_) {
  SYNCLINE_CHECK(!setup.workers.empty(), "a simulation has workers");
  SYNCLINE_CHECK(setup.stop.steps || setup.stop.rounds || setup.stop.time,
                 "a simulation has a stop that time alone reaches");
  SYNCLINE_CHECK(setup.strategy.local_steps > 0 && setup.evaluate_every > 0,
                 "intervals are at least one step");
  SYNCLINE_CHECK(!may_fail() || !setup.strategy.within_cluster || setup.workers[0].hosts.size() > 1,
                 "averages of hosts inside a cluster know no failures");
  recorder_.set_recording(setup.recorded_steps > 0);
  workers_.resize(setup.workers.size());
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    Worker& worker = workers_[i];
    worker.index = static_cast<std::uint32_t>(i);
    worker.setup = &setup.workers[i];
    if (setup.replicas == 0 || i < setup.replicas) worker.replica = recorder_.init(setup.seed);
    slowest_step_ = std::max(slowest_step_, worker.setup->step);
    fastest_step_ = std::min(fastest_step_, worker.setup->step);
    speed_changes_.push_back(std::make_unique<Signal>(engine_));
  }
  set_up_groups();
}

void Fleet::set_up_groups() {
  GroupSetup all;
  all.collective = setup_.strategy.collective;
  all.payload = [this](std::uint64_t round) { return payload_of_round(setup_, round); };
  for (const Worker& worker : workers_) {
    all.members.push_back({worker.setup->hosts, worker.setup->cluster});
    all.weights.push_back(worker.setup->weight);
  }
  if (may_fail()) {
    all.presence = this;
    all.reweight = setup_.strategy.reweight;
    all.deadline = setup_.strategy.deadline;
    all.quorum = setup_.strategy.quorum;
  }
  if (setup_.strategy.adaptive) {
    all.observe = [this](std::span<const SharedValue> values, const SharedValue& mean) {
      interval_.observe(values, mean, global_);
    };
  }
  all_ = std::make_unique<Group>(network_, traffic_, recorder_, std::move(all));
  if (!setup_.strategy.within_cluster) return;
  const WithinCluster& within = *setup_.strategy.within_cluster;

  std::vector<std::string> names;
  std::vector<std::vector<CollectiveMember>> members;
  std::vector<std::vector<double>> weights;
  for (Worker& worker : workers_) {
    if (worker.setup->hosts.size() > 1) {
      std::vector<CollectiveMember> hosts;
      for (const NodeId host : worker.setup->hosts) {
        hosts.push_back({{host}, worker.setup->cluster});
      }
      charged_.push_back(idle_all_reduce(within.collective, network_.topology(), hosts,
                                         setup_.plain_payload, setup_.transport));
      continue;
    }
    const auto known = std::find(names.begin(), names.end(), worker.setup->cluster);
    worker.site = static_cast<std::size_t>(known - names.begin());
    if (known == names.end()) {
      names.push_back(worker.setup->cluster);
      members.emplace_back();
      weights.emplace_back();
    }
    worker.site_member = members[worker.site].size();
    members[worker.site].push_back({worker.setup->hosts, worker.setup->cluster});
    weights[worker.site].push_back(worker.setup->weight);
  }
  SYNCLINE_CHECK(charged_.empty() || charged_.size() == workers_.size(),
                 "all workers are hosts, or all are clusters");
  for (std::size_t site = 0; site < members.size(); ++site) {
    GroupSetup inside;
    inside.collective = within.collective;
    inside.members = std::move(members[site]);
    inside.weights = std::move(weights[site]);
    inside.payload = [this](std::uint64_t) { return setup_.plain_payload; };
    sites_.push_back(std::make_unique<Group>(network_, traffic_, recorder_, std::move(inside)));
  }
  blocks_open_.resize(sites_.size());
}

SharedValue Fleet::initial() {
  SharedValue theta = recorder_.read_parameters(workers_.front().replica);
  global_ = theta;
  evaluate(0, 0, Time());
  if (may_fail()) checkpoint_ = recorder_.read_all(workers_.front().replica);
  return theta;
}

void Fleet::start(Body body) {
  body_ = std::move(body);
  for (Worker& worker : workers_) {
    worker.process = engine_.spawn(worker.setup->name, live(worker));
  }
  failures_.start();
}

bool Fleet::opens(std::uint64_t round) const {
  const StopRule& stop = setup_.stop;
  if (stop.rounds && round >= *stop.rounds) return false;
  if (stop.steps && planned_begin(round) >= *stop.steps) return false;
  if (!stop.time) return true;
  // A round in which nobody finishes a step would be a sync of nothing. In data parallel all steps
  // count or none does.
  const bool all_or_none = std::holds_alternative<DataParallel>(setup_.strategy.method) ||
                           planned_begin(round) < setup_.strategy.gradient_steps;
  return engine_.now() + (all_or_none ? slowest_step_ : fastest_step_) <= *stop.time;
}

// Where this round would end without a stop.
std::uint64_t Fleet::next_end(std::uint64_t round) {
  const std::uint64_t begin = planned_begin(round);
  if (!setup_.strategy.adaptive || begin < setup_.strategy.gradient_steps)
    return syncline::round_end(setup_.strategy, round, begin);
  return begin + interval_.next();
}

// Once a round, by the first worker that asks. After the last round that has steps, the strategy
// may need some without.
bool Fleet::plan_round(std::uint64_t round) {
  if (!closing_left_) {
    if (!over_ && opens(round)) {
      const std::uint64_t end = next_end(round);
      ends_.push_back(setup_.stop.steps ? std::min(end, *setup_.stop.steps) : end);
      return true;
    }
    over_ = true;
    closing_left_ = round == 0 ? 0 : closing_rounds(setup_.strategy);
  }
  if (*closing_left_ == 0) return false;
  --*closing_left_;
  ends_.push_back(planned_begin(round));
  return true;
}

// Only values that some evaluation reads matter, and the last recorded round ends with one: what
// workers that are still on their way from the previous round would write after this is read by
// nobody. Where averages go on for longer, so does the recording.
bool Fleet::is_recorded(std::uint64_t round) const {
  const std::uint64_t begin = planned_begin(round);
  if (begin < setup_.recorded_steps) return true;
  if (closes(round)) return begin == setup_.recorded_steps;
  return recorder_.recording() && rounds_overlap(setup_.strategy) && !budget_evaluated_;
}

bool Fleet::open_round() {
  const std::uint64_t round = rounds_.size();
  if (!plan_round(round)) return false;
  RoundRecord& record = rounds_.emplace_back();
  record.round = round + 1;
  record.begun = engine_.now();
  back_.push_back(0);
  sent_until_.push_back(traffic_.total());
  recorder_.set_recording(is_recorded(round));
  return true;
}

bool Fleet::begin_round(Worker& worker) {
  const std::uint64_t round = worker.round;
  if (round == rounds_.size()) {
    if (!open_round()) return false;
    if (setup_.strategy.deadline) all_->open(round);
  }
  ++worker.round;
  worker.at_sync = worker.progress;
  if (may_fail()) {
    worker.start_state = recorder_.read_all(worker.replica);
    worker.residuals_at_sync = worker.residuals;
    failures_.note_progress();
    changed_.notify_all();
  }
  return true;
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

Task<> Fleet::local_steps(Worker& worker) { return local_steps(worker, round_end(worker)); }

Task<> Fleet::local_steps(Worker& worker, std::uint64_t until) {
  std::uint64_t left = until - planned_begin(worker.round - 1) - steps_in_round(worker);
  if (sites_.empty()) {
    co_await compute(worker, left);
    co_return;
  }
  SYNCLINE_CHECK(until == round_end(worker), "two-stage rounds are whole");
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
    timeline_.add(worker.index, Activity::WAIT, result.times.joined, result.times.all_joined);
    timeline_.add(worker.index, Activity::WITHIN, result.times.all_joined, result.times.back);
    if (interval == 1) {
      recorder_.apply(worker.replica, result.mean, worker.position - 1);
    } else {
      recorder_.write_parameters(worker.replica, result.mean);
    }
  }
}

// What the others get of a value that the worker sends in its present round.
SharedValue Fleet::encoded(Worker& worker, SharedValue value) {
  if (!setup_.strategy.compression) return value;
  const Compression& compression = *setup_.strategy.compression;
  const bool alone = worker.round == 0;
  const std::uint64_t round = alone ? worker.own_updates : worker.round - 1;
  // The same for all workers, so that random numbers are of the same places.
  const std::uint64_t seed = mix(Key{}, std::array{setup_.seed, round}).low;
  if (!compression.feedback) return recorder_.encode(value, compression.codec, seed);
  SharedValue& residual =
      worker.residuals[alone ? 0 : residual_of_round(setup_.strategy, round, planned_begin(round))];
  return recorder_.encode(value, compression.codec, seed, residual, *compression.feedback);
}

// The books of a worker that has this result, and did nothing else since `blocked`.
SharedValue Fleet::take(Worker& worker, std::uint64_t round, const Group::Result& result,
                        Time blocked) {
  const Time all_joined = std::max(result.times.all_joined, blocked);
  worker.waiting += all_joined - blocked;
  worker.syncing += engine_.now() - all_joined;
  timeline_.add(worker.index, Activity::WAIT, blocked, all_joined);
  timeline_.add(worker.index, Activity::SYNC, all_joined, engine_.now());
  rounds_[round].all_joined = result.times.all_joined;
  rounds_[round].workers = result.workers;
  ++back_[round];
  return result.mean;
}

void Fleet::note_average(Worker& worker, const AverageTimes& times) {
  worker.waiting += times.all_joined - times.joined;
  worker.syncing += times.back - times.all_joined;
  timeline_.add(worker.index, Activity::WAIT, times.joined, times.all_joined);
  timeline_.add(worker.index, Activity::SYNC, times.all_joined, times.back);
  RoundRecord& record = rounds_[worker.round - 1];
  record.all_joined = std::max(record.all_joined, times.all_joined);
  ++record.workers;
  ++back_[worker.round - 1];
}

Task<SharedValue> Fleet::average(Worker& worker, SharedValue value) {
  const std::uint64_t round = worker.round - 1;
  const Group::Result result =
      co_await all_->average(worker.index, round, encoded(worker, std::move(value)));
  if (result.missed) {
    if (!result.contributed) lose_round(worker);
    throw MissedRound();
  }
  co_return take(worker, round, result, result.times.joined);
}

bool Fleet::first_back(const Worker& worker) { return back_[worker.round - 1] == 1; }

void Fleet::publish(const Worker& worker, SharedValue global) {
  publish(worker.round - 1, worker.position, std::move(global));
}

void Fleet::publish(std::uint64_t round, std::uint64_t position, SharedValue global) {
  if (!global || !recorder_.recording()) return;
  // Where rounds overlap, workers may be in a later one by then.
  if (budget_evaluated_ && planned_begin(round) >= setup_.recorded_steps) return;
  global_ = std::move(global);
  global_evaluated_ = false;
  interval_.synchronised(global_);
  if (evaluates(round)) evaluate(round + 1, position, engine_.now());
}

bool Fleet::evaluates(std::uint64_t round) const {
  const StopRule& stop = setup_.stop;
  const std::uint64_t begin = planned_begin(round);
  const std::uint64_t end = ends_[round];
  // Where rounds without steps follow, finish() evaluates what they make.
  const bool last =
      (stop.rounds && round + 1 >= *stop.rounds) || (stop.steps && end >= *stop.steps);
  if (last && closing_rounds(setup_.strategy) > 0) return false;
  return end / setup_.evaluate_every > begin / setup_.evaluate_every ||
         end >= setup_.recorded_steps;
}

void Fleet::evaluate(std::uint64_t round, std::uint64_t steps, Time at) {
  const NumberIndex loss = recorder_.eval(global_);
  if (loss == kNone) return;
  global_evaluated_ = true;
  budget_evaluated_ = steps >= setup_.recorded_steps;
  evaluations_.push_back({round, steps, at, loss});
  if (setup_.stop.loss && numbers_) {
    const double value = numbers_(loss);
    over_ = over_ || value <= *setup_.stop.loss || !std::isfinite(value);
  }
}

void Fleet::note_steps(const Worker& worker, std::uint64_t round) {
  std::uint64_t& steps = rounds_[round].steps;
  steps = std::max(steps, closes(round) ? rounds_[round - 1].steps
                                        : planned_begin(round) + steps_in_round(worker));
}

void Fleet::note_end(std::uint64_t round) {
  rounds_[round].ended = engine_.now();
  sent_until_[round] = traffic_.total();
}

void Fleet::end_round(Worker& worker) {
  note_steps(worker, worker.round - 1);
  note_end(worker.round - 1);
  if (may_fail() && first_back(worker)) {
    if (SharedValue state = recorder_.read_all(worker.replica)) checkpoint_ = std::move(state);
  }
}

void Fleet::finish() {
  for (std::size_t i = 0; i < rounds_.size(); ++i) {
    rounds_[i].sent = sent_until_[i] - (i == 0 ? Bytes() : sent_until_[i - 1]);
  }
  if (global_ && !global_evaluated_) {
    recorder_.set_recording(true);
    evaluate(rounds_.back().round, rounds_.back().steps, rounds_.back().ended);
  }
  // A loss belongs to the moment at which every worker has the new model.
  for (Evaluation& evaluation : evaluations_) {
    if (evaluation.round > 0) evaluation.at = rounds_[evaluation.round - 1].ended;
  }
}

}  // namespace syncline
