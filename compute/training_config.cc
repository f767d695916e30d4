#include "compute/training_config.h"

#include <cmath>
#include <numbers>

namespace syncline {

std::uint64_t parameter_count(const ModelConfig& model, std::uint32_t vocabulary) {
  const std::uint64_t width = model.width;
  const std::uint64_t layers = model.layers;
  return 2 * vocabulary * width + 12 * layers * width * width + (2 * layers + 1) * width;
}

double InnerOptimizer::lr_at(std::uint64_t position) const {
  if (position < warmup) {
    return lr * (static_cast<double>(position) + 1) / static_cast<double>(warmup);
  }
  if (decay == Decay::CONSTANT) return lr;
  constexpr double kFloor = 0.1;
  if (position >= horizon) return lr * kFloor;
  // warmup <= position < horizon, so the divisor is not 0.
  const double progress =
      static_cast<double>(position - warmup) / static_cast<double>(horizon - warmup);
  return lr * (kFloor + (1 - kFloor) * 0.5 * (1 + std::cos(std::numbers::pi * progress)));
}

}  // namespace syncline
