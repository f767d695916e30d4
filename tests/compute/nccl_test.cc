// NCCL's sums and means over the GPUs that there are: one, or more.
#include <ATen/ATen.h>
#include <c10/cuda/CUDAStream.h>
#include <gtest/gtest.h>

#include <vector>

#include "compute/nccl/nccl_group.h"
#include "tests/compute/torch_gpu.h"

namespace syncline {
namespace {

using at::Tensor;

class Nccl : public ::testing::Test {
 protected:
  void SetUp() override { SYNCLINE_SKIP_WITHOUT_GPU(); }

  // What every GPU has after the all-reduce of base · (gpu + 1).
  static void expect_on_all(int gpus, at::ScalarType type, NcclGroup::Reduce reduce) {
    std::vector<int> numbers;
    std::vector<Tensor> parts;
    std::vector<void*> buffers;
    std::vector<CUstream_st*> streams;
    // Whole numbers: no rounding, whatever the order.
    const Tensor base = at::arange(100'003, at::kDouble).remainder(1000).to(type);
    double weight = 0;
    for (int i = 0; i < gpus; ++i) {
      numbers.push_back(i);
      weight += i + 1;
      parts.push_back((base * (i + 1)).to(at::Device(at::kCUDA, static_cast<at::DeviceIndex>(i))));
      buffers.push_back(parts.back().data_ptr());
      streams.push_back(c10::cuda::getCurrentCUDAStream(static_cast<at::DeviceIndex>(i)));
    }
    NcclGroup group(numbers);
    EXPECT_EQ(group.size(), gpus);
    group.all_reduce(buffers, static_cast<std::uint64_t>(base.numel()),
                     type == at::kDouble ? NcclGroup::Number::FP64 : NcclGroup::Number::FP32,
                     reduce, streams);
    const double factor = reduce == NcclGroup::Reduce::MEAN ? weight / gpus : weight;
    for (const Tensor& part : parts) {
      EXPECT_TRUE(at::allclose(part.cpu(), base * factor, 1e-6, 0));
      EXPECT_TRUE(at::equal(part.cpu(), parts[0].cpu())) << "the same bits on all GPUs";
    }
  }
};

TEST_F(Nccl, SumsAndMeansOverEveryNumberOfGpus) {
  for (int gpus = 1; gpus <= gpu_count(); ++gpus) {
    for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
      expect_on_all(gpus, type, NcclGroup::Reduce::SUM);
      expect_on_all(gpus, type, NcclGroup::Reduce::MEAN);
    }
  }
}

TEST_F(Nccl, SaysWhatIsWrong) { EXPECT_THROW(NcclGroup({0, 0}), std::runtime_error); }

}  // namespace
}  // namespace syncline
