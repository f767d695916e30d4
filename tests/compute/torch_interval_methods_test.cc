// Local SGD and DiLoCo with intervals that change, with gradients first, and with a quorum, run by
// the simulation and the trainer, against plain loops.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>

#include "tests/compute/torch_method_run.h"

namespace syncline::testing {
namespace {

const OuterRule kOuter{OuterRule::Kind::NESTEROV, 0.7, 0.5};

// Rounds of these steps; the first `gradient_steps` steps average gradients. `absent` workers never
// take part.
std::vector<double> diloco(const TrainingConfig& config, torch::Dtype type,
                           std::uint64_t gradient_steps, const std::vector<std::uint64_t>& rounds,
                           std::size_t absent = 0) {
  std::vector<ReferenceWorker> workers = reference_workers(config, type);
  workers.erase(workers.begin(), workers.begin() + static_cast<std::ptrdiff_t>(absent));
  std::vector<double> losses{workers[0].held_out_loss()};
  for (std::uint64_t s = 0; s < gradient_steps; ++s) {
    std::vector<Tensors> gradients;
    for (ReferenceWorker& worker : workers) {
      worker.gradient();
      gradients.emplace_back();
      for (const Tensor& leaf : worker.leaves()) gradients.back().push_back(leaf.grad().clone());
    }
    const Tensors average = mean(gradients);
    for (ReferenceWorker& worker : workers) {
      const Tensors leaves = worker.leaves();
      for (std::size_t i = 0; i < leaves.size(); ++i) leaves[i].mutable_grad() = average[i].clone();
      worker.apply();
    }
    losses.push_back(workers[0].held_out_loss());
  }
  ReferenceOuter outer(workers[0].leaves(), kOuter.lr, kOuter.momentum);
  for (const std::uint64_t steps : rounds) {
    std::vector<Tensors> deltas;
    for (ReferenceWorker& worker : workers) {
      worker.steps(steps);
      deltas.push_back(sum(1, outer.theta(), -1, worker.leaves()));
    }
    outer.step(mean(deltas));
    for (ReferenceWorker& worker : workers) load(worker.leaves(), outer.theta());
    losses.push_back(workers[0].held_out_loss());
  }
  return losses;
}

TEST(AgainstAPlainLoop, ScheduleOfIntervals) {
  const TestStar star(kWorkers, 1.25e7, 0.01);
  SimulationSetup setup = method_setup(star, Diloco{kOuter}, 1);
  setup.strategy.schedule = {{0, 1}, {2, 3}, {5, 7}};
  expect_setup(star, setup, [](const TrainingConfig& config, torch::Dtype type) {
    return diloco(config, type, 0, {1, 1, 3, 7});
  });
}

TEST(AgainstAPlainLoop, GradientsFirst) {
  const TestStar star(kWorkers, 1.25e7, 0.01);
  SimulationSetup setup = method_setup(star, Diloco{kOuter}, 1);
  setup.strategy.gradient_steps = 4;
  expect_setup(star, setup, [](const TrainingConfig& config, torch::Dtype type) {
    return diloco(config, type, 4, {4, 4});
  });
}

TEST(AgainstAPlainLoop, Quorum) {
  const TestStar star(kWorkers, 1.25e7, 0.01);
  SimulationSetup setup = method_setup(star, Diloco{kOuter}, 1);
  setup.strategy.reweight = true;
  setup.strategy.quorum = Quorum{3, Time::seconds(0.2)};
  setup.rejoin = {100'000, 12};
  for (const bool late : {true, false}) {
    setup.workers[0].step = Time::seconds(late ? 10 : 0.05);
    expect_setup(star, setup, [&](const TrainingConfig& config, torch::Dtype type) {
      return diloco(config, type, 0, {4, 4, 4}, late ? 1 : 0);
    });
  }
}

// Local SGD whose mean has weights, and the moments of AdamW in it.
std::vector<double> local_sgd(const TrainingConfig& config, torch::Dtype type,
                              const std::vector<double>& weights, bool moments) {
  std::vector<ReferenceWorker> workers = reference_workers(config, type);
  std::vector<double> losses{workers[0].held_out_loss()};
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    for (ReferenceWorker& worker : workers) worker.steps(kInterval);
    const auto average = [&](const auto& of) {
      Tensors total = zeros(of(workers[0]));
      for (std::size_t k = 0; k < kWorkers; ++k) total = sum(1, total, weights[k], of(workers[k]));
      for (const ReferenceWorker& worker : workers) load(of(worker), total);
    };
    average([](const ReferenceWorker& worker) { return worker.leaves(); });
    if (moments) average([](const ReferenceWorker& worker) { return worker.moments(); });
    losses.push_back(workers[0].held_out_loss());
  }
  return losses;
}

TEST(AgainstAPlainLoop, WeightsAndMoments) {
  const TestStar star(kWorkers, 1.25e7, 0.01);
  for (const bool moments : {false, true}) {
    SimulationSetup setup = method_setup(star, LocalSgd{.optimizer = moments}, 1);
    const std::vector<double> weights = {0.1, 0.4, 0.3, 0.2};
    for (std::size_t k = 0; k < kWorkers; ++k) setup.workers[k].weight = 10 * weights[k];
    expect_setup(star, setup, [&](const TrainingConfig& config, torch::Dtype type) {
      return local_sgd(config, type, weights, moments);
    });
  }
}

// H <- H · target / (rms distance of the replicas from their mean / norm of the parameters)
std::vector<double> by_divergence(const TrainingConfig& config, torch::Dtype type, double target,
                                  double most) {
  std::vector<ReferenceWorker> workers = reference_workers(config, type);
  const auto squares = [](const Tensors& tensors) {
    double total = 0;
    for (const Tensor& tensor : tensors)
      total += tensor.to(torch::kDouble).pow(2).sum().item<double>();
    return total;
  };
  std::vector<double> losses{workers[0].held_out_loss()};
  Tensors global = copy(workers[0].leaves());
  std::uint64_t left = kRounds * kInterval;
  for (double interval = kInterval; left > 0;) {
    const std::uint64_t steps = std::min<std::uint64_t>(left, static_cast<std::uint64_t>(interval));
    left -= steps;
    std::vector<Tensors> models;
    for (ReferenceWorker& worker : workers) {
      worker.steps(steps);
      models.push_back(copy(worker.leaves()));
    }
    const double norm = std::sqrt(squares(global));
    global = mean(models);
    double apart = 0;
    for (const Tensors& model : models) apart += squares(sum(1, model, -1, global)) / kWorkers;
    const double wanted = interval * target / (std::sqrt(apart) / norm);
    interval = std::round(std::clamp(wanted, interval / 2, interval * 2));
    interval = std::clamp(interval, 1.0, most);
    for (ReferenceWorker& worker : workers) load(worker.leaves(), global);
    losses.push_back(workers[0].held_out_loss());
  }
  return losses;
}

TEST(AgainstAPlainLoop, IntervalByDivergence) {
  const TestStar star(kWorkers, 1.25e7, 0.01);
  for (const double target : {0.001, 0.012, 0.1}) {
    SimulationSetup setup = method_setup(star, LocalSgd{}, 1);
    setup.strategy.adaptive = AdaptiveInterval{AdaptiveInterval::Rule::DIVERGENCE, target, 6};
    expect_setup(star, setup, [&](const TrainingConfig& config, torch::Dtype type) {
      return by_divergence(config, type, target, 6);
    });
  }
}

// H <- ceil(H of the first round · sqrt(loss / first loss))
TEST(AgainstAPlainLoop, IntervalByLoss) {
  const TestStar star(kWorkers, 1.25e7, 0.01);
  SimulationSetup setup = method_setup(star, Diloco{kOuter}, 1);
  setup.strategy.adaptive = AdaptiveInterval{AdaptiveInterval::Rule::LOSS, 0, 100};
  setup.strategy.local_steps = 3;
  expect_setup(star, setup, [](const TrainingConfig& config, torch::Dtype type) {
    // The rounds so far decide the next one: the loop is run again with one more.
    std::vector<std::uint64_t> rounds;
    std::vector<double> losses;
    for (std::uint64_t left = kRounds * kInterval; left > 0; left -= rounds.back()) {
      const double interval =
          rounds.empty() ? 3 : std::ceil(3 * std::sqrt(losses.back() / losses[1]));
      rounds.push_back(std::min<std::uint64_t>(left, static_cast<std::uint64_t>(interval)));
      losses = diloco(config, type, 0, rounds);
    }
    return losses;
  });
}

}  // namespace
}  // namespace syncline::testing
