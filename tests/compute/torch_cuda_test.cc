// The trainer on a GPU: the same program, the same losses within a tolerance. Skipped, with the
// reason, where there is none.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "tests/compute/temporary_folder.h"
#include "tests/compute/torch_fixture.h"
#include "tests/compute/torch_gpu.h"

namespace syncline::testing {
namespace {

using Write = std::function<std::vector<NumberIndex>(Program&)>;

struct Method {
  std::string name;
  Write write;
};
void PrintTo(const Method& method, std::ostream* out) { *out << method.name; }

std::vector<NumberIndex> encoded(Program& p) {
  std::vector<Replica> replicas = start(p, 2);
  std::vector<NumberIndex> losses;
  for (std::uint32_t s = 0; s < 12; s += 4) {
    std::vector<Value> sent;
    for (std::uint32_t k = 0; k < 2; ++k) {
      p.step(replicas[k], k, s, 4, s);
      sent.push_back(p.encode(p.read(replicas[k], Part::PARAMETERS), {Codec::INT8}));
    }
    const Value average = mean(p, sent);
    for (Replica& replica : replicas) p.write(replica, Part::PARAMETERS, average);
    losses.push_back(p.eval(average));
  }
  return losses;
}

// A replica that takes over another's whole state, replicas of unequal lengths, one that is alone.
std::vector<NumberIndex> rejoin(Program& p) {
  std::vector<Replica> replicas = start(p, 3);
  for (std::uint32_t k = 0; k < 3; ++k) p.step(replicas[k], k, 0, 3 + k, 0);
  p.write(replicas[0], Part::ALL, p.read(replicas[2], Part::ALL));
  replicas.erase(replicas.begin() + 1);
  std::vector<NumberIndex> losses;
  for (Replica& replica : replicas) {
    p.step(replica, 1, 5, 4, 5);
    losses.push_back(p.eval(p.read(replica, Part::PARAMETERS)));
  }
  return losses;
}

const std::vector<Method>& methods() {
  static const std::vector<Method> kAll{
      {"DataParallel", [](Program& p) { return data_parallel(p, 4, 8); }},
      {"LocalSgd", [](Program& p) { return local_sgd(p, 4, 4, 5); }},
      {"Diloco", [](Program& p) { return diloco(p, 3, 4, 5, {}); }},
      {"Encoded", encoded},
      {"Rejoin", rejoin}};
  return kAll;
}

std::unique_ptr<Trainer> trainer_on(DeviceChoice device, const TrainingConfig& config, int gpus = 1,
                                    const std::string& cache_folder = "") {
  TorchTrainerOptions options;
  options.device = device;
  options.gpus = gpus;
  options.cache_folder = cache_folder;
  return make_torch_trainer(config, data_of(config), options);
}

std::vector<double> run(Trainer& trainer, const Write& write) {
  Program program(trainer.header());
  const std::vector<NumberIndex> losses = write(program);
  trainer.run(program, {});
  return numbers(trainer, losses);
}

void expect_near(const std::vector<double>& a, const std::vector<double>& b, double tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_TRUE(std::isfinite(a[i])) << "at " << i;
    EXPECT_NEAR(a[i], b[i], tolerance) << "at " << i;
  }
}

class Cuda : public ::testing::TestWithParam<Method> {
 protected:
  void SetUp() override { SYNCLINE_SKIP_WITHOUT_GPU(); }
};

TEST_P(Cuda, LossesAreThoseOfTheCpuInFp32) {
  const TrainingConfig config = small_config();
  expect_near(run(*trainer_on(DeviceChoice::CUDA, config), GetParam().write),
              run(*trainer_on(DeviceChoice::CPU, config), GetParam().write), 2e-3);
}

// Plain SGD does not magnify the last bits as AdamW's division does.
TEST_P(Cuda, LossesAreThoseOfTheCpuInFp64) {
  TrainingConfig config = plain_sgd(small_config(), 0.1);
  config.precision = Precision::FP64;
  const double tolerance = GetParam().name == "Encoded" ? 1e-4 : 1e-9;
  expect_near(run(*trainer_on(DeviceChoice::CUDA, config), GetParam().write),
              run(*trainer_on(DeviceChoice::CPU, config), GetParam().write), tolerance);
}

TEST_P(Cuda, LossesInBf16AreNear) {
  TrainingConfig config = small_config();
  const std::vector<double> exact = run(*trainer_on(DeviceChoice::CPU, config), GetParam().write);
  config.precision = Precision::BF16;
  expect_near(run(*trainer_on(DeviceChoice::CUDA, config), GetParam().write), exact, 0.03);
}

TEST_P(Cuda, RunsAreRepeatedBitForBit) {
  for (const Precision precision : {Precision::FP32, Precision::BF16}) {
    TrainingConfig config = small_config();
    config.precision = precision;
    const std::vector<double> once = run(*trainer_on(DeviceChoice::CUDA, config), GetParam().write);
    EXPECT_EQ(once, run(*trainer_on(DeviceChoice::CUDA, config), GetParam().write));
  }
}

TEST_P(Cuda, SeveralGpusComputeWhatOneDoes) {
  if (gpu_count() < 2) GTEST_SKIP() << "needs two GPUs alike, has " << gpu_count();
  TrainingConfig config = small_config();
  config.precision = Precision::FP64;
  const double tolerance = GetParam().name == "Encoded" ? 1e-4 : 1e-8;
  const std::vector<double> one = run(*trainer_on(DeviceChoice::CUDA, config, 1), GetParam().write);
  const auto all = trainer_on(DeviceChoice::CUDA, config, 0);
  expect_near(run(*all, GetParam().write), one, tolerance);
  EXPECT_EQ(run(*trainer_on(DeviceChoice::CUDA, config, 0), GetParam().write),
            run(*trainer_on(DeviceChoice::CUDA, config, 0), GetParam().write));
}

INSTANTIATE_TEST_SUITE_P(Methods, Cuda, ::testing::ValuesIn(methods()),
                         [](const auto& param) { return param.param.name; });

class CudaTrainer : public ::testing::Test {
 protected:
  void SetUp() override { SYNCLINE_SKIP_WITHOUT_GPU(); }
};

TEST_F(CudaTrainer, IsTakenByItself) {
  EXPECT_EQ(trainer_on(DeviceChoice::AUTO, small_config())->device_name().rfind("CPU", 0),
            std::string::npos);
  EXPECT_EQ(cuda_note(), "");
}

TEST_F(CudaTrainer, MeasuresAStep) {
  const auto trainer = trainer_on(DeviceChoice::CUDA, small_config());
  const double seconds = trainer->measure_step().in_seconds();
  EXPECT_GT(seconds, 1e-5);
  EXPECT_LT(seconds, 1);
}

TEST_F(CudaTrainer, GoesOnFromASnapshot) {
  const TrainingConfig config = small_config();
  const Write half = [](Program& p) { return diloco(p, 3, 2, 5, {}); };
  const Write whole = [](Program& p) { return diloco(p, 3, 4, 5, {}); };
  const TemporaryFolder folder;
  run(*trainer_on(DeviceChoice::CUDA, config, 1, folder.path()), half);
  const auto trainer = trainer_on(DeviceChoice::CUDA, config, 1, folder.path());
  Program program(trainer->header());
  const std::vector<NumberIndex> losses = whole(program);
  EXPECT_EQ(trainer->run(program, {}).steps_executed, 3u * 2 * 5);
  EXPECT_EQ(numbers(*trainer, losses), run(*trainer_on(DeviceChoice::CUDA, config), whole));
}

// Flash attention and the usual widths: larger than the small model's kernels.
TEST_F(CudaTrainer, UsualModelLearns) {
  TrainingConfig config = small_config();
  config.model = {.layers = 4, .width = 128, .heads = 4, .context = 128};
  config.precision = Precision::BF16;
  const std::vector<double> losses = run(*trainer_on(DeviceChoice::CUDA, config),
                                         [](Program& p) { return local_sgd(p, 4, 4, 10); });
  EXPECT_LT(losses.back(), losses.front() - 0.1);
}

}  // namespace
}  // namespace syncline::testing
