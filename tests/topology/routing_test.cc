#include "topology/routing.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "topology/input_error.h"
#include "topology/route_plan.h"

namespace syncline {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class RouterTest : public testing::Test {
 protected:
  NodeId node(const std::string& name) {
    const auto found = topology.find_node(name);
    return found ? *found : topology.add_node({.name = name, .host = true, .cluster = ""});
  }

  LinkId link(const std::string& name, const std::string& a, const std::string& b, double latency_s,
              double latency_back_s = -1) {
    return topology.add_link(
        {.name = name,
         .a = node(a),
         .b = node(b),
         .capacity = {BitRate::bytes_per_s(1e6), BitRate::bytes_per_s(1e6)},
         .latency_s = {latency_s, latency_back_s < 0 ? latency_s : latency_back_s},
         .shared = false});
  }

  // The names of the nodes that a route passes, or the message that there is none.
  std::vector<std::string> path(Router& router, const std::string& from, const std::string& to) {
    std::vector<std::string> names = {from};
    try {
      for (const Hop& hop : router.route(node(from), node(to)).hops) {
        const Bundle& bundle = topology.bundle(hop.bundle);
        const bool forward = hop.direction == Direction::FORWARD;
        EXPECT_EQ(topology.node(forward ? bundle.a : bundle.b).name, names.back());
        names.push_back(topology.node(forward ? bundle.b : bundle.a).name);
      }
    } catch (const InputError& error) {
      return {error.what()};
    }
    return names;
  }

  Topology topology;
};

TEST_F(RouterTest, TakesTheLeastLatencyInEachDirection) {
  link("s-a", "s", "a", 1, 5);
  link("a-d", "a", "d", 1, 5);
  link("s-b", "s", "b", 2, 1);
  link("b-d", "b", "d", 2, 1);
  Router router(topology);
  EXPECT_THAT(path(router, "s", "d"), ElementsAre("s", "a", "d"));
  EXPECT_THAT(path(router, "d", "s"), ElementsAre("d", "b", "s"));
  EXPECT_EQ(router.route(node("s"), node("d")).latency_s, 2);
}

TEST_F(RouterTest, ToOneselfIsEmpty) {
  link("a-b", "a", "b", 1);
  node("lonely");
  Router router(topology);
  for (const char* name : {"a", "b", "lonely"}) {
    const Route route = router.route(node(name), node(name));
    EXPECT_THAT(route.hops, IsEmpty());
    EXPECT_EQ(route.latency_s, 0);
  }
}

TEST_F(RouterTest, TwoStubsReachEachOther) {
  link("a-b", "a", "b", 1, 2);
  Router router(topology);
  EXPECT_EQ(router.route(node("a"), node("b")).latency_s, 1);
  EXPECT_EQ(router.route(node("b"), node("a")).latency_s, 2);
  router.set_node_up(node("b"), false);
  EXPECT_THAT(path(router, "a", "b"), ElementsAre("no route from a to b: b is down"));
}

TEST_F(RouterTest, StubsOfOneSwitch) {
  for (const char* host : {"h0", "h1", "h2"}) link(std::string(host) + "-sw", host, "sw", 0.25);
  Router router(topology);
  EXPECT_THAT(path(router, "h0", "h2"), ElementsAre("h0", "sw", "h2"));
  EXPECT_THAT(path(router, "h1", "sw"), ElementsAre("h1", "sw"));
  EXPECT_THAT(path(router, "sw", "h1"), ElementsAre("sw", "h1"));
  EXPECT_EQ(router.route(node("h0"), node("h2")).latency_s, 0.5);
}

TEST_F(RouterTest, EqualLatencyTakesFewerHops) {
  link("s-a", "s", "a", 0);
  link("a-d", "a", "d", 2);
  link("s-d", "s", "d", 2);
  Router router(topology);
  EXPECT_THAT(path(router, "s", "d"), ElementsAre("s", "d"));
}

TEST_F(RouterTest, ThenTheLowestPredecessorFromTheDestinationBack) {
  node("s");
  // Two routes of equal length: s-x-y-d and s-z-w-d. The predecessor of d decides, so w (lower than
  // y), although x is lower than z.
  for (const char* name : {"w", "x", "y", "z"}) node(name);
  link("s-x", "s", "x", 1);
  link("x-y", "x", "y", 1);
  link("y-d", "y", "d", 1);
  link("s-z", "s", "z", 1);
  link("z-w", "z", "w", 1);
  link("w-d", "w", "d", 1);
  Router router(topology);
  EXPECT_THAT(path(router, "s", "d"), ElementsAre("s", "z", "w", "d"));
}

TEST_F(RouterTest, LatencyIsSummedFromTheSource) {
  // (0.1 + 0.2) + 0.3 and 0.1 + (0.2 + 0.3) differ in the last bit.
  link("h-a", "h", "a", 0.1);
  link("a-b", "a", "b", 0.2);
  link("b-c", "b", "c", 0.3);
  Router router(topology);
  EXPECT_EQ(router.route(node("h"), node("c")).latency_s, (0.1 + 0.2) + 0.3);
  EXPECT_EQ(router.route(node("c"), node("h")).latency_s, (0.3 + 0.2) + 0.1);
}

TEST_F(RouterTest, ABundleIsAsQuickAsItsQuickestMemberThatIsUp) {
  const LinkId quick = link("quick", "a", "b", 1, 8);
  const LinkId slow = link("slow", "b", "a", 3, 5);  // turned over: a to b takes 5
  Router router(topology);
  EXPECT_EQ(router.route(node("a"), node("b")).latency_s, 1);
  EXPECT_EQ(router.route(node("b"), node("a")).latency_s, 3);
  router.set_link_up(quick, false);
  EXPECT_EQ(router.route(node("a"), node("b")).latency_s, 5);
  router.set_link_up(slow, false);
  EXPECT_THAT(path(router, "a", "b"),
              ElementsAre("no route from a to b: link quick at a is down, link slow at a is down, "
                          "link quick at b is down, link slow at b is down"));
  router.set_link_up(quick, true);
  EXPECT_EQ(router.route(node("b"), node("a")).latency_s, 8);
}

TEST_F(RouterTest, SharedAndUnsharedBundlesAreChosenByLatency) {
  Link radio = {.name = "radio",
                .a = node("a"),
                .b = node("b"),
                .capacity = {BitRate::bytes_per_s(1), BitRate::bytes_per_s(1)},
                .latency_s = {2, 2},
                .shared = true};
  const LinkId shared = topology.add_link(radio);
  const LinkId cable = link("cable", "a", "b", 2);
  Router router(topology);
  const auto bundle_to = [&](const char* from, const char* to) {
    return router.route(node(from), node(to)).hops.front().bundle;
  };
  EXPECT_EQ(bundle_to("a", "b"), topology.bundle_of(shared)) << "equal: the lower bundle";
  router.set_link_up(shared, false);
  EXPECT_EQ(bundle_to("b", "a"), topology.bundle_of(cable));
  router.set_link_up(shared, true);
  topology.set_latency(cable, Direction::BACKWARD, 1);
  EXPECT_EQ(bundle_to("a", "b"), topology.bundle_of(shared));
  EXPECT_EQ(bundle_to("b", "a"), topology.bundle_of(cable));
}

TEST_F(RouterTest, GoesRoundWhatIsDown) {
  const LinkId direct = link("s-d", "s", "d", 1);
  link("s-a", "s", "a", 1);
  link("a-d", "a", "d", 1);
  link("s-b", "s", "b", 2);
  link("b-d", "b", "d", 2);
  Router router(topology);
  EXPECT_TRUE(router.link_up(direct));
  EXPECT_THAT(path(router, "s", "d"), ElementsAre("s", "d"));
  router.set_link_up(direct, false);
  EXPECT_FALSE(router.link_up(direct));
  EXPECT_THAT(path(router, "s", "d"), ElementsAre("s", "a", "d"));
  router.set_node_up(node("a"), false);
  EXPECT_FALSE(router.node_up(node("a")));
  EXPECT_THAT(path(router, "s", "d"), ElementsAre("s", "b", "d"));
  EXPECT_THAT(path(router, "s", "a"),
              ElementsAre("no route from s to a: link s-d at s is down, a is down"));
  EXPECT_THAT(path(router, "a", "a"), ElementsAre("no route from a to a: a is down"));
  router.set_node_up(node("a"), true);
  router.set_link_up(direct, true);
  EXPECT_THAT(path(router, "s", "d"), ElementsAre("s", "d"));
}

TEST_F(RouterTest, StubsComeAndGo) {
  for (const char* host : {"h0", "h1"}) link(std::string(host) + "-sw", host, "sw", 1);
  link("sw-core", "sw", "core", 1);
  link("far-core", "far", "core", 1);
  Router router(topology);
  EXPECT_THAT(path(router, "h0", "far"), ElementsAre("h0", "sw", "core", "far"));
  router.set_link_up(topology.require_link("h0-sw"), false);
  EXPECT_THAT(path(router, "h0", "far"),
              ElementsAre("no route from h0 to far: link h0-sw at h0 is down"));
  EXPECT_THAT(path(router, "h1", "far"), ElementsAre("h1", "sw", "core", "far"));
  router.set_link_up(topology.require_link("h0-sw"), true);
  router.set_node_up(node("sw"), false);
  EXPECT_THAT(path(router, "h0", "far"), ElementsAre("no route from h0 to far"));
  EXPECT_THAT(path(router, "h0", "h1"), ElementsAre("no route from h0 to h1"));
  router.set_node_up(node("sw"), true);
  router.set_node_up(node("far"), false);
  EXPECT_THAT(path(router, "h0", "far"), ElementsAre("no route from h0 to far: far is down"));
  router.set_node_up(node("far"), true);
  EXPECT_THAT(path(router, "h0", "far"), ElementsAre("h0", "sw", "core", "far"));
}

// Case 19.
TEST_F(RouterTest, NoRouteNamesBothEnds) {
  link("a-b", "a", "b", 1);
  link("c-d", "c", "d", 1);
  node("lonely");
  Router router(topology);
  EXPECT_THAT(path(router, "a", "d"), ElementsAre("no route from a to d"));
  EXPECT_THAT(path(router, "lonely", "a"), ElementsAre("no route from lonely to a"));
  EXPECT_THAT(path(router, "a", "lonely"), ElementsAre("no route from a to lonely"));
}

TEST_F(RouterTest, TheMessageIsNotALongList) {
  Router router(topology);
  for (int i = 0; i < 8; ++i) {
    router.set_link_up(link(fmt::format("l{}", i), "hub", fmt::format("x{}", i), 1), false);
  }
  EXPECT_THAT(
      path(router, "hub", "x0"),
      ElementsAre("no route from hub to x0: link l0 at hub is down, link l1 at hub is down, link "
                  "l2 at hub is down, link l3 at hub is down, link l4 at hub is down and 4 "
                  "more"));
}

TEST_F(RouterTest, SeesChangesOfTheTopology) {
  const LinkId ab = link("a-b", "a", "b", 1);
  link("b-c", "b", "c", 1);
  Router router(topology);
  EXPECT_EQ(router.route(node("a"), node("c")).latency_s, 2);
  topology.set_latency(ab, Direction::FORWARD, 5);
  EXPECT_EQ(router.route(node("a"), node("c")).latency_s, 6);
  link("a-c", "a", "c", 3);
  EXPECT_THAT(path(router, "a", "c"), ElementsAre("a", "c"));
}

TEST_F(RouterTest, DeathTestUnknownIds) {
  link("a-b", "a", "b", 1);
  Router router(topology);
  EXPECT_DEATH(router.route({0}, {9}), "unknown node id");
  EXPECT_DEATH(router.set_node_up({9}, false), "unknown node id");
  EXPECT_DEATH(router.set_link_up({9}, false), "unknown link id");
}

// Says that the way from one node to another is one link, and knows no other ends.
class OneWay : public RoutePlan {
 public:
  OneWay(NodeId from, NodeId to, std::vector<Step> steps)
      : from_(from), to_(to), steps_(std::move(steps)) {}
  std::optional<std::vector<Step>> find(NodeId source, NodeId destination) const override {
    if (source != from_ || destination != to_) return std::nullopt;
    return steps_;
  }

 private:
  NodeId from_, to_;
  std::vector<Step> steps_;
};

TEST_F(RouterTest, APlanGoesBeforeTheLeastLatency) {
  link("s-a", "s", "a", 1);
  link("a-d", "a", "d", 1);
  const LinkId slow = link("s-d", "s", "d", 5);
  topology.set_route_plan(std::make_shared<OneWay>(
      node("s"), node("d"), std::vector<RoutePlan::Step>{{slow, Direction::FORWARD}}));
  Router router(topology);
  EXPECT_THAT(path(router, "s", "d"), ElementsAre("s", "d"));
  EXPECT_EQ(router.route(node("s"), node("d")).latency_s, 5);
  EXPECT_THAT(path(router, "d", "s"), ElementsAre("d", "a", "s"));  // it says nothing of this
  router.set_link_up(slow, false);
  EXPECT_THAT(path(router, "s", "d"), ElementsAre(testing::HasSubstr("no route from s to d")));
  const Topology copy = topology;
  Router other(copy);
  EXPECT_EQ(other.route(node("s"), node("d")).latency_s, 5);
  topology.set_route_plan(
      std::make_shared<OneWay>(node("s"), node("d"), std::vector<RoutePlan::Step>()));
  EXPECT_THAT(path(router, "s", "d"), ElementsAre(testing::HasSubstr("no route from s to d")));
}

}  // namespace
}  // namespace syncline
