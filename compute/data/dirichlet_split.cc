#include "compute/data/dirichlet_split.h"

#include <algorithm>
#include <boost/random/gamma_distribution.hpp>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/uniform_01.hpp>
#include <cmath>

#include "compute/data/counter_hash.h"
#include "topology/check.h"

namespace syncline {
namespace {

constexpr std::uint64_t kWeights = 1;
constexpr std::uint64_t kFile = 2;
constexpr std::uint64_t kBegin = 3;

// The logarithm of a Gamma(shape, 1) draw. For shape < 1 by Gamma(shape + 1) · U^(1/shape)
// (Marsaglia, Tsang 2000, section 6): with small shapes the draw itself would be 0 for every file.
template <typename Engine>
double log_gamma_draw(Engine& engine, double shape) {
  boost::random::uniform_01<double> uniform;
  const double draw = boost::random::gamma_distribution<double>(shape + 1)(engine);
  return std::log(draw) + std::log1p(-uniform(engine)) / shape;
}

}  // namespace

DirichletSplit::DirichletSplit(std::span<const Stretch> files, std::uint32_t context, double alpha,
                               std::uint32_t streams, std::uint64_t seed)
    : files_(files.begin(), files.end()), context_(context), seed_(seed) {
  SYNCLINE_CHECK(!files_.empty(), "no file to draw from");
  double tokens = 0;
  for (const Stretch& file : files_) tokens += static_cast<double>(file.end - file.begin);
  cumulative_.reserve(files_.size() * streams);
  for (std::uint32_t stream = 0; stream < streams; ++stream) {
    boost::random::mt19937_64 engine(counter_hash({seed, stream, kWeights}));
    std::vector<double> weights;
    for (const Stretch& file : files_) {
      const double share = static_cast<double>(file.end - file.begin) / tokens;
      weights.push_back(log_gamma_draw(engine, alpha * share * static_cast<double>(files_.size())));
    }
    const double largest = *std::max_element(weights.begin(), weights.end());
    double sum = 0;
    for (double& weight : weights) sum += weight = std::exp(weight - largest);
    double running = 0;
    for (const double weight : weights) cumulative_.push_back((running += weight) / sum);
    cumulative_.back() = 1;
  }
}

std::uint64_t DirichletSplit::at(std::uint32_t stream, std::uint64_t batch,
                                 std::uint32_t row) const {
  const double draw = unit_interval(counter_hash({seed_, stream, batch, row, kFile}));
  const auto first = cumulative_.begin() + static_cast<std::ptrdiff_t>(stream * files_.size());
  const auto last = first + static_cast<std::ptrdiff_t>(files_.size());
  // The last sum is 1 and the draw is less, so there is always one.
  const auto found = std::upper_bound(first, last, draw);
  const Stretch& file = files_[static_cast<std::size_t>(found - first)];
  const std::uint64_t places = file.end - file.begin - context_;
  return file.begin + below(counter_hash({seed_, stream, batch, row, kBegin}), places);
}

std::vector<double> DirichletSplit::weights(std::uint32_t stream) const {
  std::vector<double> weights;
  double before = 0;
  for (std::size_t file = 0; file < files_.size(); ++file) {
    const double sum = cumulative_[stream * files_.size() + file];
    weights.push_back(sum - before);
    before = sum;
  }
  return weights;
}

}  // namespace syncline
