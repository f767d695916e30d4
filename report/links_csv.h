// What crossed each link.
#pragma once

#include <span>
#include <string>

#include "sim/simulation.h"

namespace syncline {

// links.csv: a row a direction. `lasting`: what the mean load is over.
std::string links_csv(const Topology& topology, std::span<const LinkOutcome> links, Time lasting);

// Bytes with their headers over what the capacity of the topology lets through; 0 where it has no
// limit.
double mean_load(const Topology& topology, const LinkOutcome& link, Time lasting);

}  // namespace syncline
