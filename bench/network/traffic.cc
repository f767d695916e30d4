#include "bench/network/traffic.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cmath>
#include <fstream>
#include <utility>

#include "sim/collective/all_reduce.h"
#include "sim/collective/traffic.h"
#include "sim/engine/engine.h"
#include "sim/network/transfer_set.h"

namespace syncline::bench {
namespace {

constexpr double kAccessBytesPerS = 1.25e9;
constexpr double kAccessLatencyS = 10e-6;
constexpr double kWanLatencyS = 20e-3;

struct SplitMix64 {
  std::uint64_t state;
  std::uint64_t next() {
    std::uint64_t z = (state += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
  }
  double u01() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
};

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

NodeId add_node(Topology& topology, std::string name, bool host) {
  return topology.add_node({.name = std::move(name), .host = host, .cluster = {}});
}

void add_link(Topology& topology, std::string name, NodeId a, NodeId b, double bytes_per_s,
              std::array<double, 2> latency_s, bool shared = false) {
  const BitRate capacity = BitRate::bytes_per_s(bytes_per_s);
  topology.add_link({.name = std::move(name),
                     .a = a,
                     .b = b,
                     .capacity = {capacity, capacity},
                     .latency_s = latency_s,
                     .shared = shared});
}

Outcome run(Engine& engine, double platform_s) {
  const Stopwatch watch;
  engine.run();
  return {.end_s = engine.now().in_seconds(), .platform_s = platform_s, .wall_s = watch.seconds()};
}

Task<> send_in_turn(Network& network, const Star& star, std::size_t index, Bytes bytes) {
  for (std::size_t step = 1; step < star.hosts.size(); ++step) {
    const NodeId destination = star.hosts[(index + step) % star.hosts.size()];
    co_await transfer(network,
                      {.source = star.hosts[index], .destination = destination, .bytes = bytes});
  }
}

Task<> send_at_once(Network& network, const Star& star, std::size_t index, Bytes bytes) {
  TransferSet sends(network);
  for (std::size_t step = 1; step < star.hosts.size(); ++step) {
    const NodeId destination = star.hosts[(index + step) % star.hosts.size()];
    sends.start({.source = star.hosts[index], .destination = destination, .bytes = bytes});
  }
  co_await sends.all();
}

class FinishTimes final : public TransferSink {
 public:
  explicit FinishTimes(std::size_t transfers) : finish_s_(transfers) {}
  double sum_s() const {
    double sum = 0;
    for (const double finish_s : finish_s_) sum += finish_s;
    return sum;
  }
  double operator[](std::size_t transfer) const { return finish_s_[transfer]; }

 private:
  void on_transfer_end(const TransferReport& report, std::uint64_t tag) override {
    finish_s_[tag] = report.ended.in_seconds();
  }

  std::vector<double> finish_s_;
};

Task<> drive(Network& network, const Dumbbell& dumbbell, FinishTimes& finish_times) {
  for (std::size_t i = 0; i < dumbbell.transfers.size(); ++i) {
    co_await network.engine().sleep_until(Time::seconds(dumbbell.start_s[i]));
    network.start(dumbbell.transfers[i], finish_times, i);
  }
}

}  // namespace

Star make_star(std::size_t hosts, double jitter_percent, double oversubscription) {
  Star star;
  SplitMix64 random{42};
  const NodeId up = add_node(star.topology, "switch", false);
  NodeId down = up;
  if (oversubscription > 0) {
    down = add_node(star.topology, "lower switch", false);
    add_link(star.topology, "backbone", up, down,
             static_cast<double>(hosts) * kAccessBytesPerS / oversubscription, {0, 0}, true);
  }
  // With a backbone a host has a link to each switch; the latency of the wrong way round keeps
  // routes from it.
  constexpr double kNoWay = 1;
  for (std::size_t i = 0; i < hosts; ++i) {
    const double bytes_per_s =
        kAccessBytesPerS * (1 + jitter_percent / 100 * (2 * random.u01() - 1));
    const NodeId host = add_node(star.topology, fmt::format("h{}", i), true);
    if (up == down) {
      add_link(star.topology, fmt::format("l{}", i), host, up, bytes_per_s,
               {kAccessLatencyS, kAccessLatencyS});
    } else {
      add_link(star.topology, fmt::format("l{} up", i), host, up, bytes_per_s,
               {kAccessLatencyS, kNoWay});
      add_link(star.topology, fmt::format("l{} down", i), host, down, bytes_per_s,
               {kNoWay, kAccessLatencyS});
    }
    star.hosts.push_back(host);
  }
  return star;
}

Dumbbell make_dumbbell(std::size_t transfers, std::size_t hosts_per_side, double wan_bytes_per_s,
                       double span_s) {
  Dumbbell dumbbell;
  Topology& topology = dumbbell.topology;
  const NodeId left = add_node(topology, "left", false);
  const NodeId right = add_node(topology, "right", false);
  add_link(topology, "wan", left, right, wan_bytes_per_s, {kWanLatencyS, kWanLatencyS});
  std::vector<NodeId> left_hosts;
  std::vector<NodeId> right_hosts;
  for (std::size_t i = 0; i < hosts_per_side; ++i) {
    left_hosts.push_back(add_node(topology, fmt::format("a{}", i), true));
    right_hosts.push_back(add_node(topology, fmt::format("b{}", i), true));
    add_link(topology, fmt::format("a{} left", i), left_hosts[i], left, kAccessBytesPerS,
             {kAccessLatencyS, kAccessLatencyS});
    add_link(topology, fmt::format("b{} right", i), right_hosts[i], right, kAccessBytesPerS,
             {kAccessLatencyS, kAccessLatencyS});
  }

  SplitMix64 random{7};
  std::vector<double> gaps;
  double total = 0;
  for (std::size_t i = 0; i <= transfers; ++i) {
    gaps.push_back(-std::log(1 - random.u01()));
    total += gaps.back();
  }
  double start_s = 0;
  for (std::size_t i = 0; i < transfers; ++i) {
    start_s += gaps[i] / total * span_s;
    dumbbell.start_s.push_back(start_s);
    const Bytes bytes(static_cast<std::int64_t>(1e6 * std::exp(random.u01() * std::log(100.0))));
    const NodeId a = left_hosts[random.next() % hosts_per_side];
    const NodeId b = right_hosts[random.next() % hosts_per_side];
    const bool to_right = random.next() & 1;
    dumbbell.transfers.push_back(
        {.source = to_right ? a : b, .destination = to_right ? b : a, .bytes = bytes});
  }
  return dumbbell;
}

Outcome run_ring(const Star& star, double bytes) {
  const Stopwatch platform;
  const auto hosts = star.hosts.size();
  const auto chunk = static_cast<std::uint64_t>(bytes / static_cast<double>(hosts));
  Engine engine;
  Network network(engine, star.topology);
  Traffic traffic(star.topology);
  std::vector<CollectiveMember> members;
  for (const NodeId host : star.hosts) members.push_back({{host}, {}});
  const auto ring = make_all_reduce({}, network, traffic, members,
                                    {.elements = chunk * hosts, .bytes_per_element = 1});
  for (std::size_t i = 0; i < hosts; ++i) engine.spawn(fmt::format("h{}", i), ring->join(i));
  Outcome outcome = run(engine, platform.seconds());
  outcome.transfers = 2 * (hosts - 1) * hosts;
  return outcome;
}

Outcome run_all_to_all(const Star& star, double bytes, bool burst) {
  const Stopwatch platform;
  Engine engine;
  Network network(engine, star.topology);
  const Bytes each(static_cast<std::int64_t>(bytes));
  for (std::size_t i = 0; i < star.hosts.size(); ++i) {
    engine.spawn(fmt::format("h{}", i), burst ? send_at_once(network, star, i, each)
                                              : send_in_turn(network, star, i, each));
  }
  Outcome outcome = run(engine, platform.seconds());
  outcome.transfers = star.hosts.size() * (star.hosts.size() - 1);
  return outcome;
}

Outcome run_dumbbell(Dumbbell dumbbell, const std::string& csv) {
  const Stopwatch platform;
  Engine engine;
  Network network(engine, dumbbell.topology);
  FinishTimes finish_times(dumbbell.transfers.size());
  engine.spawn("driver", drive(network, dumbbell, finish_times));
  Outcome outcome = run(engine, platform.seconds());
  outcome.transfers = dumbbell.transfers.size();
  outcome.sum_finish_s = finish_times.sum_s();
  if (csv.empty()) return outcome;
  std::ofstream file(csv);
  file << "flow,src,dst,bytes,start,finish\n";
  for (std::size_t i = 0; i < dumbbell.transfers.size(); ++i) {
    const TransferSpec& transfer = dumbbell.transfers[i];
    file << fmt::format("{},{},{},{},{:.12g},{:.12g}\n", i,
                        dumbbell.topology.node(transfer.source).name,
                        dumbbell.topology.node(transfer.destination).name, transfer.bytes.count(),
                        dumbbell.start_s[i], finish_times[i]);
  }
  return outcome;
}

}  // namespace syncline::bench
