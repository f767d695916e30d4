#include "app/sweep/points.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "app/environment.h"
#include "app/sweep/vary.h"
#include "scenarios/load.h"
#include "scenarios/setup.h"
#include "sim/engine/engine.h"
#include "topology/input_error.h"

namespace syncline {
namespace {

// Runs `work` for the point; its errors name it.
template <class Work>
auto at_point(const PointRun& point, Work work) {
  if (interrupted()) throw Interrupted();
  try {
    return work();
  } catch (const InputError& problem) {
    throw problem.at(fmt::format("point {}", point.name));
  }
}

// All that the duration of a step depends on: points that differ in something else stand on one
// clock.
std::string pace_key(const TrainingConfig& config, const ModelFacts& model) {
  return fmt::format(
      "layers {}, width {}, heads {}, context {}, {} parameters, batch {}, "
      "precision {}, optimizer {}, {}",
      config.model.layers, config.model.width, config.model.heads, config.model.context,
      model.parameters, config.batch, static_cast<int>(config.precision),
      static_cast<int>(config.inner.kind), model.device);
}

struct KnownModel {
  bool train = false;
  TrainingConfig config;
  ModelFacts facts;
  std::optional<Time> measured_step;
};

}  // namespace

std::vector<PointRun> load_points(const SweepOptions& options,
                                  const std::vector<SweepDimension>& dimensions) {
  for (const SweepDimension& dimension : dimensions) {
    if (options.seed && dimension.path == "seed")
      throw InputError("--seed and --vary seed exclude each other; leave --seed out");
  }
  const std::vector<std::vector<std::size_t>> combined = combinations(dimensions);
  const std::vector<std::string> folders = folder_names(dimensions, combined);
  std::vector<PointRun> points;
  for (std::size_t p = 0; p < combined.size(); ++p) {
    PointRun& point = points.emplace_back();
    point.values = combined[p];
    point.name = point_name(dimensions, point.values);
    point.folder = folders[p];
    LoadOptions load = options.load_options();
    for (std::size_t d = 0; d < dimensions.size(); ++d)
      load.sets.push_back(dimensions[d].path + "=" + dimensions[d].values[point.values[d]]);
    point.scenario = at_point(point, [&] { return load_scenario(options.scenario, load); });
  }
  return points;
}

void prepare_points(std::vector<PointRun>& points, DeviceChoice device, SweepFolder& folder,
                    const std::function<void(const std::string&)>& say) {
  std::vector<KnownModel> models;
  for (PointRun& point : points) {
    const CheckedScenario& scenario = point.scenario;
    const bool measured = scenario.pace.source == PaceSetup::Source::MEASURED;
    const TrainingConfig config = training_config(scenario);
    auto model = std::find_if(models.begin(), models.end(), [&](const KnownModel& known) {
      return known.train == scenario.train && known.config == config;
    });
    at_point(point, [&] {
      std::unique_ptr<Trainer> trainer;
      const auto need_trainer = [&] {
        if (!trainer) trainer = make_trainer(scenario, device);
      };
      if (model == models.end()) {
        if (scenario.train) need_trainer();
        models.push_back({scenario.train, config, model_facts(scenario, trainer.get()), {}});
        model = std::prev(models.end());
      }
      if (measured && !model->measured_step) {
        const std::string key = pace_key(config, model->facts);
        model->measured_step = folder.measured_step(key);
        if (!model->measured_step) {
          need_trainer();
          model->measured_step = trainer->measure_step();
          folder.remember_step(key, *model->measured_step);
          say(fmt::format("measured pace: {} a step", to_text(*model->measured_step)));
        }
      }
      point.run = std::make_unique<ScenarioRun>(std::move(point.scenario), model->facts,
                                                measured ? model->measured_step : std::nullopt);
    });
  }
}

}  // namespace syncline
