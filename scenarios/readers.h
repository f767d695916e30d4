// One reader a part of the scenario: checks it, writes its defaults into the document, and fills
// the checked scenario. Inside scenarios/ only.
#pragma once

#include <string>

#include "scenarios/checked_scenario.h"
#include "scenarios/document.h"

namespace syncline {

// In this order; later ones use what earlier ones filled. Each throws InputError.
void read_topology(Document& document, CheckedScenario& scenario);
// Part of read_topology().
void read_topology_file(Document& document, CheckedScenario& scenario);
void read_workers(Document& document, CheckedScenario& scenario);
void read_strategy(Document& document, CheckedScenario& scenario);
// Part of read_strategy(), after its local_steps; one method is there.
Method read_method(const Document& document, const CheckedScenario& scenario,
                   proto::Strategy& strategy);
// Part of read_strategy().
Collective read_collective(Document& document, CheckedScenario& scenario,
                           proto::Collective& collective, const std::string& path);
// Parts of read_method().
OuterRule read_outer(const Document& document, proto::Optimizer& outer, const std::string& path,
                     const OuterRule& by_default = {});
AsyncLocalSgd read_async_local_sgd(const Document& document, const CheckedScenario& scenario,
                                   proto::Strategy& strategy);
Gossip read_gossip(const Document& document, const CheckedScenario& scenario,
                   proto::Strategy& strategy);
FedAvg read_fed_avg(const Document& document, const CheckedScenario& scenario,
                    proto::Strategy& strategy);
void read_compression(const Document& document, CheckedScenario& scenario,
                      proto::Strategy& strategy);
// A share of what a codec keeps, and of what error feedback does; `path` for messages.
std::uint32_t read_keep(const Document& document, std::uint32_t keep, const std::string& path);
double read_decay(const Document& document, double decay, const std::string& path);
void read_training(Document& document, CheckedScenario& scenario, const std::string& cache_folder);
void read_project(Document& document, CheckedScenario& scenario);
void read_pace(Document& document, CheckedScenario& scenario);
void read_events(Document& document, CheckedScenario& scenario);
void read_stop(Document& document, CheckedScenario& scenario);
void read_schedule(Document& document, CheckedScenario& scenario);
void read_transport(Document& document, CheckedScenario& scenario);
void read_background(Document& document, CheckedScenario& scenario);
void read_fidelity(Document& document, CheckedScenario& scenario);

}  // namespace syncline
