// The training methods: one coroutine a worker, each in a file of its own that reads like its
// paper.
#pragma once

#include "sim/strategy/fleet.h"

namespace syncline {

// Starts every worker of the fleet as a process "NAME" of the engine.
void spawn_workers(Engine& engine, Fleet& fleet, const StrategySetup& strategy);

void spawn_data_parallel(Engine& engine, Fleet& fleet);
void spawn_local_sgd(Engine& engine, Fleet& fleet);
void spawn_diloco(Engine& engine, Fleet& fleet, const OuterRule& outer);

}  // namespace syncline
