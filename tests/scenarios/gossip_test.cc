// Gossip: what is wrong with its settings, and what right ones mean.
#include <gmock/gmock.h>

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "scenarios/setup.h"
#include "tests/scenarios/base_scenario.h"
#include "tests/scenarios/error_case.h"

namespace syncline {
namespace {

using testing::ElementsAre;

// Four clusters, a worker each; the strategy is on line 8.
Lines gossip(const std::string& text, const std::string& more = "") {
  return {{2, "topology { clusters { names: [\"milan\", \"paris\", \"rome\", \"oslo\"]"},
          {8, "strategy { gossip { " + text + " } local_steps: 20 " + more + " }"}};
}
Lines with(Lines lines, int number, const std::string& line) {
  lines[number] = line;
  return lines;
}
std::string edges(const std::vector<std::pair<std::string, std::string>>& list) {
  std::string text = "partners: EDGES";
  for (const auto& [a, b] : list) text += " edges { a: \"" + a + "\" b: \"" + b + "\" }";
  return text;
}

class GossipError : public testing::TestWithParam<ErrorCase> {};
TEST_P(GossipError, SaysWhereAndWhat) { expect_error(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    All, GossipError,
    testing::Values(
        ErrorCase{"Alone",
                  with(gossip(""), 4, "workers { per: CLUSTER at: \"milan\" }"),
                  "base.textproto:8: strategy.gossip: ",
                  {"no partner"}},
        ErrorCase{"Collective",
                  gossip("", "collective { algorithm: RING }"),
                  "base.textproto:8: strategy.collective.algorithm: ",
                  {"gossip has no collective"}},
        ErrorCase{"TwoStagesOfHosts",
                  with(gossip("", "within_cluster {}"), 4, "workers { per: HOST }"),
                  "base.textproto:8: strategy.within_cluster: ",
                  {"one stage"}},
        ErrorCase{"Weights",
                  with(gossip(""), 4, "workers { per: CLUSTER weights: [1, 2, 3, 4] }"),
                  "base.textproto:4: workers.weights: ",
                  {"numbers of partners"}},
        ErrorCase{"Replicas",
                  with(gossip(""), 6, "data { markov {} } replicas: 2 }"),
                  "base.textproto:6: training.replicas: ",
                  {"a model of its own"}},
        ErrorCase{"EdgesOfPairs",
                  gossip(R"(edges { a: "milan" b: "rome" })"),
                  "base.textproto:8: strategy.gossip.edges: ",
                  {"partners: EDGES", "RANDOM_PAIRS"}},
        ErrorCase{"NoEdges",
                  gossip("partners: EDGES"),
                  "base.textproto:8: strategy.gossip.edges: ",
                  {"is missing"}},
        ErrorCase{"UnknownWorker",
                  gossip(edges({{"milan", "room"}})),
                  "base.textproto:8: strategy.gossip.edges[0].b: ",
                  {"no worker \"room\"", "rome"}},
        ErrorCase{"EdgeOfOneEnd",
                  gossip(R"(partners: EDGES edges { b: "rome" })"),
                  "base.textproto:8: strategy.gossip.edges[0].a: ",
                  {"is missing"}},
        ErrorCase{"EdgeToItself",
                  gossip(edges({{"rome", "rome"}})),
                  "base.textproto:8: strategy.gossip.edges[0]: ",
                  {"\"rome\" to itself"}},
        ErrorCase{"EdgeTwice",
                  gossip(edges({{"milan", "rome"}, {"rome", "milan"}})),
                  "base.textproto:8: strategy.gossip.edges[1]: ",
                  {"joined already"}},
        ErrorCase{"InTwoParts",
                  gossip(edges({{"milan", "rome"}, {"paris", "oslo"}})),
                  "base.textproto:8: strategy.gossip.edges: ",
                  {"from \"milan\" to \"paris\""}},
        ErrorCase{"Lr",
                  gossip("no_loco { lr: 0 }"),
                  "base.textproto:8: strategy.gossip.no_loco.lr: ",
                  {"above 0"}},
        ErrorCase{"Momentum",
                  gossip("no_loco { momentum: 1 }"),
                  "base.textproto:8: strategy.gossip.no_loco.momentum: ",
                  {"below 1"}},
        ErrorCase{"Pull",
                  gossip("no_loco { pull: 2 }"),
                  "base.textproto:8: strategy.gossip.no_loco.pull: ",
                  {"below 2"}},
        ErrorCase{"CompressedParameters",
                  gossip("", "compression { kind: INT8 }"),
                  "base.textproto:8: strategy.compression.kind: ",
                  {"no_loco {}"}},
        ErrorCase{"Reweight",
                  gossip("", "absent: REWEIGHT"),
                  "base.textproto:8: strategy.absent: ",
                  {"gossip needs every worker", "WAIT"}},
        ErrorCase{"MachineDown",
                  with(gossip(""), 9,
                       "stop { steps: 100 }\nevents { target: \"milan\" once { at: \"1 h\" } down "
                       "{ scope: MACHINE } }"),
                  "base.textproto:10: events[0].down: ",
                  {"gossip needs every one"}}),
    name_of);

TEST(Gossip, CompressesPseudoGradients) {
  const BaseScenario base;
  const auto bytes = [&](const std::string& text, const std::string& more = "") {
    return simulation_setup(base.load(gossip(text, more)), 2560, std::nullopt).payload.bytes();
  };
  EXPECT_EQ(bytes(""), Bytes(4 * 2560));
  EXPECT_EQ(bytes("no_loco {}"), Bytes(4 * 2560));
  EXPECT_EQ(bytes("no_loco {}", "compression { kind: INT8 }"), Bytes(2560 + 10 * 4));
}

TEST(Gossip, KnowsItsPartners) {
  const BaseScenario base;
  const auto method = [&](const std::string& text) {
    return std::get<Gossip>(base.load(gossip(text)).strategy.method);
  };
  EXPECT_EQ(method("").partners, Gossip::Partners::RANDOM_PAIRS);
  EXPECT_FALSE(method("").momentum);
  using List = std::vector<std::uint32_t>;
  EXPECT_THAT(method("partners: FIXED_PAIRS").neighbours,
              ElementsAre(List{1}, List{0}, List{3}, List{2}));
  EXPECT_THAT(method("partners: RING").neighbours,
              ElementsAre(List{1, 3}, List{0, 2}, List{1, 3}, List{0, 2}));
  EXPECT_THAT(method("partners: COMPLETE").neighbours,
              ElementsAre(List{1, 2, 3}, List{0, 2, 3}, List{0, 1, 3}, List{0, 1, 2}));
  EXPECT_THAT(method(edges({{"rome", "milan"}, {"oslo", "rome"}, {"paris", "rome"}})).neighbours,
              ElementsAre(List{2}, List{2}, List{0, 1, 3}, List{2}));
  const Gossip no_loco = method("no_loco { lr: 0.9 }");
  EXPECT_EQ(no_loco.momentum->momentum, 0.5);
  EXPECT_EQ(no_loco.momentum->pull, 0.9);
}

}  // namespace
}  // namespace syncline
