// The inner optimizer on rows of parameters: clip, then AdamW or SGD, each row with its own
// learning rate and step count.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>

#include "compute/torch/layout.h"
#include "compute/training_config.h"

namespace syncline {

// K replicas [K, N]. `first` and `second` are moments: AdamW has both, SGD with momentum only the
// first (else undefined).
struct OptimizerRows {
  at::Tensor parameters, first, second;
};

class Optimizer {
 public:
  Optimizer(const InnerOptimizer& config, const Layout& layout)
      : config_(config), matrices_(layout.matrices), size_(layout.size) {}

  bool has_first() const {
    return config_.kind == InnerOptimizer::Kind::ADAMW || config_.momentum != 0;
  }
  bool has_second() const { return config_.kind == InnerOptimizer::Kind::ADAMW; }

  // One step of every row. `gradients` [K, N] are used up. positions: in the schedule; counts:
  // steps that the row's moments have seen before. Weight decay acts on the matrices, not on the
  // gains of the norms.
  void step(const OptimizerRows& rows, const at::Tensor& gradients,
            std::span<const std::uint64_t> positions, std::span<const std::int64_t> counts) const;

 private:
  void adamw(const OptimizerRows& rows, const at::Tensor& gradients,
             std::span<const std::uint64_t> positions, std::span<const std::int64_t> counts) const;
  void sgd(const OptimizerRows& rows, const at::Tensor& gradients,
           std::span<const std::uint64_t> positions) const;

  InnerOptimizer config_;
  std::int64_t matrices_;
  std::int64_t size_;
};

}  // namespace syncline
