// The files of a run's folder.
#include <fmt/format.h>

#include <cmath>
#include <sstream>

#include "report/csv.h"
#include "report/json.h"
#include "report/links_csv.h"
#include "report/report.h"
#include "report/results.h"
#include "report/timeline.h"

namespace syncline {
namespace {

std::string loss_or_nothing(double loss) {
  return std::isfinite(loss) ? fmt::format("{}", loss) : std::string();
}

std::string rounds_csv(const RunFacts& facts) {
  std::string text =
      "round,steps,begun_s,all_joined_s,ended_s,workers,bytes_sent,training_loss,loss\n";
  std::size_t next = 0;
  const std::vector<Evaluation>& evaluations = facts.outcome.evaluations;
  for (const RoundRecord& round : facts.outcome.rounds) {
    double sum = 0;
    double steps = 0;
    for (const auto& [number, weight] : round.losses) {
      const double loss = facts.number(number);
      if (!std::isfinite(loss)) continue;  // of steps that were lost, and so not trained
      sum += loss * weight;
      steps += weight;
    }
    while (next < evaluations.size() && evaluations[next].round < round.round) ++next;
    const bool evaluated = next < evaluations.size() && evaluations[next].round == round.round;
    fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{},{},{},{}\n", round.round,
                   round.steps, round.begun.in_seconds(), round.all_joined.in_seconds(),
                   round.ended.in_seconds(), round.workers, round.sent.count(),
                   loss_or_nothing(steps > 0 ? sum / steps : NAN),
                   loss_or_nothing(evaluated ? facts.number(evaluations[next].loss) : NAN));
  }
  return text;
}

std::string workers_csv(const RunFacts& facts) {
  std::string text =
      "worker,cluster,hosts,step_s,steps,inner_steps_s,sync_within_cluster_s,waiting_for_others_s,"
      "sync_s,bytes_sent,bytes_received,lost_steps,lost_s,down_s,rejoins,rejoining_s,rejoin_"
      "bytes\n";
  for (std::size_t i = 0; i < facts.setup.workers.size(); ++i) {
    const WorkerSetup& setup = facts.setup.workers[i];
    const WorkerOutcome& outcome = facts.outcome.workers[i];
    fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n",
                   csv_field(setup.name), csv_field(setup.cluster), setup.hosts.size(),
                   setup.step.in_seconds(), outcome.steps, outcome.computing.in_seconds(),
                   outcome.within.in_seconds(), outcome.waiting.in_seconds(),
                   outcome.syncing.in_seconds(), outcome.sent.count(), outcome.received.count(),
                   outcome.lost_steps, outcome.lost.in_seconds(), outcome.down.in_seconds(),
                   outcome.rejoins, outcome.rejoining.in_seconds(), outcome.rejoin_bytes.count());
  }
  return text;
}

}  // namespace

std::string summary_json(const RunFacts& facts) { return as_json(make_results(facts).summary()); }

std::map<std::string, std::string> run_files(const RunFacts& facts) {
  std::map<std::string, std::string> files;
  files["results.json"] = as_json(make_results(facts));
  files["real_time.json"] = as_json(make_real_time(facts));
  files["rounds.csv"] = rounds_csv(facts);
  files["workers.csv"] = workers_csv(facts);
  files["links.csv"] =
      links_csv(facts.scenario.topology, facts.outcome.links, facts.outcome.virtual_time);
  files["timeline.json"] = timeline_json(facts);
  files["scenario.textproto"] = facts.scenario.text(facts.measured_step);
  if (facts.program != nullptr) {
    std::ostringstream program;
    facts.program->write_text(program);
    files["program.txt"] = program.str();
  }
  return files;
}

}  // namespace syncline
