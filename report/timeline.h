#pragma once

#include <string>

#include "report/run_facts.h"

namespace syncline {

// A track a worker (compute, sync, waiting, down), a sampled counter a link and direction.
std::string timeline_json(const RunFacts& facts);

}  // namespace syncline
