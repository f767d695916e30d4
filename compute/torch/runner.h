// Takes the batches of several replicas through model and optimizer. Two ways, one contract:
//   threads (CPU): replicas and slices of their batches are shared over a thread pool, one replica
//   a pass; stacked (CUDA): all replicas in one pass.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <span>

#include "compute/data/dataset.h"
#include "compute/torch/model.h"
#include "compute/torch/optimizer.h"
#include "compute/torch/thread_pool.h"
#include "compute/training_config.h"

namespace syncline {

// `length` batches for one replica, one after the other.
struct Job {
  OptimizerRows row;       // [1, N], changed by steps
  std::int64_t count = 0;  // steps that the moments have seen; goes on with them
  std::uint32_t stream = 0;
  std::uint64_t first_batch = 0;
  std::uint64_t position = 0;  // of the first step in the schedule
  std::uint32_t length = 1;
  std::uint32_t shard = 0;  // where the row is; for who chooses the runner
  at::Tensor gradient;      // defined: no steps are taken, the mean gradient is written here [1, N]
  double loss_sum = 0;      // result: sum of the batches' mean losses
};

struct RunnerParts {
  const Model* model;
  const Optimizer* optimizer;
  std::shared_ptr<const Dataset> data;
  std::uint32_t batch;  // sequences
  std::uint32_t eval_tokens;
  at::ScalarType master;  // type of parameters and moments
  ThreadPool* pool;
};

class Runner {
 public:
  virtual ~Runner() = default;
  virtual void run(std::span<Job> jobs) = 0;
  // Mean loss on the held-out sequences; parameters [N].
  virtual double evaluate(const at::Tensor& parameters) = 0;
};

std::unique_ptr<Runner> make_threaded_runner(const RunnerParts& parts);
// `bytes`: memory for activations; more replicas than fit take several passes.
std::unique_ptr<Runner> make_stacked_runner(const RunnerParts& parts, at::Device device,
                                            std::int64_t bytes);

// Held-out sequences as int64 [n, T + 1] on the CPU.
at::Tensor validation_tensor(const RunnerParts& parts);

}  // namespace syncline
