// What is kept on the device: the states of replicas, rows of slabs, and immutable values.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "compute/program.h"
#include "compute/torch/optimizer.h"

namespace syncline {

// A value of the program: parameters (or a gradient, or an outer state), the optimizer's part, or
// both. Tensors are [N], or as long as a fragment, and never change.
struct StoredValue {
  at::Tensor parameters, first, second;
  std::int64_t count = 0;           // steps that the moments have seen
  std::uint32_t shard = 0;          // where the tensors are
  std::vector<StoredValue> copies;  // on each shard, where the value is on all
};

// A replica's present state.
struct ReplicaState {
  std::int64_t slot = -1;  // row of the slabs
  std::int64_t count = 0;
  Key key;  // of the state, also in the middle of a STEP
  // The STEP in progress, or the last one: sum of its batches' mean losses, and the key it began
  // from.
  double loss_sum = 0;
  Key loss_from;
};

// Slabs [slots, N] of parameters and moments. A slot is free or one replica's; the lowest free one
// is given out, so that replicas that start together lie in a row and a cohort is a view.
class Slab {
 public:
  Slab(const Optimizer& optimizer, std::int64_t size, at::TensorOptions options);

  std::int64_t acquire();
  void release(std::int64_t slot) { used_[static_cast<std::size_t>(slot)] = false; }

  // One replica's rows [1, N].
  OptimizerRows row(std::int64_t slot) const;
  // All slabs, [slots, N].
  const OptimizerRows& all() const { return slabs_; }

 private:
  OptimizerRows slabs_;
  std::vector<bool> used_;
};

// Raw bytes for snapshots, and back onto the device.
std::vector<std::byte> to_bytes(const ReplicaState& state, const OptimizerRows& row);
std::vector<std::byte> to_bytes(const StoredValue& value);
// False if the bytes are not of this shape. Fills everything but slot and key.
bool from_bytes(std::span<const std::byte> bytes, ReplicaState& state, const OptimizerRows& row);
std::optional<StoredValue> value_from_bytes(std::span<const std::byte> bytes,
                                            at::TensorOptions options);

}  // namespace syncline
