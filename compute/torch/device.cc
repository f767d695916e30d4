#include "compute/torch/device.h"

#include <ATen/Context.h>
#ifdef SYNCLINE_CUDA
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAFunctions.h>
#endif
#include <cpuid.h>

#include <cstdio>
#include <cstring>
#include <filesystem>

#include "topology/input_error.h"

namespace syncline {
namespace {

struct Gpu {
  bool usable = false;
  bool present = false;  // there is one in this computer
  std::string why_not;
  std::string name;
  std::int64_t memory = 0;
};

#ifdef SYNCLINE_CUDA
// What this LibTorch is compiled for, and tensor cores, start here.
constexpr int kOldestMajor = 7;
constexpr int kOldestMinor = 5;

Gpu find_gpu() {
  Gpu gpu;
  gpu.present = std::filesystem::exists("/dev/nvidia0") || std::filesystem::exists("/dev/dxg");
  if (!at::hasCUDA() && !gpu.present) {
    gpu.why_not = "there is no NVIDIA GPU in this computer";
    return gpu;
  }
  try {
    c10::cuda::device_count_ensure_non_zero();
    const cudaDeviceProp* properties = at::cuda::getDeviceProperties(0);
    gpu.present = true;
    gpu.name = properties->name;
    gpu.memory = static_cast<std::int64_t>(properties->totalGlobalMem);
    if (properties->major < kOldestMajor ||
        (properties->major == kOldestMajor && properties->minor < kOldestMinor)) {
      const auto version = [](int major, int minor) {
        return std::to_string(major) + "." + std::to_string(minor);
      };
      gpu.why_not = "the GPU " + gpu.name + " has compute capability " +
                    version(properties->major, properties->minor) + "; " +
                    version(kOldestMajor, kOldestMinor) + " or newer is needed";
      return gpu;
    }
    gpu.usable = true;
  } catch (const c10::Error& error) {
    const std::string all =
        error.what_without_backtrace();  // "driver too old" and the like, in LibTorch's words
    gpu.why_not = all.substr(0, all.find('\n'));
  }
  return gpu;
}
#else
Gpu find_gpu() {
  Gpu gpu;
  gpu.present = std::filesystem::exists("/dev/nvidia0");
  gpu.why_not = "this syncline was built without CUDA (SYNCLINE_CUDA=OFF)";
  return gpu;
}
#endif

const Gpu& gpu() {
  static const Gpu found = find_gpu();
  return found;
}

std::string cpu_name() {
  char name[49] = {};
  for (unsigned leaf = 0; leaf < 3; ++leaf) {
    unsigned words[4];
    if (__get_cpuid(0x80000002u + leaf, &words[0], &words[1], &words[2], &words[3]) == 0)
      return "CPU";
    std::memcpy(name + leaf * 16, words, 16);
  }
  std::string text = name;
  text.erase(0, text.find_first_not_of(' '));
  text.erase(text.find_last_not_of(' ') + 1);
  // A virtual machine may hide the rest; family, model and stepping tell chips apart.
  unsigned signature = 0, b, c, d;
  __get_cpuid(1, &signature, &b, &c, &d);
  char hex[16];
  std::snprintf(hex, sizeof hex, " %x", signature);
  return text + hex;
}

}  // namespace

ChosenDevice choose_device(DeviceChoice choice) {
  if (choice != DeviceChoice::CPU && gpu().usable)
    return {c10::Device(c10::kCUDA, 0), gpu().name, gpu().memory};
  if (choice == DeviceChoice::CUDA) {
    throw InputError("device: \"cuda\" can not be used: " + gpu().why_not +
                     "; write \"auto\" or \"cpu\"");
  }
  return {c10::kCPU, cpu_name(), 0};
}

std::string cuda_note() {
  if (gpu().usable || !gpu().present) return {};
  return "the CPU was taken: " + gpu().why_not;
}

}  // namespace syncline
