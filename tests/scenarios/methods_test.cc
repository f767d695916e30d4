// The training methods' own settings: what is wrong with them, and what right ones mean.
#include <gmock/gmock.h>

#include <variant>

#include "scenarios/setup.h"
#include "tests/scenarios/base_scenario.h"
#include "tests/scenarios/error_case.h"

namespace syncline {
namespace {

// The base scenario's strategy, on line 8. Its model has 2 layers.
Lines strategy(const std::string& text, const std::string& local_steps = "20") {
  return {{8, "strategy { " + text + " local_steps: " + local_steps + " }"}};
}
Lines with_event(Lines lines, const std::string& text) {
  lines[9] = "stop { steps: 100 }\nevents { target: \"milan\" once { at: \"1 h\" } " + text + " }";
  return lines;
}

class MethodError : public testing::TestWithParam<ErrorCase> {};
TEST_P(MethodError, SaysWhereAndWhat) { expect_error(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Streaming, MethodError,
    testing::Values(
        ErrorCase{"NoFragments",
                  strategy("streaming_diloco { fragments: 0 }"),
                  "base.textproto:8: strategy.streaming_diloco.fragments: ",
                  {"write 1 or more"}},
        ErrorCase{"MoreFragmentsThanLayers",
                  strategy("streaming_diloco { fragments: 3 }"),
                  "base.textproto:8: strategy.streaming_diloco.fragments: ",
                  {"3", "2 layers", "at most 2"}},
        ErrorCase{"MoreFragmentsThanSteps",
                  strategy("streaming_diloco { fragments: 2 }", "1"),
                  "base.textproto:8: strategy.streaming_diloco.fragments: ",
                  {"once in strategy.local_steps, 1", "at most 1"}},
        ErrorCase{"OverlapOfAWholeInterval",
                  strategy("streaming_diloco { overlap: 20 }"),
                  "base.textproto:8: strategy.streaming_diloco.overlap: ",
                  {"20", "write less"}},
        ErrorCase{"AlphaOfOne",
                  strategy("streaming_diloco { alpha: 1 }"),
                  "base.textproto:8: strategy.streaming_diloco.alpha: ",
                  {"below 1"}},
        ErrorCase{"AlphaBelowZero",
                  strategy("streaming_diloco { alpha: -0.1 }"),
                  "base.textproto:8: strategy.streaming_diloco.alpha: ",
                  {"-0.1"}},
        ErrorCase{"OuterAdam",
                  strategy("streaming_diloco { outer { kind: ADAMW } }"),
                  "base.textproto:8: strategy.streaming_diloco.outer.kind: ",
                  {"NESTEROV or SGD"}},
        ErrorCase{"Reweight",
                  strategy("streaming_diloco {} absent: REWEIGHT"),
                  "base.textproto:8: strategy.absent: ",
                  {"streaming_diloco needs every worker", "WAIT"}},
        ErrorCase{"MachineDown",
                  with_event(strategy("streaming_diloco {}"), "down { scope: MACHINE }"),
                  "base.textproto:10: events[0].down: ",
                  {"streaming_diloco needs every one", "STALL"}},
        ErrorCase{"TwoStagesOfHosts",
                  {{4, "workers { per: HOST }"},
                   {8, "strategy { streaming_diloco {} local_steps: 20 within_cluster {} }"}},
                  "base.textproto:8: strategy.within_cluster: ",
                  {"one stage"}}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Overlapped, MethodError,
    testing::Values(ErrorCase{"OuterLr",
                              strategy("delayed_diloco { outer { lr: 0 } }"),
                              "base.textproto:8: strategy.delayed_diloco.outer.lr: ",
                              {"above 0"}},
                    ErrorCase{"OuterMomentum",
                              strategy("eager_diloco { outer { momentum: 1 } }"),
                              "base.textproto:8: strategy.eager_diloco.outer.momentum: ",
                              {"below 1"}},
                    ErrorCase{"Deadline",
                              strategy("eager_diloco {} absent: REWEIGHT deadline: \"1 s\""),
                              "base.textproto:8: strategy.absent: ",
                              {"eager_diloco needs every worker"}},
                    ErrorCase{"FailingTransfers",
                              with_event(strategy("delayed_diloco {}"), "down { in_flight: FAIL }"),
                              "base.textproto:10: events[0].down: ",
                              {"delayed_diloco needs every one"}}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Quorum, MethodError,
    testing::Values(
        ErrorCase{"NeedsReweight",
                  strategy("diloco {} quorum { workers: 1 }"),
                  "base.textproto:8: strategy.quorum: ",
                  {"absent: REWEIGHT"}},
        ErrorCase{"NotWithADeadline",
                  strategy("diloco {} absent: REWEIGHT deadline: \"9 s\" quorum { workers: 1 }"),
                  "base.textproto:8: strategy.quorum: ",
                  {"strategy.deadline"}},
        ErrorCase{"NoWorkers",
                  strategy("diloco {} absent: REWEIGHT quorum {}"),
                  "base.textproto:8: strategy.quorum.workers: ",
                  {"is missing", "1 to 2"}},
        ErrorCase{"MoreThanThereAre",
                  strategy("diloco {} absent: REWEIGHT quorum { workers: 3 }"),
                  "base.textproto:8: strategy.quorum.workers: ",
                  {"3", "1 to 2"}},
        ErrorCase{"GraceWithoutUnit",
                  strategy("diloco {} absent: REWEIGHT quorum { workers: 1 grace: \"5\" }"),
                  "base.textproto:8: strategy.quorum.grace: ",
                  {"\"5\""}}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Averages, MethodError,
    testing::Values(ErrorCase{"OptimizerWithoutState",
                              {{6, "data { markov {} } inner { kind: SGD } }"},
                               {8,
                                "strategy { local_sgd { average_optimizer: true } "
                                "local_steps: 20 }"}},
                              "base.textproto:8: strategy.local_sgd.average_optimizer: ",
                              {"has no state"}},
                    ErrorCase{"OneWeightTooFew",
                              {{4, "workers { per: CLUSTER weights: 2 }"}},
                              "base.textproto:4: workers.weights: ",
                              {"1 weights for 2 workers"}},
                    ErrorCase{"WeightsOfEagerUpdates",
                              {{4, "workers { per: CLUSTER weights: [2, 1] }"},
                               {8, "strategy { eager_diloco {} local_steps: 20 }"}},
                              "base.textproto:4: workers.weights: ",
                              {"K equal ones"}},
                    ErrorCase{"WeightOfNothing",
                              {{4, "workers { per: CLUSTER weights: [2, 0] }"}},
                              "base.textproto:4: workers.weights[1]: ",
                              {"above 0"}}),
    name_of);

TEST(Averages, OfTheOptimizerSendItsMoments) {
  const BaseScenario base;
  const SimulationSetup setup = simulation_setup(
      base.load(strategy("local_sgd { average_optimizer: true }")), 1000, std::nullopt);
  EXPECT_EQ(setup.payload.bytes(), Bytes(12'000));  // parameters and AdamW's two moments
  EXPECT_EQ(setup.plain_payload.bytes(), Bytes(4'000));
}

std::string scheduled(const std::string& method, const std::string& schedule) {
  return method + " {} schedule { " + schedule + " }";
}

INSTANTIATE_TEST_SUITE_P(
    Schedule, MethodError,
    testing::Values(
        ErrorCase{"NoKind",
                  strategy(scheduled("diloco", "")),
                  "base.textproto:8: strategy.schedule: ",
                  {"has no kind", "warm_up {}"}},
        ErrorCase{"OfDataParallel",
                  {{8, "strategy { data_parallel {} schedule { warm_up { steps: 5 } } }"}},
                  "base.textproto:8: strategy.schedule: ",
                  {"data_parallel has none"}},
        ErrorCase{"OfFragments",
                  strategy(scheduled("streaming_diloco", "warm_up { steps: 5 }")),
                  "base.textproto:8: strategy.schedule: ",
                  {"each fragment"}},
        ErrorCase{"WarmUpWithoutSteps",
                  strategy(scheduled("diloco", "warm_up {}")),
                  "base.textproto:8: strategy.schedule.warm_up.steps: ",
                  {"is missing"}},
        ErrorCase{"PostLocalOfNoSteps",
                  strategy(scheduled("local_sgd", "post_local { steps: 0 }")),
                  "base.textproto:8: strategy.schedule.post_local.steps: ",
                  {"1 or more"}},
        ErrorCase{"PostLocalOfEager",
                  strategy(scheduled("eager_diloco", "post_local { steps: 9 }")),
                  "base.textproto:8: strategy.schedule.post_local: ",
                  {"local_sgd {} and diloco {}"}},
        ErrorCase{"LearningRateThatStays",
                  {{6, "data { markov {} } inner { decay: CONSTANT } }"},
                   {8, "strategy { diloco {} local_steps: 20 schedule { learning_rate {} } }"}},
                  "base.textproto:8: strategy.schedule.learning_rate: ",
                  {"does not decay", "COSINE"}},
        ErrorCase{"PowerOfNothing",
                  strategy(scheduled("diloco", "learning_rate { power: 0 }")),
                  "base.textproto:8: strategy.schedule.learning_rate.power: ",
                  {"above 0"}},
        ErrorCase{"NegativeCoefficient",
                  strategy(scheduled("diloco", "learning_rate { coefficient: -1 }")),
                  "base.textproto:8: strategy.schedule.learning_rate.coefficient: ",
                  {"-1"}},
        ErrorCase{"ByLossOfDelayed",
                  strategy(scheduled("delayed_diloco", "by_loss {}")),
                  "base.textproto:8: strategy.schedule.by_loss: ",
                  {"local_sgd {} and diloco {}"}},
        ErrorCase{"ByLossInRounds",
                  {{8, "strategy { diloco {} local_steps: 20 schedule { by_loss {} } }"},
                   {9, "stop { rounds: 5 }"}},
                  "base.textproto:8: strategy.schedule.by_loss: ",
                  {"stop.rounds"}},
        ErrorCase{"ByLossWithoutTraining",
                  {{5, "training { trainer: NONE model { layers: 2 } batch: 2"},
                   {8, "strategy { diloco {} local_steps: 20 schedule { by_loss {} } }"}},
                  "base.textproto:8: strategy.schedule.by_loss: ",
                  {"asks the trainer"}},
        ErrorCase{"NoTarget",
                  strategy(scheduled("diloco", "by_divergence {}")),
                  "base.textproto:8: strategy.schedule.by_divergence.target: ",
                  {"is missing"}},
        ErrorCase{"TargetOfNothing",
                  strategy(scheduled("diloco", "by_divergence { target: 0 }")),
                  "base.textproto:8: strategy.schedule.by_divergence.target: ",
                  {"above 0"}},
        ErrorCase{"MostBelowTheFirst",
                  strategy(scheduled("diloco", "by_divergence { target: 0.1 most: 19 }")),
                  "base.textproto:8: strategy.schedule.by_divergence.most: ",
                  {"at least local_steps, 20"}}),
    name_of);

TEST(Schedule, IsWrittenOut) {
  const BaseScenario base;
  const auto schedule = [&](const std::string& text) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> changes;
    const CheckedScenario scenario = base.load(strategy(scheduled("diloco", text), "8"));
    for (const IntervalChange& change : scenario.strategy.schedule)
      changes.emplace_back(change.from, change.local_steps);
    return changes;
  };
  using testing::ElementsAre;
  using testing::Pair;
  // 1 + floor(begin / 20 · 7) a round: 1 at 0, 1 at 1, 1 at 2, 2 at 3, 2 at 5, 3 at 7, 4 at 10, 5
  // at 14, 7 at 19.
  EXPECT_THAT(schedule("warm_up { steps: 20 }"),
              ElementsAre(Pair(0, 1), Pair(3, 2), Pair(7, 3), Pair(10, 4), Pair(14, 5), Pair(19, 7),
                          Pair(20, 8)));
  // 1, 2, 4 and 8 have a quarter each.
  EXPECT_THAT(schedule("warm_up { steps: 20 growth: EXPONENTIAL }"),
              ElementsAre(Pair(0, 1), Pair(5, 2), Pair(11, 4), Pair(15, 8), Pair(20, 8)));
  const auto growing = schedule("learning_rate {}");
  ASSERT_GT(growing.size(), 3u);
  EXPECT_EQ(growing.front(), (std::pair<std::uint64_t, std::uint64_t>(0, 8)));
  for (std::size_t i = 1; i < growing.size(); ++i)
    EXPECT_GT(growing[i].second, growing[i - 1].second);
  EXPECT_LE(growing.back().second, 800u);  // the learning rate falls to a tenth
}

TEST(Schedule, OfGradientsFirst) {
  const BaseScenario base;
  Lines lines = strategy(scheduled("diloco", "post_local { steps: 30 }"));
  EXPECT_EQ(base.load(lines).strategy.gradient_steps, 30u);
  lines[9] = "stop { rounds: 32 }";
  EXPECT_EQ(trained_steps(base.load(lines)), 70u);
}

TEST(Quorum, HasAGrace) {
  const BaseScenario base;
  const CheckedScenario scenario =
      base.load(strategy("diloco {} absent: REWEIGHT quorum { workers: 1 grace: \"5 s\" }"));
  EXPECT_EQ(scenario.strategy.quorum->workers, 1u);
  EXPECT_EQ(scenario.strategy.quorum->grace, Time::seconds(5));
}

TEST(Streaming, HasDefaults) {
  const BaseScenario base;
  const auto method = [&](const Lines& lines) {
    return std::get<StreamingDiloco>(base.load(lines).strategy.method);
  };
  const StreamingDiloco plain = method(strategy("streaming_diloco {}"));
  EXPECT_EQ(plain.fragments, 1u);  // of 2 layers
  EXPECT_EQ(plain.overlap, 1u);
  EXPECT_EQ(plain.alpha, 0.5);
  EXPECT_EQ(plain.outer.lr, 0.4);
  EXPECT_EQ(plain.outer.momentum, 0.9);
  EXPECT_EQ(plain.pattern, Fragment::Pattern::STRIDED);
  EXPECT_EQ(method(strategy("streaming_diloco { overlap: 0 }")).alpha, 0);
  EXPECT_EQ(method(strategy("streaming_diloco {}", "1")).overlap, 0u);
  const StreamingDiloco deep = method({{5, "training { model { layers: 7 context: 16 } batch: 2"},
                                       {8, "strategy { streaming_diloco {} local_steps: 20 }"}});
  EXPECT_EQ(deep.fragments, 3u);
}

TEST(Streaming, StallsAndSlowWorkersAreWaitedFor) {
  const BaseScenario base;
  EXPECT_EQ(base.error(with_event(strategy("streaming_diloco {}"), "down {}")), "");
  EXPECT_EQ(base.error(with_event(strategy("streaming_diloco {}"), "speed: 0.5")), "");
}

TEST(Streaming, RoundsAreFragments) {
  const BaseScenario base;
  Lines lines = strategy("streaming_diloco { fragments: 2 }", "5");
  lines[9] = "stop { rounds: 3 }";
  EXPECT_EQ(trained_steps(base.load(lines)), 8u);  // 3, 5, 8
}

TEST(Streaming, AProjectsFragmentsAreEqual) {
  const BaseScenario base;
  Lines lines = strategy("streaming_diloco { fragments: 2 }");
  lines[9] = "stop { steps: 100 } project { parameters: 1001 }";
  const SimulationSetup setup = simulation_setup(base.load(lines), 500, std::nullopt);
  EXPECT_THAT(std::get<StreamingDiloco>(setup.strategy.method).elements,
              testing::ElementsAre(500, 501));
}

}  // namespace
}  // namespace syncline
