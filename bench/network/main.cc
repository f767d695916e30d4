// The network benchmark: one traffic, one JSON line. Arguments and fields as of
// bench/peers/simgrid/sgbench.cpp.
#include <fmt/format.h>
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/network/traffic.h"

namespace syncline::bench {
namespace {

constexpr const char* kUsage =
    "usage: network_bench ring N [BYTES [JITTER_PERCENT [OVERSUBSCRIPTION]]]\n"
    "       network_bench alltoall N [BYTES [JITTER_PERCENT [OVERSUBSCRIPTION [burst|shift]]]]\n"
    "       network_bench dumbbell TRANSFERS [HOSTS_PER_SIDE [WAN_MBPS [SPAN_S [CSV]]]]\n"
    "BYTES: of a ring's all-reduce (1e9), or from each host to each other one (1e6). WAN_MBPS: "
    "1e6\n"
    "bytes/s (1250). SPAN_S: 100. CSV: a file for each transfer's finish time.\n";

// The arguments of one run; missing ones have their defaults.
class Arguments {
 public:
  Arguments(int count, char** values) : values_(values + 1, values + count) {}
  std::string text(std::size_t index) const {
    return index < values_.size() ? values_[index] : std::string();
  }
  double number(std::size_t index, double otherwise) const {
    if (index >= values_.size()) return otherwise;
    std::size_t read = 0;
    const double value = std::stod(values_[index], &read);
    if (read != values_[index].size() || !(value >= 0)) throw std::invalid_argument(values_[index]);
    return value;
  }
  std::size_t count(std::size_t index, double otherwise) const {
    return static_cast<std::size_t>(number(index, otherwise));
  }

 private:
  std::vector<std::string> values_;
};

Outcome run(const Arguments& arguments) {
  const std::string kind = arguments.text(0);
  const std::size_t n = arguments.count(1, 0);
  if (n == 0) throw std::invalid_argument("N");
  if (kind == "ring") {
    return run_ring(make_star(n, arguments.number(3, 0), arguments.number(4, 0)),
                    arguments.number(2, 1e9));
  }
  if (kind == "alltoall") {
    return run_all_to_all(make_star(n, arguments.number(3, 0), arguments.number(4, 0)),
                          arguments.number(2, 1e6), arguments.text(5) == "burst");
  }
  if (kind == "dumbbell") {
    return run_dumbbell(make_dumbbell(n, arguments.count(2, 64), arguments.number(3, 1250) * 1e6,
                                      arguments.number(4, 100)),
                        arguments.text(5));
  }
  throw std::invalid_argument(kind);
}

void print(const Arguments& arguments, const Outcome& outcome) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  fmt::print(
      "{{\"sg\":\"syncline\",\"bench\":\"{}\",\"n\":{},\"flows\":{},\"sim_end\":{:.9g},"
      "\"sum_finish\":{:.12g},\"platform_s\":{:.3f},\"wall_s\":{:.6f},\"cpu_s\":{:.3f},"
      "\"flows_per_s\":{:.0f},\"maxrss_mb\":{:.1f}}}\n",
      arguments.text(0), arguments.count(1, 0), outcome.transfers, outcome.end_s,
      outcome.sum_finish_s, outcome.platform_s, outcome.wall_s,
      seconds(usage.ru_utime) + seconds(usage.ru_stime),
      static_cast<double>(outcome.transfers) / outcome.wall_s,
      static_cast<double>(usage.ru_maxrss) / 1024);
}

}  // namespace
}  // namespace syncline::bench

int main(int argc, char** argv) {
  using namespace syncline::bench;
  try {
    const Arguments arguments(argc, argv);
    print(arguments, run(arguments));
  } catch (const std::invalid_argument&) {
    std::fputs(kUsage, stderr);
    return 2;
  }
}
