// The trainer against the same model and optimizer written in the straight way: autograd, plain
// operations, torch::optim.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "tests/compute/torch_fixture.h"
#include "tests/compute/torch_reference_worker.h"

namespace syncline::testing {
namespace {

// Losses of the steps, then the loss on the held-out tokens.
std::vector<double> by_the_reference(const TrainingConfig& config, std::uint32_t steps,
                                     torch::Dtype type) {
  at::set_num_threads(1);  // two threads that wait for each other are slow beside another process
  ReferenceWorker worker(config, type, 1);
  std::vector<double> losses;
  for (std::uint32_t s = 0; s < steps; ++s) losses.push_back(worker.step());
  losses.push_back(worker.held_out_loss());
  return losses;
}

std::vector<double> by_the_trainer(const TrainingConfig& config, std::uint32_t steps,
                                   Execution execution) {
  const auto trainer = trainer_of(config, 2, "", execution);
  Program program(trainer->header());
  Replica replica = program.init(7);
  std::vector<NumberIndex> losses;
  for (std::uint32_t s = 0; s < steps; ++s) losses.push_back(program.step(replica, 1, s, 1, s));
  losses.push_back(program.eval(program.read(replica, Part::PARAMETERS)));
  trainer->run(program, {});
  return numbers(*trainer, losses);
}

class AgainstTheReference : public ::testing::TestWithParam<Execution> {};

TEST_P(AgainstTheReference, ModelClipScheduleAndOptimizer) {
  TrainingConfig config = small_config();
  config.batch = 20;  // two slices
  config.inner.warmup = 3;
  config.inner.horizon = 12;
  for (const bool adamw : {true, false}) {
    if (!adamw) {
      config.inner.kind = InnerOptimizer::Kind::SGD;
      config.inner.lr = 0.3;
      config.inner.momentum = 0.9;
      config.inner.weight_decay = 0.01;
    }
    for (const double clip : {0.0, 0.2, 1.0}) {
      config.inner.clip = clip;
      for (const bool exact : {false, true}) {
        config.precision = exact ? Precision::FP64 : Precision::FP32;
        const std::vector<double> expected =
            by_the_reference(config, 12, exact ? torch::kDouble : torch::kFloat);
        const std::vector<double> losses = by_the_trainer(config, 12, GetParam());
        ASSERT_EQ(losses.size(), expected.size());
        for (std::size_t i = 0; i < losses.size(); ++i) {
          EXPECT_NEAR(losses[i], expected[i], exact ? 1e-10 : 1e-5)
              << "step " << i << " clip " << clip << (adamw ? " adamw" : " sgd");
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, AgainstTheReference,
                         ::testing::Values(Execution::THREADS, Execution::STACKED));

}  // namespace
}  // namespace syncline::testing
