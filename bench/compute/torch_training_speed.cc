// How fast K replicas of a GPT take their steps, alone on the device: no simulation, no averages.
//
//   training_speed device=cuda precision=bf16 replicas=4 batch=8 seconds=10
//
// Prints one JSON object. The model is GPT-2's smallest by default: its 124 million parameters
// count the shared embedding once; here it is not shared (162 million), with the same products.
// Steps are timed by CUDA events around pieces of some steps, as the trainer runs them (on a CPU by
// the clock). MFU is FLOPs over the chip's data sheet, with, a token,
//   6 · (12 L C² + V C)   products with matrices, forward and backward
//   6 · L C T             causal attention: half of what full attention takes
// `matmul_flops` is what a product of two 8192 x 8192 matrices reaches on the same device and type.
#include <ATen/ATen.h>
#include <c10/core/Event.h>
#include <c10/core/GradMode.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#ifdef SYNCLINE_CUDA
#include <c10/cuda/CUDACachingAllocator.h>
#endif

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "compute/data/dataset.h"
#include "compute/pace/flops.h"
#include "compute/torch/device.h"
#include "compute/torch/model.h"
#include "compute/torch/optimizer.h"
#include "compute/torch/runner.h"
#include "compute/torch/state.h"
#include "compute/torch/thread_pool.h"
#include "topology/input_error.h"

namespace syncline {
namespace {

using at::Tensor;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Settings {
  std::map<std::string, std::string> values{
      {"device", "cuda"},  {"precision", "bf16"},   {"replicas", "1"}, {"batch", "8"},
      {"seconds", "10"},   {"layers", "12"},        {"width", "768"},  {"heads", "12"},
      {"context", "1024"}, {"vocabulary", "50257"}, {"piece", "4"}};

  Settings(int count, char** arguments) {
    for (int i = 1; i < count; ++i) {
      const std::string argument = arguments[i];
      const std::size_t equals = argument.find('=');
      const auto found = values.find(argument.substr(0, equals));
      if (equals == std::string::npos || found == values.end()) {
        std::string names;
        for (const auto& [name, value] : values)
          names.append(" ").append(name).append("=").append(value);
        throw std::invalid_argument("not " + argument + ", but some of" + names);
      }
      found->second = argument.substr(equals + 1);
    }
  }
  std::uint32_t number(const std::string& name) const {
    return static_cast<std::uint32_t>(std::stoul(values.at(name)));
  }
};

// Random tokens: what they are does not matter for the time, only how many there are.
std::shared_ptr<const Dataset> random_tokens(TrainingConfig& config, std::uint32_t vocabulary) {
  const std::string path =
      (std::filesystem::temp_directory_path() / "syncline-speed-XXXXXX").string();
  std::string file = path;
  const int descriptor = ::mkstemp(file.data());
  if (descriptor < 0) throw std::runtime_error("no temporary file like " + path);
  std::mt19937 random(1);
  std::uniform_int_distribution<std::uint32_t> token(0, vocabulary - 1);
  std::vector<Token> tokens(1u << 20);
  for (Token& each : tokens) each = static_cast<Token>(token(random));
  tokens.back() = static_cast<Token>(vocabulary - 1);
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(tokens.data()),
             static_cast<std::streamsize>(tokens.size() * sizeof(Token)));
  config.data.source = DataConfig::Source::TOKENS;
  config.data.files = {file};
  std::shared_ptr<const Dataset> data = Dataset::load(config.data, config.model, 1);
  std::filesystem::remove(file);
  return data;
}

// Seconds that `work` takes on the device.
double timed(at::Device device, const std::function<void()>& work) {
  if (device.is_cuda()) {
    const c10::impl::VirtualGuardImpl guard(c10::kCUDA);
    c10::Event begin(c10::kCUDA, c10::EventFlag::BACKEND_DEFAULT);
    c10::Event end(c10::kCUDA, c10::EventFlag::BACKEND_DEFAULT);
    begin.record(guard.getStream(device));
    work();
    end.record(guard.getStream(device));
    end.synchronize();
    return begin.elapsedTime(end) * 1e-3;
  }
  const Clock::time_point start = Clock::now();
  work();
  return seconds_since(start);
}

double matmul_flops(at::Device device, at::ScalarType type) {
  const std::int64_t size = device.is_cuda() ? 8192 : 1024;
  const Tensor a = at::randn({size, size}, at::TensorOptions(device).dtype(type));
  const Tensor b = at::randn({size, size}, a.options());
  Tensor c = at::mm(a, b);
  std::vector<double> times;
  times.reserve(7);
  for (int i = 0; i < 7; ++i) times.push_back(timed(device, [&] { at::mm_out(c, a, b); }));
  std::sort(times.begin(), times.end());
  return 2.0 * static_cast<double>(size * size * size) / times[times.size() / 2];
}

// Of the data sheet, dense bf16; 0 where the chip is not known or the type is another.
double sheet_flops(const std::string& name, Precision precision) {
  if (precision != Precision::BF16) return 0;
  for (std::size_t begin = 0; begin < name.size();) {
    const std::size_t end = std::min(name.find_first_of(" -", begin), name.size());
    try {
      return peak_flops(name.substr(begin, end - begin));
    } catch (const InputError&) {
      begin = end + 1;
    }
  }
  return 0;
}

std::int64_t peak_memory(at::Device device) {
#ifdef SYNCLINE_CUDA
  if (device.is_cuda())
    return c10::cuda::CUDACachingAllocator::getDeviceStats(device.index()).allocated_bytes[0].peak;
#endif
  return device.is_cuda() ? -1 : 0;
}

int main_with(const Settings& settings) {
  const c10::NoGradGuard no_grad;
  TrainingConfig config;
  config.model = {.layers = settings.number("layers"),
                  .width = settings.number("width"),
                  .heads = settings.number("heads"),
                  .context = settings.number("context")};
  config.batch = settings.number("batch");
  config.inner.horizon = 1000;
  const std::string& precision = settings.values.at("precision");
  if (precision != "bf16" && precision != "fp32")
    throw std::invalid_argument("precision is bf16 or fp32, not " + precision);
  config.precision = precision == "bf16" ? Precision::BF16 : Precision::FP32;
  const std::uint32_t replicas = settings.number("replicas"), piece = settings.number("piece");
  config.data.streams = replicas;
  const std::shared_ptr<const Dataset> data = random_tokens(config, settings.number("vocabulary"));

  const ChosenDevice chosen =
      choose_device(settings.values.at("device") == "cpu" ? DeviceChoice::CPU : DeviceChoice::CUDA);
  const at::ScalarType type = config.precision == Precision::BF16 ? at::kBFloat16 : at::kFloat;
  const Model model(config.model, data->vocabulary(), type, chosen.device);
  const Optimizer optimizer(config.inner, model.layout());
  ThreadPool pool(chosen.device.is_cuda() ? 1 : available_cores());
  const RunnerParts parts{&model, &optimizer, data, config.batch, 1024, at::kFloat, &pool};
  const std::unique_ptr<Runner> runner =
      chosen.device.is_cuda()
          ? make_stacked_runner(parts, chosen.device,
                                static_cast<std::int64_t>(0.6 * static_cast<double>(chosen.memory)))
          : make_threaded_runner(parts);

  Slab slab(optimizer, model.layout().size, at::TensorOptions(chosen.device).dtype(at::kFloat));
  const Tensor initial = model.layout().initial(1).to(chosen.device);
  std::vector<Job> jobs(replicas);
  for (std::uint32_t k = 0; k < replicas; ++k) slab.acquire();
  for (std::uint32_t k = 0; k < replicas; ++k) {
    jobs[k].row = slab.row(k);
    jobs[k].row.parameters.select(0, 0).copy_(initial);
    jobs[k].stream = k;
    jobs[k].length = piece;
  }
  const auto run = [&] {
    runner->run(jobs);
    for (Job& job : jobs) {
      job.first_batch += piece;
      job.position += piece;
    }
  };
  for (int warm = 0; warm < 3; ++warm) run();
  std::vector<double> steps;
  const Clock::time_point start = Clock::now();
  const double limit = std::stod(settings.values.at("seconds"));
  do {
    steps.push_back(timed(chosen.device, run) / piece);
  } while (seconds_since(start) < limit);
  std::sort(steps.begin(), steps.end());

  const double step = steps[steps.size() / 2];
  const double tokens = static_cast<double>(replicas) * config.batch * config.model.context;
  const double layers = config.model.layers, width = config.model.width;
  const double flops = 6 * (12 * layers * width * width + data->vocabulary() * width +
                            layers * width * config.model.context);
  const double sheet = sheet_flops(chosen.name, config.precision);
  const double reached = flops * tokens / step;
  const double matmul = matmul_flops(chosen.device, type);
  std::printf(
      "{\"device\": \"%s\", \"precision\": \"%s\", \"replicas\": %u, \"batch\": %u, \"context\": "
      "%u, \"vocabulary\": %u, \"parameters\": %lld, \"pieces\": %zu, \"steps_a_piece\": %u, "
      "\"step_ms_median\": %.4f, \"step_ms_least\": %.4f, \"step_ms_most\": %.4f, "
      "\"tokens_per_s\": %.1f, \"flops_per_token\": %.6g, \"flops_per_s\": %.6g, "
      "\"matmul_flops_per_s\": %.6g, \"part_of_matmul\": %.4f, ",
      chosen.name.c_str(), precision.c_str(), replicas, config.batch, config.model.context,
      data->vocabulary(), static_cast<long long>(model.layout().size), steps.size(), piece,
      step * 1e3, steps.front() * 1e3, steps.back() * 1e3, tokens / step, flops, reached, matmul,
      reached / matmul);
  if (sheet > 0)
    std::printf("\"sheet_flops_per_s\": %.6g, \"mfu\": %.4f, ", sheet, reached / sheet);
  std::printf("\"peak_memory_bytes\": %lld, \"loss\": %.4f}\n",
              static_cast<long long>(peak_memory(chosen.device)), jobs[0].loss_sum / piece);
  return 0;
}

}  // namespace
}  // namespace syncline

int main(int count, char** arguments) {
  try {
    return syncline::main_with(syncline::Settings(count, arguments));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "training_speed: %s\n", error.what());
    return 1;
  }
}
