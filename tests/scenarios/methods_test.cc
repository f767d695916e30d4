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
