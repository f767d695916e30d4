// The real trainer: K replicas of a GPT-style decoder, on LibTorch. No LibTorch in this header.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "compute/data/dataset.h"
#include "compute/trainer.h"
#include "compute/training_config.h"

namespace syncline {

// How the replicas that are ready take their steps together. Part of Trainer::header(): it decides
// the last bits.
enum class Execution : std::uint8_t {
  AUTO,     // THREADS on a CPU, STACKED on a GPU
  THREADS,  // CPU only: replicas, and slices of their batches, shared over the threads; numbers do
            // not depend on how many these are
  STACKED  // one pass over all replicas [K, …]; on a CPU with one thread, to check what a GPU does
};

enum class DeviceChoice : std::uint8_t { AUTO, CPU, CUDA };

struct TorchTrainerOptions {
  DeviceChoice device = DeviceChoice::AUTO;
  int threads = 0;  // CPU threads; 0: one a core this process may use
  Execution execution = Execution::AUTO;
  int gpus = 0;  // GPUs that replicas are spread over, replica r on GPU r mod n; 0: all that are
                 // alike. With STACKED on a CPU, to check what GPUs do: shards of it (0: one)
  std::string cache_folder;  // trajectories are kept below it; empty: nothing is kept
  std::uint64_t cache_limit_bytes = 2ull << 30;
  double snapshot_every_s =
      10;  // real time between snapshots of state; 0: whenever there is something new
};

// Throws InputError: CUDA asked for and not usable (says why: no driver, too old a driver, too old
// a chip). With AUTO an unusable GPU is no error; cuda_note() says why the CPU was taken.
std::unique_ptr<Trainer> make_torch_trainer(const TrainingConfig& config,
                                            const std::shared_ptr<const Dataset>& data,
                                            const TorchTrainerOptions& options);

// GPUs that can be trained on: the first, and those after it that are of its kind.
int gpu_count();
// One sentence; empty where there is one.
std::string why_no_gpu();

// Why AUTO did not take a GPU, one sentence; empty where it did or where there is none at all.
std::string cuda_note();

}  // namespace syncline
