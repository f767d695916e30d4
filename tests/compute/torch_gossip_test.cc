// Gossip, run by the simulation and the trainer, against plain loops written from the papers.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "sim/strategy/gossip_partners.h"
#include "tests/compute/torch_method_run.h"

namespace syncline::testing {
namespace {

// sum_j W_ij of these, with the weights of Metropolis and Hastings.
Tensors mixed(const std::vector<Tensors>& all, const Partners& partners, std::size_t i) {
  Tensors result = copy(all[i]);
  for (const std::uint32_t j : partners[i]) {
    const double most = static_cast<double>(std::max(partners[i].size(), partners[j].size()));
    const double weight = 1 / (most + 1);
    result = sum(1, result, weight, sum(1, all[j], -1, all[i]));
  }
  return result;
}

using PartnersOf = std::function<Partners(std::uint64_t round)>;

// Lian et al. 2017: arXiv 1705.09056, with kInterval local steps.
std::vector<double> decentralised(const TrainingConfig& config, torch::Dtype type,
                                  const PartnersOf& partners) {
  std::vector<ReferenceWorker> workers = reference_workers(config, type);
  ReferenceWorker judge(config, type, 0);
  std::vector<double> losses{judge.held_out_loss()};
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    std::vector<Tensors> thetas;
    for (ReferenceWorker& worker : workers) {
      worker.steps(kInterval);
      thetas.push_back(copy(worker.leaves()));
    }
    std::vector<Tensors> models;
    for (std::size_t i = 0; i < kWorkers; ++i) {
      models.push_back(mixed(thetas, partners(round), i));
      load(workers[i].leaves(), models.back());
    }
    load(judge.leaves(), mean(models));
    losses.push_back(judge.held_out_loss());
  }
  return losses;
}

// Kolehmainen et al. 2025: arXiv 2506.10911, pairs.
std::vector<double> no_loco(const TrainingConfig& config, torch::Dtype type,
                            const PartnersOf& partners, const Gossip::Momentum& rule) {
  std::vector<ReferenceWorker> workers = reference_workers(config, type);
  ReferenceWorker judge(config, type, 0);
  std::vector<double> losses{judge.held_out_loss()};
  std::vector<Tensors> phi(kWorkers, copy(judge.leaves()));
  std::vector<Tensors> momentum(kWorkers, zeros(judge.leaves()));
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    std::vector<Tensors> moved;
    for (std::size_t i = 0; i < kWorkers; ++i) {
      workers[i].steps(kInterval);
      moved.push_back(sum(1, workers[i].leaves(), -1, phi[i]));
    }
    std::vector<Tensors> next;
    for (std::size_t i = 0; i < kWorkers; ++i) {
      const std::size_t j = partners(round)[i].front();
      momentum[i] = sum(rule.momentum, momentum[i], rule.lr / 2, sum(1, moved[i], 1, moved[j]));
      momentum[i] = sum(1, momentum[i], -rule.pull / 2, sum(1, phi[i], -1, phi[j]));
      next.push_back(sum(1, phi[i], 1, momentum[i]));
      load(workers[i].leaves(), next.back());
    }
    phi = next;
    load(judge.leaves(), mean(phi));
    losses.push_back(judge.held_out_loss());
  }
  return losses;
}

Gossip over(const Partners& neighbours) {
  Gossip method;
  method.partners = Gossip::Partners::GRAPH;
  method.neighbours = neighbours;
  return method;
}
const Partners kComplete = {{1, 2, 3}, {0, 2, 3}, {0, 1, 3}, {0, 1, 2}};

PartnersOf partners_of(const Gossip& method) {
  constexpr std::uint64_t kSeed = 7;  // of method_setup()
  return [method](std::uint64_t round) { return gossip_partners(method, kWorkers, kSeed, round); };
}

TEST(AgainstAPlainLoop, GossipInPairsAndOverGraphs) {
  for (const Gossip& method :
       {Gossip{}, over({{1}, {0}, {3}, {2}}), over({{1}, {0, 2, 3}, {1}, {1}}), over(kComplete)}) {
    expect_method(method, 1, [&](const TrainingConfig& config, torch::Dtype type) {
      return decentralised(config, type, partners_of(method));
    });
  }
}

TEST(AgainstAPlainLoop, NoLoCo) {
  for (const Gossip::Momentum& rule :
       {Gossip::Momentum{}, Gossip::Momentum{.lr = 0.9, .momentum = 0.3, .pull = 1.1}}) {
    Gossip method;
    method.momentum = rule;
    expect_method(method, 1, [&](const TrainingConfig& config, torch::Dtype type) {
      return no_loco(config, type, partners_of(method), rule);
    });
  }
}

// Everybody mixes with everybody: Local SGD.
TEST(Limits, GossipOverACompleteGraphIsTheAverage) {
  const TestStar star(kWorkers, 1.25e7, 0.01);
  const TrainingConfig config = method_config(true);
  const std::vector<double> gossip =
      by_simulation(star.topology, method_setup(star, over(kComplete), 1), config);
  const std::vector<double> average =
      by_simulation(star.topology, method_setup(star, LocalSgd{}, 1), config);
  const std::vector<double> pairs =
      by_simulation(star.topology, method_setup(star, Gossip{}, 1), config);
  ASSERT_EQ(gossip.size(), average.size());
  for (std::size_t i = 0; i < gossip.size(); ++i) EXPECT_NEAR(gossip[i], average[i], 1e-12);
  EXPECT_GT(std::abs(pairs.back() - average.back()), 1e-6);
}

// Without momentum, and with all weight on the partners, NoLoCo is the mean of the pair.
TEST(Limits, NoLoCoWithoutMomentumIsThePairsAverage) {
  const TestStar star(kWorkers, 1.25e7, 0.01);
  const TrainingConfig config = method_config(true);
  Gossip method;
  const std::vector<double> plain =
      by_simulation(star.topology, method_setup(star, method, 1), config);
  method.momentum = Gossip::Momentum{.lr = 1, .momentum = 0, .pull = 1};
  const std::vector<double> no_loco =
      by_simulation(star.topology, method_setup(star, method, 1), config);
  ASSERT_EQ(plain.size(), no_loco.size());
  for (std::size_t i = 0; i < plain.size(); ++i) EXPECT_NEAR(plain[i], no_loco[i], 1e-12);
}

}  // namespace
}  // namespace syncline::testing
