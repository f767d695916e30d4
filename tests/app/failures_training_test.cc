// The loss of a run in which a worker misses rounds, against a plain loop in which the same worker
// misses the same rounds.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <span>

#include "sim/simulation.h"
#include "tests/compute/torch_fixture.h"
#include "tests/compute/torch_reference_model.h"
#include "tests/sim/star.h"

namespace syncline::testing {
namespace {

constexpr std::uint32_t kWorkers = 4;
constexpr std::uint64_t kLocalSteps = 5;
constexpr std::size_t kRounds = 5;
constexpr double kLearningRate = 0.1;

TrainingConfig config() {
  TrainingConfig config = plain_sgd(small_config(), kLearningRate);
  config.precision = Precision::FP64;
  config.seed = 7;
  return config;
}

// Local SGD over those who are there; a worker that missed a round starts from the mean, and reads
// the batches that it lost again.
std::vector<double> by_a_plain_loop(const std::vector<std::vector<bool>>& present) {
  at::set_num_threads(1);
  const TrainingConfig c = config();
  const auto data = data_of(c);
  const auto length = static_cast<std::int64_t>(c.model.context);
  std::vector<Reference> models;
  for (std::uint32_t k = 0; k < kWorkers; ++k)
    models.emplace_back(c, data->vocabulary(), torch::kDouble);
  std::vector<std::uint64_t> next_batch(kWorkers);
  const auto parameters = [](Reference& model) {
    std::vector<Tensor> all = model.matrices;
    all.insert(all.end(), model.gains.begin(), model.gains.end());
    return all;
  };
  const Tensor held_out = to_tensor(data->validation_sequences(c.eval_tokens), length);
  const auto evaluate = [&] {
    const torch::NoGradGuard no_grad;
    return models[0].loss(held_out).item<double>();
  };
  std::vector<double> losses{evaluate()};
  for (const std::vector<bool>& here : present) {
    std::vector<std::uint32_t> members;
    for (std::uint32_t k = 0; k < kWorkers; ++k) {
      if (!here[k]) continue;
      members.push_back(k);
      for (std::uint64_t step = 0; step < kLocalSteps; ++step) {
        std::vector<Token> tokens(c.batch * (c.model.context + 1));
        data->batch(k, next_batch[k]++, c.batch, tokens);
        const std::vector<Tensor> gradients = torch::autograd::grad(
            {models[k].loss(to_tensor(tokens, length))}, parameters(models[k]));
        const torch::NoGradGuard no_grad;
        const std::vector<Tensor> theta = parameters(models[k]);
        for (std::size_t i = 0; i < theta.size(); ++i) theta[i].sub_(gradients[i] * kLearningRate);
      }
    }
    const torch::NoGradGuard no_grad;
    std::vector<std::vector<Tensor>> theta;
    for (Reference& model : models) theta.push_back(parameters(model));
    for (std::size_t i = 0; i < theta[0].size(); ++i) {
      Tensor mean = torch::zeros_like(theta[0][i]);
      for (const std::uint32_t k : members)
        mean += theta[k][i] / static_cast<double>(members.size());
      for (std::uint32_t k = 0; k < kWorkers; ++k) theta[k][i].copy_(mean);
    }
    losses.push_back(evaluate());
  }
  return losses;
}

TEST(Failures, LossIsThatOfALoopInWhichTheWorkerMissesTheSameRounds) {
  // A machine goes off in round 2 and is back in round 3: it takes part again from round 4 on.
  // Another one's link is dead at the end of round 5.
  const TestStar star(kWorkers, 1.25e7, 0.01);
  SimulationSetup setup;
  setup.workers = star.workers(Time::seconds(0.1));
  setup.strategy.method = LocalSgd{};
  setup.strategy.local_steps = kLocalSteps;
  setup.strategy.reweight = true;
  setup.payload = {10'000, 4};
  setup.rejoin = setup.payload;
  setup.stop.rounds = kRounds;
  setup.recorded_steps = kRounds * kLocalSteps;
  setup.evaluate_every = kLocalSteps;
  setup.seed = 7;
  DownEffect machine;
  machine.workers = {2};
  machine.nodes = {star.hosts[2]};
  machine.in_flight = InFlight::FAIL;
  DownEffect link;
  link.links = {star.links[1]};
  link.in_flight = InFlight::FAIL;
  setup.events = {{"h2", Once{Time::seconds(0.9), Time::seconds(0.7)}, machine},
                  {"h1-switch", Once{Time::seconds(3.0), Time::max()}, link}};

  const auto trainer = trainer_of(config());
  Program program(trainer->header());
  const SimulationOutcome outcome = simulate(star.topology, setup, &program);
  std::vector<std::size_t> workers;
  for (const RoundRecord& round : outcome.rounds) workers.push_back(round.workers);
  ASSERT_EQ(workers, (std::vector<std::size_t>{4, 3, 3, 4, 3}));

  const std::vector<double> expected = by_a_plain_loop({{true, true, true, true},
                                                        {true, true, false, true},
                                                        {true, true, false, true},
                                                        {true, true, true, true},
                                                        {true, false, true, true}});
  trainer->run(program, {});
  ASSERT_EQ(outcome.evaluations.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(trainer->number(outcome.evaluations[i].loss), expected[i], 1e-10) << "round " << i;
  }
}

// What a worker that comes back gets is what its peer had when the round began: the program says
// so, and the trainer copies it bit by bit, moments and step count included.
TEST(Failures, ARejoinedReplicaIsItsPeer) {
  const TestStar star(3, 1.25e7, 0.01);
  SimulationSetup setup;
  setup.workers = star.workers(Time::seconds(0.1));
  setup.strategy.method = Diloco{};
  setup.strategy.local_steps = kLocalSteps;
  setup.payload = {10'000, 4};
  setup.rejoin = {10'000, 12};
  setup.stop.rounds = 3;
  setup.recorded_steps = 3 * kLocalSteps;
  setup.evaluate_every = kLocalSteps;
  DownEffect machine;
  machine.workers = {1};
  machine.nodes = {star.hosts[1]};
  machine.in_flight = InFlight::FAIL;
  setup.events = {{"h1", Once{Time::seconds(0.8), Time::seconds(0.2)}, machine}};
  Program program("header");
  simulate(star.topology, setup, &program);

  const std::span<const Instruction> all = program.instructions();
  const auto write = std::find_if(all.begin(), all.end(), [](const Instruction& i) {
    return i.op == Op::WRITE && i.part == Part::ALL;
  });
  ASSERT_NE(write, all.end());
  EXPECT_EQ(write->replica, 1u);
  const ValueIndex value = program.operands(*write)[0].value;
  const auto read = std::find_if(all.begin(), write, [&](const Instruction& i) {
    return i.op == Op::READ && i.result == value;
  });
  ASSERT_NE(read, write);
  EXPECT_EQ(read->replica, 0u);
  EXPECT_EQ(read->part, Part::ALL);
  // Read when the round began: right after the peer got the mean of the round before.
  const auto before =
      std::find_if(std::make_reverse_iterator(read), all.rend(),
                   [](const Instruction& i) { return i.replica == 0 && i.op != Op::READ; });
  EXPECT_EQ(before->op, Op::WRITE);

  const auto trainer = trainer_of(small_config());
  Program copy(trainer->header());
  Replica peer = copy.init(7);
  Replica back = copy.init(7);
  copy.step(peer, 0, 0, 6, 0);
  copy.step(back, 1, 0, 2, 0);
  copy.write(back, Part::ALL, copy.read(peer, Part::ALL));
  const NumberIndex of_peer = copy.eval(copy.read(peer, Part::PARAMETERS));
  const NumberIndex of_back = copy.eval(copy.read(back, Part::PARAMETERS));
  copy.step(peer, 2, 5, 4, 6);
  copy.step(back, 2, 5, 4, 6);
  const NumberIndex later_of_peer = copy.eval(copy.read(peer, Part::PARAMETERS));
  const NumberIndex later_of_back = copy.eval(copy.read(back, Part::PARAMETERS));
  trainer->run(copy, {});
  EXPECT_EQ(trainer->number(of_peer), trainer->number(of_back));
  EXPECT_EQ(trainer->number(later_of_peer), trainer->number(later_of_back));
}

}  // namespace
}  // namespace syncline::testing
