// The order of a ring.
#include "sim/collective/ring_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sim/collective/all_reduce.h"
#include "sim/engine/engine.h"
#include "tests/sim/star.h"
#include "topology/distribution.h"
#include "topology/input_error.h"

namespace syncline {
namespace {

// The sites' hosts in turn: each edge of the ring as written crosses the wide area.
std::vector<NodeId> in_turn(const TestSites& sites, std::size_t count, std::size_t hosts) {
  std::vector<NodeId> order;
  for (std::size_t host = 0; host < hosts; ++host) {
    for (std::size_t site = 0; site < count; ++site)
      order.push_back(sites.members[site * hosts + host].hosts.front());
  }
  return order;
}

TEST(RingOrder, CrossesTheWideAreaOnceASite) {
  for (const std::size_t count : {2, 3, 5}) {
    for (const std::size_t hosts : {2, 4, 8}) {
      const TestSites sites(count, hosts, 5e10, 2e-6, 1.25e8, 0.05);
      Engine engine;
      const Network network(engine, sites.topology);
      const std::vector<NodeId> written = in_turn(sites, count, hosts);
      const std::vector<NodeId> ring = best_ring(network, written);
      // All hosts of a site behind its one link, both ways: every edge leaves the site as written.
      EXPECT_NEAR(ring_cost(network, written).narrowest.in_bytes_per_s(),
                  1.25e8 / static_cast<double>(hosts), 1);
      EXPECT_NEAR(ring_cost(network, ring).narrowest.in_bytes_per_s(), 1.25e8, 1)
          << count << " sites of " << hosts;
      std::vector<NodeId> sorted = ring, all = written;
      std::sort(sorted.begin(), sorted.end());
      std::sort(all.begin(), all.end());
      EXPECT_EQ(sorted, all);
      EXPECT_EQ(ring.front(), written.front());
    }
  }
}

// And the simulated all-reduce takes less: what the cost says, the network does.
TEST(RingOrder, GainsWhatItSays) {
  const TestSites sites(2, 4, 5e10, 2e-6, 1.25e8, 0.001);
  Engine engine;
  const Network network(engine, sites.topology);
  const std::vector<NodeId> written = in_turn(sites, 2, 4);
  std::vector<CollectiveMember> members;
  for (const NodeId host : written) members.push_back({{host}, ""});
  Collective collective;
  const Payload payload{80'000'000, 4};
  const Time before = idle_all_reduce(collective, sites.topology, members, payload).duration;
  collective.ring = best_ring(network, written);
  const IdleAllReduce after = idle_all_reduce(collective, sites.topology, members, payload);
  EXPECT_NEAR(before.in_seconds() / after.duration.in_seconds(), 4, 0.2);
  EXPECT_EQ(after.traffic.total().count(), std::int64_t{2} * 7 * 320'000'000);
  collective.fidelity = Fidelity::STREAM;  // falls back: edges share a link
  EXPECT_EQ(idle_all_reduce(collective, sites.topology, members, payload).duration, after.duration);
}

// Who joins when stays with the member, whatever its place.
TEST(RingOrder, AStreamedRingInAnotherOrderIsTheSame) {
  const TestStar star(7, 1.25e8, 0.005, 0.3);
  Collective collective;
  collective.ring = {star.hosts[3], star.hosts[0], star.hosts[6], star.hosts[1],
                     star.hosts[5], star.hosts[2], star.hosts[4]};
  const auto ends = [&](Fidelity fidelity) {
    collective.fidelity = fidelity;
    Engine engine;
    Network network(engine, star.topology);
    Traffic traffic(star.topology);
    const auto ring = make_all_reduce(collective, network, traffic, star.members(), {1'000'003, 4});
    std::vector<Time> ended(7);
    const auto member = [](Engine& e, AllReduce& r, std::size_t i, Time& end) -> Task<> {
      co_await e.sleep(Time::seconds(0.01 * static_cast<double>((i * 5) % 7)));
      co_await r.join(i);
      end = e.now();
    };
    for (std::size_t i = 0; i < 7; ++i) engine.spawn("m", member(engine, *ring, i, ended[i]));
    engine.run();
    return ended;
  };
  EXPECT_EQ(ends(Fidelity::CHUNK), ends(Fidelity::STREAM));
}

// Random meshes: of nine hosts the improved order against all 40,320.
TEST(RingOrder, IsNearlyAlwaysTheBestOfAll) {
  int missed = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    RandomStream random(seed, "ring order");
    Topology topology;
    std::vector<NodeId> hosts;
    for (int i = 0; i < 9; ++i)
      hosts.push_back(
          topology.add_node({.name = "h" + std::to_string(i), .host = true, .cluster = {}}));
    for (std::size_t a = 0; a < hosts.size(); ++a) {
      for (std::size_t b = a + 1; b < hosts.size(); ++b) {
        if (b != a + 1 && random.uniform() < 0.5) continue;
        const BitRate rate = BitRate::bytes_per_s(1e6 * static_cast<double>(1 + random.next() % 4));
        const double latency = 0.001 * static_cast<double>(1 + random.next() % 20);
        topology.add_link({.name = topology.node(hosts[a]).name + topology.node(hosts[b]).name,
                           .a = hosts[a],
                           .b = hosts[b],
                           .capacity = {rate, rate},
                           .latency_s = {latency, latency},
                           .shared = false});
      }
    }
    Engine engine;
    const Network network(engine, topology);
    const RingCost found = ring_cost(network, best_ring(network, hosts));
    std::vector<NodeId> order = hosts;
    RingCost best = ring_cost(network, order);
    EXPECT_FALSE(best.better_than(found)) << "as written is better, seed " << seed;
    while (std::next_permutation(order.begin() + 1, order.end())) {
      const RingCost cost = ring_cost(network, order);
      if (cost.better_than(best)) best = cost;
    }
    if (best.better_than(found)) ++missed;
    EXPECT_GE(found.narrowest.in_bytes_per_s(), best.narrowest.in_bytes_per_s() / 2) << seed;
  }
  EXPECT_LE(missed, 4);
}

TEST(RingOrder, NeedsRoutes) {
  Topology topology;
  std::vector<NodeId> hosts;
  for (const char* name : {"a", "b"})
    hosts.push_back(topology.add_node({.name = name, .host = true, .cluster = {}}));
  Engine engine;
  const Network network(engine, topology);
  EXPECT_THROW(ring_cost(network, hosts), InputError);
}

}  // namespace
}  // namespace syncline
