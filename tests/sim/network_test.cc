#include "sim/network/network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "tests/sim/network_probe.h"
#include "topology/input_error.h"

namespace syncline {
namespace {

using testing::ElementsAre;

constexpr Direction kForward = Direction::FORWARD;
constexpr Direction kBackward = Direction::BACKWARD;

BitRate rate(double bytes_per_s) { return BitRate::bytes_per_s(bytes_per_s); }

TEST(Network, WeightIsTheNumberOfStreams) {
  LineNetwork run({{.capacity = 4e6}});
  TransferSpec wide = run.spec(0, 1, 3'000'000);
  wide.streams = 3;
  TransferId three = run.network.start(wide, run.probe, 0);
  TransferId one = run.network.start(run.spec(0, 1, 3'000'000), run.probe, 1);
  run.engine.run_until(Time::ns(1));
  EXPECT_DOUBLE_EQ(run.network.rate(three), 3e6);
  EXPECT_DOUBLE_EQ(run.network.rate(one), 1e6);
  run.engine.run();
  EXPECT_EQ(run.probe.end_ns(0), 1'000'000'000);
  EXPECT_EQ(run.probe.end_ns(1), 1'500'000'000);
  EXPECT_EQ(run.network.rate(three), 0);
}

TEST(Network, EachDirectionIsItsOwnUnlessShared) {
  for (bool shared : {false, true}) {
    LineNetwork run({{.capacity = 1e6, .shared = shared}});
    run.start(0, 0, 1, 1'000'000);
    run.start(1, 1, 0, 1'000'000);
    run.engine.run();
    EXPECT_EQ(run.probe.end_ns(0), shared ? 2'000'000'000 : 1'000'000'000);
    EXPECT_EQ(run.probe.end_ns(1), shared ? 2'000'000'000 : 1'000'000'000);
  }
}

TEST(Network, ASharedLinkChangesInBothDirections) {
  LineNetwork run({{.capacity = 1e6, .shared = true}});
  run.network.change_capacity(Time(), run.line.links[0], kBackward, rate(2e6));
  run.engine.run();
  run.start(0, 0, 1, 2'000'000);
  run.engine.run();
  EXPECT_EQ(run.probe.end_ns(0), 1'000'000'000);
}

TEST(Network, DirectionsOfALinkAreItsOwnWhateverTheOrderOfItsEnds) {
  Topology topology;
  NodeId a = add_host(topology, "a");
  NodeId b = add_host(topology, "b");
  LinkId link = topology.add_link(
      {.name = "b-a", .a = b, .b = a, .capacity = {rate(1e6), rate(2e6)}, .latency_s = {0.1, 0.2}});
  Probe probe;
  Engine engine;
  Network network(engine, topology);
  network.start({.source = b, .destination = a, .bytes = Bytes(1'000'000)}, probe, 0);
  network.start({.source = a, .destination = b, .bytes = Bytes(1'000'000)}, probe, 1);
  engine.run();
  EXPECT_EQ(probe.end_ns(0), 1'100'000'000);
  EXPECT_EQ(probe.end_ns(1), 700'000'000);
  network.change_capacity(engine.now(), link, kForward, rate(4e6));
  network.change_latency(engine.now(), link, kForward, 0.3);
  engine.run();
  Time start = engine.now();
  network.start({.source = b, .destination = a, .bytes = Bytes(1'000'000)}, probe, 2);
  engine.run();
  EXPECT_EQ(probe.report(2).ended - start, Time::seconds(0.55));
}

TEST(Network, LatencyIsSummedInDoubleAndRoundedOnce) {
  LinkValues hop{.capacity = 1e12, .latency_s = 0.4e-9};
  LineNetwork run({hop, hop, hop});
  run.start(0, 0, 3, 0);
  run.engine.run();
  EXPECT_EQ(run.probe.end_ns(0), 1);  // 1.2 ns, where three roundings give 0
}

TEST(Network, EndsOfOneInstantAreToldInOrderOfIdsWhenAllHaveLeft) {
  struct Asker final : TransferSink {
    void on_transfer_end(const TransferReport& report, std::uint64_t) override {
      ids.push_back(report.id);
      active.push_back(network->active());
    }
    Network* network = nullptr;
    std::vector<TransferId> ids;
    std::vector<std::size_t> active;
  } asker;
  LineNetwork run({{.capacity = 1e6}});
  asker.network = &run.network;
  std::vector<TransferId> started;
  for (int i = 0; i < 3; ++i) {
    started.push_back(run.network.start(run.spec(0, 1, 1'000'000), asker));
  }
  EXPECT_LT(started[0], started[1]);
  EXPECT_EQ(run.network.active(), 3u);
  run.engine.run();
  EXPECT_EQ(asker.ids, started);
  EXPECT_THAT(asker.active, ElementsAre(0, 0, 0));
}

TEST(Network, CancelTakesEffectAtTheEndOfTheInstant) {
  LineNetwork run({{.capacity = 1e6}});
  TransferId victim = run.network.start(run.spec(0, 1, 1'000'000), run.probe, 0);
  TransferId other = run.network.start(run.spec(0, 1, 1'000'000), run.probe, 1);
  run.engine.run_until(Time::seconds(1));
  run.network.cancel(victim);
  run.network.cancel(victim);
  EXPECT_DOUBLE_EQ(run.network.rate(victim), 5e5);
  EXPECT_EQ(run.network.active(), 2u);
  run.engine.run_until(Time::seconds(1));
  EXPECT_EQ(run.network.active(), 1u);
  EXPECT_DOUBLE_EQ(run.network.rate(other), 1e6);
  run.engine.run();
  EXPECT_FALSE(run.probe.ended(0));
  EXPECT_EQ(run.probe.end_ns(1), 1'500'000'000);
  EXPECT_EQ(run.network.use(run.line.channel(0)).bytes, Bytes(1'500'000));
  run.network.cancel(other);  // has ended
  run.engine.run();
}

TEST(Network, CancelInTheLatencyPhaseAndOfASelfTransfer) {
  LineNetwork run({{.capacity = 1e6, .latency_s = 1}});
  TransferId early = run.network.start(run.spec(0, 1, 1'000'000), run.probe, 0);
  TransferId to_self = run.network.start(run.spec(0, 0, 1'000'000), run.probe, 1);
  run.network.cancel(to_self);
  run.engine.run_until(Time::seconds(0.5));
  run.network.cancel(early);
  run.engine.run();
  EXPECT_TRUE(run.probe.order().empty());
  EXPECT_EQ(run.engine.now(), Time::seconds(0.5));
  EXPECT_EQ(run.network.active(), 0u);
}

// The sink of the first end cancels the second, which has ended in the same instant but was not
// told yet.
TEST(Network, CancelOfOneThatHasEndedInThisInstantIsNotTold) {
  struct Canceller final : TransferSink {
    void on_transfer_end(const TransferReport&, std::uint64_t tag) override {
      told.push_back(tag);
      network->cancel(victim);
    }
    Network* network = nullptr;
    TransferId victim = 0;
    std::vector<std::uint64_t> told;
  } canceller;
  LineNetwork run({{.capacity = 1e6}});
  canceller.network = &run.network;
  run.network.start(run.spec(0, 1, 1'000'000), canceller, 0);
  canceller.victim = run.network.start(run.spec(0, 1, 1'000'000), canceller, 1);
  run.engine.run();
  EXPECT_THAT(canceller.told, ElementsAre(0));
  EXPECT_EQ(run.network.use(run.line.channel(0)).bytes, Bytes(2'000'000));
}

TEST(Network, AFailedTransferFreesItsSharesAndIsToldInTheSameInstant) {
  LineNetwork run({{.capacity = 1e6}, {.capacity = 1e6}});
  TransferSpec fails = run.spec(0, 2, 1'000'000);
  fails.in_flight = InFlight::FAIL;
  run.network.start(fails, run.probe, 0);
  run.start(1, 0, 1, 1'000'000);
  run.network.change_link_state(Time::seconds(1), run.line.links[1], false);
  run.engine.run();
  EXPECT_EQ(run.probe.report(0).end, TransferEnd::FAILED);
  EXPECT_EQ(run.probe.end_ns(0), 1'000'000'000);
  EXPECT_EQ(run.probe.report(0).delivered, Bytes(500'000));
  EXPECT_EQ(run.probe.end_ns(1), 1'500'000'000);
  EXPECT_EQ(run.network.use(run.line.channel(0)).bytes, Bytes(1'500'000));
  EXPECT_EQ(run.network.use(run.line.channel(1)).bytes, Bytes(500'000));
}

TEST(Network, InTheLatencyPhaseStallRunsOnAndFailEnds) {
  LineNetwork run({{.capacity = 1e6, .latency_s = 1}});
  TransferSpec fails = run.spec(0, 1, 1'000'000);
  fails.in_flight = InFlight::FAIL;
  run.network.start(fails, run.probe, 0);
  run.start(1, 0, 1, 1'000'000);
  run.network.change_link_state(Time::seconds(0.5), run.line.links[0], false);
  run.network.change_link_state(Time::seconds(0.75), run.line.links[0], true);
  run.engine.run();
  EXPECT_EQ(run.probe.report(0).end, TransferEnd::FAILED);
  EXPECT_EQ(run.probe.end_ns(0), 500'000'000);
  EXPECT_EQ(run.probe.report(0).delivered, Bytes(0));
  EXPECT_EQ(run.probe.end_ns(1), 2'000'000'000);
}

TEST(Network, ZeroBytesWaitAtTheirEndForALinkThatIsDown) {
  LineNetwork run({{.capacity = 1e6, .latency_s = 1}});
  run.start(0, 0, 1, 0);
  run.network.change_link_state(Time::seconds(0.5), run.line.links[0], false);
  run.network.change_link_state(Time::seconds(3), run.line.links[0], true);
  run.engine.run();
  EXPECT_EQ(run.probe.end_ns(0), 3'000'000'000);
  EXPECT_EQ(run.probe.report(0).bottleneck.kind, Limit::Kind::OUTAGE);
}

TEST(Network, ANodeTakesItsLinksDownWithIt) {
  LineNetwork run({{.capacity = 1e6}, {.capacity = 1e6}});
  TransferSpec fails = run.spec(0, 2, 1'000'000);
  fails.in_flight = InFlight::FAIL;
  run.network.start(fails, run.probe, 0);
  run.start(1, 0, 2, 1'000'000);
  run.network.change_node_state(Time::seconds(1), run.line.hosts[1], false);
  run.network.change_node_state(Time::seconds(2), run.line.hosts[1], true);
  run.engine.run_until(Time::seconds(1.5));
  EXPECT_EQ(run.network.capacity(run.line.channel(0)), rate(0));
  EXPECT_THROW(run.start(2, 0, 1, 1), InputError);
  run.engine.run();
  EXPECT_EQ(run.probe.end_ns(0), 1'000'000'000);
  EXPECT_EQ(run.probe.report(0).delivered, Bytes(500'000));
  EXPECT_EQ(run.probe.end_ns(1), 2'500'000'000);  // half was left when it stopped
  EXPECT_EQ(run.network.capacity(run.line.channel(0)), rate(1e6));
}

// A node and its link go down; only when both are back does the transfer go on.
TEST(Network, DownForTwoReasons) {
  LineNetwork run({{.capacity = 1e6}});
  run.start(0, 0, 1, 2'000'000);
  run.network.change_node_state(Time::seconds(1), run.line.hosts[0], false);
  run.network.change_link_state(Time::seconds(2), run.line.links[0], false);
  run.network.change_node_state(Time::seconds(3), run.line.hosts[0], true);
  run.network.change_link_state(Time::seconds(4), run.line.links[0], true);
  run.engine.run();
  EXPECT_EQ(run.probe.end_ns(0), 5'000'000'000);
}

TEST(Network, ChangesOfOneInstantActInOrderOfTheCalls) {
  LineNetwork run({{.capacity = 1e6}});
  TransferSpec fails = run.spec(0, 1, 2'000'000);
  fails.in_flight = InFlight::FAIL;
  run.network.start(fails, run.probe, 0);
  run.start(1, 0, 1, 2'000'000);
  for (bool up : {false, true}) {
    run.network.change_link_state(Time::seconds(1), run.line.links[0], up);
  }
  run.network.change_capacity(Time::seconds(1), run.line.links[0], kForward, rate(3e6));
  run.network.change_capacity(Time::seconds(1), run.line.links[0], kForward, rate(1.5e6));
  run.engine.run();
  EXPECT_EQ(run.probe.report(0).end, TransferEnd::FAILED);  // down for no time at all is down
  EXPECT_EQ(run.probe.end_ns(1), 2'000'000'000);
}

TEST(Network, StartsTakeARouteThatIsUpAndKeepIt) {
  Topology topology;
  NodeId a = add_host(topology, "a");
  NodeId b = add_host(topology, "b");
  NodeId detour = add_host(topology, "detour");
  LinkId direct = connect(topology, "a-b", a, b, {.capacity = 1e6, .latency_s = 0.001});
  connect(topology, "a-detour", a, detour, {.capacity = 2e6, .latency_s = 0.1});
  connect(topology, "detour-b", detour, b, {.capacity = 2e6, .latency_s = 0.1});
  Probe probe;
  Engine engine;
  Network network(engine, topology);
  network.change_link_state(Time(), direct, false);
  engine.run();
  TransferSpec spec{.source = a, .destination = b, .bytes = Bytes(1'000'000)};
  network.start(spec, probe, 0);
  network.change_link_state(Time::seconds(0.01), direct, true);
  engine.run();
  EXPECT_EQ(probe.end_ns(0), 700'000'000);
  network.start(spec, probe, 1);
  engine.run();
  EXPECT_EQ(probe.end_ns(1), 1'701'000'000);
}

TEST(Network, ABundleLosesAndRegainsMembers) {
  Topology topology;
  NodeId a = add_host(topology, "a");
  NodeId b = add_host(topology, "b");
  LinkId slow = connect(topology, "slow", a, b, {.capacity = 1e6, .latency_s = 0.5});
  LinkId quick = connect(topology, "quick", a, b, {.capacity = 3e6, .latency_s = 0.1});
  ChannelId channel = topology.bundle(topology.bundle_of(slow)).channel[0];
  Probe probe;
  Engine engine;
  Network network(engine, topology);
  EXPECT_EQ(network.capacity(channel), rate(4e6));
  TransferSpec spec{
      .source = a, .destination = b, .bytes = Bytes(9'000'000), .in_flight = InFlight::FAIL};
  TransferId id = network.start(spec, probe, 0);
  network.change_link_state(Time::seconds(1.1), quick, false);
  network.change_link_state(Time::seconds(3.1), quick, true);
  engine.run_until(Time::seconds(1));
  EXPECT_EQ(network.rate(id), 3e6);  // one transfer is on one member
  engine.run_until(Time::seconds(2));
  EXPECT_EQ(network.rate(id), 1e6);
  EXPECT_EQ(network.capacity(channel), rate(1e6));
  network.start({.source = a, .destination = b, .bytes = Bytes(0)}, probe, 1);
  engine.run();
  // 3 MB in the first second, 2 in the next two, the last 4 at 3 MB/s. With a member up it has not
  // failed.
  EXPECT_EQ(probe.report(0).end, TransferEnd::DONE);
  EXPECT_EQ(probe.end_ns(0), 4'433'333'333);
  EXPECT_EQ(probe.end_ns(1), 2'500'000'000);  // the latency of the member that is up
  network.change_link_state(engine.now(), slow, false);
  network.change_link_state(engine.now(), quick, false);
  engine.run();
  EXPECT_EQ(network.capacity(channel), rate(0));
  EXPECT_THROW(network.start(spec, probe, 2), InputError);
}

TEST(Network, WithoutAnyLimitTheBytesTakeNoTime) {
  double unlimited = std::numeric_limits<double>::infinity();
  LineNetwork run({{.capacity = unlimited, .latency_s = 1e-3}, {.capacity = unlimited}});
  run.start(0, 0, 2, 1'000'000'000'000);
  TransferSpec capped = run.spec(0, 2, 1'000'000);
  capped.cap = rate(1e6);
  run.network.start(capped, run.probe, 1);
  run.engine.run();
  EXPECT_EQ(run.probe.end_ns(0), 1'000'000);
  EXPECT_EQ(run.probe.report(0).bottleneck.kind, Limit::Kind::LATENCY);
  EXPECT_EQ(run.probe.end_ns(1), 1'001'000'000);
  EXPECT_DOUBLE_EQ(run.network.use(run.line.channel(0)).byte_s_load, 1'000'001'000'000.0);
}

TEST(Network, ALimitThatComesAndGoes) {
  double unlimited = std::numeric_limits<double>::infinity();
  LineNetwork run({{.capacity = unlimited}});
  TransferSpec capped = run.spec(0, 1, 3'000'000);
  capped.cap = rate(1e6);
  run.network.start(capped, run.probe, 0);
  run.network.start(capped, run.probe, 1);
  run.network.change_capacity(Time::seconds(1), run.line.links[0], kForward, rate(1e6));
  run.network.change_capacity(Time::seconds(3), run.line.links[0], kForward, rate(unlimited));
  run.engine.run();
  EXPECT_EQ(run.probe.end_ns(0), 4'000'000'000);
  EXPECT_EQ(run.probe.end_ns(1), 4'000'000'000);
}

TEST(Network, AccountsOfAChannel) {
  LineNetwork run({{.capacity = 1e6, .latency_s = 0.5}, {.capacity = 2e6}});
  run.start(0, 0, 2, 1'000'000);
  run.start(1, 1, 2, 1'000'000);
  run.engine.run_until(Time::seconds(1));
  // Link 0 is busy from 0.5 on. On link 1 the second transfer is done at 0.5 s.
  ChannelUse first = run.network.use(run.line.channel(0));
  EXPECT_EQ(first.bytes, Bytes(0));
  EXPECT_DOUBLE_EQ(first.busy_s, 0.5);
  EXPECT_DOUBLE_EQ(first.byte_s_load, 5e5);
  ChannelUse second = run.network.uses()[run.line.channel(1).value];
  EXPECT_EQ(second.bytes, Bytes(1'000'000));
  EXPECT_DOUBLE_EQ(second.busy_s, 1);
  EXPECT_DOUBLE_EQ(second.byte_s_load, 1.5e6);
  run.network.change_link_state(Time::seconds(1), run.line.links[0], false);
  run.network.change_link_state(Time::seconds(2), run.line.links[0], true);
  run.engine.run();
  first = run.network.use(run.line.channel(0));
  EXPECT_EQ(first.bytes, Bytes(1'000'000));
  EXPECT_DOUBLE_EQ(first.busy_s, 1);  // not while nothing flows
  EXPECT_DOUBLE_EQ(first.byte_s_load, 1e6);
  EXPECT_EQ(run.network.use(ChannelId{run.line.channel(0).value + 1}).bytes, Bytes(0));
}

TEST(Network, TheBottleneckIsWhatLimitedLongest) {
  // 0.25 s latency, 1 s at link 1, 0.5 s at link 2.
  LineNetwork run({{.capacity = 4e6, .latency_s = 0.25}, {.capacity = 1e6}});
  run.start(0, 0, 2, 1'250'000);
  run.network.change_capacity(Time::seconds(1.25), run.line.links[0], kForward, rate(0.5e6));
  run.engine.run();
  EXPECT_EQ(run.probe.end_ns(0), 1'750'000'000);
  EXPECT_EQ(run.probe.report(0).bottleneck.kind, Limit::Kind::LINK);
  EXPECT_EQ(run.probe.report(0).bottleneck.channel, run.line.channel(1));
  // Latency longer than the bytes.
  run.start(1, 0, 1, 1000);
  run.engine.run();
  EXPECT_EQ(run.probe.report(1).bottleneck.kind, Limit::Kind::LATENCY);
  // An outage, in two parts that together are longest; in between, capacity 0 of the same link
  // counts as the link.
  Time start = run.engine.now();
  run.start(2, 1, 2, 1'000'000);
  LinkId link = run.line.links[1];
  run.network.change_link_state(start + Time::seconds(0.5), link, false);
  run.network.change_capacity(start + Time::seconds(1.5), link, kForward, rate(0));
  run.network.change_link_state(start + Time::seconds(1.5), link, true);
  run.network.change_link_state(start + Time::seconds(2.0), link, false);
  run.network.change_capacity(start + Time::seconds(3.0), link, kForward, rate(1e6));
  run.network.change_link_state(start + Time::seconds(3.0), link, true);
  run.engine.run();
  EXPECT_EQ(run.probe.report(2).ended - start, Time::seconds(3.5));
  EXPECT_EQ(run.probe.report(2).bottleneck.kind, Limit::Kind::OUTAGE);
  EXPECT_EQ(run.probe.report(2).bottleneck.channel, run.line.channel(1));
}

TEST(Network, StuckNamesTransfersAndLinks) {
  LineNetwork run({{.capacity = 1e6}, {.capacity = 1e6}});
  run.start(0, 0, 2, 2'000'000);
  run.start(1, 1, 2, 2'000'000);
  run.network.change_link_state(Time::seconds(1), run.line.links[0], false);
  run.network.change_capacity(Time::seconds(2), run.line.links[1], kForward, rate(0));
  run.engine.run();
  EXPECT_EQ(run.network.active(), 2u);
  EXPECT_THAT(run.network.stuck(),
              ElementsAre("2 MB from h0 to h2 waits for l1 h0->h1 (down)",
                          "2 MB from h1 to h2 waits for l2 h1->h2 (capacity 0)"));
  EXPECT_EQ(run.network.stuck(1).size(), 1u);
}

TEST(Network, WrongChangesNameTheLink) {
  LineNetwork run({{.capacity = 1e6}});
  auto expect_error = [](auto change) {
    try {
      change();
      FAIL() << "no error";
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("l1"), std::string::npos) << error.what();
    }
  };
  LinkId link = run.line.links[0];
  expect_error([&] { run.network.change_capacity(Time(), link, kForward, rate(-1)); });
  expect_error([&] { run.network.change_latency(Time(), link, kForward, -1); });
}

TEST(Network, MayDieBeforeItsEngineInTheMiddleOfThings) {
  Line line({{.capacity = 1e6, .latency_s = 1}});
  Probe probe;
  Engine engine;
  auto network = std::make_unique<Network>(engine, line.topology);
  TransferSpec spec{
      .source = line.hosts[0], .destination = line.hosts[1], .bytes = Bytes(5'000'000)};
  network->start(spec, probe, 0);
  network->change_capacity(Time::seconds(9), line.links[0], kForward, rate(1));
  engine.run_until(Time::seconds(2));
  network->start(spec, probe, 1);
  network->start({.source = line.hosts[0], .destination = line.hosts[0], .bytes = Bytes(1)}, probe,
                 2);
  network.reset();
  engine.run();
  EXPECT_EQ(engine.now(), Time::seconds(2));
  EXPECT_TRUE(probe.order().empty());
}

}  // namespace
}  // namespace syncline
