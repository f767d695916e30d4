// Training methods whose averages overlap with computation, run by the simulation and the trainer,
// against plain loops written from the papers.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <functional>
#include <map>

#include "tests/compute/torch_method_run.h"

namespace syncline::testing {
namespace {

constexpr double kLr = 0.7;
constexpr double kMomentum = 0.5;
const OuterRule kOuter{OuterRule::Kind::NESTEROV, kLr, kMomentum};

// Qi et al. 2025: arXiv 2506.21263
std::vector<double> delayed(const TrainingConfig& config, torch::Dtype type) {
  std::vector<ReferenceWorker> workers = reference_workers(config, type);
  ReferenceOuter outer(workers[0].leaves(), kLr, kMomentum);
  std::vector<double> losses{workers[0].held_out_loss()};
  Tensors late;
  for (std::uint64_t round = 0; round <= kRounds; ++round) {
    std::vector<Tensors> deltas;
    if (round < kRounds) {
      for (ReferenceWorker& worker : workers) {
        worker.steps(kInterval);
        deltas.push_back(sum(1, outer.theta(), -1, worker.leaves()));
      }
    }
    if (round > 0) outer.step(late);
    for (ReferenceWorker& worker : workers) load(worker.leaves(), outer.theta());
    if (round > 0) losses.push_back(workers[0].held_out_loss());
    if (round < kRounds) late = mean(deltas);
  }
  return losses;
}

// Kale et al. 2025: arXiv 2502.12996
std::vector<double> eager(const TrainingConfig& config, torch::Dtype type) {
  std::vector<ReferenceWorker> workers = reference_workers(config, type);
  std::vector<ReferenceOuter> outers;
  for (const ReferenceWorker& worker : workers)
    outers.emplace_back(worker.leaves(), kLr, kMomentum);
  ReferenceWorker judge(config, type, 0);
  std::vector<double> losses{judge.held_out_loss()};
  std::vector<Tensors> before(kWorkers, zeros(workers[0].leaves()));
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    std::vector<Tensors> deltas;
    for (std::size_t k = 0; k < kWorkers; ++k) {
      workers[k].steps(kInterval);
      deltas.push_back(sum(1, outers[k].theta(), -1, workers[k].leaves()));
    }
    std::vector<Tensors> models;
    for (std::size_t k = 0; k < kWorkers; ++k) {
      // Its own now and the others' of the round before; at the end everybody's is there.
      Tensors gradient = sum(1, mean(before), -1.0 / kWorkers, before[k]);
      gradient = round + 1 < kRounds ? sum(1, gradient, 1.0 / kWorkers, deltas[k])
                                     : sum(1, gradient, 1, mean(deltas));
      models.push_back(copy(outers[k].step(gradient)));
      load(workers[k].leaves(), models.back());
    }
    before = deltas;
    load(judge.leaves(), mean(models));
    losses.push_back(judge.held_out_loss());
  }
  return losses;
}

// Douillard et al. 2025: arXiv 2501.18512, two fragments of three layers.
std::vector<double> streaming(const TrainingConfig& config, torch::Dtype type,
                              const std::vector<std::vector<std::uint32_t>>& layers,
                              std::uint64_t tau, double alpha) {
  std::vector<ReferenceWorker> workers = reference_workers(config, type);
  ReferenceWorker judge(config, type, 0);
  std::vector<ReferenceOuter> outers;
  for (const auto& some : layers) outers.emplace_back(judge.leaves_of_layers(some), kLr, kMomentum);
  std::vector<double> losses{judge.held_out_loss()};
  std::map<std::uint64_t, std::pair<std::size_t, Tensors>> under_way;  // by the step it is due
  const auto send = [&](std::size_t p, std::uint64_t due) {
    std::vector<Tensors> deltas;
    for (const ReferenceWorker& worker : workers)
      deltas.push_back(sum(1, outers[p].theta(), -1, worker.leaves_of_layers(layers[p])));
    under_way[due] = {p, mean(deltas)};
  };
  const auto receive = [&](std::uint64_t step) {
    if (!under_way.contains(step)) return;
    const auto [p, delta] = under_way.at(step);
    under_way.erase(step);
    const Tensors& theta = outers[p].step(delta);
    for (const ReferenceWorker& worker : workers) {
      const Tensors own = worker.leaves_of_layers(layers[p]);
      load(own, sum(alpha, own, 1 - alpha, theta));
    }
    load(judge.leaves_of_layers(layers[p]), theta);
    losses.push_back(judge.held_out_loss());
  };
  const std::uint64_t steps = kRounds * kInterval;
  for (std::uint64_t t = 1; t <= steps; ++t) {
    for (ReferenceWorker& worker : workers) worker.step();
    if (t % kInterval == kInterval / 2) send(0, t + tau);
    if (t % kInterval == 0) send(1, t + tau);
    receive(t);
  }
  // At the stop, what is under way, and the first fragment's steps since its last turn.
  receive(steps - kInterval / 2 + tau);
  send(0, steps + tau + 1);
  receive(steps + tau);
  receive(steps + tau + 1);
  losses.erase(losses.end() - 2);  // the model that misses those is not evaluated
  return losses;
}

TEST(AgainstAPlainLoop, DelayedDiloco) { expect_method(DelayedDiloco{kOuter}, kInterval, delayed); }

TEST(AgainstAPlainLoop, EagerDiloco) { expect_method(EagerDiloco{kOuter}, kInterval, eager); }

TEST(AgainstAPlainLoop, StreamingDiloco) {
  using Pattern = Fragment::Pattern;
  const std::pair<Pattern, std::vector<std::vector<std::uint32_t>>> patterns[] = {
      {Pattern::STRIDED, {{0, 2}, {1}}}, {Pattern::SEQUENTIAL, {{0, 1}, {2}}}};
  for (const auto& [pattern, layers] : patterns) {
    for (const auto& [tau, alpha] : {std::pair{0ull, 0.0}, {1ull, 0.5}, {3ull, 0.25}}) {
      StreamingDiloco method{.outer = kOuter,
                             .fragments = 2,
                             .pattern = pattern,
                             .overlap = tau,
                             .alpha = alpha,
                             .elements = {1, 1}};
      expect_method(method, kInterval / 2, [&](const TrainingConfig& config, torch::Dtype type) {
        return streaming(config, type, layers, tau, alpha);
      });
    }
  }
}

}  // namespace
}  // namespace syncline::testing
