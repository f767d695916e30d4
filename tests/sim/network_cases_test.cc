// The numbered network cases: each is a way in which some released simulator answers wrongly.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "sim/network/network.h"
#include "sim/network/transfer_set.h"
#include "tests/sim/network_probe.h"
#include "topology/distribution.h"
#include "topology/input_error.h"

namespace syncline {
namespace {

constexpr Direction kForward = Direction::FORWARD;

BitRate rate(double bytes_per_s) { return BitRate::bytes_per_s(bytes_per_s); }

TEST(NetworkCase, Case01CapacityRisesInFlight) {
  LineNetwork run({{.capacity = 1e6}});
  run.start(0, 0, 1, 10'000'000);
  run.network.change_capacity(Time::seconds(1), run.line.links[0], kForward, rate(1e7));
  run.engine.run();
  EXPECT_EQ(run.probe.end_ns(0), 1'900'000'000);
}

TEST(NetworkCase, Case02CapacityZeroStalls) {
  LineNetwork run({{.capacity = 1e6}});
  run.start(0, 0, 1, 2'000'000);
  run.network.change_capacity(Time::seconds(1), run.line.links[0], kForward, rate(0));
  run.network.change_capacity(Time::seconds(2), run.line.links[0], kForward, rate(1e6));
  run.engine.run();
  EXPECT_EQ(run.probe.end_ns(0), 3'000'000'000);
}

TEST(NetworkCase, Case03StartsWhileCapacityIsZero) {
  LineNetwork run({{.capacity = 0}});
  run.network.change_capacity(Time::seconds(1), run.line.links[0], kForward, rate(1e6));
  run.engine.run_until(Time::seconds(0.5));
  run.start(0, 0, 1, 1'000'000);
  run.engine.run();
  EXPECT_EQ(run.probe.end_ns(0), 2'000'000'000);
}

TEST(NetworkCase, Case04LatencyChangesForLaterStartsOnly) {
  LineNetwork run({{.capacity = 1e6, .latency_s = 1}});
  run.start(0, 0, 1, 1'000'000);
  run.network.change_latency(Time::seconds(0.5), run.line.links[0], kForward, 3);
  run.engine.run_until(Time::seconds(10));
  EXPECT_EQ(run.probe.end_ns(0), 2'000'000'000);
  run.start(1, 0, 1, 1'000'000);
  run.engine.run();
  EXPECT_EQ(run.probe.end_ns(1), 14'000'000'000);
}

// Two flows share the middle link; only their access links differ, in latency.
void expect_no_latency_bias(double latency_a, double latency_b, std::int64_t end_a,
                            std::int64_t end_b) {
  constexpr double kWide = 1e12;
  Topology topology;
  NodeId a = add_host(topology, "a");
  NodeId b = add_host(topology, "b");
  NodeId left = add_host(topology, "left");
  NodeId right = add_host(topology, "right");
  connect(topology, "a-left", a, left, {.capacity = kWide, .latency_s = latency_a});
  connect(topology, "b-left", b, left, {.capacity = kWide, .latency_s = latency_b});
  connect(topology, "left-right", left, right, {.capacity = 1e8});
  Probe probe;
  Engine engine;
  Network network(engine, topology);
  network.start({.source = a, .destination = right, .bytes = Bytes(100'000'000)}, probe, 0);
  network.start({.source = b, .destination = right, .bytes = Bytes(100'000'000)}, probe, 1);
  engine.run();
  EXPECT_EQ(probe.end_ns(0), end_a);
  EXPECT_EQ(probe.end_ns(1), end_b);
}

TEST(NetworkCase, Case05LatencyIsNoBiasInTheSharing) {
  expect_no_latency_bias(0, 1e-3, 1'999'000'000, 2'000'000'000);
}

TEST(NetworkCase, Case06LatencyIsNoBiasInTheSharing) {
  expect_no_latency_bias(1e-3, 10e-3, 1'992'000'000, 2'001'000'000);
}

TEST(NetworkCase, Case07ACapLeavesTheRestToOthers) {
  LineNetwork run({{.capacity = 1e7}});
  TransferSpec capped = run.spec(0, 1, 9'000'000);
  capped.cap = rate(1e6);
  run.network.start(capped, run.probe, 0);
  run.start(1, 0, 1, 9'000'000);
  run.engine.run();
  EXPECT_EQ(run.probe.end_ns(0), 9'000'000'000);
  EXPECT_EQ(run.probe.end_ns(1), 1'000'000'000);
  EXPECT_EQ(run.probe.report(0).bottleneck.kind, Limit::Kind::CAP);
  EXPECT_EQ(run.probe.report(1).bottleneck.kind, Limit::Kind::LINK);
}

TEST(NetworkCase, Case08MaxMinOverTwoLinks) {
  LineNetwork run({{.capacity = 10e6}, {.capacity = 4e6}});
  run.start(0, 0, 1, 8'000'000);
  run.start(1, 1, 2, 8'000'000);
  run.start(2, 0, 2, 8'000'000);
  run.engine.run();
  EXPECT_EQ(run.probe.end_ns(0), 1'000'000'000);
  EXPECT_EQ(run.probe.end_ns(1), 4'000'000'000);
  EXPECT_EQ(run.probe.end_ns(2), 4'000'000'000);
}

TEST(NetworkCase, Case09NoHiddenEfficiencyFactor) {
  LineNetwork run({{.capacity = 1.25e8}});
  run.start(0, 0, 1, 1'000'000'000);
  run.engine.run();
  EXPECT_EQ(run.probe.end_ns(0), 8'000'000'000);
}

TEST(NetworkCase, Case10NoHiddenWindow) {
  LineNetwork run({{.capacity = 1e9, .latency_s = 50e-3}});
  run.start(0, 0, 1, 1'000'000'000);
  run.engine.run();
  EXPECT_EQ(run.probe.end_ns(0), 1'050'000'000);
}

TEST(NetworkCase, Case11ZeroBytes) {
  LineNetwork slow({{.capacity = 1e6, .latency_s = 5e-3}});
  slow.start(0, 0, 1, 0);
  slow.engine.run();
  EXPECT_EQ(slow.probe.end_ns(0), 5'000'000);
  LineNetwork quick({{.capacity = 1e6}});
  quick.start(0, 0, 1, 0);
  quick.start(1, 0, 0, 5);
  EXPECT_FALSE(quick.probe.ended(0));  // never inside the call
  EXPECT_FALSE(quick.probe.ended(1));
  quick.engine.run();
  EXPECT_EQ(quick.probe.end_ns(0), 0);
  EXPECT_EQ(quick.probe.end_ns(1), 0);
  EXPECT_EQ(quick.probe.report(1).delivered, Bytes(5));
}

// The link is off from `off` to 3 s.
TransferReport end_with_outage(double off, InFlight policy) {
  LineNetwork run({{.capacity = 1e6, .latency_s = 1e-3}});
  TransferSpec spec = run.spec(0, 1, 2'000'000);
  spec.in_flight = policy;
  run.network.start(spec, run.probe, 0);
  run.network.change_link_state(Time::seconds(off), run.line.links[0], false);
  run.network.change_link_state(Time::seconds(3), run.line.links[0], true);
  run.engine.run();
  return run.probe.report(0);
}

TEST(NetworkCase, Case12AnOutageFailsOrStalls) {
  TransferReport failed = end_with_outage(1, InFlight::FAIL);
  EXPECT_EQ(failed.end, TransferEnd::FAILED);
  EXPECT_EQ(failed.ended, Time::seconds(1));
  EXPECT_EQ(failed.delivered, Bytes(999'000));
  TransferReport stalled = end_with_outage(1, InFlight::STALL);
  EXPECT_EQ(stalled.end, TransferEnd::DONE);
  EXPECT_EQ(stalled.ended.count_ns(), 4'001'000'000);
  EXPECT_EQ(stalled.delivered, Bytes(2'000'000));
}

TEST(NetworkCase, Case13CompletionWinsOverAnOutageInTheSameInstant) {
  for (InFlight policy : {InFlight::FAIL, InFlight::STALL}) {
    TransferReport report = end_with_outage(2.001, policy);
    EXPECT_EQ(report.end, TransferEnd::DONE);
    EXPECT_EQ(report.ended.count_ns(), 2'001'000'000);
  }
}

TEST(NetworkCase, Case14HopsAddLatencyAndNotTime) {
  LinkValues hop{.capacity = 50.0 * 1024 * 1024 * 1024, .latency_s = 500e-9};
  LineNetwork run({hop, hop, hop});
  for (std::size_t hops : {1u, 2u, 3u}) {
    std::int64_t start = run.engine.now().count_ns();
    run.start(hops, 0, hops, 1 << 20);
    run.engine.run();
    std::int64_t took = run.probe.end_ns(hops) - start;
    EXPECT_EQ(took, hops == 1 ? 20'031 : hops == 2 ? 20'531 : 21'031) << hops << " hops";
  }
}

// Four parallel links of 100 Gbit/s: 400 in sum, and 100 for one transfer.
TEST(NetworkCase, Case16ParallelLinksAreOneBundle) {
  Topology topology;
  NodeId a = add_host(topology, "a");
  NodeId b = add_host(topology, "b");
  for (int i = 0; i < 4; ++i) {
    connect(topology, fmt::format("p{}", i), i % 2 ? a : b, i % 2 ? b : a, {.capacity = 12.5e9});
  }
  Probe probe;
  Engine engine;
  Network network(engine, topology);
  TransferSpec spec{.source = a, .destination = b, .bytes = Bytes(12'500'000'000)};
  network.start(spec, probe, 0);
  engine.run();
  EXPECT_EQ(probe.end_ns(0), 1'000'000'000);
  EXPECT_EQ(probe.report(0).bottleneck.kind, Limit::Kind::LINK);
  for (std::uint64_t tag = 1; tag <= 4; ++tag) network.start(spec, probe, tag);
  engine.run();
  for (std::uint64_t tag = 1; tag <= 4; ++tag) EXPECT_EQ(probe.end_ns(tag), 2'000'000'000);
}

TEST(NetworkCase, Case19NoRouteNamesBothHosts) {
  Topology topology;
  NodeId a = add_host(topology, "here");
  NodeId b = add_host(topology, "there");
  Probe probe;
  Engine engine;
  Network network(engine, topology);
  try {
    network.start({.source = a, .destination = b, .bytes = Bytes(1)}, probe);
    FAIL() << "no error";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("here"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("there"), std::string::npos) << error.what();
  }
  EXPECT_EQ(network.active(), 0u);
}

// A busy run with changes and outages; every end, in order, as text.
std::string trace_of_ends() {
  Topology topology;
  NodeId core = topology.add_node({.name = "core", .host = false, .cluster = {}});
  std::vector<NodeId> hosts;
  std::vector<LinkId> links;
  RandomStream random(20, "case 20");
  for (int i = 0; i < 12; ++i) {
    hosts.push_back(add_host(topology, fmt::format("h{}", i)));
    links.push_back(connect(topology, fmt::format("l{}", i), hosts.back(), core,
                            {.capacity = 1e6 * (1 + random.uniform()), .latency_s = 1e-3}));
  }
  struct Tracer final : TransferSink {
    void on_transfer_end(const TransferReport& report, std::uint64_t tag) override {
      text += fmt::format("{} {} {} {} {} {}\n", tag, report.id, report.ended.count_ns(),
                          static_cast<int>(report.end), report.delivered.count(),
                          static_cast<int>(report.bottleneck.kind));
    }
    std::string text;
  } tracer;
  Engine engine;
  Network network(engine, topology);
  for (int i = 0; i < 60; ++i) {
    Time at = Time::seconds(random.uniform());
    LinkId link = links[random.next() % links.size()];
    if (i % 2 == 0) {
      network.change_capacity(at, link, Direction::BACKWARD, rate(1e6 * random.uniform()));
    } else {
      network.change_link_state(at, link, false);
      network.change_link_state(at + Time::seconds(0.1), link, true);
    }
  }
  for (std::uint64_t i = 0; i < 400; ++i) {
    engine.run_until(engine.now() + Time::seconds(3e-3 * random.uniform()));
    std::size_t from = random.next() % hosts.size();
    std::size_t to = random.next() % hosts.size();
    auto bytes = static_cast<std::int64_t>(random.next() % 100'000);
    try {
      network.start({.source = hosts[from],
                     .destination = hosts[to],
                     .bytes = Bytes(bytes),
                     .in_flight = i % 3 == 0 ? InFlight::FAIL : InFlight::STALL},
                    tracer, i);
    } catch (const InputError&) {
      tracer.text += fmt::format("{} no route\n", i);
    }
  }
  engine.run();
  return tracer.text;
}

TEST(NetworkCase, Case20TheSameRunIsTheSameToTheByte) {
  std::string first = trace_of_ends();
  std::string second;
  std::thread other([&] { second = trace_of_ends(); });
  other.join();
  EXPECT_EQ(first, second);
  EXPECT_GT(first.size(), 8000u);
}

TEST(NetworkCase, Case21EachRoundsToZeroAndNothingHangs) {
  LineNetwork run({{.capacity = 1e12, .latency_s = 1e-10}});
  auto series = [](LineNetwork& r, int& ended) -> Task<> {
    for (int i = 0; i < 1000; ++i) {
      co_await transfer(r.network, r.spec(0, 1, 1));
      ++ended;
    }
  };
  int ended = 0;
  run.engine.spawn("series", series(run, ended));
  run.engine.run();
  EXPECT_EQ(ended, 1000);
  EXPECT_EQ(run.engine.now(), Time());
}

}  // namespace
}  // namespace syncline
