// The summary for people.
#include <gmock/gmock.h>

#include "tests/report/small_run.h"

namespace syncline {
namespace {

double falling(NumberIndex number) { return 5 - 0.125 * number; }

TEST(SummaryText, SaysWhatTheJsonSays) {
  const std::string text =
      summary_text(SmallRun(kTwoSites, {"training.evaluate_every=5"}, falling).facts());
  for (const char* part : {"two_sites: 2 workers, DiLoCo, a sync every 5 steps\n",
                           "676 ms (the network adds 35.2 % to the 500 ms of an ideal one)",
                           "compute utilisation   74.0 %", "inner steps 74.0 % · sync 26.0 %",
                           "latency", "4 MB in 2 syncs of 1 MB a worker",
                           "640 in 10 steps a worker", "nats a token", "a slide rule"}) {
    EXPECT_THAT(text, testing::HasSubstr(part));
  }
}

TEST(SummaryText, IsADozenLinesWithoutOddities) {
  for (const std::vector<std::string>& sets : std::vector<std::vector<std::string>>{
           {},
           {"stop={time: \"1 ms\"}", "training.inner.decay=CONSTANT"},
           {"topology.clusters={count: 1}"},
           {"strategy={data_parallel {}}"},
           {"project={parameters: 7e9 tokens_per_step: 1e6}"},
           {"training.evaluate_every=1"}}) {
    SCOPED_TRACE(testing::PrintToString(sets));
    for (const SmallRun::Numbers& numbers : {SmallRun::Numbers(), SmallRun::Numbers(falling),
                                             SmallRun::Numbers([](NumberIndex) { return 3.0; })}) {
      const std::string text = summary_text(SmallRun(kTwoSites, sets, numbers).facts());
      EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 14);
      EXPECT_EQ(text.back(), '\n');
      EXPECT_THAT(text,
                  testing::Not(testing::AnyOf(testing::HasSubstr("nan"), testing::HasSubstr("inf "),
                                              testing::HasSubstr("-0"), testing::HasSubstr("{}"))));
    }
  }
}

TEST(SummaryText, SaysSoWhereNothingWasTrained) {
  EXPECT_THAT(summary_text(SmallRun(kTwoSites).facts()),
              testing::HasSubstr("not trained: time only"));
}

TEST(SummaryText, SaysProxyWhereTheModelIsASmallOne) {
  const std::string text = summary_text(
      SmallRun(kTwoSites, {"project={parameters: 7e9 tokens_per_step: 1e6}"}, falling).facts());
  EXPECT_THAT(text, testing::HasSubstr("proxy loss"));
  EXPECT_THAT(text, testing::HasSubstr("640 tokens of the small model"));
  EXPECT_THAT(text, testing::HasSubstr("10 million in 10 steps"));
}

TEST(SummaryText, SaysWhereTheLossesCameFrom) {
  const SmallRun run(kTwoSites, {}, falling);
  EXPECT_THAT(summary_text(run.facts()), testing::HasSubstr("come from the cache"));
  EXPECT_THAT(summary_text(run.facts({.steps_executed = 1})),
              testing::Not(testing::HasSubstr("cache")));
}

}  // namespace
}  // namespace syncline
