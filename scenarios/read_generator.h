// The bases of a topology that are made by a few numbers. Inside scenarios/ only.
#pragma once

#include <string>

#include "scenarios/checked_scenario.h"
#include "scenarios/document.h"
#include "topology/generators.h"

namespace syncline {

// Adds the ring, mesh, torus, tree, fat tree, leaf-spine, dragonfly, or random graph that the
// scenario's topology names; nothing where it names none of them. Throws InputError.
void read_generator(Document& document, CheckedScenario& scenario);

// A link that a generator makes: it has no name and no ends of its own. Throws InputError.
LinkSpec read_made_link(const Document& document, const proto::Link& link, const std::string& path);

// Without limit and latency.
LinkSpec unlimited();

}  // namespace syncline
