// Several tasks at once.
#pragma once

#include <string>
#include <vector>

#include "sim/engine/engine.h"
#include "sim/engine/task.h"

namespace syncline {

// Runs the tasks as processes of their own and ends when all have ended. Destroying the task before
// cancels them.
Task<> when_all(Engine& engine, std::string name, std::vector<Task<>> tasks);

}  // namespace syncline
