#include "report/results.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "report/report.h"
#include "report/version.h"
#include "scenarios/setup.h"

namespace syncline {
namespace {

double count(std::uint64_t value) { return static_cast<double>(value); }

// Of a worker that was in all rounds.
std::uint64_t steps_of_the_run(const RunFacts& facts) {
  return facts.outcome.rounds.empty() ? 0 : facts.outcome.rounds.back().steps;
}

std::vector<double> known_losses(const RunFacts& facts) {
  std::vector<double> losses;
  for (const Evaluation& evaluation : facts.outcome.evaluations) {
    const double loss = facts.number(evaluation.loss);
    if (std::isfinite(loss)) losses.push_back(loss);
  }
  return losses;
}

void fill_losses(const RunFacts& facts, proto::Results& results) {
  for (const Evaluation& evaluation : facts.outcome.evaluations) {
    proto::LossPoint& point = *results.add_losses();
    point.set_round(count(evaluation.round));
    point.set_steps(count(evaluation.steps));
    point.set_time_s(evaluation.at.in_seconds());
    const double loss = facts.number(evaluation.loss);
    if (std::isfinite(loss)) point.set_loss(loss);
  }
  const std::vector<double> losses = known_losses(facts);
  if (losses.empty()) return;
  proto::Summary& summary = *results.mutable_summary();
  summary.set_initial_loss(losses.front());
  summary.set_best_loss(*std::min_element(losses.begin(), losses.end()));
  if (diverged(facts)) return;
  if (facts.scenario.projection) {
    summary.set_proxy_loss(losses.back());
  } else {
    summary.set_final_loss(losses.back());
  }
}

void fill_summary(const RunFacts& facts, proto::Summary& summary) {
  const SimulationOutcome& outcome = facts.outcome;
  const std::size_t workers = outcome.workers.size();
  const double virtual_s = outcome.virtual_time.in_seconds();
  double computing_s = 0;
  double worker_steps = 0;
  double recorded = 0;
  double lost_steps = 0;
  double down_s = 0;
  Bytes rejoin_bytes;
  for (const WorkerOutcome& worker : outcome.workers) {
    computing_s += worker.computing.in_seconds();
    worker_steps += count(worker.steps);
    recorded += count(worker.recorded_steps);
    lost_steps += count(worker.lost_steps);
    down_s += worker.down.in_seconds();
    rejoin_bytes += worker.rejoin_bytes;
  }
  summary.set_virtual_time_s(virtual_s);
  summary.set_ideal_network_time_s(facts.ideal_network_time.in_seconds());
  if (virtual_s > 0) summary.set_compute_utilisation(computing_s / (count(workers) * virtual_s));
  summary.set_tokens(worker_steps / count(workers) * counted_tokens_per_step(facts.scenario));
  if (facts.program != nullptr) {
    // Without replicas of their own, workers count steps that the real ones stand for.
    const double real_share =
        facts.scenario.replicas == 0 ? 1 : count(facts.scenario.replicas) / count(workers);
    summary.set_trained_tokens(recorded * real_share * facts.scenario.training.batch *
                               facts.scenario.training.model.context);
    summary.set_program_hash(facts.program->hash().to_text());
  }
  summary.set_steps(count(steps_of_the_run(facts)));
  summary.set_syncs(count(outcome.rounds.size()));
  summary.set_workers(count(workers));
  summary.set_parameters(count(facts.setup.payload.elements));
  summary.set_payload_bytes(static_cast<double>(facts.setup.payload.bytes().count()));
  summary.set_bytes_sent(static_cast<double>(outcome.sent.count()));
  summary.set_lost_steps(lost_steps);
  summary.set_down_s(down_s);
  summary.set_rejoin_bytes(static_cast<double>(rejoin_bytes.count()));
  double present = 0;
  for (const RoundRecord& round : outcome.rounds) present += count(round.workers);
  if (!outcome.rounds.empty()) summary.set_mean_workers(present / count(outcome.rounds.size()));
  summary.set_bytes_sent_within(static_cast<double>(outcome.sent_within.count()));
}

void fill_time_of_a_worker(const RunFacts& facts, proto::Results& results) {
  const double workers = count(facts.outcome.workers.size());
  const double virtual_s = facts.outcome.virtual_time.in_seconds();
  double used_s = 0;
  const auto add = [&](const char* what, double seconds) {
    proto::WaitingPart& part = *results.add_time_of_a_worker();
    part.set_what(what);
    part.set_seconds(seconds);
    if (virtual_s > 0) part.set_share(seconds / virtual_s);
    used_s += seconds;
  };
  const auto mean = [&](Time WorkerOutcome::*member) {
    double sum = 0;
    for (const WorkerOutcome& worker : facts.outcome.workers) sum += (worker.*member).in_seconds();
    return sum / workers;
  };
  add("inner_steps", mean(&WorkerOutcome::computing));
  add("sync_within_cluster", mean(&WorkerOutcome::within));
  add("waiting_for_others", mean(&WorkerOutcome::waiting));
  add("sync", mean(&WorkerOutcome::syncing));
  add("lost_steps", mean(&WorkerOutcome::lost));
  add("down", mean(&WorkerOutcome::down));
  add("rejoining", mean(&WorkerOutcome::rejoining));
  // A step that the stop cut off, and the end of a run in which others are still on their way.
  add("idle", std::max(virtual_s - used_s, 0.0));
}

void fill_limits(const RunFacts& facts, proto::Results& results) {
  constexpr std::size_t kListed = 10;
  std::vector<std::pair<double, std::string>> limits{
      {facts.outcome.limited_by_latency_s, "latency"},
      {facts.outcome.limited_by_cap_s, "the transport"}};
  for (const LinkOutcome& link : facts.outcome.links) {
    if (link.limited_s > 0)
      limits.emplace_back(link.limited_s, facts.scenario.topology.channel_name(link.channel));
  }
  double sum = 0;
  for (const auto& [seconds, name] : limits) sum += seconds;
  if (sum <= 0) return;
  std::stable_sort(limits.begin(), limits.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  limits.resize(std::min(limits.size(), kListed));
  for (const auto& [seconds, name] : limits) {
    if (seconds <= 0) continue;
    proto::LimitPart& part = *results.add_transfers_limited_by();
    part.set_what(name);
    part.set_share(seconds / sum);
  }
}

void fill_pace(const RunFacts& facts, proto::PaceUsed& pace) {
  static constexpr const char* kSources[] = {"measured", "fixed", "flops"};
  pace.set_source(kSources[static_cast<int>(facts.scenario.pace.source)]);
  const auto by_step = [](const WorkerSetup& a, const WorkerSetup& b) { return a.step < b.step; };
  const auto [fastest, slowest] =
      std::minmax_element(facts.setup.workers.begin(), facts.setup.workers.end(), by_step);
  pace.set_fastest_step_s(fastest->step.in_seconds());
  pace.set_slowest_step_s(slowest->step.in_seconds());
  if (facts.measured_step) pace.set_measured_step_s(facts.measured_step->in_seconds());
}

void fill_marks(const RunFacts& facts, proto::Results& results) {
  const auto mark = [&](const char* figure, proto::Mark::How how) {
    proto::Mark& added = *results.add_marks();
    added.set_figure(figure);
    added.set_how(how);
  };
  for (const char* figure :
       {"summary.virtual_time_s", "summary.ideal_network_time_s", "summary.compute_utilisation",
        "summary.tokens", "summary.steps", "summary.syncs", "summary.bytes_sent",
        "time_of_a_worker", "transfers_limited_by"}) {
    mark(figure, proto::Mark::SIMULATED);
  }
  if (facts.program != nullptr) {
    mark("losses", proto::Mark::MEASURED);
    mark(facts.scenario.projection ? "summary.proxy_loss" : "summary.final_loss",
         proto::Mark::MEASURED);
    mark("summary.trained_tokens", proto::Mark::MEASURED);
  }
  switch (facts.scenario.pace.source) {
    case PaceSetup::Source::MEASURED:
      mark("pace", proto::Mark::MEASURED);
      break;
    case PaceSetup::Source::FLOPS:
      mark("pace", proto::Mark::MODELLED);
      break;
    case PaceSetup::Source::FIXED:
      mark("pace", proto::Mark::SIMULATED);
      break;
  }
}

}  // namespace

bool diverged(const RunFacts& facts) {
  return std::any_of(
      facts.outcome.evaluations.begin(), facts.outcome.evaluations.end(),
      [&](const Evaluation& evaluation) { return !std::isfinite(facts.number(evaluation.loss)); });
}

proto::Results make_results(const RunFacts& facts) {
  proto::Results results;
  results.set_syncline(kVersion);
  results.set_scenario(facts.scenario.name);
  results.set_seed(static_cast<double>(facts.scenario.seed));
  results.set_status(diverged(facts) ? "diverged" : "done");
  fill_summary(facts, *results.mutable_summary());
  fill_losses(facts, results);
  fill_time_of_a_worker(facts, results);
  fill_limits(facts, results);
  fill_pace(facts, *results.mutable_pace());
  if (facts.program != nullptr) {
    results.mutable_device()->set_trained_on(facts.device);
    results.mutable_device()->set_settings(facts.program->header());
  }
  for (const std::string& assumption : facts.scenario.assumptions)
    results.add_assumptions(assumption);
  fill_marks(facts, results);
  return results;
}

proto::RealTime make_real_time(const RunFacts& facts) {
  proto::RealTime real;
  real.set_total_s(facts.total_s);
  real.set_simulation_s(facts.simulation_s);
  real.set_training_s(facts.effort.seconds);
  real.set_events(count(facts.outcome.events));
  real.set_steps_executed(count(facts.effort.steps_executed));
  real.set_tokens_executed(count(facts.effort.tokens_executed));
  if (facts.effort.tokens_executed > 0 && facts.effort.seconds > 0) {
    real.set_tokens_per_s(count(facts.effort.tokens_executed) / facts.effort.seconds);
  }
  real.set_from_cache(facts.program != nullptr && facts.effort.steps_executed == 0);
  if (facts.program != nullptr) real.set_device(facts.device);
  return real;
}

}  // namespace syncline
