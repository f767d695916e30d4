// Sums and means over buffers on the GPUs of this process: NCCL's all-reduce with one communicator
// a GPU, all driven by the calling thread. No CUDA and no NCCL in this header.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

struct CUstream_st;  // what cudaStream_t points to

namespace syncline {

class NcclGroup {
 public:
  enum class Reduce : std::uint8_t { SUM, MEAN };
  enum class Number : std::uint8_t { FP32, FP64 };

  // `gpus`: their CUDA numbers, each once. Takes a second or more. Throws std::runtime_error with
  // NCCL's words.
  explicit NcclGroup(std::vector<int> gpus);
  ~NcclGroup();
  NcclGroup(const NcclGroup&) = delete;
  NcclGroup& operator=(const NcclGroup&) = delete;

  int size() const { return static_cast<int>(gpus_.size()); }

  // Every buffers[i], `count` numbers on gpus[i], becomes the sum or mean of all. Enqueued on
  // streams[i], where what wrote the buffer must be, too; returns before it is done. The order of
  // the terms is NCCL's: the same in every call of one shape on one machine, and the result is the
  // same on all GPUs. Throws std::runtime_error.
  void all_reduce(std::span<void* const> buffers, std::uint64_t count, Number number, Reduce reduce,
                  std::span<CUstream_st* const> streams);

 private:
  struct Communicators;
  std::vector<int> gpus_;
  std::unique_ptr<Communicators> communicators_;
};

}  // namespace syncline
