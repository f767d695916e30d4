// What was trained is not trained again.
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "compute/interrupted.h"
#include "tests/compute/temporary_folder.h"
#include "tests/compute/torch_fixture.h"

namespace syncline::testing {
namespace {

TEST(TorchCache, ASecondRunExecutesNothing) {
  const TemporaryFolder folder;
  std::vector<double> first;
  for (const bool again : {false, true}) {
    const auto trainer = trainer_of(small_config(), 2, folder.path());
    Program program(trainer->header());
    const std::vector<NumberIndex> losses = diloco(program, 3, 3, 4, {});
    std::vector<double> seen;
    TrainingObserver observer;
    observer.on_number = [&](NumberIndex, double loss) { seen.push_back(loss); };
    const TrainingEffort effort = trainer->run(program, observer);
    EXPECT_EQ(effort.steps_executed, again ? 0u : 36u);
    EXPECT_EQ(seen, numbers(*trainer, losses));
    if (again) {
      EXPECT_EQ(numbers(*trainer, losses), first);
    }
    first = numbers(*trainer, losses);
  }
}

// A program that only the end of which is new needs the whole way to it, unless a snapshot has a
// state on that way.
TEST(TorchCache, GoesOnAfterAnInterruptionAtAnyPoint) {
  const TrainingConfig config = small_config();
  const auto write = [](Program& program) {
    std::vector<NumberIndex> all;
    std::vector<Replica> replicas = start(program, 3);
    Value theta = program.read(replicas[0], Part::PARAMETERS);
    Value state = program.outer_state();
    for (std::uint32_t round = 0; round < 3; ++round) {
      const std::uint32_t s = round * 12;
      for (std::uint32_t k = 0; k < 3; ++k)
        all.push_back(program.step(replicas[k], k, s, 7 + k, s));
      const std::vector<Value> values = read_all(program, replicas);
      std::vector<Operand> terms{{theta.index(), 1.0}};
      for (const Value& value : values) terms.push_back({value.index(), -1.0 / 3});
      std::tie(theta, state) = program.outer(theta, state, program.linear(terms), {});
      for (Replica& replica : replicas) program.write(replica, Part::PARAMETERS, theta);
      all.push_back(program.eval(theta));
      if (round == 2) break;  // nobody would read it
      auto [gradient, loss] = program.grad(replicas[0], 0, s + 11, 1);
      all.push_back(loss);
      program.apply(replicas[0], gradient, s + 11);
    }
    return all;
  };
  const auto whole = trainer_of(config);
  Program program(whole->header());
  const std::vector<NumberIndex> indices = write(program);
  const std::uint64_t steps = whole->run(program, {}).steps_executed;
  const std::vector<double> expected = numbers(*whole, indices);

  int longest = 0;
  for (int stop = 1; stop < 1000; ++stop) {
    const TemporaryFolder folder;
    std::uint64_t done = 0;
    bool stopped = false;
    {
      const auto trainer = trainer_of(config, 2, folder.path());
      int asked = 0;
      TrainingObserver observer;
      observer.interrupted = [&] { return ++asked > stop; };
      observer.on_progress = [&](const TrainingProgress& progress) { done = progress.steps_done; };
      try {
        trainer->run(program, observer);
      } catch (const TrainingInterrupted&) {
        stopped = true;
      }
    }
    if (!stopped) break;
    longest = stop;
    const auto trainer = trainer_of(config, 1, folder.path());
    const TrainingEffort rest = trainer->run(program, {});
    EXPECT_EQ(numbers(*trainer, indices), expected) << "stopped at " << stop;
    EXPECT_LE(rest.steps_executed + done, steps);
    if (stop > 6) {
      EXPECT_LT(rest.steps_executed, steps);
    }
  }
  EXPECT_GT(longest, 10);
}

// The same trainer object goes on from memory after an interruption, also without a cache.
TEST(TorchCache, GoesOnFromMemory) {
  const TrainingConfig config = small_config();
  const auto whole = trainer_of(config);
  Program program(whole->header());
  const std::vector<NumberIndex> indices = local_sgd(program, 2, 3, 8);
  const std::uint64_t steps = whole->run(program, {}).steps_executed;

  const auto trainer = trainer_of(config);
  int asked = 0;
  TrainingObserver observer;
  observer.interrupted = [&] { return ++asked == 5; };
  EXPECT_THROW(trainer->run(program, observer), TrainingInterrupted);
  EXPECT_LT(trainer->run(program, {}).steps_executed, steps);
  EXPECT_EQ(numbers(*trainer, indices), numbers(*whole, indices));
}

TEST(TorchCache, ALongerProgramGoesOnFromTheEndOfTheShorter) {
  const TemporaryFolder folder;
  TrainingConfig config = small_config();
  config.inner.decay = InnerOptimizer::Decay::CONSTANT;
  {
    const auto trainer = trainer_of(config, 2, folder.path());
    Program program(trainer->header());
    local_sgd(program, 2, 4, 10);
    EXPECT_EQ(trainer->run(program, {}).steps_executed, 80u);
  }
  const auto trainer = trainer_of(config, 2, folder.path());
  Program program(trainer->header());
  const std::vector<NumberIndex> losses = local_sgd(program, 2, 6, 10);
  EXPECT_EQ(trainer->run(program, {}).steps_executed, 40u);

  const auto plain = trainer_of(config);
  Program same(plain->header());
  const std::vector<NumberIndex> expected = local_sgd(same, 2, 6, 10);
  plain->run(same, {});
  EXPECT_EQ(numbers(*trainer, losses), numbers(*plain, expected));
}

// Snapshots on the way, of which the last one counts when the process is killed.
TEST(TorchCache, GoesOnFromASnapshotOnTheWay) {
  const TemporaryFolder folder;
  const TrainingConfig config = small_config();
  const auto whole = trainer_of(config);
  Program program(whole->header());
  const std::vector<NumberIndex> indices = local_sgd(program, 2, 4, 10);
  whole->run(program, {});
  {
    const auto trainer =
        trainer_of(config, 2, folder.path(), Execution::THREADS, /*snapshot_every_s=*/0);
    TrainingObserver observer;
    observer.on_number = [&](NumberIndex index, double) {
      if (index == indices[2]) throw std::runtime_error("killed");
    };
    EXPECT_THROW(trainer->run(program, observer), std::runtime_error);
  }
  const auto trainer = trainer_of(config, 2, folder.path());
  EXPECT_LE(trainer->run(program, {}).steps_executed, 20u);
  EXPECT_EQ(numbers(*trainer, indices), numbers(*whole, indices));
}

}  // namespace
}  // namespace syncline::testing
