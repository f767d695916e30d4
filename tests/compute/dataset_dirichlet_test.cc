#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "compute/data/dataset.h"
#include "compute/data/dirichlet_split.h"
#include "tests/compute/temporary_folder.h"
#include "topology/input_error.h"

namespace syncline {
namespace {

constexpr std::uint32_t kContext = 8;

std::size_t file_of(const std::vector<Stretch>& files, std::uint64_t begin) {
  for (std::size_t f = 0; f < files.size(); ++f) {
    if (begin >= files[f].begin && begin + kContext < files[f].end) return f;
  }
  ADD_FAILURE() << "a window at " << begin << " lies in no file";
  return 0;
}

TEST(DirichletSplit, WindowsFollowTheWeightsAndStayInsideTheFiles) {
  // The second file has room for one window, and its neighbours are not next to it.
  const std::vector<Stretch> files = {{0, 50}, {60, 69}, {80, 400}, {500, 520}};
  const DirichletSplit split(files, kContext, 2, 3, 11);
  for (std::uint32_t stream = 0; stream < 3; ++stream) {
    std::vector<double> counts(files.size());
    constexpr int kDraws = 40000;
    for (std::uint32_t i = 0; i < kDraws; ++i) {
      ++counts[file_of(files, split.at(stream, i / 4, i % 4))];
    }
    const std::vector<double> weights = split.weights(stream);
    double sum = 0;
    for (std::size_t f = 0; f < files.size(); ++f) {
      sum += weights[f];
      EXPECT_NEAR(counts[f], kDraws * weights[f],
                  5 * std::sqrt(kDraws * weights[f] * (1 - weights[f])) + 1);
    }
    EXPECT_NEAR(sum, 1, 1e-12);
  }
}

TEST(DirichletSplit, EveryPlaceIsReached) {
  const std::vector<Stretch> files = {{100, 130}};
  const DirichletSplit split(files, kContext, 1, 1, 1);
  std::vector<int> seen(22);  // 30 - context places
  for (std::uint64_t batch = 0; batch < 4000; ++batch) ++seen.at(split.at(0, batch, 0) - 100);
  for (const int count : seen) EXPECT_NEAR(count, 4000.0 / 22, 5 * std::sqrt(4000.0 / 22));
}

// Of Dirichlet(a_1 … a_F), a_0 the sum: mean a_f / a_0, variance a_f (a_0 - a_f) / (a_0^2 (a_0 +
// 1)).
TEST(DirichletSplit, WeightsHaveTheMomentsOfTheDistribution) {
  for (const double alpha : {0.1, 0.5, 3.0}) {
    const std::vector<Stretch> files = {{0, 100}, {100, 200}, {200, 400}};
    const std::vector<double> a = {0.75 * alpha, 0.75 * alpha, 1.5 * alpha};
    const double a0 = 3 * alpha;
    constexpr std::uint32_t kStreams = 20000;
    const DirichletSplit split(files, kContext, alpha, kStreams, 5);
    for (std::size_t f = 0; f < files.size(); ++f) {
      double sum = 0;
      double squares = 0;
      for (std::uint32_t stream = 0; stream < kStreams; ++stream) {
        const double weight = split.weights(stream)[f];
        sum += weight;
        squares += weight * weight;
      }
      const double mean = sum / kStreams;
      const double variance = a[f] * (a0 - a[f]) / (a0 * a0 * (a0 + 1));
      EXPECT_NEAR(mean, a[f] / a0, 5 * std::sqrt(variance / kStreams));
      EXPECT_NEAR(squares / kStreams - mean * mean, variance, 0.05 * variance);
    }
  }
}

TEST(DirichletSplit, TheEndsOfAlpha) {
  const std::vector<Stretch> files = {{0, 100}, {100, 200}, {200, 400}};
  const DirichletSplit alike(files, kContext, 1e6, 4, 1);
  const DirichletSplit apart(files, kContext, 1e-6, 200, 1);
  for (std::uint32_t stream = 0; stream < 4; ++stream) {
    EXPECT_NEAR(alike.weights(stream)[0], 0.25, 0.01);
    EXPECT_NEAR(alike.weights(stream)[2], 0.5, 0.01);
  }
  int third = 0;
  for (std::uint32_t stream = 0; stream < 200; ++stream) {
    const std::vector<double> weights = apart.weights(stream);
    const double largest = *std::max_element(weights.begin(), weights.end());
    EXPECT_NEAR(largest, 1, 1e-6);  // one file each, not none
    third += weights[2] == largest;
  }
  EXPECT_NEAR(third, 100, 36);
}

TEST(DirichletSplit, ADatasetRefusesWhatItCannotSplit) {
  const TemporaryFolder folder;
  DataConfig config;
  config.source = DataConfig::Source::TEXT;
  config.split = DataConfig::Split::DIRICHLET;
  ModelConfig model;
  model.context = kContext;
  const std::string a = folder.write("a", std::string(1000, 'a'));
  const std::string b = folder.write("b", std::string(1000, 'b'));
  const std::string tiny = folder.write("tiny", "abcdefgh");
  config.files = {a, b, tiny};
  const auto data = Dataset::load(config, model, 1);
  EXPECT_EQ(data->train_tokens(), 1900u);  // the short file is left out
  for (const double alpha : {0.0, -1.0, double{NAN}, double{INFINITY}, 1e7}) {
    config.alpha = alpha;
    EXPECT_THROW(Dataset::load(config, model, 1), InputError);
  }
  config.alpha = 1;
  config.files = {a, tiny};
  EXPECT_THROW(Dataset::load(config, model, 1), InputError);
}

}  // namespace
}  // namespace syncline
