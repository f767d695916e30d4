// Training methods that a server leads, run by the simulation and the trainer, against plain loops
// written from the papers. Who takes part when is read from the program.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
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

// Liu et al. 2024: arXiv 2401.09135, algorithms 1 to 3, without a network: a worker's update is
// there when its steps are. Each takes its share of the steps of all when it begins.
std::vector<double> async(const TrainingConfig& config, torch::Dtype type,
                          const std::vector<double>& step_s, const AsyncLocalSgd& method) {
  std::vector<ReferenceWorker> workers = reference_workers(config, type);
  ReferenceWorker judge(config, type, 0);
  std::vector<double> losses{judge.held_out_loss()};
  Tensors theta = copy(judge.leaves()), momentum = zeros(theta), collected = zeros(theta);
  const auto n = static_cast<double>(method.delay);
  const auto [kind, lr, beta] = method.outer;
  std::uint64_t left = kWorkers * kRounds * kInterval, applied = 0, updates = 0;
  struct Begun {
    std::size_t worker;
    std::uint64_t steps;
    Tensors from;
  };
  std::map<double, Begun> under_way;  // by the time at which they are done
  const auto begin = [&](std::size_t k, double now) {
    const double fastest = *std::min_element(step_s.begin(), step_s.end());
    const double most = method.by_speed ? std::floor(fastest / step_s[k] * kInterval) : kInterval;
    const std::uint64_t steps = std::min<std::uint64_t>(std::max(most, 1.0), left);
    left -= steps;
    if (steps > 0)
      under_way[now + static_cast<double>(steps) * step_s[k]] = {k, steps, copy(theta)};
  };
  for (std::size_t k = 0; k < kWorkers; ++k) begin(k, 0);
  while (!under_way.empty()) {
    const auto [now, done] = *under_way.begin();
    under_way.erase(under_way.begin());
    ReferenceWorker& worker = workers[done.worker];
    load(worker.leaves(), done.from);
    worker.steps(done.steps);
    const Tensors g = sum(1, done.from, -1, worker.leaves());
    collected = sum(1, collected, 1, g);
    double share = method.activation;
    if (++updates % method.delay == 0) {
      momentum = sum(beta, momentum, 1 / n, collected);
      collected = zeros(theta);
      share = 1 - method.activation * n + method.activation;
    }
    theta = sum(1, theta, -lr, sum(1 / n, g, share * beta, momentum));
    const std::uint64_t before = applied / kWorkers;
    applied += done.steps;
    if (applied / kWorkers > before) {
      load(judge.leaves(), theta);
      losses.push_back(judge.held_out_loss());
    }
    begin(done.worker, now);
  }
  return losses;
}

TEST(AgainstAPlainLoop, AsyncLocalSgd) {
  const TestStar star(kWorkers + 1, 1e15, 0);
  const std::vector<double> step_s = {0.05, 0.0831, 0.1017, 0.0613};
  for (const bool by_speed : {true, false}) {
    for (const double activation : {0.0, 0.2}) {
      AsyncLocalSgd method;
      method.outer = {OuterRule::Kind::NESTEROV, 0.7, 0.5};
      method.delay = kWorkers;
      method.activation = activation;
      method.by_speed = by_speed;
      SimulationSetup setup = server_setup(star, method);
      for (std::size_t k = 0; k < kWorkers; ++k) setup.workers[k].step = Time::seconds(step_s[k]);
      expect_setup(star, setup, [&](const TrainingConfig& config, torch::Dtype type) {
        return async(config, type, step_s, method);
      });
    }
  }
}

SimulationSetup one_worker(const TestStar& star, const OuterRule& outer) {
  AsyncLocalSgd method;
  method.outer = outer;
  SimulationSetup setup = server_setup(star, method);
  setup.workers.resize(1);
  return setup;
}

TEST(Limits, AsyncOfOneWorkerIsDiloco) {
  const TestStar star(kWorkers + 1, 1.25e7, 0.01);
  const OuterRule outer{OuterRule::Kind::NESTEROV, 0.7, 0.5};
  SimulationSetup setup = one_worker(star, outer);
  const std::vector<double> alone = by_simulation(star.topology, setup, method_config(true));
  setup.strategy.method = Diloco{outer};
  const std::vector<double> diloco = by_simulation(star.topology, setup, method_config(true));
  ASSERT_EQ(alone.size(), diloco.size());
  for (std::size_t i = 0; i < alone.size(); ++i) EXPECT_NEAR(alone[i], diloco[i], 1e-12);
}

TEST(Limits, AsyncOfOneWorkerWithOuterRateOneIsPlainTraining) {
  const TestStar star(kWorkers + 1, 1.25e7, 0.01);
  const SimulationSetup setup = one_worker(star, {OuterRule::Kind::SGD, 1, 0});
  expect_setup(star, setup, [](const TrainingConfig& config, torch::Dtype type) {
    ReferenceWorker worker(config, type, 0);
    std::vector<double> losses{worker.held_out_loss()};
    for (std::uint64_t round = 0; round < kRounds; ++round) {
      worker.steps(kInterval);
      losses.push_back(worker.held_out_loss());
    }
    return losses;
  });
}

// Averages inside sites just before the average of all change nothing: sites are of one size.
TEST(Limits, TwoStagesWithEqualIntervalsAreTheSingleStageAverage) {
  const TestSites sites(2, 2, 1.25e9, 0.0001, 1.25e7, 0.01);
  const TestStar star(kWorkers, 1.25e7, 0.01);
  SimulationSetup setup = method_setup(star, LocalSgd{}, 1);
  setup.workers = sites.workers(Time::seconds(0.05));
  const std::vector<double> single = by_simulation(sites.topology, setup, method_config(true));
  setup.strategy.within_cluster = WithinCluster{kInterval, {}};
  const std::vector<double> two = by_simulation(sites.topology, setup, method_config(true));
  setup.strategy.within_cluster = WithinCluster{kInterval / 2, {}};
  const std::vector<double> other = by_simulation(sites.topology, setup, method_config(true));
  ASSERT_EQ(single.size(), two.size());
  for (std::size_t i = 0; i < single.size(); ++i) EXPECT_NEAR(single[i], two[i], 1e-12);
  EXPECT_GT(std::abs(single.back() - other.back()), 1e-6);
}

}  // namespace
}  // namespace syncline::testing
