#include "scenarios/load_network.h"

#include <utility>

#include "scenarios/readers.h"

namespace syncline {

LoadedNetwork load_network(const std::string& file) {
  Document document = Document::read_topology(file);
  CheckedScenario scenario;
  if (document.scenario().has_seed()) scenario.seed = document.scenario().seed();
  read_topology(document, scenario);
  read_transport(document, scenario);
  return {std::move(scenario.topology), std::move(scenario.map), std::move(scenario.traces),
          scenario.transport, std::move(scenario.assumptions)};
}

}  // namespace syncline
