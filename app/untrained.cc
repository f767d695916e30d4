#include "app/untrained.h"

#include "compute/data/dataset.h"

namespace syncline {

std::uint64_t untrained_parameters(const CheckedScenario& scenario) {
  const DataConfig& data = scenario.training.data;
  const ModelConfig& model = scenario.training.model;
  switch (data.source) {
    case DataConfig::Source::TEXT:
      return parameter_count(model, 256);
    case DataConfig::Source::MARKOV:
      return parameter_count(model, data.markov_states);
    case DataConfig::Source::TOKENS:
      break;
  }
  return parameter_count(model, Dataset::load(data, model, scenario.seed)->vocabulary());
}

}  // namespace syncline
