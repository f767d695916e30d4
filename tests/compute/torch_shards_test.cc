// Replicas spread over several devices, tried here with shards of the CPU;
// tests/compute/torch_cuda_test.cc has the same on GPUs.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "tests/compute/temporary_folder.h"
#include "tests/compute/torch_fixture.h"

namespace syncline::testing {
namespace {

using Write = std::function<std::vector<NumberIndex>(Program&)>;

std::unique_ptr<Trainer> sharded(int shards, const std::string& cache_folder = "") {
  TrainingConfig config = small_config();
  config.precision = Precision::FP64;
  TorchTrainerOptions options;
  options.device = DeviceChoice::CPU;
  options.execution = Execution::STACKED;
  options.gpus = shards;
  options.cache_folder = cache_folder;
  return make_torch_trainer(config, data_of(config), options);
}

std::vector<double> run(Trainer& trainer, const Write& write) {
  Program program(trainer.header());
  const std::vector<NumberIndex> losses = write(program);
  trainer.run(program, {});
  return numbers(trainer, losses);
}

std::vector<NumberIndex> rejoin_and_encode(Program& p) {
  std::vector<Replica> replicas = start(p, 3);
  for (std::uint32_t k = 0; k < 3; ++k) p.step(replicas[k], k, 0, 2 + k, 0);
  p.write(replicas[2], Part::ALL, p.read(replicas[1], Part::ALL));  // from another device
  const Value optimizers = mean(p, [&] {
    std::vector<Value> all;
    all.reserve(replicas.size());
    for (const Replica& replica : replicas) all.push_back(p.read(replica, Part::ALL));
    return all;
  }());
  p.write(replicas[0], Part::ALL, optimizers);
  std::vector<Value> sent;
  for (std::uint32_t k = 0; k < 3; ++k) {
    p.step(replicas[k], k, 5, 3, 5);
    sent.push_back(p.encode(p.read(replicas[k], Part::PARAMETERS), {Codec::INT8}));
  }
  std::vector<NumberIndex> losses;
  losses.reserve(sent.size() + 2);
  for (const Value& value : sent) losses.push_back(p.eval(value));
  const Value average = mean(p, sent);
  auto [gradient, loss] = p.grad(replicas[1], 1, 9, 2);
  p.write(replicas[2], Part::PARAMETERS, average);
  p.apply(replicas[2], gradient, 9);
  losses.push_back(loss);
  losses.push_back(p.eval(p.read(replicas[2], Part::PARAMETERS)));
  return losses;
}

TEST(Shards, ComputeWhatOneDeviceComputes) {
  for (const Write& write :
       std::vector<Write>{[](Program& p) { return data_parallel(p, 4, 6); },
                          [](Program& p) { return local_sgd(p, 4, 4, 3); },
                          [](Program& p) { return diloco(p, 4, 4, 3, {}); },
                          [](Program& p) {
                            return diloco(p, 4, 4, 3, {OuterRule::Kind::SGD, 0.7, 0});
                          },
                          rejoin_and_encode}) {
    const std::vector<double> one = run(*sharded(1), write);
    for (const int shards : {2, 3}) {
      const std::vector<double> several = run(*sharded(shards), write);
      ASSERT_EQ(one.size(), several.size());
      for (std::size_t i = 0; i < one.size(); ++i) {
        EXPECT_TRUE(std::isfinite(one[i]));
        EXPECT_NEAR(one[i], several[i], write.target<decltype(&rejoin_and_encode)>() ? 1e-6 : 1e-10)
            << shards << " shards, number " << i;
      }
      EXPECT_EQ(several, run(*sharded(shards), write)) << "repeated";
    }
  }
}

TEST(Shards, AreNamedInTheHeader) {
  EXPECT_NE(sharded(1)->header(), sharded(2)->header()) << "sums are in another order";
  EXPECT_EQ(sharded(0)->header(), sharded(1)->header());
}

TEST(Shards, GoOnFromTheCache) {
  const Write half = [](Program& p) { return diloco(p, 4, 3, 3, {}); };
  const Write whole = [](Program& p) { return diloco(p, 4, 6, 3, {}); };
  const TemporaryFolder folder;
  const std::vector<double> expected = run(*sharded(2), whole);
  run(*sharded(2, folder.path()), half);
  const auto trainer = sharded(2, folder.path());
  Program program(trainer->header());
  const std::vector<NumberIndex> losses = whole(program);
  EXPECT_EQ(trainer->run(program, {}).steps_executed, 4u * 3 * 3);
  EXPECT_EQ(numbers(*trainer, losses), expected);
}

}  // namespace
}  // namespace syncline::testing
