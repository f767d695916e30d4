// Limits of the transport: closed forms, and random networks in which the limits are worked out by
// hand.
#include <gtest/gtest.h>

#include <cmath>

#include "sim/network/network.h"
#include "sim/network/transport.h"
#include "tests/sim/network_probe.h"
#include "topology/distribution.h"

namespace syncline {
namespace {

// Two hosts, a link each way of its own.
struct Pair {
  explicit Pair(const Transport& transport, double capacity = 1e8, double there_s = 0.04,
                double back_s = 0.06)
      : a(add_host(topology, "a")),
        b(add_host(topology, "b")),
        link(topology.add_link(
            {.name = "l",
             .a = a,
             .b = b,
             .capacity = {BitRate::bytes_per_s(capacity), BitRate::bytes_per_s(capacity)},
             .latency_s = {there_s, back_s},
             .shared = false})),
        network(engine, topology, transport) {}

  double seconds(std::int64_t bytes) {
    network.start({.source = a, .destination = b, .bytes = Bytes(bytes)}, probe, 1);
    engine.run();
    return probe.report(1).ended.in_seconds();
  }

  Topology topology;
  NodeId a, b;
  LinkId link;
  Engine engine;
  Network network;
  Probe probe;
};

TEST(NetworkTransport, WindowOverRoundTrip) {
  Pair pair({.window = Bytes(65'536)});
  // 65,536 bytes each 100 ms.
  EXPECT_NEAR(pair.seconds(6'553'600), 0.04 + 10.0, 1e-9);
  EXPECT_EQ(pair.probe.report(1).bottleneck.kind, Limit::Kind::CAP);
  EXPECT_NEAR(pair.network.limited_by_cap_s(), 10.0, 1e-9);
  EXPECT_NEAR(pair.network.limited_by_latency_s(), 0.04, 1e-9);
}

TEST(NetworkTransport, AWideWindowIsNoLimit) {
  Pair pair({.window = Bytes(100'000'000)});
  EXPECT_NEAR(pair.seconds(100'000'000), 1.04, 1e-9);
  EXPECT_EQ(pair.probe.report(1).bottleneck.kind, Limit::Kind::LINK);
}

TEST(NetworkTransport, LossAfterMathis) {
  Pair pair({.loss = 1e-4, .mss = Bytes(1000)});
  const double rate = 1000 * std::sqrt(1.5) / (0.1 * 0.01);
  EXPECT_NEAR(pair.seconds(10'000'000), 0.04 + 1e7 / rate, 1e-9);
}

TEST(NetworkTransport, StreamsMultiplyLimitsAndWeigh) {
  Pair pair({.streams = 4, .window = Bytes(65'536)});
  EXPECT_NEAR(pair.seconds(6'553'600), 0.04 + 2.5, 1e-9);
}

TEST(NetworkTransport, HeadersTakeRoomAndAreCountedApart) {
  Pair pair({.mss = Bytes(1000), .header = Bytes(100)});
  // 1,000,500 bytes are 1,001 packets.
  EXPECT_NEAR(pair.seconds(1'000'500), 0.04 + (1'000'500 + 100'100) / 1e8, 1e-9);
  const ChannelUse use = pair.network.uses()[0];
  EXPECT_EQ(use.bytes, Bytes(1'000'500));
  EXPECT_EQ(use.header_bytes, Bytes(100'100));
  EXPECT_EQ(pair.probe.report(1).delivered, Bytes(1'000'500));
}

TEST(NetworkTransport, HeadersOfAPartAreOfWhatArrived) {
  Pair pair({.mss = Bytes(1000), .header = Bytes(250)}, 1.25e6, 0, 0);
  pair.network.change_link_state(Time::seconds(1), pair.link, false, InFlight::FAIL);
  EXPECT_NEAR(pair.seconds(4'000'000), 1.0, 1e-9);
  EXPECT_EQ(pair.probe.report(1).delivered, Bytes(1'000'000));
  EXPECT_EQ(pair.network.uses()[0].header_bytes, Bytes(250'000));
}

TEST(NetworkTransport, WindowCountsPayloadBesideHeaders) {
  Pair pair({.window = Bytes(10'000), .mss = Bytes(1000), .header = Bytes(1000)});
  EXPECT_NEAR(pair.seconds(1'000'000), 0.04 + 10.0, 1e-9);
}

TEST(NetworkTransport, SlowStartDoublesEachRoundTrip) {
  // 10 packets of 1,000 bytes in the first round trip, 20 in the next, …: 2^n - 1 times as many in
  // n.
  for (const int rounds : {1, 3, 6}) {
    Pair pair({.mss = Bytes(1000), .slow_start = true});
    EXPECT_NEAR(pair.seconds(10'000 * ((1 << rounds) - 1)), 0.04 + 0.1 * rounds, 1e-8) << rounds;
  }
}

TEST(NetworkTransport, SlowStartEndsAtTheLink) {
  // 100, 200, 400 packets a second; the link carries 500: from the fourth round trip on.
  Pair pair({.mss = Bytes(1000), .slow_start = true}, 500'000);
  EXPECT_NEAR(pair.seconds(10'000 * 7 + 500'000), 0.04 + 0.3 + 1, 1e-8);
  // Without a round trip there is nothing to double.
  Pair near({.mss = Bytes(1000), .slow_start = true}, 500'000, 0, 0);
  EXPECT_NEAR(near.seconds(500'000), 1, 1e-9);
}

TEST(NetworkTransport, SlowStartEndsAtTheWindow) {
  Pair pair({.window = Bytes(40'000), .mss = Bytes(1000), .slow_start = true});
  EXPECT_NEAR(pair.seconds(10'000 + 20'000 + 400'000), 0.04 + 0.2 + 1, 1e-8);
}

TEST(NetworkTransport, ACancelledSlowStartLeavesNothingBehind) {
  Pair pair({.mss = Bytes(1000), .slow_start = true});
  const TransferId id = pair.network.start(
      {.source = pair.a, .destination = pair.b, .bytes = Bytes(1'000'000)}, pair.probe, 1);
  pair.engine.run_until(Time::seconds(0.2));
  pair.network.cancel(id);
  pair.engine.run_until(Time::seconds(0.2));
  EXPECT_EQ(pair.engine.pending(), 0U);
}

// In a random star, transfers with the transport's limits end as plain ones that carry the bytes on
// the wire, the weight and the cap that follow from the formulas.
TEST(NetworkTransport, IsACapAWeightAndMoreBytes) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    RandomStream random(seed, "transport");
    Topology topology;
    const NodeId hub = add_host(topology, "hub");
    std::vector<NodeId> hosts;
    std::vector<double> latency;
    for (int i = 0; i < 8; ++i) {
      hosts.push_back(add_host(topology, "h" + std::to_string(i)));
      latency.push_back(std::floor(1e6 * random.uniform()) * 1e-8);
      connect(topology, "l" + std::to_string(i), hosts.back(), hub,
              {.capacity = 1e5 + 1e6 * random.uniform(), .latency_s = latency.back()});
    }
    Transport transport{.streams = 1 + static_cast<std::uint32_t>(random.next() % 4),
                        .loss = 1e-4 + 0.01 * random.uniform(),
                        .mss = Bytes(500),
                        .header = Bytes(50)};
    if (random.uniform() < 0.5) transport.window = Bytes(5000);
    Engine engine, plain_engine;
    Network network(engine, topology, transport), plain(plain_engine, topology);
    Probe probe, plain_probe;
    for (std::uint64_t tag = 0; tag < 30; ++tag) {
      const std::size_t a = random.next() % 8;
      const std::size_t b = (a + 1 + random.next() % 7) % 8;
      const auto packets = static_cast<std::int64_t>(1 + random.next() % 1000);
      const double rtt = 2 * (latency[a] + latency[b]);
      double cap = 500 * std::sqrt(1.5 / transport.loss) / rtt;
      if (transport.window) cap = std::min(cap, 5000 / rtt);
      const TransferSpec spec{
          .source = hosts[a], .destination = hosts[b], .bytes = Bytes(packets * 500)};
      TransferSpec wire = spec;
      wire.bytes = Bytes(packets * 550);
      wire.streams = transport.streams;
      if (rtt > 0) wire.cap = BitRate::bytes_per_s(cap * transport.streams * 1.1);
      const Time at = Time::seconds(5 * random.uniform());
      engine.spawn("start", start_at(network, spec, probe, tag, at));
      plain_engine.spawn("start", start_at(plain, wire, plain_probe, tag, at));
    }
    engine.run();
    plain_engine.run();
    for (std::uint64_t tag = 0; tag < 30; ++tag)
      ASSERT_NEAR(static_cast<double>(probe.end_ns(tag)),
                  static_cast<double>(plain_probe.end_ns(tag)), 100)
          << seed << " " << tag;
  }
}

}  // namespace
}  // namespace syncline
