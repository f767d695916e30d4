// Step time from arithmetic: how long a chip of a known peak takes.
#pragma once

#include <string_view>

#include "topology/quantity.h"

namespace syncline {

// Dense bf16 (fp16 where there is no bf16) peak in FLOP/s of one chip, from NVIDIA's data sheets:
// V100, T4, A100, L40S, H100, H200, B200 and some others. Throws InputError listing the known
// names.
double peak_flops(std::string_view device);

// 6 N D FLOPs for D tokens (Kaplan et al. 2020: arXiv 2001.08361, §2.1) on `chips` chips at model
// FLOP utilisation `mfu`.
Time flops_step_time(double parameters, double tokens, double chips, double peak_flops, double mfu);

}  // namespace syncline
