#include "compute/torch/device.h"

#include <ATen/ATen.h>
#include <ATen/Context.h>
#ifdef SYNCLINE_CUDA
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAFunctions.h>
#endif
#include <cpuid.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "topology/input_error.h"

namespace syncline {
namespace {

// The GPUs that can be trained on: the first, and those after it that are of its kind.
struct Gpus {
  int usable = 0;
  bool present = false;  // there is one in this computer
  std::string why_not;
  std::string name;
  std::int64_t memory = 0;  // of each
};

#ifdef SYNCLINE_CUDA
// What this LibTorch is compiled for, and tensor cores, start here.
constexpr int kOldestMajor = 7;
constexpr int kOldestMinor = 5;

// In LibTorch's words ("driver too old" and the like), without what follows them.
std::string first_line(const c10::Error& error) {
  const std::string all = error.what_without_backtrace();
  return all.substr(0, all.find('\n'));
}

// A kernel runs on it and its result comes back. Throws c10::Error.
void try_out(c10::Device device) {
  const float one = at::ones({1}, at::TensorOptions(device)).item<float>();
  TORCH_CHECK(one == 1, "the GPU ", device.index(), " computes nonsense");
}

Gpus find_gpus() {
  Gpus gpus;
  gpus.present = std::filesystem::exists("/dev/nvidia0") || std::filesystem::exists("/dev/dxg");
  if (!at::hasCUDA() && !gpus.present) {
    gpus.why_not = "there is no NVIDIA GPU in this computer";
    return gpus;
  }
  try {
    const auto count =
        static_cast<int>(static_cast<unsigned char>(c10::cuda::device_count_ensure_non_zero()));
    const cudaDeviceProp* first = at::cuda::getDeviceProperties(0);
    gpus.present = true;
    gpus.name = first->name;
    gpus.memory = static_cast<std::int64_t>(first->totalGlobalMem);
    if (first->major < kOldestMajor ||
        (first->major == kOldestMajor && first->minor < kOldestMinor)) {
      const auto version = [](int major, int minor) {
        return std::to_string(major) + "." + std::to_string(minor);
      };
      gpus.why_not = "the GPU " + gpus.name + " has compute capability " +
                     version(first->major, first->minor) + "; " +
                     version(kOldestMajor, kOldestMinor) + " or newer is needed";
      return gpus;
    }
    try_out(c10::Device(c10::kCUDA, 0));
    gpus.usable = 1;
    for (; gpus.usable < count; ++gpus.usable) {
      const auto index = static_cast<c10::DeviceIndex>(gpus.usable);
      const cudaDeviceProp* other = at::cuda::getDeviceProperties(index);
      if (gpus.name != other->name || first->totalGlobalMem != other->totalGlobalMem) break;
      try {
        try_out(c10::Device(c10::kCUDA, index));
      } catch (const c10::Error&) {
        break;  // another program's alone, say: the ones before it do
      }
    }
  } catch (const c10::Error& error) {
    gpus.why_not = first_line(error);
  }
  return gpus;
}

// Equal runs shall give equal numbers, and fp32 shall be fp32.
void make_repeatable() {
  // Read when cuBLAS starts: one fixed workspace, which LibTorch asks for where it is told to be
  // deterministic (Model::attention_backward does).
  setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", /*overwrite=*/0);
  at::Context& context = at::globalContext();
  context.setDeterministicFillUninitializedMemory(false);
  context.setFloat32MatmulPrecision("highest");
  context.setSDPUseCuDNN(false);  // chooses its algorithm by itself; flash attention does not
}
#else
Gpus find_gpus() {
  Gpus gpus;
  gpus.present = std::filesystem::exists("/dev/nvidia0");
  gpus.why_not = "this syncline was built without CUDA (SYNCLINE_CUDA=OFF)";
  return gpus;
}

void make_repeatable() {}
#endif

const Gpus& gpus() {
  static const Gpus kFound = [] {
    make_repeatable();
    return find_gpus();
  }();
  return kFound;
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
  if (choice != DeviceChoice::CPU && gpus().usable > 0)
    return {c10::Device(c10::kCUDA, 0), gpus().name, gpus().memory, gpus().usable};
  if (choice == DeviceChoice::CUDA) {
    throw InputError("device: \"cuda\" can not be used: " + gpus().why_not +
                     "; write \"auto\" or \"cpu\"");
  }
  return {c10::kCPU, cpu_name(), 0, 1};
}

int gpu_count() { return gpus().usable; }

std::string why_no_gpu() { return gpus().why_not; }

std::string cuda_note() {
  if (gpus().usable > 0 || !gpus().present) return {};
  return "the CPU was taken: " + gpus().why_not;
}

}  // namespace syncline
