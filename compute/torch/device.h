// The device to train on, and why.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <string>

#include "compute/torch/torch_trainer.h"

namespace syncline {

struct ChosenDevice {
  c10::Device device = c10::kCPU;
  std::string name;         // "NVIDIA H200", of a CPU its model
  std::int64_t memory = 0;  // bytes of a GPU
  int count = 1;            // GPUs alike, from this one on
};

// Throws InputError if CUDA was asked for and is not usable.
ChosenDevice choose_device(DeviceChoice choice);

}  // namespace syncline
