#include "compute/fragments.h"

#include "topology/check.h"

namespace syncline {

std::vector<std::uint32_t> fragment_of_layers(std::uint32_t layers, std::uint32_t count,
                                              Fragment::Pattern pattern) {
  SYNCLINE_CHECK(count >= 1 && count <= layers, "a fragment has at least one layer");
  std::vector<std::uint32_t> fragments;
  for (std::uint32_t l = 0; l < layers; ++l) {
    fragments.push_back(pattern == Fragment::Pattern::STRIDED
                            ? l % count
                            : static_cast<std::uint32_t>(std::uint64_t{l} * count / layers));
  }
  return fragments;
}

std::vector<std::uint64_t> fragment_sizes(const ModelConfig& model, std::uint64_t ends,
                                          std::uint32_t count, Fragment::Pattern pattern) {
  ModelConfig one = model;
  one.layers = 1;
  const std::uint64_t width = model.width;  // of the final norm
  const std::uint64_t layer = parameter_count(one, 0) - width;
  const std::vector<std::uint32_t> of = fragment_of_layers(model.layers, count, pattern);
  std::vector<std::uint64_t> sizes(count);
  for (const std::uint32_t fragment : of) sizes[fragment] += layer;
  sizes[of.front()] += ends;
  sizes[of.back()] += ends + width;
  return sizes;
}

}  // namespace syncline
