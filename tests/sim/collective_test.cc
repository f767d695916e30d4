// Collectives against their alpha-beta formulas and their byte counts.
#include <gtest/gtest.h>

#include <cmath>

#include "sim/collective/all_reduce.h"
#include "sim/engine/engine.h"
#include "star.h"
#include "topology/input_error.h"

namespace syncline {
namespace {

constexpr double kBandwidth = 1.25e8;  // bytes/s
constexpr double kLatency = 0.005;     // s, host to switch
const Collective kRing{CollectiveAlgorithm::RING, {}};

TEST(Payload, IsSplitIntoWholeElementsThatAddUp) {
  for (const std::uint64_t elements :
       {0ull, 1ull, 7ull, 100ull, 1'000'003ull, 1'000'000'000'000ull}) {
    for (const std::uint64_t parts : {1ull, 2ull, 3ull, 16ull, 1000ull}) {
      const Payload payload{elements, 4};
      std::uint64_t sum = 0;
      for (std::uint64_t i = 0; i < parts; ++i) {
        const std::uint64_t part = payload.part(i, parts).elements;
        EXPECT_GE(part, elements / parts);
        EXPECT_LE(part, elements / parts + 1);
        sum += part;
      }
      EXPECT_EQ(sum, elements);
    }
  }
}

TEST(Payload, OfFractionalBytesIsRoundedUp) {
  EXPECT_EQ((Payload{3, 0.5}).bytes(), Bytes(2));
  EXPECT_EQ((Payload{4, 0.5}).bytes(), Bytes(2));
  EXPECT_EQ((Payload{0, 4}).bytes(), Bytes(0));
}

// 2(p-1) steps of n/p bytes, each n/p / C + the route's latency; exact to the rounding of a step.
TEST(Ring, TakesTheAlphaBetaTimeAndSendsTheFormulasBytes) {
  for (std::size_t p = 1; p <= 17; ++p) {
    const TestStar star(p, kBandwidth, kLatency);
    const Payload payload{p * 100'000, 4};
    const IdleAllReduce ring = idle_all_reduce(kRing, star.topology, star.members(), payload);
    const double chunk = 400'000;
    const std::int64_t steps = 2 * (static_cast<std::int64_t>(p) - 1);
    const double expected = static_cast<double>(steps) * (chunk / kBandwidth + 2 * kLatency);
    EXPECT_NEAR(static_cast<double>(ring.duration.count_ns()), expected * 1e9,
                0.5 * static_cast<double>(steps) + 1e-3)
        << p;
    for (const NodeId host : star.hosts) {
      EXPECT_EQ(ring.traffic.sent(host).count(), steps * 400'000);
      EXPECT_EQ(ring.traffic.received(host).count(), steps * 400'000);
    }
    for (const ChannelUse& use : ring.channels) EXPECT_EQ(use.bytes.count(), steps * 400'000) << p;
  }
}

TEST(Ring, OfUnevenPartsSendsEveryPartExactlyAsOftenAsTheAlgorithmSays) {
  // 10 elements over 4 hosts: parts of 2, 3, 2, 3. Each host sends every part but one twice over
  // the two passes, so all hosts together send each part 2(p-1) times.
  const TestStar star(4, kBandwidth, kLatency);
  const IdleAllReduce ring = idle_all_reduce(kRing, star.topology, star.members(), {10, 4});
  EXPECT_EQ(ring.traffic.total().count(), 2 * 3 * 40);
}

// The figures of the benchmark traffic, agreed on by two other simulators.
TEST(Ring, OverJitteredAccessLinksEndsWhereOtherSimulatorsSay) {
  const TestStar star(64, 1.25e9, 10e-6, 0.1);
  // 1e9 bytes in 64 chunks of floor(1e9 / 64) = 15,625,000 bytes, which divides.
  const IdleAllReduce ring =
      idle_all_reduce(kRing, star.topology, star.members(), {1'000'000'000, 1});
  // Half a nanosecond a dependent step, and the rounding of the figure.
  EXPECT_NEAR(ring.duration.in_seconds(), 1.74243711, 126 * 0.5e-9 + 5e-9);
}

TEST(Ring, LetsEachMemberJoinAtItsOwnTime) {
  // Host i's step s+1 starts at max(step s of its predecessor arrived, own step s ended): x_i(s+1)
  // = max(x_{i-1}(s), x_i(s)) + d.
  const TestStar star(5, kBandwidth, kLatency);
  const Payload payload{500'000, 4};
  const double d = 400'000 / kBandwidth + 2 * kLatency;
  const double start[] = {0.1, 0.02, 0.5, 0.0, 0.3};

  Engine engine;
  Network network(engine, star.topology);
  Traffic traffic(star.topology);
  const auto ring = make_all_reduce(kRing, network, traffic, star.members(), payload);
  std::vector<Time> ended(5);
  const auto member = [](Engine& e, AllReduce& r, std::size_t i, double at, Time& end) -> Task<> {
    co_await e.sleep(Time::seconds(at));
    co_await r.join(i);
    end = e.now();
  };
  for (std::size_t i = 0; i < 5; ++i)
    engine.spawn("member", member(engine, *ring, i, start[i], ended[i]));
  engine.run();

  std::vector<double> x(start, start + 5);  // when host i can start step s
  for (int step = 0; step < 8; ++step) {
    std::vector<double> next(5);
    for (std::size_t i = 0; i < 5; ++i) next[i] = std::max(x[(i + 4) % 5], x[i]) + d;
    x = next;
  }
  for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(ended[i].in_seconds(), x[i], 8e-9) << i;
}

TEST(Ring, DestroyedInTheMiddleCancelsItsTransfers) {
  const TestStar star(4, kBandwidth, kLatency);
  Engine engine;
  Network network(engine, star.topology);
  Traffic traffic(star.topology);
  auto ring = make_all_reduce(kRing, network, traffic, star.members(), {1'000'000, 4});
  std::vector<ProcessId> processes;
  for (std::size_t i = 0; i < 4; ++i) processes.push_back(engine.spawn("member", ring->join(i)));
  engine.run_until(Time::seconds(0.012));
  EXPECT_EQ(network.active(), 4u);
  for (const ProcessId process : processes) engine.cancel(process);
  ring.reset();
  engine.run();
  EXPECT_EQ(network.active(), 0u);
  EXPECT_LT(engine.now(), Time::seconds(0.013));
}

// Reduce-scatter inside, p/g rings between, all-gather inside.
TEST(Hierarchical, TakesTheSumOfItsThreeStages) {
  constexpr std::size_t kSites = 3;
  constexpr std::size_t kHosts = 4;
  constexpr double kFabric = 5e10;
  constexpr double kFabricLatency = 2e-6;
  constexpr double kWan = 1.25e8;
  constexpr double kWanLatency = 0.05;
  const TestSites sites(kSites, kHosts, kFabric, kFabricLatency, kWan, kWanLatency);
  const Payload payload{12'000'000, 4};
  const IdleAllReduce result = idle_all_reduce({CollectiveAlgorithm::HIERARCHICAL, {}},
                                               sites.topology, sites.members, payload);
  const double n = 48e6;
  const double inside = (kHosts - 1) * (n / kHosts / kFabric + 2 * kFabricLatency);
  // The four rings share each site's link: all four chunks cross it at the same time.
  const double between =
      2 * (kSites - 1) * (n / kSites / kWan + 2 * kWanLatency + 2 * kFabricLatency);
  EXPECT_NEAR(result.duration.in_seconds(), 2 * inside + between, 20e-9);
  // Every site's link carries, each way, what a ring over the sites carries for the whole payload.
  for (const LinkId link : sites.wan_links) {
    const Bundle& bundle = sites.topology.bundle(sites.topology.bundle_of(link));
    for (const ChannelId channel : bundle.channel) {
      EXPECT_EQ(result.channels[channel.value].bytes.count(),
                2 * (kSites - 1) * 48'000'000 / kSites);
    }
  }
}

TEST(Hierarchical, WithOneHostASiteIsARing) {
  const TestSites sites(5, 1, 5e10, 2e-6, 1.25e8, 0.05);
  const Payload payload{1'000'000, 4};
  const IdleAllReduce flat = idle_all_reduce(kRing, sites.topology, sites.members, payload);
  const IdleAllReduce staged = idle_all_reduce({CollectiveAlgorithm::HIERARCHICAL, {}},
                                               sites.topology, sites.members, payload);
  EXPECT_EQ(flat.duration, staged.duration);
  EXPECT_EQ(flat.traffic.total(), staged.traffic.total());
}

TEST(Hierarchical, ClusterWideMembersSendTheSameAsTheirHostsWould) {
  const TestSites sites(3, 4, 5e10, 2e-6, 1.25e8, 0.05);
  std::vector<CollectiveMember> clusters(3);
  for (std::size_t i = 0; i < sites.members.size(); ++i) {
    clusters[i / 4].site = sites.members[i].site;
    clusters[i / 4].hosts.push_back(sites.members[i].hosts.front());
  }
  const Payload payload{12'000'000, 4};
  const Collective hierarchical{CollectiveAlgorithm::HIERARCHICAL, {}};
  const IdleAllReduce hosts = idle_all_reduce(hierarchical, sites.topology, sites.members, payload);
  const IdleAllReduce wide = idle_all_reduce(hierarchical, sites.topology, clusters, payload);
  EXPECT_EQ(hosts.duration, wide.duration);
  EXPECT_EQ(hosts.traffic.total(), wide.traffic.total());
}

TEST(Hierarchical, RefusesSitesOfDifferentSizeByName) {
  const TestSites sites(2, 3, 5e10, 2e-6, 1.25e8, 0.05);
  std::vector<CollectiveMember> members = sites.members;
  members.pop_back();
  try {
    idle_all_reduce({CollectiveAlgorithm::HIERARCHICAL, {}}, sites.topology, members, {100, 4});
    FAIL() << "unequal sites were accepted";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("s0 has 3, s1 has 2"), std::string::npos)
        << error.what();
  }
}

// All uploads at once, then all downloads: with private links up and a server without limit, two
// transfers in a row.
TEST(ParameterServer, TakesAnUploadAndADownload) {
  TestStar star(7, kBandwidth, kLatency);
  const NodeId server = star.topology.add_node({.name = "server", .host = true, .cluster = {}});
  star.topology.add_link({.name = "server-switch",
                          .a = server,
                          .b = star.topology.require_node("switch"),
                          .capacity = {BitRate::infinite(), BitRate::infinite()},
                          .latency_s = {0.001, 0.001},
                          .shared = false});
  const Payload payload{1'000'000, 4};
  const IdleAllReduce result = idle_all_reduce({CollectiveAlgorithm::PARAMETER_SERVER, server},
                                               star.topology, star.members(), payload);
  EXPECT_NEAR(result.duration.in_seconds(), 2 * (4e6 / kBandwidth + kLatency + 0.001), 2e-9);
  EXPECT_EQ(result.traffic.sent(server).count(), 7 * 4'000'000);
  EXPECT_EQ(result.traffic.received(server).count(), 7 * 4'000'000);
}

TEST(ParameterServer, SharesTheServersPort) {
  // 2 · p · n through the server's own link of the same speed as the others'.
  TestStar star(8, kBandwidth, kLatency);
  std::vector<CollectiveMember> members = star.members();
  members.pop_back();
  const Payload payload{1'000'000, 4};
  const IdleAllReduce result = idle_all_reduce(
      {CollectiveAlgorithm::PARAMETER_SERVER, star.hosts.back()}, star.topology, members, payload);
  EXPECT_NEAR(result.duration.in_seconds(), 2 * (7 * 4e6 / kBandwidth + 2 * kLatency), 2e-9);
}

}  // namespace
}  // namespace syncline
