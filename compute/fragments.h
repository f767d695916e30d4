// Fragments of a model: groups of whole transformer layers, of which one at a time is synchronised
// (Douillard et al. 2025: arXiv 2501.18512, section 2.2).
#pragma once

#include <cstdint>
#include <vector>

#include "compute/program.h"
#include "compute/training_config.h"

namespace syncline {

// The fragment of each layer. STRIDED: layer l belongs to l mod count; SEQUENTIAL: runs of layers,
// as equal as can be. The embedding goes with the first layer, final norm and output layer with the
// last. 1 <= count <= layers.
std::vector<std::uint32_t> fragment_of_layers(std::uint32_t layers, std::uint32_t count,
                                              Fragment::Pattern pattern);

// Parameters of each fragment of a model whose embedding and output layer have `ends` each; with
// parameter_count()'s vocabulary · width they sum to it.
std::vector<std::uint64_t> fragment_sizes(const ModelConfig& model, std::uint64_t ends,
                                          std::uint32_t count, Fragment::Pattern pattern);

}  // namespace syncline
