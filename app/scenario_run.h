// One scenario on its way through the rooms: set up, simulated, trained, reported. `run` takes one
// along it, `sweep` many.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compute/program.h"
#include "compute/torch/torch_trainer.h"
#include "compute/trainer.h"
#include "report/run_facts.h"
#include "scenarios/checked_scenario.h"
#include "sim/setup.h"
#include "sim/simulation.h"

namespace syncline {

// Throws InputError: no data, CUDA asked for and not usable.
std::unique_ptr<Trainer> make_trainer(const CheckedScenario& scenario, DeviceChoice device);

// What the steps before the training need to know of the trainer, which may be made later, or be
// another one with the same settings.
struct ModelFacts {
  std::uint64_t parameters = 0;
  std::string header;  // Trainer::header(); empty: nothing is trained
  std::string device;
};
ModelFacts model_facts(const CheckedScenario& scenario, const Trainer* trainer);

class ScenarioRun {
 public:
  // Throws InputError as simulation_setup().
  ScenarioRun(CheckedScenario scenario, ModelFacts model, std::optional<Time> measured_step);
  ScenarioRun(const ScenarioRun&) = delete;
  ScenarioRun& operator=(const ScenarioRun&) = delete;

  const CheckedScenario& scenario() const { return scenario_; }
  const SimulationOutcome& outcome() const { return outcome_; }
  const ModelFacts& model() const { return model_; }
  bool trains() const { return program_ != nullptr; }
  // The clock waits for numbers: simulate() needs the trainer.
  bool waits_for_training() const {
    return trains() && (setup_.stop.loss || setup_.strategy.adaptive);
  }
  // Inner steps over all replicas that the program has, about.
  std::uint64_t planned_steps() const;
  Key program_hash() const { return program_->hash(); }
  // What the run is known by when it is seen again: the scenario as it is run.
  std::string scenario_text() const { return scenario_.text(measured_step_); }

  // Throws as syncline::simulate(); Interrupted on ctrl-C. `trainer` may be null unless
  // waits_for_training(); `on_loss` hears the losses that the clock waited for.
  void simulate(Trainer* trainer, const std::function<void(double)>& on_loss);
  // Throws TrainingInterrupted on ctrl-C.
  void train(Trainer& trainer, TrainingObserver observer);

  // `total_s`: real time that the whole took. The facts must not outlive this.
  RunFacts facts(double total_s) const;
  // Real time of simulate() and train() so far.
  double real_s() const { return simulation_s_ + effort_.seconds; }

 private:
  CheckedScenario scenario_;
  ModelFacts model_;
  std::optional<Time> measured_step_;
  SimulationSetup setup_;
  std::unique_ptr<Program> program_;
  SimulationOutcome outcome_;
  Time ideal_;
  std::vector<double> numbers_;  // by index; the trainer may be gone
  TrainingEffort effort_;
  double simulation_s_ = 0;
};

}  // namespace syncline
