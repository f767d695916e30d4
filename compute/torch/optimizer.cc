#include "compute/torch/optimizer.h"

#include <ATen/ATen.h>

#include <vector>

namespace syncline {

using at::Tensor;

void Optimizer::step(const OptimizerRows& rows, const Tensor& gradients,
                     std::span<const std::uint64_t> positions,
                     std::span<const std::int64_t> counts) const {
  if (config_.clip > 0) {
    const Tensor norm = at::linalg_vector_norm(gradients, 2, {1}, /*keepdim=*/true);
    gradients.mul_((config_.clip / (norm + 1e-6)).clamp_max(1));
  }
  if (config_.kind == InnerOptimizer::Kind::ADAMW) {
    adamw(rows, gradients, positions, counts);
  } else {
    sgd(rows, gradients, positions);
  }
}

void Optimizer::adamw(const OptimizerRows& rows, const Tensor& gradients,
                      std::span<const std::uint64_t> positions,
                      std::span<const std::int64_t> counts) const {
  // Rows that are at the same step share a call, which is one launch on a GPU.
  const std::size_t replicas = positions.size();
  std::vector<bool> done(replicas, false);
  for (std::size_t i = 0; i < replicas; ++i) {
    if (done[i]) continue;
    const double lr = config_.lr_at(positions[i]);
    const Tensor count =
        at::full({}, static_cast<double>(counts[i] + 1), gradients.options().dtype(at::kFloat));
    const auto update = [&](std::int64_t offset, std::int64_t length, double weight_decay) {
      std::vector<Tensor> parameters, gradient, first, second, steps;
      for (std::size_t j = i; j < replicas; ++j) {
        if (positions[j] != positions[i] || counts[j] != counts[i]) continue;
        done[j] = true;
        const auto part = [&](const Tensor& tensor) {
          return tensor.select(0, static_cast<std::int64_t>(j)).narrow(0, offset, length);
        };
        parameters.push_back(part(rows.parameters));
        gradient.push_back(part(gradients));
        first.push_back(part(rows.first));
        second.push_back(part(rows.second));
        steps.push_back(count);
      }
      at::_fused_adamw_(parameters, gradient, first, second, {}, steps, lr, config_.beta1,
                        config_.beta2, weight_decay, config_.epsilon,
                        /*amsgrad=*/false, /*maximize=*/false);
    };
    update(0, matrices_, config_.weight_decay);
    update(matrices_, size_ - matrices_, 0);
  }
}

void Optimizer::sgd(const OptimizerRows& rows, const Tensor& gradients,
                    std::span<const std::uint64_t> positions) const {
  if (config_.weight_decay != 0) {
    gradients.narrow(1, 0, matrices_)
        .add_(rows.parameters.narrow(1, 0, matrices_), config_.weight_decay);
  }
  Tensor direction = gradients;
  if (config_.momentum != 0) direction = rows.first.mul_(config_.momentum).add_(gradients);
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i);
    rows.parameters.select(0, row).add_(direction.select(0, row), -config_.lr_at(positions[i]));
  }
}

}  // namespace syncline
