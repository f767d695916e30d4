// A small model on the Markov source, and programs of the usual methods written by hand.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "compute/data/dataset.h"
#include "compute/program.h"
#include "compute/torch/torch_trainer.h"
#include "compute/training_config.h"

namespace syncline::testing {

inline TrainingConfig small_config() {
  TrainingConfig config;
  config.model = {.layers = 2, .width = 32, .heads = 2, .context = 16};
  config.data.markov_states = 16;
  config.data.markov_entropy = 1.5;
  config.data.streams = 4;
  config.inner.lr = 3e-3;
  config.inner.warmup = 4;
  config.inner.horizon = 40;
  config.batch = 4;
  config.eval_tokens = 1024;
  return config;
}

inline TrainingConfig plain_sgd(TrainingConfig config, double lr) {
  config.inner = {.kind = InnerOptimizer::Kind::SGD,
                  .lr = lr,
                  .weight_decay = 0,
                  .clip = 0,
                  .warmup = 0,
                  .decay = InnerOptimizer::Decay::CONSTANT};
  return config;
}

// Made once for all tests of one config's data.
inline std::shared_ptr<const Dataset> data_of(const TrainingConfig& config) {
  using What = std::tuple<std::uint32_t, double, DataConfig::Split, std::uint32_t, std::uint32_t,
                          std::uint64_t>;
  static std::map<What, std::shared_ptr<const Dataset>> made;
  const DataConfig& data = config.data;
  std::shared_ptr<const Dataset>& found =
      made[What{data.markov_states, data.markov_entropy, data.split, data.streams,
                config.model.context, config.seed}];
  if (!found) found = Dataset::load(config.data, config.model, config.seed);
  return found;
}

inline std::unique_ptr<Trainer> trainer_of(const TrainingConfig& config, int threads = 2,
                                           const std::string& cache_folder = "",
                                           Execution execution = Execution::THREADS,
                                           double snapshot_every_s = 10) {
  TorchTrainerOptions options;
  options.device = DeviceChoice::CPU;
  options.threads = threads;
  options.execution = execution;
  options.cache_folder = cache_folder;
  options.snapshot_every_s = snapshot_every_s;
  return make_torch_trainer(config, data_of(config), options);
}

inline std::vector<Replica> start(Program& program, std::uint32_t workers, std::uint64_t seed = 7) {
  std::vector<Replica> replicas;
  for (std::uint32_t k = 0; k < workers; ++k) replicas.push_back(program.init(seed));
  return replicas;
}

inline Value mean(Program& program, const std::vector<Value>& values) {
  std::vector<Operand> terms;
  for (const Value& value : values)
    terms.push_back({value.index(), 1.0 / static_cast<double>(values.size())});
  return program.linear(terms);
}

inline std::vector<Value> read_all(Program& program, const std::vector<Replica>& replicas) {
  std::vector<Value> values;
  for (const Replica& replica : replicas) values.push_back(program.read(replica, Part::PARAMETERS));
  return values;
}

// Each returns the evaluations after every round.
inline std::vector<NumberIndex> data_parallel(Program& program, std::uint32_t workers,
                                              std::uint32_t steps) {
  std::vector<Replica> replicas = start(program, workers);
  std::vector<NumberIndex> losses;
  for (std::uint32_t s = 0; s < steps; ++s) {
    std::vector<Value> gradients;
    for (std::uint32_t k = 0; k < workers; ++k)
      gradients.push_back(program.grad(replicas[k], k, s, 1).first);
    const Value gradient = mean(program, gradients);
    for (Replica& replica : replicas) program.apply(replica, gradient, s);
    losses.push_back(program.eval(program.read(replicas[0], Part::PARAMETERS)));
  }
  return losses;
}

inline std::vector<NumberIndex> local_sgd(Program& program, std::uint32_t workers,
                                          std::uint32_t rounds, std::uint32_t local_steps) {
  std::vector<Replica> replicas = start(program, workers);
  std::vector<NumberIndex> losses;
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const std::uint32_t s = round * local_steps;
    for (std::uint32_t k = 0; k < workers; ++k) program.step(replicas[k], k, s, local_steps, s);
    const Value average = mean(program, read_all(program, replicas));
    for (Replica& replica : replicas) program.write(replica, Part::PARAMETERS, average);
    losses.push_back(program.eval(average));
  }
  return losses;
}

inline std::vector<NumberIndex> diloco(Program& program, std::uint32_t workers,
                                       std::uint32_t rounds, std::uint32_t local_steps,
                                       const OuterRule& rule) {
  std::vector<Replica> replicas = start(program, workers);
  std::vector<NumberIndex> losses;
  Value theta = program.read(replicas[0], Part::PARAMETERS);
  Value state = program.outer_state();
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const std::uint32_t s = round * local_steps;
    for (std::uint32_t k = 0; k < workers; ++k) program.step(replicas[k], k, s, local_steps, s);
    const std::vector<Value> values = read_all(program, replicas);
    std::vector<Operand> terms{{theta.index(), 1.0}};
    for (const Value& value : values) terms.push_back({value.index(), -1.0 / workers});
    const Value gradient = program.linear(terms);
    std::tie(theta, state) = program.outer(theta, state, gradient, rule);
    for (Replica& replica : replicas) program.write(replica, Part::PARAMETERS, theta);
    losses.push_back(program.eval(theta));
  }
  return losses;
}

// A worker alone, evaluated after each piece.
inline std::vector<NumberIndex> alone(Program& program, std::uint32_t stream,
                                      const std::vector<std::uint32_t>& pieces) {
  Replica replica = program.init(7);
  std::vector<NumberIndex> losses;
  std::uint32_t s = 0;
  for (const std::uint32_t n : pieces) {
    program.step(replica, stream, s, n, s);
    s += n;
    losses.push_back(program.eval(program.read(replica, Part::PARAMETERS)));
  }
  return losses;
}

inline std::vector<double> numbers(const Trainer& trainer,
                                   const std::vector<NumberIndex>& indices) {
  std::vector<double> values;
  for (const NumberIndex index : indices) values.push_back(trainer.number(index));
  return values;
}

}  // namespace syncline::testing
