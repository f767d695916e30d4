// The points of a sweep before anything runs: every scenario read and checked.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/scenario_run.h"
#include "app/sweep.h"
#include "report/sweep_facts.h"
#include "report/sweep_folder.h"

namespace syncline {

struct PointRun {
  std::vector<std::size_t> values;  // by dimension
  std::string name;                 // for people
  std::string folder;               // below the sweep's
  CheckedScenario scenario;
  std::unique_ptr<ScenarioRun> run;  // from prepare_points() until its folder is written
};

// Throws InputError, which names the point.
std::vector<PointRun> load_points(const SweepOptions& options,
                                  const std::vector<SweepDimension>& dimensions);

// Makes the executions. A trainer is made once for each training configuration, only to be asked;
// paces are measured here, or taken from the folder's earlier sweep. `say` hears what goes on.
// Throws InputError, which names the point.
void prepare_points(std::vector<PointRun>& points, DeviceChoice device, SweepFolder& folder,
                    const std::function<void(const std::string&)>& say);

}  // namespace syncline
