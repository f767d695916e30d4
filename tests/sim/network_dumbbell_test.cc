// The dumbbell traffic (two sides of 64 hosts behind 10 Gbit/s, 20 ms): sums of finish times that
// two independent simulators on clocks of doubles agreed on to 12 digits. A nanosecond clock is
// within 1 ns a transfer.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "sim/network/network.h"
#include "tests/sim/network_probe.h"

namespace syncline {
namespace {

struct SplitMix64 {
  std::uint64_t state;
  std::uint64_t next() {
    std::uint64_t z = (state += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
  }
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
};

struct Arrival {
  Time at;
  TransferSpec spec;
};

class Dumbbell final : public EventTarget, public TransferSink {
 public:
  Dumbbell(std::uint64_t transfers, double span_s) {
    constexpr std::uint64_t kPerSide = 64;
    NodeId sides[2];
    for (int side : {0, 1}) {
      sides[side] =
          topology_.add_node({.name = side ? "right" : "left", .host = false, .cluster = {}});
    }
    connect(topology_, "wan", sides[0], sides[1], {.capacity = 1.25e9, .latency_s = 20e-3});
    std::vector<NodeId> hosts[2];
    for (int side : {0, 1}) {
      for (std::uint64_t i = 0; i < kPerSide; ++i) {
        std::string name = fmt::format("{}{}", side ? "r" : "l", i);
        hosts[side].push_back(add_host(topology_, name));
        connect(topology_, name, hosts[side].back(), sides[side],
                {.capacity = 1.25e9, .latency_s = 10e-6});
      }
    }
    SplitMix64 random{7};
    std::vector<double> gaps;
    double total = 0;
    for (std::uint64_t i = 0; i <= transfers; ++i) {
      gaps.push_back(-std::log(1 - random.uniform()));
      total += gaps.back();
    }
    double start = 0;
    for (std::uint64_t i = 0; i < transfers; ++i) {
      start += gaps[i] / total * span_s;
      auto bytes = static_cast<std::int64_t>(1e6 * std::exp(random.uniform() * std::log(100.0)));
      NodeId a = hosts[0][random.next() % kPerSide];
      NodeId b = hosts[1][random.next() % kPerSide];
      bool to_right = random.next() & 1;
      arrivals_.push_back(
          {Time::seconds(start),
           {.source = to_right ? a : b, .destination = to_right ? b : a, .bytes = Bytes(bytes)}});
    }
  }

  double sum_of_finish_times() {
    Engine engine;
    Network network(engine, topology_);
    network_ = &network;
    for (std::uint64_t i = 0; i < arrivals_.size(); ++i) {
      engine.schedule(arrivals_[i].at, Phase::TIMER, *this, i);
    }
    engine.run();
    return static_cast<double>(sum_ns_) * 1e-9;
  }

 private:
  void on_event(std::uint64_t tag) override { network_->start(arrivals_[tag].spec, *this); }
  void on_transfer_end(const TransferReport& report, std::uint64_t) override {
    sum_ns_ += report.ended.count_ns();
  }

  Topology topology_;
  std::vector<Arrival> arrivals_;
  Network* network_ = nullptr;
  std::int64_t sum_ns_ = 0;
};

TEST(NetworkDumbbell, ThousandTransfersIn10Seconds) {
  EXPECT_NEAR(Dumbbell(1'000, 10).sum_of_finish_times(), 5274.78028847, 1'000 * 1e-9);
}

TEST(NetworkDumbbell, TenThousandTransfersIn100Seconds) {
  EXPECT_NEAR(Dumbbell(10'000, 100).sum_of_finish_times(), 497990.162915, 10'000 * 1e-9);
}

TEST(NetworkDumbbell, TenThousandTransfersIn50SecondsOverload) {
  EXPECT_NEAR(Dumbbell(10'000, 50).sum_of_finish_times(), 397252.089998, 10'000 * 1e-9);
}

TEST(NetworkDumbbell, HundredThousandTransfersIn1000Seconds) {
  EXPECT_NEAR(Dumbbell(100'000, 1000).sum_of_finish_times(), 49816462.3229, 100'000 * 1e-9);
}

}  // namespace
}  // namespace syncline
