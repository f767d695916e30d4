#include "compute/nccl/nccl_group.h"

#include <cuda_runtime.h>
#include <nccl.h>

#include <stdexcept>
#include <string>
#include <utility>

#include "topology/check.h"

namespace syncline {
namespace {

void check(ncclResult_t result, const char* what) {
  if (result == ncclSuccess) return;
  throw std::runtime_error(std::string("NCCL, ") + what + ": " + ncclGetErrorString(result));
}

// What needs each GPU in turn leaves the one current that it found.
class KeepCurrentGpu {
 public:
  KeepCurrentGpu() { known_ = cudaGetDevice(&gpu_) == cudaSuccess; }
  ~KeepCurrentGpu() {
    if (known_) cudaSetDevice(gpu_);
  }
  KeepCurrentGpu(const KeepCurrentGpu&) = delete;
  KeepCurrentGpu& operator=(const KeepCurrentGpu&) = delete;

 private:
  int gpu_ = 0;
  bool known_ = false;
};

}  // namespace

struct NcclGroup::Communicators {
  std::vector<ncclComm_t> all;
  ~Communicators() {
    const KeepCurrentGpu keep;
    for (const ncclComm_t each : all) ncclCommDestroy(each);
  }
};

NcclGroup::NcclGroup(std::vector<int> gpus)
    : gpus_(std::move(gpus)), communicators_(std::make_unique<Communicators>()) {
  SYNCLINE_CHECK(!gpus_.empty(), "a group has at least one GPU");
  const KeepCurrentGpu keep;
  std::vector<ncclComm_t> made(gpus_.size());
  check(ncclCommInitAll(made.data(), size(), gpus_.data()), "making communicators");
  communicators_->all = std::move(made);
}

NcclGroup::~NcclGroup() = default;

void NcclGroup::all_reduce(std::span<void* const> buffers, std::uint64_t count, Number number,
                           Reduce reduce, std::span<CUstream_st* const> streams) {
  SYNCLINE_CHECK(buffers.size() == gpus_.size() && streams.size() == gpus_.size(),
                 "a buffer and a stream for each GPU");
  const KeepCurrentGpu keep;
  const ncclDataType_t type = number == Number::FP64 ? ncclDouble : ncclFloat;
  const ncclRedOp_t operation = reduce == Reduce::MEAN ? ncclAvg : ncclSum;
  // One thread for all GPUs: without a group, the first call would wait for the others.
  check(ncclGroupStart(), "starting a group");
  ncclResult_t first_error = ncclSuccess;
  for (std::size_t i = 0; i < gpus_.size(); ++i) {
    cudaSetDevice(gpus_[i]);  // the default stream is the current GPU's
    const ncclResult_t result = ncclAllReduce(buffers[i], buffers[i], count, type, operation,
                                              communicators_->all[i], streams[i]);
    if (first_error == ncclSuccess) first_error = result;
  }
  const ncclResult_t end = ncclGroupEnd();
  check(first_error, "all-reduce");
  check(end, "all-reduce");
}

}  // namespace syncline
