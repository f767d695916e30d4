#include "topology/topology.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "topology/input_error.h"

namespace syncline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const double kInfinity = std::numeric_limits<double>::infinity();
const double kNaN = std::numeric_limits<double>::quiet_NaN();

// A link of 1e6 bytes/s and 1 ms in both directions.
Link plain_link(std::string name, NodeId a, NodeId b) {
  return {.name = std::move(name),
          .a = a,
          .b = b,
          .capacity = {BitRate::bytes_per_s(1e6), BitRate::bytes_per_s(1e6)},
          .latency_s = {1e-3, 1e-3},
          .shared = false};
}

template <class Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

class TopologyTest : public testing::Test {
 protected:
  std::string error_of_link(const Link& link) {
    return error_of([&] { topology.add_link(link); });
  }

  Topology topology;
  NodeId a = topology.add_node({.name = "a", .host = true, .cluster = "milan"});
  NodeId b = topology.add_node({.name = "b", .host = false, .cluster = ""});
  NodeId c = topology.add_node({.name = "c", .host = true, .cluster = "paris"});
};

TEST_F(TopologyTest, GivesDenseIdsAndFindsByName) {
  const LinkId ab = topology.add_link(plain_link("a-b", a, b));
  const LinkId bc = topology.add_link(plain_link("b-c", b, c));
  EXPECT_EQ(a.value, 0u);
  EXPECT_EQ(c.value, 2u);
  EXPECT_EQ(bc.value, 1u);
  EXPECT_EQ(topology.node_count(), 3u);
  EXPECT_EQ(topology.link_count(), 2u);
  EXPECT_EQ(topology.bundle_count(), 2u);
  EXPECT_EQ(topology.channel_count(), 4u);
  EXPECT_EQ(topology.node(b).name, "b");
  EXPECT_FALSE(topology.node(b).host);
  EXPECT_EQ(topology.link(ab).name, "a-b");
  EXPECT_EQ(topology.find_node("c"), c);
  EXPECT_EQ(topology.find_node("d"), std::nullopt);
  EXPECT_EQ(topology.find_link("b-c"), bc);
  EXPECT_EQ(topology.find_link("c"), std::nullopt);
  EXPECT_EQ(topology.require_node("a"), a);
  EXPECT_EQ(topology.require_link("a-b"), ab);
  EXPECT_THAT(topology.bundles_at(b), ElementsAre(topology.bundle_of(ab), topology.bundle_of(bc)));
  EXPECT_THAT(topology.bundles_at(c), ElementsAre(topology.bundle_of(bc)));
}

TEST_F(TopologyTest, EmptyHasNothing) {
  const Topology empty;
  EXPECT_EQ(empty.node_count(), 0u);
  EXPECT_EQ(empty.channel_count(), 0u);
  EXPECT_TRUE(empty.clusters().empty());
  EXPECT_EQ(error_of([&] { empty.require_node("x"); }),
            "no node is called \"x\"; there is no node");
}

// Case 16: parallel links are one bundle, with the channels of one link.
TEST_F(TopologyTest, ParallelLinksAreOneBundle) {
  std::vector<LinkId> links;
  for (int i = 0; i < 4; ++i) {
    // Half of them are given from b to a.
    const auto [from, to] = i % 2 == 0 ? std::pair(a, b) : std::pair(b, a);
    links.push_back(topology.add_link(plain_link(fmt::format("l{}", i), from, to)));
  }
  EXPECT_EQ(topology.link_count(), 4u);
  ASSERT_EQ(topology.bundle_count(), 1u);
  EXPECT_EQ(topology.channel_count(), 2u);
  const Bundle& bundle = topology.bundle({0});
  EXPECT_EQ(bundle.a, a);
  EXPECT_EQ(bundle.b, b);
  EXPECT_EQ(bundle.members, links);
  EXPECT_NE(bundle.channel[0], bundle.channel[1]);
  EXPECT_EQ(topology.bundles_at(a).size(), 1u);
  EXPECT_EQ(topology.channel_name(bundle.channel[0]), "l0 a->b (bundle of 4)");
  EXPECT_EQ(topology.channel_name(bundle.channel[1]), "l0 b->a (bundle of 4)");
}

TEST_F(TopologyTest, SharedAndUnsharedAreBundlesApart) {
  Link shared = plain_link("radio", b, a);
  shared.shared = true;
  const LinkId cable = topology.add_link(plain_link("cable", a, b));
  const LinkId radio = topology.add_link(shared);
  EXPECT_NE(topology.bundle_of(cable), topology.bundle_of(radio));
  const Bundle& bundle = topology.bundle(topology.bundle_of(radio));
  EXPECT_TRUE(bundle.shared);
  EXPECT_EQ(bundle.channel[0], bundle.channel[1]);
  EXPECT_EQ(topology.channel_count(), 3u);
  EXPECT_EQ(topology.channel_name(bundle.channel[0]), "radio a<->b");
  EXPECT_EQ(topology.direction_of(bundle.channel[1]), Direction::FORWARD);
}

TEST_F(TopologyTest, ALinkFromTheHigherIdIsTurnedOverInItsBundle) {
  const LinkId back = topology.add_link(plain_link("c-a", c, a));
  const LinkId there = topology.add_link(plain_link("a-b", a, b));
  const Bundle& bundle = topology.bundle(topology.bundle_of(back));
  EXPECT_EQ(bundle.a, a);
  EXPECT_EQ(bundle.b, c);
  EXPECT_EQ(topology.link(back).a, c) << "the link itself stays as it was given";
  EXPECT_EQ(topology.turned(back, Direction::FORWARD), Direction::BACKWARD);
  EXPECT_EQ(topology.turned(back, Direction::BACKWARD), Direction::FORWARD);
  EXPECT_EQ(topology.turned(there, Direction::BACKWARD), Direction::BACKWARD);
  EXPECT_EQ(topology.channel_name(bundle.channel[0]), "c-a a->c");
  EXPECT_EQ(topology.channel_name(bundle.channel[1]), "c-a c->a");
}

TEST_F(TopologyTest, ChannelsKnowTheirBundleAndDirection) {
  topology.add_link(plain_link("a-b", a, b));
  topology.add_link(plain_link("b-c", b, c));
  for (std::uint32_t i = 0; i < topology.bundle_count(); ++i) {
    for (const Direction direction : {Direction::FORWARD, Direction::BACKWARD}) {
      const ChannelId id = topology.bundle({i}).channel[static_cast<std::size_t>(direction)];
      EXPECT_EQ(topology.bundle_of(id), BundleId{i});
      EXPECT_EQ(topology.direction_of(id), direction);
    }
  }
}

TEST_F(TopologyTest, RefusesBadNames) {
  EXPECT_EQ(error_of([&] { topology.add_node({}); }), "a node has an empty name");
  EXPECT_EQ(error_of([&] { topology.add_node({.name = "a", .host = true, .cluster = ""}); }),
            "two nodes are called \"a\"; names must differ");
  topology.add_link(plain_link("x", a, b));
  EXPECT_EQ(error_of_link(plain_link("x", b, c)), "two links are called \"x\"; names must differ");
  EXPECT_EQ(error_of_link(plain_link("", b, c)),
            "a link between \"b\" and \"c\" has an empty name");
  EXPECT_EQ(topology.node_count(), 3u);
  EXPECT_EQ(topology.link_count(), 1u);
  EXPECT_EQ(topology.bundle_count(), 1u);
}

// Case 19.
TEST_F(TopologyTest, RefusesBadValuesNamingTheLink) {
  EXPECT_EQ(error_of_link(plain_link("x", a, a)), "link \"x\": both its ends are \"a\"");
  for (const std::size_t direction : {0u, 1u}) {
    Link link = plain_link("x", a, b);
    link.capacity[direction] = BitRate::bytes_per_s(-1);
    EXPECT_EQ(error_of_link(link),
              "link \"x\": its bandwidth is -1 bytes/s; it must be at least 0");
    link.capacity[direction] = BitRate::bytes_per_s(kNaN);
    EXPECT_THAT(error_of_link(link), HasSubstr("link \"x\": its bandwidth is nan"));
    link = plain_link("x", a, b);
    link.latency_s[direction] = -1;
    EXPECT_EQ(error_of_link(link),
              "link \"x\": its latency is -1 s; it must be finite and at least 0");
    link.latency_s[direction] = kNaN;
    EXPECT_THAT(error_of_link(link), HasSubstr("link \"x\": its latency is nan"));
    link.latency_s[direction] = kInfinity;
    EXPECT_THAT(error_of_link(link), HasSubstr("link \"x\": its latency is inf"));
  }
  Link shared = plain_link("x", a, b);
  shared.shared = true;
  shared.capacity[1] = BitRate::bits_per_s(1e9);
  EXPECT_EQ(error_of_link(shared),
            "link \"x\": it is shared by both directions, but has two bandwidths, 8 Mbit/s and 1 "
            "Gbit/s");
  EXPECT_EQ(topology.link_count(), 0u);
  EXPECT_EQ(topology.find_link("x"), std::nullopt) << "a refused link leaves its name free";
}

TEST_F(TopologyTest, TakesZeroAndInfiniteCapacity) {
  Link link = plain_link("x", a, b);
  link.capacity = {BitRate::bytes_per_s(0), BitRate::infinite()};
  EXPECT_EQ(error_of_link(link), "no error");
}

TEST_F(TopologyTest, OverridesValues) {
  const LinkId x = topology.add_link(plain_link("x", a, b));
  topology.set_capacity(x, Direction::BACKWARD, BitRate::bytes_per_s(5));
  topology.set_latency(x, Direction::FORWARD, 0.5);
  EXPECT_EQ(topology.link(x).capacity[0], BitRate::bytes_per_s(1e6));
  EXPECT_EQ(topology.link(x).capacity[1], BitRate::bytes_per_s(5));
  EXPECT_EQ(topology.link(x).latency_s[0], 0.5);
  EXPECT_EQ(topology.link(x).latency_s[1], 1e-3);
  EXPECT_THAT(
      error_of([&] { topology.set_capacity(x, Direction::FORWARD, BitRate::bytes_per_s(-2)); }),
      HasSubstr("link \"x\""));
  EXPECT_THAT(error_of([&] { topology.set_latency(x, Direction::FORWARD, kNaN); }),
              HasSubstr("link \"x\""));
  EXPECT_EQ(topology.link(x).latency_s[0], 0.5);

  Link shared = plain_link("y", a, b);
  shared.shared = true;
  const LinkId y = topology.add_link(shared);
  topology.set_capacity(y, Direction::BACKWARD, BitRate::bytes_per_s(7));
  EXPECT_EQ(topology.link(y).capacity[0], BitRate::bytes_per_s(7));
}

TEST_F(TopologyTest, ListsClustersAndTheirHosts) {
  const NodeId d = topology.add_node({.name = "d", .host = true, .cluster = "milan"});
  topology.add_node({.name = "milan-switch", .host = false, .cluster = "milan"});
  EXPECT_THAT(topology.clusters(), ElementsAre("milan", "paris"));
  EXPECT_THAT(topology.hosts_of("milan"), ElementsAre(a, d));
  EXPECT_THAT(topology.hosts_of("paris"), ElementsAre(c));
  EXPECT_TRUE(topology.hosts_of("rome").empty());
}

TEST_F(TopologyTest, CopiesAreIndependent) {
  topology.add_link(plain_link("a-b", a, b));
  Topology copy = topology;
  copy.add_node({.name = "d", .host = true, .cluster = "rome"});
  copy.set_latency({0}, Direction::FORWARD, 9);
  EXPECT_EQ(topology.node_count(), 3u);
  EXPECT_EQ(copy.node_count(), 4u);
  EXPECT_EQ(topology.link({0}).latency_s[0], 1e-3);
  EXPECT_EQ(copy.require_node("a"), a);
  EXPECT_EQ(copy.bundles_at(a).size(), 1u);

  topology = copy;
  EXPECT_EQ(topology.node_count(), 4u);
  const Topology moved = std::move(copy);
  EXPECT_EQ(moved.node(b).name, "b");
}

TEST_F(TopologyTest, UnknownNamesListTheNearest) {
  topology.add_link(plain_link("milan-core", a, b));
  topology.add_link(plain_link("paris-core", b, c));
  EXPECT_EQ(error_of([&] { topology.require_link("milan-cor"); }),
            "no link is called \"milan-cor\"; the nearest of 2: \"milan-core\", \"paris-core\"");
  for (int i = 0; i < 20; ++i) {
    topology.add_node({.name = fmt::format("host{}", i), .host = true, .cluster = ""});
  }
  EXPECT_EQ(error_of([&] { topology.require_node("host7x"); }),
            "no node is called \"host7x\"; the nearest of 23: \"host7\", \"host0\", \"host1\", "
            "\"host2\", \"host3\"");
}

TEST_F(TopologyTest, DeathTestUnknownIds) {
  EXPECT_DEATH(topology.node({99}), "unknown node id");
  EXPECT_DEATH(topology.link({99}), "unknown link id");
  EXPECT_DEATH(topology.bundle({99}), "unknown bundle id");
  EXPECT_DEATH(topology.channel_name({99}), "unknown channel id");
  EXPECT_DEATH(topology.add_link(plain_link("x", a, {99})), "unknown node id");
}

TEST(NearestNames, BestFirst) {
  const std::vector<std::string> names = {"vienna", "Milan", "malin", "milano", "milan", "zurich"};
  EXPECT_THAT(nearest_names("milan", names, 4), ElementsAre("milan", "Milan", "milano", "malin"));
  EXPECT_THAT(nearest_names("", names, 1), ElementsAre("Milan"));
  EXPECT_THAT(nearest_names("x", std::vector<std::string>{}), ElementsAre());
  EXPECT_EQ(nearest_names("x", names, 0).size(), 0u);
  EXPECT_EQ(nearest_names("x", names).size(), 5u);
}

}  // namespace
}  // namespace syncline
