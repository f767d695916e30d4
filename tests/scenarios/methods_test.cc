// The training methods' own settings: what is wrong with them, and what right ones mean.
#include <gmock/gmock.h>

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

}  // namespace
}  // namespace syncline
