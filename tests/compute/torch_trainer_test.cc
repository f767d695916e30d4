#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <iostream>
#include <string>

#include "tests/compute/torch_fixture.h"
#include "topology/input_error.h"

namespace syncline::testing {
namespace {

TEST(TorchTrainer, ParameterCountOfTheUsualModel) {
  TrainingConfig config;
  config.data.markov_states = 256;
  EXPECT_EQ(trainer_of(config)->parameter_count(), 853120u);
}

TEST(TorchTrainer, HeaderNamesWhatDecidesTheNumbers) {
  const TrainingConfig config = small_config();
  const std::string header = trainer_of(config, 1)->header();
  EXPECT_EQ(header, trainer_of(config, 2)->header()) << "threads do not change numbers";
  EXPECT_NE(header, trainer_of(config, 1, "", Execution::STACKED)->header());
  for (auto change : std::vector<std::function<void(TrainingConfig&)>>{
           [](TrainingConfig& c) { c.model.layers = 1; },
           [](TrainingConfig& c) { c.inner.lr *= 2; },
           [](TrainingConfig& c) { c.inner.horizon = 41; },
           [](TrainingConfig& c) { c.inner.beta2 = 0.98; },
           [](TrainingConfig& c) { c.inner.clip = 0; }, [](TrainingConfig& c) { c.batch = 5; },
           [](TrainingConfig& c) { c.seed = 2; },
           [](TrainingConfig& c) { c.data.markov_entropy = 1.4; },
           [](TrainingConfig& c) { c.data.streams = 3; },
           [](TrainingConfig& c) { c.precision = Precision::BF16; },
           [](TrainingConfig& c) { c.eval_tokens = 512; },
           [](TrainingConfig& c) { c.data.split = DataConfig::Split::CONTIGUOUS; }}) {
    TrainingConfig other = config;
    change(other);
    EXPECT_NE(header, trainer_of(other, 1)->header());
  }
}

TEST(TorchTrainer, RefusesWhatItCannotTrain) {
  TrainingConfig config = small_config();
  config.model.heads = 3;
  EXPECT_THROW(trainer_of(config), InputError);
}

TEST(TorchTrainer, SaysWhyThereIsNoCuda) {
  TorchTrainerOptions options;
  options.device = DeviceChoice::CUDA;
  try {
    EXPECT_EQ(make_torch_trainer(small_config(), data_of(small_config()), options)
                  ->device_name()
                  .rfind("CPU", 0),
              std::string::npos);
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("can not be used: "), std::string::npos)
        << error.what();
    std::cout << error.what() << "\n" << cuda_note() << "\n";
  }
}

TEST(TorchTrainer, ReportsProgressUpToTheEnd) {
  const auto trainer = trainer_of(small_config());
  Program program(trainer->header());
  local_sgd(program, 3, 4, 5);
  TrainingProgress last;
  TrainingObserver observer;
  observer.on_progress = [&](const TrainingProgress& progress) {
    EXPECT_GE(progress.steps_done, last.steps_done);
    last = progress;
  };
  trainer->run(program, observer);
  EXPECT_EQ(last.steps_done, 60u);
  EXPECT_EQ(last.steps_total, 60u);
}

// The source's entropy is the least loss there is.
TEST(TorchTrainer, LearnsTheMarkovSourceDownToItsEntropy) {
  TrainingConfig config = small_config();
  config.data.markov_states = 8;
  config.data.markov_entropy = 1.0;
  config.inner.lr = 1e-2;
  config.inner.horizon = 200;
  config.batch = 8;
  config.eval_tokens = 16384;
  const auto trainer = trainer_of(config);
  Program program(trainer->header());
  const std::vector<NumberIndex> losses =
      diloco(program, 2, 10, 20, {OuterRule::Kind::NESTEROV, 0.7, 0.5});
  trainer->run(program, {});
  const double entropy = data_of(config)->entropy();
  EXPECT_LT(trainer->number(losses.back()), entropy + 0.06);
  EXPECT_GT(trainer->number(losses.back()), entropy - 0.03);
}

TEST(TorchTrainer, Bf16IsNearFp32) {
  TrainingConfig config = small_config();
  std::vector<std::vector<double>> losses;
  for (const Precision precision : {Precision::FP32, Precision::BF16}) {
    for (const Execution execution : {Execution::THREADS, Execution::STACKED}) {
      config.precision = precision;
      const auto trainer = trainer_of(config, 2, "", execution);
      Program program(trainer->header());
      const std::vector<NumberIndex> indices = local_sgd(program, 2, 4, 10);
      trainer->run(program, {});
      losses.push_back(numbers(*trainer, indices));
    }
  }
  EXPECT_LT(losses[0].back(), losses[0].front() - 0.1);
  for (const std::vector<double>& other : losses) {
    for (std::size_t i = 0; i < other.size(); ++i) EXPECT_NEAR(other[i], losses[0][i], 0.03);
  }
  EXPECT_NE(losses[0].back(), losses[2].back());
}

TEST(TorchTrainer, StateThatNobodyReadsIsNotTrained) {
  const auto trainer = trainer_of(small_config());
  Program program(trainer->header());
  Replica read = program.init(1);
  Replica unread = program.init(1);
  const NumberIndex known = program.step(read, 0, 0, 3, 0);
  const NumberIndex unknown = program.step(unread, 1, 0, 5, 0);
  const NumberIndex loss = program.eval(program.read(read, Part::PARAMETERS));
  program.step(read, 0, 3, 7, 3);
  const TrainingEffort effort = trainer->run(program, {});
  EXPECT_EQ(effort.steps_executed, 3u);
  EXPECT_EQ(effort.tokens_executed, 3u * 4 * 16);
  EXPECT_TRUE(std::isfinite(trainer->number(known)));
  EXPECT_TRUE(std::isfinite(trainer->number(loss)));
  EXPECT_TRUE(std::isnan(trainer->number(unknown)));
}

TEST(TorchTrainer, GoesOnWhenTheProgramHasGrown) {
  const TrainingConfig config = small_config();
  const auto whole = trainer_of(config);
  Program all(whole->header());
  const std::vector<NumberIndex> expected = local_sgd(all, 3, 6, 4);
  const TrainingEffort effort = whole->run(all, {});

  const auto grows = trainer_of(config);
  Program program(grows->header());
  std::vector<Replica> replicas = start(program, 3);
  std::uint64_t steps = 0;
  for (std::uint32_t round = 0; round < 6; ++round) {
    for (std::uint32_t k = 0; k < 3; ++k) program.step(replicas[k], k, 4 * round, 4, 4 * round);
    const Value average = mean(program, read_all(program, replicas));
    for (Replica& replica : replicas) program.write(replica, Part::PARAMETERS, average);
    const NumberIndex loss = program.eval(average);
    steps += grows->run(program, {}).steps_executed;
    EXPECT_EQ(grows->number(loss), whole->number(expected[round]));
  }
  EXPECT_EQ(steps, effort.steps_executed);
  EXPECT_EQ(grows->run(program, {}).steps_executed, 0u);
}

// A value that was not wanted at first, of a replica that has moved on since.
TEST(TorchTrainer, BringsWhatALaterPartOfTheProgramAsksFor) {
  const auto trainer = trainer_of(small_config());
  Program program(trainer->header());
  Replica replica = program.init(7);
  program.step(replica, 0, 0, 3, 0);
  const Value early = program.read(replica, Part::ALL);
  program.step(replica, 0, 3, 3, 3);
  const NumberIndex late_loss = program.eval(program.read(replica, Part::PARAMETERS));
  trainer->run(program, {});
  const NumberIndex early_loss = program.eval(early);
  program.step(replica, 0, 6, 1, 6);
  program.write(replica, Part::ALL, early);
  program.step(replica, 0, 3, 3, 3);
  const NumberIndex again = program.eval(program.read(replica, Part::PARAMETERS));
  trainer->run(program, {});
  EXPECT_TRUE(std::isfinite(trainer->number(early_loss)));
  EXPECT_NE(trainer->number(early_loss), trainer->number(late_loss));
  EXPECT_EQ(trainer->number(again), trainer->number(late_loss))
      << "restored state goes the same way";
}

TEST(TorchTrainer, RestoresTheOptimizerApart) {
  const auto trainer = trainer_of(small_config());
  Program program(trainer->header());
  std::vector<Replica> replicas = start(program, 2);
  program.step(replicas[0], 0, 0, 5, 0);
  program.write(replicas[1], Part::OPTIMIZER, program.read(replicas[0], Part::OPTIMIZER));
  program.write(replicas[1], Part::PARAMETERS, program.read(replicas[0], Part::PARAMETERS));
  std::vector<NumberIndex> losses;
  for (Replica& replica : replicas) {
    program.step(replica, 0, 5, 5, 5);
    losses.push_back(program.eval(program.read(replica, Part::PARAMETERS)));
  }
  Replica fresh = program.init(7);
  program.step(fresh, 0, 0, 5, 0);
  Replica moments_lost = program.init(7);
  program.write(moments_lost, Part::PARAMETERS, program.read(fresh, Part::PARAMETERS));
  program.step(moments_lost, 0, 5, 5, 5);
  const NumberIndex lost = program.eval(program.read(moments_lost, Part::PARAMETERS));
  trainer->run(program, {});
  EXPECT_EQ(trainer->number(losses[0]), trainer->number(losses[1]));
  EXPECT_NE(trainer->number(losses[0]), trainer->number(lost));
}

TEST(TorchTrainer, DivergenceIsReportedAsItIs) {
  const TrainingConfig config = plain_sgd(small_config(), 1e12);
  const auto trainer = trainer_of(config);
  Program program(trainer->header());
  const std::vector<NumberIndex> losses = local_sgd(program, 2, 2, 10);
  std::vector<double> seen;
  TrainingObserver observer;
  observer.on_number = [&](NumberIndex, double loss) { seen.push_back(loss); };
  trainer->run(program, observer);
  EXPECT_FALSE(std::isfinite(trainer->number(losses.back())));
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_FALSE(std::isfinite(seen.back()));
}

TEST(TorchTrainer, MeasuresAStepWithoutDisturbingState) {
  const auto trainer = trainer_of(small_config());
  Program program(trainer->header());
  Replica replica = program.init(7);
  program.step(replica, 0, 0, 4, 0);
  NumberIndex loss = program.eval(program.read(replica, Part::PARAMETERS));
  trainer->run(program, {});
  EXPECT_GT(trainer->measure_step(), Time{});
  program.step(replica, 0, 4, 4, 4);
  loss = program.eval(program.read(replica, Part::PARAMETERS));
  EXPECT_EQ(trainer->run(program, {}).steps_executed, 4u);

  const auto other = trainer_of(small_config());
  Program plain(other->header());
  const std::vector<NumberIndex> expected = alone(plain, 0, {4, 4});
  other->run(plain, {});
  EXPECT_EQ(trainer->number(loss), other->number(expected[1]));
}

}  // namespace
}  // namespace syncline::testing
