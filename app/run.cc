#include "app/run.h"

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

#include "app/progress.h"
#include "app/scenario_run.h"
#include "app/stopwatch.h"
#include "report/output_folder.h"
#include "report/report.h"
#include "scenarios/load.h"

namespace syncline {

int run(const RunOptions& options) {
  const Stopwatch total;
  CheckedScenario scenario = load_scenario(options.scenario, options.load_options());
  const OutputFolder folder(options.out.empty() ? "runs/" + scenario.name : options.out);
  Progress progress(progress_style(options.quiet));

  const std::unique_ptr<Trainer> trainer =
      scenario.train ? make_trainer(scenario, options.device) : nullptr;
  if (trainer) {
    progress.say(fmt::format("{}: training on {}", scenario.name, trainer->device_name()));
    if (options.device == DeviceChoice::AUTO && !cuda_note().empty()) progress.say(cuda_note());
  }
  std::optional<Time> measured_step;
  if (scenario.pace.source == PaceSetup::Source::MEASURED) {
    measured_step = trainer->measure_step();
    progress.say(fmt::format("measured pace: {} a step", to_text(*measured_step)));
  }
  const ModelFacts model = model_facts(scenario, trainer.get());
  ScenarioRun executed(std::move(scenario), model, measured_step);
  executed.simulate(trainer.get(),
                    [&](double loss) { progress.say(fmt::format("loss {:.4f}", loss)); });
  if (trainer) {
    progress.start_training(executed.outcome());
    TrainingObserver observer;
    observer.on_progress = [&](const TrainingProgress& done) { progress.trained(done); };
    observer.on_number = [&](NumberIndex number, double loss) { progress.evaluated(number, loss); };
    executed.train(*trainer, observer);
  }

  const RunFacts facts = executed.facts(total.seconds());
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
             facts.scenario.name, folder.path());
  return 1;
}

}  // namespace syncline
