// Training methods that a server leads, run by the simulation and the trainer, against plain loops
// written from the papers. Who takes part when is read from the program.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <map>

#include "tests/compute/torch_method_run.h"

namespace syncline::testing {
namespace {

// A star whose last host is the server.
SimulationSetup server_setup(const TestStar& star, const Method& method) {
  SimulationSetup setup = method_setup(star, method, 1);
  setup.workers.pop_back();
  setup.strategy.collective = {CollectiveAlgorithm::PARAMETER_SERVER, star.hosts.back()};
  return setup;
}

// By round: the clients whose steps are in the average, those of its operands.
std::vector<std::vector<std::uint32_t>> clients_by_round(const TestStar& star,
                                                         const SimulationSetup& setup) {
  Program program("");
  simulate(star.topology, setup, &program);
  std::vector<std::vector<std::uint32_t>> rounds;
  std::map<std::uint32_t, std::uint32_t> stream_of_replica;
  std::map<ValueIndex, std::uint32_t> stream_of_value;
  std::vector<std::uint32_t> averaged;
  for (const Instruction& instruction : program.instructions()) {
    if (instruction.op == Op::STEP) stream_of_replica[instruction.replica] = instruction.stream;
    if (instruction.op == Op::READ && stream_of_replica.contains(instruction.replica))
      stream_of_value[instruction.result] = stream_of_replica[instruction.replica];
    if (instruction.op == Op::LINEAR) {
      averaged.clear();
      for (const Operand& operand : program.operands(instruction)) {
        if (!stream_of_value.contains(operand.value)) continue;
        averaged.push_back(stream_of_value[operand.value]);
        stream_of_value[instruction.result] = averaged.back();
      }
    }
    if (instruction.op == Op::OUTER) rounds.push_back(averaged);
  }
  return rounds;
}

// McMahan et al. 2017: arXiv 1602.05629, algorithm 1, with a server that may have momentum.
std::vector<double> fed_avg(const TrainingConfig& config, torch::Dtype type,
                            const std::vector<std::vector<std::uint32_t>>& rounds,
                            const std::vector<double>& sizes, const OuterRule& rule) {
  ReferenceWorker judge(config, type, 0);
  ReferenceOuter outer(judge.leaves(), rule.lr, rule.momentum);
  std::vector<double> losses{judge.held_out_loss()};
  std::map<std::uint32_t, std::uint64_t> batches;  // that each client has read
  for (std::size_t round = 0; round < rounds.size(); ++round) {
    double all = 0;
    for (const std::uint32_t k : rounds[round]) all += sizes[k];
    Tensors delta = zeros(judge.leaves());
    for (const std::uint32_t k : rounds[round]) {
      ReferenceWorker client(config, type, k, round * kInterval, batches[k]);
      load(client.leaves(), outer.theta());
      client.steps(kInterval);
      batches[k] += kInterval;
      delta = sum(1, delta, sizes[k] / all, sum(1, outer.theta(), -1, client.leaves()));
    }
    load(judge.leaves(), outer.step(delta));
    losses.push_back(judge.held_out_loss());
  }
  return losses;
}

void expect_fed_avg(const TestStar& star, const SimulationSetup& setup, std::size_t clients) {
  const auto rounds = clients_by_round(star, setup);
  ASSERT_EQ(rounds.size(), kRounds);
  std::vector<double> sizes;
  for (const WorkerSetup& worker : setup.workers) sizes.push_back(worker.weight);
  for (const auto& round : rounds) EXPECT_EQ(round.size(), clients);
  expect_setup(star, setup, [&](const TrainingConfig& config, torch::Dtype type) {
    return fed_avg(config, type, rounds, sizes, std::get<FedAvg>(setup.strategy.method).outer);
  });
}

TEST(AgainstAPlainLoop, FedAvg) {
  const TestStar star(kWorkers + 1, 1.25e7, 0.01);
  for (const std::size_t clients : {1, 2, 4})
    expect_fed_avg(star, server_setup(star, FedAvg{.clients = clients, .chosen = clients}),
                   clients);
}

TEST(AgainstAPlainLoop, FedAvgWithWeightsAndServerMomentum) {
  const TestStar star(kWorkers + 1, 1.25e7, 0.01);
  SimulationSetup setup = server_setup(
      star, FedAvg{.outer = {OuterRule::Kind::NESTEROV, 0.7, 0.5}, .clients = 3, .chosen = 3});
  for (std::size_t k = 0; k < kWorkers; ++k) setup.workers[k].weight = 1 + static_cast<double>(k);
  expect_fed_avg(star, setup, 3);
}

TEST(AgainstAPlainLoop, FedAvgWithoutTheLate) {
  const TestStar star(kWorkers + 1, 1.25e7, 0.01);
  SimulationSetup setup = server_setup(star, FedAvg{.clients = 2, .chosen = 4});
  setup.workers[0].step = Time::seconds(0.09);
  expect_fed_avg(star, setup, 2);
}

}  // namespace
}  // namespace syncline::testing
