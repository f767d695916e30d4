#include "app/scenario_run.h"

#include <limits>
#include <utility>

#include "app/environment.h"
#include "app/stopwatch.h"
#include "app/untrained.h"
#include "compute/data/dataset.h"
#include "scenarios/setup.h"
#include "sim/baseline.h"

namespace syncline {
namespace {

void add(TrainingEffort& effort, const TrainingEffort& more) {
  effort.steps_executed += more.steps_executed;
  effort.tokens_executed += more.tokens_executed;
  effort.seconds += more.seconds;
}

}  // namespace

std::unique_ptr<Trainer> make_trainer(const CheckedScenario& scenario, DeviceChoice device) {
  const TrainingConfig config = training_config(scenario);
  TorchTrainerOptions torch;
  torch.device = device;
  torch.cache_folder = cache_folder() + "/trajectories";
  return make_torch_trainer(config, Dataset::load(config.data, config.model, config.seed), torch);
}

ModelFacts model_facts(const CheckedScenario& scenario, const Trainer* trainer) {
  if (trainer == nullptr) return {untrained_parameters(scenario), {}, {}};
  return {trainer->parameter_count(), trainer->header(), trainer->device_name()};
}

ScenarioRun::ScenarioRun(CheckedScenario scenario, ModelFacts model,
                         std::optional<Time> measured_step)
    : scenario_(std::move(scenario)),
      model_(std::move(model)),
      measured_step_(measured_step),
      setup_(simulation_setup(scenario_, model_.parameters, measured_step)) {
  if (!model_.header.empty()) program_ = std::make_unique<Program>(model_.header);
}

void ScenarioRun::simulate(Trainer* trainer, const std::function<void(double)>& on_loss) {
  const Stopwatch simulating;
  SimulationHooks hooks;
  hooks.interrupted = interrupted;
  hooks.timeline = true;
  std::optional<NumberIndex> heard;  // the latest loss; each is told once
  hooks.numbers = [&](NumberIndex number) {
    TrainingObserver observer;
    observer.interrupted = interrupted;
    observer.on_number = [&](NumberIndex index, double loss) {
      if (heard && index <= *heard) return;
      heard = index;
      on_loss(loss);
    };
    add(effort_, trainer->run(*program_, observer));
    return trainer->number(number);
  };
  outcome_ = syncline::simulate(scenario_.topology, setup_, program_.get(), hooks);
  ideal_ = ideal_network_time(scenario_.topology, setup_, outcome_);
  simulation_s_ = simulating.seconds() - effort_.seconds;
}

void ScenarioRun::train(Trainer& trainer, TrainingObserver observer) {
  observer.interrupted = interrupted;
  add(effort_, trainer.run(*program_, observer));
  numbers_.clear();
  for (std::size_t i = 0; i < program_->number_count(); ++i)
    numbers_.push_back(trainer.number(static_cast<NumberIndex>(i)));
}

std::uint64_t ScenarioRun::planned_steps() const {
  std::uint64_t steps = 0;
  for (const Instruction& instruction : program_->instructions()) {
    if (instruction.op == Op::STEP || instruction.op == Op::GRAD) steps += instruction.count;
  }
  return steps;
}

RunFacts ScenarioRun::facts(double total_s) const {
  return {.scenario = scenario_,
          .setup = setup_,
          .outcome = outcome_,
          .program = program_.get(),
          .number =
              [this](NumberIndex number) {
                return number < numbers_.size() ? numbers_[number]
                                                : std::numeric_limits<double>::quiet_NaN();
              },
          .device = model_.device,
          .measured_step = measured_step_,
          .ideal_network_time = ideal_,
          .effort = effort_,
          .total_s = total_s,
          .simulation_s = simulation_s_};
}

}  // namespace syncline
