// Training methods whose averages overlap with computation, run by the simulation and the trainer,
// against plain loops written from the papers.
#include <gtest/gtest.h>
#include <torch/torch.h>

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

TEST(AgainstAPlainLoop, DelayedDiloco) { expect_method(DelayedDiloco{kOuter}, kInterval, delayed); }

TEST(AgainstAPlainLoop, EagerDiloco) { expect_method(EagerDiloco{kOuter}, kInterval, eager); }

}  // namespace
}  // namespace syncline::testing
