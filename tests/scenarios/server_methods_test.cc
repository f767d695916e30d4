// Methods that a server leads: what is wrong with their settings, and what right ones mean.
#include <gmock/gmock.h>

#include <variant>

#include "scenarios/setup.h"
#include "tests/scenarios/base_scenario.h"
#include "tests/scenarios/error_case.h"

namespace syncline {
namespace {

constexpr const char* kStar = "topology { star { count: 25 link { bandwidth: \"8 Mbit/s\" } } }";

// On a star of 25 devices; the strategy is on line 8.
Lines on_a_star(const std::string& method) {
  return {{2, kStar},
          {3, ""},
          {4, "workers { per: HOST }"},
          {8, "strategy { " + method + " local_steps: 20 }"}};
}
Lines with(Lines lines, int number, const std::string& line) {
  lines[number] = line;
  return lines;
}

class ServerMethodError : public testing::TestWithParam<ErrorCase> {};
TEST_P(ServerMethodError, SaysWhereAndWhat) { expect_error(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    FedAvg, ServerMethodError,
    testing::Values(ErrorCase{"NoServer",
                              {{8, "strategy { fed_avg {} local_steps: 20 }"}},
                              "base.textproto:4: workers.server: ",
                              {"is missing", "fed_avg has a server"}},
                    ErrorCase{"ARing",
                              on_a_star("fed_avg {} collective { algorithm: RING }"),
                              "base.textproto:8: strategy.collective.algorithm: ",
                              {"RING", "through its server"}},
                    ErrorCase{"Wait",
                              on_a_star("fed_avg {} absent: WAIT"),
                              "base.textproto:8: strategy.absent: ",
                              {"clients that report"}},
                    ErrorCase{"Quorum",
                              on_a_star("fed_avg {} quorum { workers: 2 }"),
                              "base.textproto:8: strategy.quorum: ",
                              {"over_selection"}},
                    ErrorCase{"FractionAndClients",
                              on_a_star("fed_avg { fraction: 0.1 clients: 3 }"),
                              "base.textproto:8: strategy.fed_avg.clients: ",
                              {"leave one of them out"}},
                    ErrorCase{"NoFraction",
                              on_a_star("fed_avg { fraction: 0 }"),
                              "base.textproto:8: strategy.fed_avg.fraction: ",
                              {"above 0, at most 1"}},
                    ErrorCase{"NoClients",
                              on_a_star("fed_avg { clients: 0 }"),
                              "base.textproto:8: strategy.fed_avg.clients: ",
                              {"1 to 25"}},
                    ErrorCase{"MoreClientsThanWorkers",
                              on_a_star("fed_avg { clients: 26 }"),
                              "base.textproto:8: strategy.fed_avg.clients: ",
                              {"26", "1 to 25"}},
                    ErrorCase{"LessThanCount",
                              on_a_star("fed_avg { over_selection: 0.9 }"),
                              "base.textproto:8: strategy.fed_avg.over_selection: ",
                              {"0.9", "from 1 on"}},
                    ErrorCase{"OuterAdam",
                              on_a_star("fed_avg { outer { kind: ADAMW } }"),
                              "base.textproto:8: strategy.fed_avg.outer.kind: ",
                              {"NESTEROV or SGD"}},
                    ErrorCase{"Replicas",
                              with(on_a_star("fed_avg {}"), 6, "data { markov {} } replicas: 4 }"),
                              "base.textproto:6: training.replicas: ",
                              {"only while it trains"}},
                    ErrorCase{"TwoStagesOfHosts",
                              on_a_star("fed_avg {} within_cluster {}"),
                              "base.textproto:8: strategy.within_cluster: ",
                              {"fed_avg has one stage"}},
                    ErrorCase{"GradientsFirst",
                              on_a_star("fed_avg {} schedule { post_local { steps: 20 } }"),
                              "base.textproto:8: strategy.schedule.post_local: ",
                              {"local_sgd {} and diloco {}"}}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    AsyncLocalSgd, ServerMethodError,
    testing::Values(
        ErrorCase{"NoServer",
                  {{8, "strategy { async_local_sgd {} local_steps: 20 }"}},
                  "base.textproto:4: workers.server: ",
                  {"is missing", "async_local_sgd has a server"}},
        ErrorCase{"ARing",
                  on_a_star("async_local_sgd {} collective { algorithm: RING }"),
                  "base.textproto:8: strategy.collective.algorithm: ",
                  {"RING", "through its server"}},
        ErrorCase{"Weights",
                  with(with(on_a_star("async_local_sgd {}"), 4,
                            "workers { at: [\"device0\", \"device1\"] weights: [1, 2] }"),
                       3, ""),
                  "base.textproto:4: workers.weights: ",
                  {"each update alone"}},
        ErrorCase{"Replicas",
                  with(on_a_star("async_local_sgd {}"), 6, "data { markov {} } replicas: 4 }"),
                  "base.textproto:6: training.replicas: ",
                  {"every worker's updates"}},
        ErrorCase{"Rounds",
                  with(on_a_star("async_local_sgd {}"), 9, "stop { rounds: 5 }"),
                  "base.textproto:9: stop.rounds: ",
                  {"steps or tokens"}},
        ErrorCase{"Schedule",
                  on_a_star("async_local_sgd {} schedule { warm_up { steps: 20 } }"),
                  "base.textproto:8: strategy.schedule: ",
                  {"async_local_sgd has none"}},
        ErrorCase{"NoDelay",
                  on_a_star("async_local_sgd { delay: 0 }"),
                  "base.textproto:8: strategy.async_local_sgd.delay: ",
                  {"1 to 1000000"}},
        ErrorCase{"Activation",
                  on_a_star("async_local_sgd { delay: 4 activation: 0.3 }"),
                  "base.textproto:8: strategy.async_local_sgd.activation: ",
                  {"0.3", "1 / delay, 0.25"}},
        ErrorCase{"OuterLr",
                  on_a_star("async_local_sgd { outer { lr: 0 } }"),
                  "base.textproto:8: strategy.async_local_sgd.outer.lr: ",
                  {"above 0"}},
        ErrorCase{"Reweight",
                  on_a_star("async_local_sgd {} absent: REWEIGHT"),
                  "base.textproto:8: strategy.absent: ",
                  {"async_local_sgd needs every worker"}}),
    name_of);

TEST(AsyncLocalSgd, DelaysItsMomentumByItsWorkers) {
  const BaseScenario base;
  const auto method = [&](const std::string& text) {
    return std::get<AsyncLocalSgd>(base.load(on_a_star(text)).strategy.method);
  };
  EXPECT_EQ(method("async_local_sgd {}").delay, 25u);
  EXPECT_EQ(method("async_local_sgd {}").activation, 0);
  EXPECT_TRUE(method("async_local_sgd {}").by_speed);
  EXPECT_EQ(method("async_local_sgd {}").outer.momentum, 0.9);
  EXPECT_FALSE(method("async_local_sgd { by_speed: false }").by_speed);
  EXPECT_EQ(method("async_local_sgd { delay: 4 activation: 0.25 }").activation, 0.25);
}

TEST(FedAvg, CountsClientsByFractionAndChoosesMore) {
  const BaseScenario base;
  const auto method = [&](const std::string& text) {
    return std::get<FedAvg>(base.load(on_a_star(text)).strategy.method);
  };
  EXPECT_EQ(method("fed_avg {}").clients, 3u);  // a tenth of 25, rounded
  EXPECT_EQ(method("fed_avg {}").chosen, 3u);
  EXPECT_EQ(method("fed_avg {}").outer.kind, OuterRule::Kind::SGD);
  EXPECT_EQ(method("fed_avg {}").outer.lr, 1);
  EXPECT_EQ(method("fed_avg { fraction: 0.001 }").clients, 1u);
  EXPECT_EQ(method("fed_avg { clients: 10 over_selection: 1.25 }").chosen, 13u);
  EXPECT_EQ(method("fed_avg { clients: 20 over_selection: 1.3 }").chosen, 25u);
}

TEST(FedAvg, HasItsServerAndNeedsNoWordForTheAbsent) {
  const BaseScenario base;
  const CheckedScenario scenario = base.load(on_a_star("fed_avg {} deadline: \"2 min\""));
  EXPECT_EQ(scenario.strategy.collective.algorithm, CollectiveAlgorithm::PARAMETER_SERVER);
  EXPECT_EQ(scenario.topology.node(scenario.strategy.collective.server).name, "server");
  EXPECT_TRUE(scenario.strategy.reweight);
  EXPECT_EQ(scenario.strategy.deadline, Time::seconds(120));
}

TEST(FedAvg, OnlyThoseThatCountUpUseTokens) {
  const BaseScenario base;
  // 2 sequences of 16 tokens for each of 5 clients: 160 tokens a step.
  const Lines lines =
      with(on_a_star("fed_avg { clients: 5 over_selection: 2 }"), 9, "stop { tokens: 16000 }");
  EXPECT_EQ(trained_steps(base.load(lines)), 100u);
}

}  // namespace
}  // namespace syncline
