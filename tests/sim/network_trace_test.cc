// Links that follow traces.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/network/network.h"
#include "sim/network/transfer_set.h"
#include "tests/sim/network_probe.h"
#include "topology/distribution.h"
#include "topology/input_error.h"

namespace syncline {
namespace {

LinkTrace::Point rate(double at_s, double bytes_per_s) {
  return {Time::seconds(at_s), BitRate::bytes_per_s(bytes_per_s), {}};
}

// A rate of 1e6, 2e6 from 2 s on, 3e6 from 4 s to 10 s, and so on with a period of 10 s.
LinkTrace staircase() { return {{rate(2, 2e6), rate(4, 3e6)}, Time::seconds(10)}; }

TEST(NetworkTrace, RatesOfAProfileThatRepeats) {
  for (const auto& [bytes, seconds] :
       {std::pair{5e6, 3.5}, {10e6, 4 + 4e6 / 3e6}, {24e6, 10.0}, {30e6, 12.0}, {32e6, 13.0}}) {
    LineNetwork net({{.capacity = 1e6}});
    net.network.follow(net.line.links[0], staircase());
    net.start(1, 0, 1, static_cast<std::int64_t>(bytes));
    net.engine.run();
    EXPECT_NEAR(net.probe.report(1).ended.in_seconds(), seconds, 1e-9) << bytes;
  }
}

TEST(NetworkTrace, AnIdleLinkIsWhereTheTraceIs) {
  LineNetwork net({{.capacity = 1e6}});
  net.network.follow(net.line.links[0], staircase());
  // 3e6 from 10^4 + 4 s on, 2e6 from 10^4 + 12 s on.
  net.engine.spawn("start", start_at(net.network, net.spec(0, 1, 21'000'000), net.probe, 1,
                                     Time::seconds(10'005)));
  net.engine.run();
  EXPECT_NEAR(net.probe.report(1).ended.in_seconds(), 10'012.0, 1e-6);
  EXPECT_LT(net.engine.events_handled(), 30U);  // and nothing happened while it was idle
}

TEST(NetworkTrace, LatencyActsOnLaterStarts) {
  LineNetwork net({{.capacity = 1e6, .latency_s = 1}});
  LinkTrace trace;
  trace.points = {{Time::seconds(0.5), {}, 3.0}};
  net.network.follow(net.line.links[0], trace);
  net.start(1, 0, 1, 1'000'000);
  net.engine.spawn(
      "start", start_at(net.network, net.spec(1, 0, 1'000'000), net.probe, 2, Time::seconds(0.6)));
  net.engine.run();
  EXPECT_NEAR(net.probe.report(1).ended.in_seconds(), 2.0, 1e-9);
  EXPECT_NEAR(net.probe.report(2).ended.in_seconds(), 4.6, 1e-9);
}

TEST(NetworkTrace, ARunEndsThoughATraceRepeats) {
  LineNetwork net({{.capacity = 1e6}});
  net.network.follow(net.line.links[0], staircase());
  net.engine.run();
  net.start(1, 0, 1, 1'000'000);
  net.engine.run();
  EXPECT_NEAR(net.engine.now().in_seconds(), 2, 1.1);
  EXPECT_EQ(net.network.active(), 0U);
}

TEST(NetworkTrace, NoCapacityForEverIsNoProgress) {
  LineNetwork net({{.capacity = 1e6}});
  net.network.follow(net.line.links[0], {{rate(1, 0), rate(2, 0)}, Time::seconds(3)});
  net.start(1, 0, 1, 2'000'000);
  net.engine.run();
  ASSERT_EQ(net.network.stuck().size(), 1U);
  EXPECT_NEAR(net.network.delivered(1ULL << 24).count(), 1'000'000, 1);
}

TEST(NetworkTrace, WaitsForCapacityThatComesOnceInAPeriod) {
  LineNetwork net({{.capacity = 0}});
  net.network.follow(net.line.links[0], {{rate(99, 1e6), rate(100, 0)}, Time::seconds(100.5)});
  net.start(1, 0, 1, 3'000'000);
  net.engine.run();
  EXPECT_NEAR(net.probe.report(1).ended.in_seconds(), 2 * 100.5 + 100, 1e-6);
}

// The first link repeats while the second one's trace has not yet brought its capacity.
TEST(NetworkTrace, GoesOnWhileAnotherMayBringCapacity) {
  for (const auto& [comes_s, seconds] :
       {std::pair{15.0, 35.0}, {25.0, 45.0}, {105.0, 125.0}, {100'005.0, 100'025.0}}) {
    LineNetwork net({{.capacity = 1e6}, {.capacity = 0}});
    net.network.follow(net.line.links[0], {{rate(0, 2e6), rate(5, 1e6)}, Time::seconds(10)});
    net.network.follow(net.line.links[1], {{rate(comes_s, 1e9)}, {}});
    net.start(1, 0, 2, 30'000'000);
    net.engine.run();
    ASSERT_TRUE(net.probe.ended(1)) << comes_s;
    EXPECT_NEAR(net.probe.report(1).ended.in_seconds(), seconds, 1e-6) << comes_s;
  }
}

// Open together only once in 7 · 11 · 13 s, though each opens in every period of its own.
TEST(NetworkTrace, WaitsUntilThePeriodsFallTogether) {
  LineNetwork net({{.capacity = 0}, {.capacity = 0}, {.capacity = 0}});
  // Open in the first second of a period; at 1001 s all begin one.
  for (std::size_t i = 0; i < 3; ++i) {
    const double period = std::array{7.0, 11.0, 13.0}[i];
    net.network.follow(net.line.links[i], {{rate(0, 1e6), rate(1, 0)}, Time::seconds(period)});
  }
  net.start(1, 0, 3, 1'500'000);
  net.engine.run();
  EXPECT_NEAR(net.probe.report(1).ended.in_seconds(), 1001.5, 1e-6);
}

// What stopped without hope goes on when something else happens.
TEST(NetworkTrace, AChangeBringsHopeBack) {
  LineNetwork net({{.capacity = 1e6}, {.capacity = 0}});
  net.network.follow(net.line.links[0], staircase());
  net.start(1, 0, 2, 5'000'000);
  net.engine.run();
  ASSERT_EQ(net.network.stuck().size(), 1U);
  const Time at = net.engine.now() + Time::seconds(100.5);
  const double in_period = std::fmod(at.in_seconds(), 10);
  net.network.change_capacity(at, net.line.links[1], Direction::FORWARD, BitRate::bytes_per_s(1e9));
  net.start(2, 0, 1, 0);
  net.engine.run();
  // Find the end by hand: 1e6 to 2 s (after the first period: 3e6), 2e6 to 4 s, then 3e6.
  double left = 5e6, when = in_period;
  const auto speed = [](double t) {
    const double place = std::fmod(t, 10);
    return place < 2 ? 3e6 : place < 4 ? 2e6 : 3e6;
  };
  while (left > 1e-3) {
    const double place = std::fmod(when, 10);
    const double next = when - place + (place < 2 ? 2 : place < 4 ? 4 : 12);
    const double step = std::min(next - when, left / speed(when));
    left -= step * speed(when);
    when += step;
  }
  EXPECT_NEAR((net.probe.report(1).ended - at).in_seconds(), when - in_period, 1e-6);
}

TEST(NetworkTrace, RefusesWhatIsNoTrace) {
  LineNetwork net({{.capacity = 1e6}});
  const LinkId link = net.line.links[0];
  EXPECT_THROW(net.network.follow(link, {}), InputError);
  EXPECT_THROW(net.network.follow(link, {{rate(1, 1), rate(1, 2)}, {}}), InputError);
  EXPECT_THROW(net.network.follow(link, {{rate(1, -1)}, {}}), InputError);
  EXPECT_THROW(net.network.follow(link, {{rate(1, 1)}, Time::seconds(1)}), InputError);
}

// The same as changes that are scheduled one by one.
TEST(NetworkTrace, IsAsManyChanges) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    RandomStream random(seed, "traces");
    Topology topology;
    const NodeId hub = add_host(topology, "hub");
    std::vector<NodeId> hosts;
    std::vector<LinkId> links;
    for (int i = 0; i < 6; ++i) {
      hosts.push_back(add_host(topology, "h" + std::to_string(i)));
      links.push_back(connect(topology, "l" + std::to_string(i), hosts.back(), hub,
                              {.capacity = 1e5 + 1e6 * random.uniform(), .latency_s = 0.01}));
    }
    Engine engine, plain_engine;
    Network network(engine, topology), plain(plain_engine, topology);
    for (const LinkId link : links) {
      if (random.uniform() < 0.3) continue;
      LinkTrace trace;
      double at = 0;
      const auto points = 1 + random.next() % 5;
      for (std::uint64_t i = 0; i < points; ++i) {
        at += 0.01 + random.uniform();
        LinkTrace::Point point{Time::seconds(at), {}, {}};
        if (random.uniform() < 0.8)
          point.bandwidth =
              BitRate::bytes_per_s(random.uniform() < 0.2 ? 0 : 1e5 + 1e6 * random.uniform());
        if (random.uniform() < 0.3) point.latency_s = 0.05 * random.uniform();
        trace.points.push_back(point);
      }
      // The last one brings capacity, so that all end.
      trace.points.back().bandwidth = BitRate::bytes_per_s(5e5);
      if (random.uniform() < 0.7) trace.period = Time::seconds(at + random.uniform() + 0.001);
      network.follow(link, trace);
      for (Time begun; begun < Time::seconds(200); begun += *trace.period) {
        for (const LinkTrace::Point& point : trace.points) {
          for (const Direction way : {Direction::FORWARD, Direction::BACKWARD}) {
            const Time when = begun + point.at;
            if (point.bandwidth) plain.change_capacity(when, link, way, *point.bandwidth);
            if (point.latency_s) plain.change_latency(when, link, way, *point.latency_s);
          }
        }
        if (!trace.period) break;
      }
    }
    Probe probe, plain_probe;
    for (std::uint64_t tag = 0; tag < 12; ++tag) {
      const std::size_t a = random.next() % 6;
      const TransferSpec spec{.source = hosts[a],
                              .destination = hosts[(a + 1 + random.next() % 5) % 6],
                              .bytes = Bytes(static_cast<std::int64_t>(random.next() % 2'000'000))};
      const Time at = Time::seconds(60 * random.uniform());
      engine.spawn("start", start_at(network, spec, probe, tag, at));
      plain_engine.spawn("start", start_at(plain, spec, plain_probe, tag, at));
    }
    engine.run();
    plain_engine.run();
    for (std::uint64_t tag = 0; tag < 12; ++tag) {
      ASSERT_TRUE(probe.ended(tag)) << seed;
      ASSERT_NEAR(static_cast<double>(probe.end_ns(tag)),
                  static_cast<double>(plain_probe.end_ns(tag)), 2)
          << seed << " " << tag;
    }
  }
}

}  // namespace
}  // namespace syncline
