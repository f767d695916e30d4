// A ring that is computed ends as the ring that is simulated, to the nanosecond, with its accounts.
#include "sim/collective/ring_stream.h"

#include <gtest/gtest.h>

#include <utility>

#include "tests/sim/network_probe.h"
#include "topology/distribution.h"

namespace syncline {
namespace {

struct RingRun {
  std::vector<Time> ends;
  std::vector<ChannelUse> uses;
  Bytes sent;
  double latency_s = 0;
  std::uint64_t events = 0;
};

Task<> take_part(Engine& engine, AllReduce& ring, std::size_t member, Time join, Time& end) {
  co_await engine.sleep_until(join);
  co_await ring.join(member);
  end = engine.now();
}

RingRun run(const Topology& topology, const std::vector<CollectiveMember>& members, Payload payload,
            const std::vector<Time>& joins, Fidelity fidelity) {
  Engine engine;
  Network network(engine, topology);
  Traffic traffic(topology);
  const auto ring = make_all_reduce({.fidelity = fidelity}, network, traffic, members, payload);
  RingRun result;
  result.ends.resize(members.size());
  for (std::size_t i = 0; i < members.size(); ++i)
    engine.spawn("member", take_part(engine, *ring, i, joins[i], result.ends[i]));
  engine.run();
  result.uses = network.uses();
  result.sent = traffic.total();
  result.latency_s = network.limited_by_latency_s();
  result.events = engine.events_handled();
  return result;
}

TEST(StreamedRing, IsTheRing) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    RandomStream random(seed, "streamed ring");
    Topology topology;
    const NodeId hub = add_host(topology, "hub");
    std::vector<CollectiveMember> members;
    std::vector<Time> joins;
    const std::size_t p = 2 + random.next() % 20;
    for (std::size_t i = 0; i < p; ++i) {
      const std::string name = std::to_string(i);
      const NodeId host = add_host(topology, "h" + name);
      connect(topology, "l" + name, host, hub,
              {.capacity = 1e6 * (1 + random.uniform()), .latency_s = 0.01 * random.uniform()});
      members.push_back({{host}, ""});
      joins.push_back(random.uniform() < 0.5 ? Time() : Time::seconds(random.uniform()));
    }
    Payload payload{random.next() % 100'000, 4};
    if (random.uniform() < 0.3) payload = {random.next() % 100'000, 1, 256, 4};
    const RingRun chunk = run(topology, members, payload, joins, Fidelity::CHUNK);
    const RingRun stream = run(topology, members, payload, joins, Fidelity::STREAM);
    EXPECT_LT(stream.events, 6 * p) << "computed, not simulated";
    ASSERT_EQ(stream.ends, chunk.ends) << seed;
    EXPECT_EQ(stream.sent, chunk.sent);
    EXPECT_NEAR(stream.latency_s, chunk.latency_s, 1e-6);
    for (std::size_t i = 0; i < chunk.uses.size(); ++i) {
      EXPECT_EQ(stream.uses[i].bytes, chunk.uses[i].bytes) << seed;
      EXPECT_NEAR(stream.uses[i].busy_s, chunk.uses[i].busy_s, 1e-6) << seed;
      EXPECT_NEAR(stream.uses[i].limited_s, chunk.uses[i].limited_s, 1e-6) << seed;
    }
  }
}

TEST(StreamedRing, NeedsLinksOfItsOwn) {
  LineNetwork line({{.capacity = 1e6}, {.capacity = 1e6}, {.capacity = 1e6}});
  // Round a line of four, the way back crosses all links, but the other way.
  EXPECT_TRUE(private_ring(line.network, line.line.hosts).has_value());
  // 0 -> 2 -> 1 -> 3 uses the second link twice.
  const std::vector<NodeId>& h = line.line.hosts;
  EXPECT_FALSE(private_ring(line.network, {h[0], h[2], h[1], h[3]}).has_value());
  LineNetwork shared({{.capacity = 1e6, .latency_s = 0, .shared = true}});
  EXPECT_FALSE(private_ring(shared.network, shared.line.hosts).has_value());
  LineNetwork closed({{.capacity = 0}});
  EXPECT_FALSE(private_ring(closed.network, closed.line.hosts).has_value());
}

}  // namespace
}  // namespace syncline
