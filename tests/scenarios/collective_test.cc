// Collectives of a scenario: which, and in which order.
#include "scenarios/setup.h"
#include "tests/scenarios/error_case.h"

namespace syncline {
namespace {

Lines collective(const std::string& fields) {
  return {
      {2,
       R"(topology { clusters { names: ["milan", "paris"] hosts: 2 fabric { bandwidth: "10 Gbit/s" latency: "1 us" })"},
      {4, "workers { per: HOST }"},
      {8, "strategy { diloco {} local_steps: 20 collective { " + fields + " } }"}};
}

ErrorCase wrong(const std::string& name, const std::string& fields, const std::string& field,
                std::vector<std::string> parts) {
  return {name, collective(fields), "base.textproto:8: strategy.collective." + field + ": ",
          std::move(parts)};
}

class CollectiveError : public testing::TestWithParam<ErrorCase> {};
TEST_P(CollectiveError, SaysWhereAndWhat) { expect_error(GetParam()); }
INSTANTIATE_TEST_SUITE_P(
    Cases, CollectiveError,
    testing::Values(
        wrong("OrderOfATree", "algorithm: TREE order: BEST", "order", {"is for a RING", "TREE"}),
        wrong("RingOfATree", "algorithm: TREE ring: \"milan/0\"", "ring", {"is for a RING"}),
        wrong("TwoOrders", "order: BEST ring: \"milan/0\"", "order", {"leave one of them out"}),
        wrong("NoWorker", "ring: [\"milan/0\", \"rome/0\"]", "ring[1]", {"rome/0", "is no worker"}),
        wrong("Twice", "ring: [\"milan/0\", \"milan/0\"]", "ring[1]", {"is there twice"}),
        wrong("TooFew", "ring: [\"milan/0\", \"milan/1\", \"paris/0\"]", "ring",
              {"lacks 1 of 4 workers", "paris/1"})),
    name_of);

TEST(Collective, EveryAlgorithmIsRead) {
  const BaseScenario base;
  const std::map<std::string, CollectiveAlgorithm> algorithms{
      {"RING", CollectiveAlgorithm::RING},
      {"HIERARCHICAL", CollectiveAlgorithm::HIERARCHICAL},
      {"HALVING_DOUBLING", CollectiveAlgorithm::HALVING_DOUBLING},
      {"TREE", CollectiveAlgorithm::TREE},
      {"ALL_TO_ALL", CollectiveAlgorithm::ALL_TO_ALL},
      {"SHARDED_PARAMETER_SERVER", CollectiveAlgorithm::SHARDED_PARAMETER_SERVER},
      {"PAIRWISE", CollectiveAlgorithm::PAIRWISE}};
  for (const auto& [name, algorithm] : algorithms) {
    const CheckedScenario scenario = base.load(collective("algorithm: " + name));
    EXPECT_EQ(scenario.strategy.collective.algorithm, algorithm) << name;
    EXPECT_TRUE(scenario.strategy.collective.ring.empty()) << name;
  }
}

std::vector<std::string> ring_of(const CheckedScenario& scenario) {
  std::vector<std::string> names;
  for (const NodeId host : scenario.strategy.collective.ring)
    names.push_back(scenario.topology.node(host).name);
  return names;
}

TEST(Collective, RingByNameAndAsGiven) {
  const BaseScenario base;
  using Names = std::vector<std::string>;
  EXPECT_EQ(ring_of(base.load(collective("order: BY_NAME"))),
            (Names{"milan/0", "milan/1", "paris/0", "paris/1"}));
  EXPECT_EQ(ring_of(base.load(collective(R"(ring: ["paris/1", "milan/0", "paris/0", "milan/1"])"))),
            (Names{"paris/1", "milan/0", "paris/0", "milan/1"}));
}

TEST(Collective, TheBestRingIsSaidWithItsGain) {
  const BaseScenario base;
  const CheckedScenario good = base.load(collective("order: BEST"));
  EXPECT_TRUE(std::any_of(good.assumptions.begin(), good.assumptions.end(), [](const auto& line) {
    return line.find("no better ring") != std::string::npos;
  }));
}

}  // namespace
}  // namespace syncline
