#include "app/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "app/environment.h"
#include "app/progress.h"
#include "app/scenario_run.h"
#include "app/sweep/points.h"
#include "app/sweep/progress.h"
#include "app/sweep/vary.h"
#include "compute/interrupted.h"
#include "report/report.h"
#include "report/sweep_folder.h"
#include "report/sweep_report.h"
#include "sim/engine/engine.h"
#include "topology/input_error.h"

namespace syncline {
namespace {

class Sweep {
 public:
  explicit Sweep(const SweepOptions& options)
      : device_(options.device),
        dimensions_(parse_vary(options.vary)),
        runs_(load_points(options, dimensions_)),
        name_(runs_.front().scenario.name),
        folder_(options.out.empty() ? "runs/" + name_ + "-sweep" : options.out, build_identity()),
        progress_(progress_style(options.quiet), runs_.size()) {}

  SweepFacts run();
  void finish(const SweepFacts& facts) {
    folder_.publish_reports(sweep_files(facts));
    progress_.finish();
  }
  const std::string& path() const { return folder_.path(); }

 private:
  void say_device();
  void keep_finished();
  void simulate_all();
  void take_simulated(const std::vector<std::exception_ptr>& errors);
  std::vector<std::vector<std::size_t>> equal_programs() const;
  std::string group_name(const std::vector<std::size_t>& group) const;
  void train(const std::vector<std::size_t>& group);
  void train_point(std::size_t p, Trainer& trainer);
  void publish(std::size_t p);
  void fail(std::size_t p, const std::string& why);

  bool open(std::size_t p) const { return runs_[p].run != nullptr; }

  DeviceChoice device_;
  std::vector<SweepDimension> dimensions_;
  std::vector<PointRun> runs_;
  std::string name_;
  SweepFolder folder_;
  SweepProgress progress_;
  std::vector<SweepPoint> points_;
};

// The point has results, of this sweep or from before.
void take_results(SweepPoint& point, const PointRun& run) {
  point.folder = run.folder;
  if (point.status() == "diverged")
    point.message = fmt::format("{}: diverged: a loss is not a number", run.name);
}

SweepFacts Sweep::run() {
  prepare_points(runs_, device_, folder_, [&](const std::string& what) { progress_.say(what); });
  say_device();
  keep_finished();
  simulate_all();

  std::vector<std::string> folders;
  for (const PointRun& run : runs_) folders.push_back(run.folder);
  folder_.begin(folders);
  for (std::size_t p = 0; p < runs_.size(); ++p) {
    if (!open(p)) {
      if (!points_[p].results) folder_.remove_point(runs_[p].folder);  // of an earlier sweep
    } else if (!runs_[p].run->trains()) {
      publish(p);
    }
  }
  const std::vector<std::vector<std::size_t>> groups = equal_programs();
  std::vector<std::uint64_t> steps;
  for (const std::vector<std::size_t>& group : groups)
    steps.push_back(runs_[group.front()].run->planned_steps());
  progress_.plan(steps);
  for (const std::vector<std::size_t>& group : groups) train(group);
  return {name_, dimensions_, points_, {}};
}

void Sweep::say_device() {
  const std::string& device = runs_.front().run->model().device;
  if (device.empty()) return;
  progress_.say(fmt::format("{}: training on {}", name_, device));
  if (device_ == DeviceChoice::AUTO && !cuda_note().empty()) progress_.say(cuda_note());
}

void Sweep::keep_finished() {
  std::size_t kept = 0;
  for (PointRun& run : runs_) {
    SweepPoint& point = points_.emplace_back();
    point.values = run.values;
    const ModelFacts& model = run.run->model();
    point.results =
        folder_.finished(run.folder, run.run->scenario_text(), model.header, model.device);
    if (!point.results) continue;
    take_results(point, run);
    run.run.reset();
    ++kept;
  }
  progress_.keep(kept);
}

// Independent of each other; each takes a core. What stops by loss waits for its training.
void Sweep::simulate_all() {
  std::vector<std::size_t> ready;
  for (std::size_t p = 0; p < runs_.size(); ++p) {
    if (open(p) && !runs_[p].run->waits_for_training()) ready.push_back(p);
  }
  if (ready.empty()) return;
  progress_.say(fmt::format("simulating {} points", ready.size()));
  std::vector<std::exception_ptr> errors(runs_.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < ready.size(); i = next++) {
      try {
        runs_[ready[i]].run->simulate(nullptr, {});
      } catch (...) {
        errors[ready[i]] = std::current_exception();
      }
    }
  };
  std::vector<std::jthread> threads;
  const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
  while (threads.size() + 1 < std::min(cores, ready.size())) threads.emplace_back(work);
  work();
  threads.clear();  // joins
  take_simulated(errors);
}

void Sweep::take_simulated(const std::vector<std::exception_ptr>& errors) {
  for (std::size_t p = 0; p < errors.size(); ++p) {
    if (!errors[p]) continue;
    try {
      std::rethrow_exception(errors[p]);
    } catch (const InputError& problem) {
      throw problem.at("point " + runs_[p].name);
    } catch (const std::runtime_error& error) {  // no progress
      fail(p, error.what());
    }
  }
}

// Points by the program that they train, in order of appearance. Not known before the training
// where the stop depends on it.
std::vector<std::vector<std::size_t>> Sweep::equal_programs() const {
  std::vector<std::vector<std::size_t>> groups;
  std::map<Key, std::size_t> known;
  for (std::size_t p = 0; p < runs_.size(); ++p) {
    if (!open(p)) continue;
    if (!runs_[p].run->waits_for_training()) {
      const auto [entry, added] = known.try_emplace(runs_[p].run->program_hash(), groups.size());
      if (!added) {
        groups[entry->second].push_back(p);
        continue;
      }
    }
    groups.push_back({p});
  }
  return groups;
}

// The values that its points share: "local_steps=20 · 3 points".
std::string Sweep::group_name(const std::vector<std::size_t>& group) const {
  std::vector<SweepDimension> shared;
  std::vector<std::size_t> values;
  for (std::size_t d = 0; d < dimensions_.size(); ++d) {
    const std::size_t value = runs_[group.front()].values[d];
    if (!std::all_of(group.begin(), group.end(),
                     [&](std::size_t p) { return runs_[p].values[d] == value; }))
      continue;
    shared.push_back(dimensions_[d]);
    values.push_back(value);
  }
  return fmt::format("{}{}{} point{}", point_name(shared, values), shared.empty() ? "" : " · ",
                     group.size(), group.size() == 1 ? "" : "s");
}

// One after the other: a training takes all cores, and points with equal settings of the trainer
// share what it keeps. The first point of a group is trained; for the others all numbers are known.
void Sweep::train(const std::vector<std::size_t>& group) {
  progress_.start_training(group_name(group));
  std::unique_ptr<Trainer> trainer;
  for (const std::size_t p : group) {
    try {
      if (interrupted()) throw Interrupted();
      if (!trainer) trainer = make_trainer(runs_[p].run->scenario(), device_);
      train_point(p, *trainer);
    } catch (const InputError&) {
      throw;
    } catch (const std::runtime_error& error) {  // no progress, or a cache that cannot be written
      fail(p, error.what());
      folder_.remove_point(runs_[p].folder);
      trainer.reset();
      continue;
    }
    publish(p);  // a full disk ends the sweep; it goes on when there is room
  }
}

void Sweep::train_point(std::size_t p, Trainer& trainer) {
  ScenarioRun& run = *runs_[p].run;
  if (run.waits_for_training())
    run.simulate(&trainer, [&](double loss) { progress_.evaluated(loss); });
  TrainingObserver observer;
  observer.on_progress = [&](const TrainingProgress& done) { progress_.trained(done); };
  observer.on_number = [&](NumberIndex, double loss) { progress_.evaluated(loss); };
  run.train(trainer, observer);
}

void Sweep::publish(std::size_t p) {
  const PointRun& run = runs_[p];
  const RunFacts facts = run.run->facts(run.run->real_s());
  const std::map<std::string, std::string> files = run_files(facts);
  folder_.publish_point(run.folder, files);
  SweepPoint& point = points_[p];
  point.results = read_results(files.at("results.json"));
  take_results(point, run);
  progress_.point_done(run.name, point.status());
  runs_[p].run.reset();
}

void Sweep::fail(std::size_t p, const std::string& why) {
  points_[p].message = fmt::format("{}: {}", runs_[p].name, why);
  runs_[p].run.reset();
  progress_.point_done(runs_[p].name, "failed: " + why);
}

}  // namespace

int sweep(const SweepOptions& options) {
  Sweep sweep(options);
  SweepFacts facts = sweep.run();
  facts.target_loss = options.target_loss;
  sweep.finish(facts);
  if (options.json) {
    fmt::print("{}", sweep_json(facts));
  } else {
    fmt::print("{}\nresults in {}\n", sweep_text(facts), sweep.path());
  }
  std::size_t failed = 0;
  const std::string* message = nullptr;
  for (const SweepPoint& point : facts.points) {
    if (point.status() == "done") continue;
    ++failed;
    if (message == nullptr) message = &point.message;
  }
  if (failed == 0) return 0;
  fmt::print(stderr, "syncline: {} of {} points came to nothing, the first: {}\n", failed,
             facts.points.size(), *message);
  return 1;
}

}  // namespace syncline
