#include "compute/pace/flops.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>
#include <vector>

#include "topology/input_error.h"

namespace syncline {
namespace {

struct Chip {
  std::string_view name;
  double flops;
};
// Data sheets, dense tensor-core rates: V100 and T4 fp16, all others bf16.
constexpr Chip kChips[] = {
    {"V100", 125e12}, {"T4", 65e12},      {"A10", 125e12},    {"A100", 312e12},  {"L4", 121e12},
    {"L40S", 362e12}, {"H100", 989.4e12}, {"H200", 989.4e12}, {"B200", 2250e12},
};

bool same_name(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::toupper(x) == std::toupper(y);
  });
}

}  // namespace

double peak_flops(std::string_view device) {
  std::vector<std::string_view> names;
  for (const Chip& chip : kChips) {
    if (same_name(chip.name, device)) return chip.flops;
    names.push_back(chip.name);
  }
  throw InputError(fmt::format("no peak FLOP/s are known for the device \"{}\"; known are {}",
                               device, fmt::join(names, ", ")));
}

Time flops_step_time(double parameters, double tokens, double chips, double peak_flops,
                     double mfu) {
  return Time::seconds(6 * parameters * tokens / (chips * peak_flops * mfu));
}

}  // namespace syncline
