// Processes that wait for transfers, and what becomes of the transfers when the processes are
// cancelled.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "sim/network/transfer_set.h"
#include "tests/sim/network_probe.h"
#include "topology/input_error.h"

namespace syncline {
namespace {

using testing::ElementsAre;

TEST(Waiting, ForOneTransfer) {
  TransferReport report;
  LineNetwork run({{.capacity = 1e6, .latency_s = 0.5}});
  auto body = [](LineNetwork& r, TransferReport& got) -> Task<> {
    co_await r.engine.sleep(Time::seconds(1));
    got = co_await transfer(r.network, r.spec(0, 1, 1'000'000));
    co_await transfer(r.network, r.spec(0, 0, 1));
  };
  run.engine.spawn("a", body(run, report));
  run.engine.run();
  EXPECT_EQ(report.started, Time::seconds(1));
  EXPECT_EQ(report.ended, Time::seconds(2.5));
  EXPECT_EQ(report.delivered, Bytes(1'000'000));
  EXPECT_EQ(run.engine.now(), Time::seconds(2.5));
}

TEST(Waiting, NoRouteIsThrownFromTheCoAwait) {
  std::string message;
  Topology topology;
  NodeId a = add_host(topology, "a");
  NodeId b = add_host(topology, "b");
  Engine engine;
  Network network(engine, topology);
  auto body = [](Network& n, TransferSpec spec, std::string& got) -> Task<> {
    try {
      co_await transfer(n, spec);
    } catch (const InputError& error) {
      got = error.what();
    }
  };
  engine.spawn("a", body(network, {.source = a, .destination = b, .bytes = Bytes(1)}, message));
  engine.run();
  EXPECT_NE(message.find("no route"), std::string::npos) << message;
}

// One link, down in [1, 3): who starts in between and may wait, waits; its latency is paid after
// that.
TEST(Waiting, ForARoute) {
  LineNetwork run({{.capacity = 1e6, .latency_s = 0.5}});
  run.network.change_link_state(Time::seconds(1), run.line.links[0], false);
  run.network.change_link_state(Time::seconds(3), run.line.links[0], true);
  run.engine.run_until(Time::seconds(2));
  TransferSpec spec = run.spec(0, 1, 1'000'000);
  spec.wait_for_route = true;
  run.network.start(spec, run.probe, 0);
  spec.in_flight = InFlight::FAIL;
  run.network.start(spec, run.probe, 1);
  run.engine.run_until(Time::seconds(2.5));
  EXPECT_THAT(run.network.stuck(), ElementsAre(testing::HasSubstr("waits for")));
  run.engine.run();
  EXPECT_EQ(run.probe.report(1).end, TransferEnd::FAILED);
  EXPECT_EQ(run.probe.end_ns(1), 2'000'000'000);
  EXPECT_EQ(run.probe.end_ns(0), 4'500'000'000);
  EXPECT_EQ(run.probe.report(0).bottleneck.kind, Limit::Kind::OUTAGE);  // 1 s, as long as flowing
  EXPECT_EQ(run.network.active(), 0u);
}

// The event decides for the transfers in flight, where it says so.
TEST(Waiting, AnOutageMayFailWhatWouldStall) {
  LineNetwork run({{.capacity = 1e6}});
  run.network.start(run.spec(0, 1, 2'000'000), run.probe, 0);
  run.network.change_link_state(Time::seconds(1), run.line.links[0], false, InFlight::FAIL);
  run.engine.run();
  EXPECT_EQ(run.probe.report(0).end, TransferEnd::FAILED);
  EXPECT_EQ(run.probe.report(0).delivered, Bytes(1'000'000));
}

TEST(Waiting, ForASet) {
  std::vector<Time> woke;
  LineNetwork run({{.capacity = 1e6}, {.capacity = 1e6}});
  auto body = [](LineNetwork& r, std::vector<Time>& at) -> Task<> {
    TransferSet set(r.network);
    co_await set.all();  // none is pending
    at.push_back(r.engine.now());
    set.start(r.spec(0, 1, 1'000'000));
    set.start(r.spec(1, 2, 3'000'000));
    TransferSpec fails = r.spec(1, 2, 3'000'000);
    fails.in_flight = InFlight::FAIL;
    set.start(fails);
    EXPECT_EQ(set.pending(), 3u);
    co_await set.all();
    at.push_back(r.engine.now());
    EXPECT_EQ(set.done(), 2u);
    EXPECT_EQ(set.failed(), 1u);
    EXPECT_EQ(set.delivered(), Bytes(5'000'000));
    set.start(r.spec(0, 1, 1'000'000));
    co_await set.all();
    at.push_back(r.engine.now());
  };
  run.network.change_link_state(Time::seconds(2), run.line.links[1], false);
  run.network.change_link_state(Time::seconds(3), run.line.links[1], true);
  run.engine.spawn("a", body(run, woke));
  run.engine.run();
  EXPECT_THAT(woke, ElementsAre(Time(), Time::seconds(5), Time::seconds(6)));
}

// Nested tasks wait for a transfer, a set, a timer; the cancelled process takes its transfers with
// it.
TEST(Waiting, CancellingTheProcessCancelsItsTransfers) {
  LineNetwork run({{.capacity = 1e6}});
  auto one = [](LineNetwork& r) -> Task<int> {
    TransferReport report = co_await transfer(r.network, r.spec(0, 1, 10'000'000));
    co_return static_cast<int>(report.delivered.count());
  };
  auto set = [](LineNetwork& r) -> Task<> {
    TransferSet sends(r.network);
    for (int i = 0; i < 2; ++i) sends.start(r.spec(0, 1, 10'000'000));
    co_await sends.all();
  };
  auto outer = [one, set](LineNetwork& r, bool use_set) -> Task<> {
    if (use_set) {
      co_await set(r);
    } else if (co_await one(r) > 0) {
      co_await r.engine.sleep(Time::seconds(1));
    }
  };
  ProcessId first = run.engine.spawn("one", outer(run, false));
  ProcessId second = run.engine.spawn("set", outer(run, true));
  run.start(0, 0, 1, 1'000'000);
  run.engine.run_until(Time::seconds(1));
  EXPECT_EQ(run.network.active(), 4u);
  run.engine.cancel(first);
  run.engine.cancel(second);
  run.engine.run();
  EXPECT_EQ(run.network.active(), 0u);
  EXPECT_EQ(run.probe.end_ns(0), 1'750'000'000);
  // 0.25 MB of each of three, and all of the fourth.
  EXPECT_EQ(run.network.use(run.line.channel(0)).bytes, Bytes(1'750'000));
}

// Cancelled in the very instant of the end, after it and before the wake.
TEST(Waiting, CancelledBetweenEndAndWake) {
  bool reached = false;
  LineNetwork run({{.capacity = 1e6}});
  auto body = [](LineNetwork& r, bool& done) -> Task<> {
    co_await transfer(r.network, r.spec(0, 1, 1'000'000));
    done = true;
  };
  struct Killer final : TransferSink {
    void on_transfer_end(const TransferReport&, std::uint64_t) override { engine->cancel(victim); }
    Engine* engine = nullptr;
    ProcessId victim;
  } killer;
  killer.engine = &run.engine;
  killer.victim = run.engine.spawn("victim", body(run, reached));
  run.engine.run_until(Time());
  run.network.start(run.spec(0, 1, 1'000'000), killer);
  run.engine.run();
  EXPECT_EQ(run.engine.now(), Time::seconds(2));
  EXPECT_FALSE(reached);
  EXPECT_TRUE(run.engine.unfinished().empty());
}

TEST(Waiting, CancelOfASetWakesWhoWaits) {
  Time woke;
  LineNetwork run({{.capacity = 1e6}});
  TransferSet set(run.network);
  auto body = [](TransferSet& s, Engine& engine, Time& at) -> Task<> {
    co_await s.all();
    at = engine.now();
  };
  set.start(run.spec(0, 1, 10'000'000));
  run.engine.spawn("a", body(set, run.engine, woke));
  run.engine.run_until(Time::seconds(1));
  set.cancel();
  EXPECT_EQ(set.pending(), 0u);
  run.engine.run();
  EXPECT_EQ(woke, Time::seconds(1));
  EXPECT_EQ(run.network.active(), 0u);
}

// Everything dies while processes wait for transfers: the network first.
TEST(Waiting, TeardownInTheMiddle) {
  Line line({{.capacity = 1e6, .latency_s = 0.1}});
  Engine engine;
  auto network = std::make_unique<Network>(engine, line.topology);
  TransferSpec spec{
      .source = line.hosts[0], .destination = line.hosts[1], .bytes = Bytes(5'000'000)};
  auto one = [](Network& n, TransferSpec s) -> Task<> { co_await transfer(n, s); };
  auto many = [](Network& n, TransferSpec s) -> Task<> {
    TransferSet set(n);
    set.start(s);
    co_await set.all();
  };
  auto never = [](Network& n, TransferSpec s) -> Task<> {
    TransferSet set(n);
    set.start(s);
    Signal signal(n.engine());
    co_await signal.wait();
  };
  engine.spawn("one", one(*network, spec));
  engine.spawn("many", many(*network, spec));
  engine.spawn("never", never(*network, spec));
  engine.run_until(Time::seconds(1));
  EXPECT_THAT(engine.unfinished(), ElementsAre("one", "many", "never"));
  network.reset();
  EXPECT_TRUE(engine.unfinished().empty());
}

}  // namespace
}  // namespace syncline
