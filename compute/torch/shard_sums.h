// Sums over values that lie on different GPUs.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

namespace syncline {

class NcclGroup;

// On GPUs by NCCL, whose communicators are made when they are needed first; on shards of a CPU, and
// in a build without NCCL, in the order of the shards.
class ShardSums {
 public:
  explicit ShardSums(std::vector<at::Device> devices);
  ~ShardSums();
  ShardSums(const ShardSums&) = delete;
  ShardSums& operator=(const ShardSums&) = delete;

  // Every parts[i], on device i, contiguous and of one shape, becomes the sum of all.
  void all_reduce(const std::vector<at::Tensor>& parts);

 private:
  std::vector<at::Device> devices_;
  std::shared_ptr<NcclGroup> nccl_;
};

}  // namespace syncline
