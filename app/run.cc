#include "app/run.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>

#include "app/environment.h"
#include "app/progress.h"
#include "app/untrained.h"
#include "compute/data/dataset.h"
#include "report/output_folder.h"
#include "report/report.h"
#include "scenarios/setup.h"
#include "sim/baseline.h"
#include "sim/simulation.h"

namespace syncline {
namespace {

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
  }

 private:
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

Progress::Style progress_style(const RunOptions& options) {
  if (options.quiet) return Progress::Style::QUIET;
  return stderr_is_terminal() ? Progress::Style::LIVE : Progress::Style::LINES;
}

std::unique_ptr<Trainer> make_trainer(const CheckedScenario& scenario, const RunOptions& options) {
  const TrainingConfig config = training_config(scenario);
  TorchTrainerOptions torch;
  torch.device = options.device;
  torch.cache_folder = cache_folder() + "/trajectories";
  return make_torch_trainer(config, Dataset::load(config.data, config.model, config.seed), torch);
}

}  // namespace

int run(const RunOptions& options) {
  const Stopwatch total;
  const CheckedScenario scenario = load_scenario(options.scenario, options.load_options());
  const OutputFolder folder(options.out.empty() ? "runs/" + scenario.name : options.out);
  Progress progress(progress_style(options));

  const std::unique_ptr<Trainer> trainer =
      scenario.train ? make_trainer(scenario, options) : nullptr;
  if (trainer) {
    progress.say(fmt::format("{}: training on {}", scenario.name, trainer->device_name()));
    if (options.device == DeviceChoice::AUTO && !cuda_note().empty()) progress.say(cuda_note());
  }
  std::optional<Time> measured_step;
  if (scenario.pace.source == PaceSetup::Source::MEASURED) {
    measured_step = trainer->measure_step();
    progress.say(fmt::format("measured pace: {} a step", to_text(*measured_step)));
  }
  const SimulationSetup setup = simulation_setup(
      scenario, trainer ? trainer->parameter_count() : untrained_parameters(scenario),
      measured_step);

  Program program(trainer ? trainer->header() : std::string());
  TrainingEffort effort;
  const auto add = [&](const TrainingEffort& more) {
    effort.steps_executed += more.steps_executed;
    effort.tokens_executed += more.tokens_executed;
    effort.seconds += more.seconds;
  };
  TrainingObserver observer;
  observer.interrupted = interrupted;

  const Stopwatch simulating;
  SimulationHooks hooks;
  hooks.interrupted = interrupted;
  hooks.numbers = [&](NumberIndex number) {
    add(trainer->run(program, observer));
    progress.say(fmt::format("loss {:.4f}", trainer->number(number)));
    return trainer->number(number);
  };
  const SimulationOutcome outcome =
      simulate(scenario.topology, setup, trainer ? &program : nullptr, hooks);
  const Time ideal = ideal_network_time(scenario.topology, setup, outcome);
  const double simulation_s = simulating.seconds() - effort.seconds;

  if (trainer) {
    progress.start_training(outcome);
    observer.on_progress = [&](const TrainingProgress& done) { progress.trained(done); };
    observer.on_number = [&](NumberIndex number, double loss) { progress.evaluated(number, loss); };
    add(trainer->run(program, observer));
  }

  const RunFacts facts{.scenario = scenario,
                       .setup = setup,
                       .outcome = outcome,
                       .program = trainer ? &program : nullptr,
                       .number =
                           [&](NumberIndex number) {
                             return trainer ? trainer->number(number)
                                            : std::numeric_limits<double>::quiet_NaN();
                           },
                       .device = trainer ? trainer->device_name() : std::string(),
                       .measured_step = measured_step,
                       .ideal_network_time = ideal,
                       .effort = effort,
                       .total_s = total.seconds(),
                       .simulation_s = simulation_s};
  folder.publish(run_files(facts));
  progress.finish();
  if (options.json) {
    fmt::print("{}", summary_json(facts));
  } else {
    fmt::print("{}  {:<22}{}\n", summary_text(facts), "results", folder.path());
  }
  if (!diverged(facts)) return 0;
  fmt::print(stderr,
             "syncline: {}: diverged: a loss is not a number; the results up to there are in {}\n",
             scenario.name, folder.path());
  return 1;
}

}  // namespace syncline
