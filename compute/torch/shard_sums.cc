#include "compute/torch/shard_sums.h"

#include <ATen/ATen.h>
#ifdef SYNCLINE_NCCL
#include <c10/cuda/CUDAStream.h>
#endif

#include <utility>

#include "compute/nccl/nccl_group.h"
#include "topology/check.h"

namespace syncline {

using at::Tensor;

ShardSums::ShardSums(std::vector<at::Device> devices) : devices_(std::move(devices)) {}

ShardSums::~ShardSums() = default;

void ShardSums::all_reduce(const std::vector<Tensor>& parts) {
  SYNCLINE_CHECK(parts.size() == devices_.size(), "a part for each shard");
#ifdef SYNCLINE_NCCL
  if (devices_[0].is_cuda()) {
    if (!nccl_) {
      std::vector<int> gpus;
      gpus.reserve(devices_.size());
      for (const at::Device& device : devices_) gpus.push_back(device.index());
      nccl_ = std::make_shared<NcclGroup>(std::move(gpus));
    }
    std::vector<void*> buffers;
    std::vector<CUstream_st*> streams;
    for (const Tensor& part : parts) {
      SYNCLINE_CHECK(part.is_contiguous(), "NCCL sums what lies in one piece");
      buffers.push_back(part.data_ptr());
      streams.push_back(c10::cuda::getCurrentCUDAStream(part.device().index()));
    }
    nccl_->all_reduce(
        buffers, static_cast<std::uint64_t>(parts[0].numel()),
        parts[0].scalar_type() == at::kDouble ? NcclGroup::Number::FP64 : NcclGroup::Number::FP32,
        NcclGroup::Reduce::SUM, streams);
    return;
  }
#endif
  const Tensor total = parts[0].clone();
  for (std::size_t i = 1; i < parts.size(); ++i) total.add_(parts[i].to(total.device()));
  for (const Tensor& part : parts) part.copy_(total);
}

}  // namespace syncline
