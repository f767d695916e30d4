// Compressed payloads: the trainer averages what arrives.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/compute/temporary_folder.h"
#include "tests/compute/torch_fixture.h"

namespace syncline::testing {
namespace {

TEST(TorchEncode, MovesTheLossALittleAndTwiceIsOnce) {
  const auto trainer = trainer_of(small_config());
  Program program(trainer->header());
  Replica replica = program.init(7);
  program.step(replica, 0, 0, 10, 0);
  const Value plain = program.read(replica, Part::PARAMETERS);
  const Value sent = program.encode(plain, {Codec::INT8});
  const Value twice = program.encode(sent, {Codec::INT8});
  const std::vector<NumberIndex> losses{program.eval(plain), program.eval(sent),
                                        program.eval(twice)};
  trainer->run(program, {});
  const std::vector<double> loss = numbers(*trainer, losses);
  EXPECT_NE(loss[0], loss[1]);
  EXPECT_NEAR(loss[0], loss[1], 0.01);
  EXPECT_EQ(loss[1], loss[2]);
}

// The optimizer's part travels compressed too, its step count as it is.
TEST(TorchEncode, OfAWholeReplica) {
  const auto trainer = trainer_of(small_config());
  Program program(trainer->header());
  Replica replica = program.init(7);
  program.step(replica, 0, 0, 10, 0);
  Replica rejoined = program.init(8);
  program.write(rejoined, Part::ALL,
                program.encode(program.read(replica, Part::ALL), {Codec::INT8}));
  std::vector<NumberIndex> losses;
  for (Replica* each : {&replica, &rejoined}) {
    program.step(*each, 0, 10, 5, 10);
    losses.push_back(program.eval(program.read(*each, Part::PARAMETERS)));
  }
  trainer->run(program, {});
  EXPECT_NE(trainer->number(losses[0]), trainer->number(losses[1]));
  EXPECT_NEAR(trainer->number(losses[0]), trainer->number(losses[1]), 0.05);
}

// Local SGD whose workers send int8 differences from the last common parameters.
std::vector<NumberIndex> compressed_local_sgd(Program& program, std::uint32_t rounds, bool encode) {
  std::vector<Replica> replicas = start(program, 3);
  Value theta = program.read(replicas[0], Part::PARAMETERS);
  std::vector<NumberIndex> losses;
  for (std::uint32_t s = 0; s < 5 * rounds; s += 5) {
    std::vector<Value> sent;
    for (std::uint32_t k = 0; k < 3; ++k) {
      program.step(replicas[k], k, s, 5, s);
      const Value parameters = program.read(replicas[k], Part::PARAMETERS);
      const std::vector<Operand> moved{{parameters.index(), 1.0}, {theta.index(), -1.0}};
      Value difference = program.linear(moved);
      if (encode) difference = program.encode(difference, {Codec::INT8});
      sent.push_back(std::move(difference));
    }
    std::vector<Operand> terms{{theta.index(), 1.0}};
    for (const Value& difference : sent) terms.push_back({difference.index(), 1.0 / 3});
    theta = program.linear(terms);
    for (Replica& replica : replicas) program.write(replica, Part::PARAMETERS, theta);
    losses.push_back(program.eval(theta));
  }
  return losses;
}

TEST(TorchEncode, TrainingFollowsTheUncompressedOne) {
  std::vector<std::vector<double>> losses;
  for (const bool encode : {false, true}) {
    const auto trainer = trainer_of(small_config());
    Program program(trainer->header());
    const std::vector<NumberIndex> indices = compressed_local_sgd(program, 8, encode);
    trainer->run(program, {});
    losses.push_back(numbers(*trainer, indices));
  }
  EXPECT_LT(losses[1].back(), losses[1].front() - 0.1);
  for (std::size_t i = 0; i < losses[0].size(); ++i) {
    EXPECT_NE(losses[0][i], losses[1][i]);
    EXPECT_NEAR(losses[0][i], losses[1][i], 0.02);
  }
}

const CodecSpec kAll[] = {{Codec::INT8},     {Codec::BF16},         {Codec::FP16},
                          {Codec::FP4_E2M1}, {Codec::FP4_E3M0},     {Codec::TOP_K, 64},
                          {Codec::TOP_K, 1}, {Codec::RANDOM_K, 64}, {Codec::TOP_K_2BIT, 64}};

// x = value + decay · residual is all there: in what arrives, or in the next residual.
TEST(TorchEncode, ErrorFeedbackLosesNothing) {
  TrainingConfig config = small_config();
  config.precision = Precision::FP64;
  const auto trainer = trainer_of(config);
  Program program(trainer->header());
  std::vector<NumberIndex> lost, moved;
  for (const CodecSpec& codec : kAll) {
    for (const double decay : {1.0, 0.5}) {
      Replica replica = program.init(7);
      const Value start = program.read(replica, Part::PARAMETERS);
      Value residual = program.outer_state();
      Value sum_in = program.linear(std::vector<Operand>{{start.index(), 0}});
      Value sum_out = program.linear(std::vector<Operand>{{start.index(), 0}});
      for (std::uint32_t round = 0; round < 4; ++round) {
        program.step(replica, 0, 3 * round, 3, 3 * round);
        const Value now = program.read(replica, Part::PARAMETERS);
        const Value value =
            program.linear(std::vector<Operand>{{start.index(), 1}, {now.index(), -1}});
        auto [sent, dropped] = program.encode(value, codec, round, residual, decay);
        residual = std::move(dropped);
        // With decay 1 the sums agree but for the residual; else each round's part of it has faded.
        sum_in = program.linear(std::vector<Operand>{{sum_in.index(), decay}, {value.index(), 1}});
        sum_out = program.linear(std::vector<Operand>{{sum_out.index(), decay}, {sent.index(), 1}});
      }
      const Value all =
          program.linear(std::vector<Operand>{{sum_out.index(), 1}, {residual.index(), 1}});
      lost.push_back(program.measure(Measure::DISTANCE, sum_in, all));
      moved.push_back(program.measure(Measure::NORM, residual));
      moved.push_back(program.measure(Measure::NORM, sum_out));
    }
  }
  trainer->run(program, {});
  for (const double distance : numbers(*trainer, lost)) EXPECT_LT(distance, 1e-12);
  for (const double norm : numbers(*trainer, moved)) EXPECT_GT(norm, 1e-5);
}

// A longer program goes on from kept residuals to the same numbers.
TEST(TorchEncode, ResidualsComeFromTheCache) {
  const TemporaryFolder folder;
  const auto run = [](Trainer& trainer, std::uint32_t rounds) {
    Program program(trainer.header());
    Replica replica = program.init(7);
    Value residual = program.outer_state();
    std::vector<NumberIndex> losses;
    for (std::uint32_t round = 0; round < rounds; ++round) {
      program.step(replica, 0, 5 * round, 5, 5 * round);
      auto [sent, dropped] = program.encode(program.read(replica, Part::PARAMETERS),
                                            {Codec::TOP_K, 2048}, 0, residual, 0.9);
      residual = std::move(dropped);
      program.write(replica, Part::PARAMETERS, sent);
      losses.push_back(program.eval(sent));
    }
    const std::uint64_t steps = trainer.run(program, {}).steps_executed;
    return std::pair(steps, numbers(trainer, losses));
  };
  const auto fresh = run(*trainer_of(small_config()), 4);
  EXPECT_EQ(fresh.first, 20u);
  run(*trainer_of(small_config(), 2, folder.path()), 2);
  const auto longer = run(*trainer_of(small_config(), 2, folder.path()), 4);
  EXPECT_LE(longer.first, 15u);
  EXPECT_EQ(longer.second, fresh.second);
}

TEST(TorchEncode, ComesFromTheCache) {
  const TemporaryFolder folder;
  std::vector<std::vector<double>> losses;
  for (const std::uint64_t expected : {3u * 5 * 4, 0u}) {
    const auto trainer = trainer_of(small_config(), 2, folder.path());
    Program program(trainer->header());
    const std::vector<NumberIndex> indices = compressed_local_sgd(program, 4, true);
    EXPECT_EQ(trainer->run(program, {}).steps_executed, expected);
    losses.push_back(numbers(*trainer, indices));
  }
  EXPECT_EQ(losses[0], losses[1]);
}

}  // namespace
}  // namespace syncline::testing
