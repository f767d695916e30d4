#include "scenarios/flow_files.h"
#include "scenarios/readers.h"

namespace syncline {

void read_background(Document& document, CheckedScenario& scenario) {
  if (!document.scenario().has_background()) return;
  const proto::Background& background = document.scenario().background();
  if (!background.has_flows())
    throw document.error("background.flows",
                         R"(is missing; write for example flows: "others.csv")");
  scenario.background = document.at("background.flows", [&] {
    return read_flows(document.path_of(background.flows()), scenario.topology, scenario.map.get());
  });
}

}  // namespace syncline
