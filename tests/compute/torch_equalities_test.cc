// Methods that are the same in theory must give the same numbers.
#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "tests/compute/torch_fixture.h"

namespace syncline::testing {
namespace {

void expect_near(const std::vector<double>& a, const std::vector<double>& b, double tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_NEAR(a[i], b[i], tolerance) << "at " << i;
    EXPECT_TRUE(std::isfinite(a[i]));
  }
}

std::vector<double> run(Trainer& trainer,
                        const std::function<std::vector<NumberIndex>(Program&)>& write) {
  Program program(trainer.header());
  const std::vector<NumberIndex> losses = write(program);
  trainer.run(program, {});
  return numbers(trainer, losses);
}

class Equalities : public ::testing::TestWithParam<std::tuple<Precision, Execution>> {
 protected:
  Precision precision() const { return std::get<0>(GetParam()); }
  Execution execution() const { return std::get<1>(GetParam()); }
  double tolerance() const { return precision() == Precision::FP64 ? 1e-12 : 1e-6; }
  TrainingConfig config() const {
    TrainingConfig config = plain_sgd(small_config(), 0.1);
    config.precision = precision();
    return config;
  }
  std::unique_ptr<Trainer> trainer(const TrainingConfig& config) const {
    return trainer_of(config, 2, "", execution());
  }
};

TEST_P(Equalities, DataParallelIsOneWorkerWithTheWholeBatch) {
  const TrainingConfig parts = config();
  TrainingConfig whole = config();
  whole.batch = 4 * parts.batch;
  whole.data.streams = 1;
  const auto together = trainer(parts);
  const auto single = trainer(whole);
  const std::vector<double> a = run(*together, [](Program& p) { return data_parallel(p, 4, 20); });
  const std::vector<double> b =
      run(*single, [](Program& p) { return alone(p, 0, std::vector<std::uint32_t>(20, 1)); });
  expect_near(a, b, tolerance());
  EXPECT_LT(a.back(), a.front() - 0.01);
}

TEST_P(Equalities, MicroBatchesAreOneBatch) {
  const TrainingConfig parts = config();
  TrainingConfig whole = config();
  whole.batch = 3 * parts.batch;
  TrainingConfig one_stream = parts;
  one_stream.data.streams = whole.data.streams = 1;
  const auto pieces = trainer(one_stream);
  const auto single = trainer(whole);
  const std::vector<double> a = run(*pieces, [](Program& p) {
    Replica replica = p.init(7);
    std::vector<NumberIndex> losses;
    for (std::uint32_t s = 0; s < 5; ++s) {
      auto [gradient, loss] = p.grad(replica, 0, 3 * s, 3);
      losses.push_back(loss);
      p.apply(replica, gradient, s);
      losses.push_back(p.eval(p.read(replica, Part::PARAMETERS)));
    }
    return losses;
  });
  const std::vector<double> b = run(*single, [](Program& p) {
    Replica replica = p.init(7);
    std::vector<NumberIndex> losses;
    for (std::uint32_t s = 0; s < 5; ++s) {
      losses.push_back(p.step(replica, 0, s, 1, s));
      losses.push_back(p.eval(p.read(replica, Part::PARAMETERS)));
    }
    return losses;
  });
  expect_near(a, b, tolerance());
}

TEST_P(Equalities, LocalSgdWithOneStepIsDataParallel) {
  const auto t = trainer(config());
  const std::vector<double> a = run(*t, [](Program& p) { return local_sgd(p, 4, 20, 1); });
  const std::vector<double> b = run(*t, [](Program& p) { return data_parallel(p, 4, 20); });
  expect_near(a, b, tolerance());
}

TEST_P(Equalities, DilocoWithOuterRateOneIsLocalSgd) {
  const auto t = trainer(config());
  const std::vector<double> a = run(*t, [](Program& p) { return local_sgd(p, 3, 5, 4); });
  const std::vector<double> b = run(*t, [](Program& p) {
    return diloco(p, 3, 5, 4, {OuterRule::Kind::SGD, 1.0, 0});
  });
  const std::vector<double> c = run(*t, [](Program& p) {
    return diloco(p, 3, 5, 4, {OuterRule::Kind::NESTEROV, 1.0, 0});
  });
  const std::vector<double> other = run(*t, [](Program& p) {
    return diloco(p, 3, 5, 4, {OuterRule::Kind::NESTEROV, 0.7, 0.5});
  });
  expect_near(a, b, tolerance());
  expect_near(b, c, tolerance());
  EXPECT_GT(std::abs(other.back() - a.back()), 1e-4);
}

INSTANTIATE_TEST_SUITE_P(All, Equalities,
                         ::testing::Combine(::testing::Values(Precision::FP32, Precision::FP64),
                                            ::testing::Values(Execution::THREADS,
                                                              Execution::STACKED)));

// Bit for bit: what a replica computes does not depend on who computes beside it, nor on the number
// of threads.
TEST(Together, ReplicasAreWhatTheyAreAlone) {
  for (const std::int64_t context : {16, 64}) {
    TrainingConfig config = small_config();
    config.model.context = static_cast<std::uint32_t>(context);
    config.batch = context == 64 ? 9 : 4;  // 2 slices that are not of one size; 1 slice
    config.data.streams = 5;
    std::vector<std::vector<double>> single;
    for (std::uint32_t k = 0; k < 5; ++k) {
      const auto t = trainer_of(config, 1);
      single.push_back(run(*t, [&](Program& p) { return alone(p, k, {3, 4 + k}); }));
    }
    for (const int threads : {1, 2, 3}) {
      for (std::uint32_t workers = 1; workers <= 5; ++workers) {
        const auto t = trainer_of(config, threads);
        const std::vector<double> all = run(*t, [&](Program& p) {
          std::vector<Replica> replicas = start(p, workers);
          std::vector<NumberIndex> losses;
          for (std::uint32_t k = 0; k < workers; ++k) p.step(replicas[k], k, 0, 3, 0);
          for (std::uint32_t k = 0; k < workers; ++k)
            losses.push_back(p.eval(p.read(replicas[k], Part::PARAMETERS)));
          for (std::uint32_t k = 0; k < workers; ++k) p.step(replicas[k], k, 3, 4 + k, 3);
          for (std::uint32_t k = 0; k < workers; ++k)
            losses.push_back(p.eval(p.read(replicas[k], Part::PARAMETERS)));
          return losses;
        });
        for (std::uint32_t k = 0; k < workers; ++k) {
          EXPECT_EQ(all[k], single[k][0])
              << workers << " workers, worker " << k << ", " << threads << " threads";
          EXPECT_EQ(all[workers + k], single[k][1])
              << workers << " workers, worker " << k << ", " << threads << " threads";
        }
      }
    }
  }
}

TEST(Together, OneStackedPassIsNearThreads) {
  TrainingConfig config = small_config();
  config.precision = Precision::FP64;
  const auto threads = trainer_of(config);
  const auto stacked = trainer_of(config, 1, "", Execution::STACKED);
  const auto write = [](Program& p) { return diloco(p, 4, 4, 5, {}); };
  expect_near(run(*threads, write), run(*stacked, write), 1e-10);
}

// Rows that do not follow each other in the slab are copied together for a pass.
TEST(Together, StackedWithGapsInTheSlab) {
  TrainingConfig config = small_config();
  config.precision = Precision::FP64;
  const auto write = [](Program& p) {
    std::vector<Replica> replicas = start(p, 4);
    for (std::uint32_t k = 0; k < 4; ++k) p.step(replicas[k], k, 0, 2, 0);
    replicas.erase(replicas.begin() + 1);
    for (std::uint32_t k = 0; k < 3; ++k) p.step(replicas[k], k, 2, 2 + k, 2);
    return std::vector<NumberIndex>{p.eval(mean(p, read_all(p, replicas)))};
  };
  expect_near(run(*trainer_of(config), write),
              run(*trainer_of(config, 1, "", Execution::STACKED), write), 1e-10);
}

}  // namespace
}  // namespace syncline::testing
