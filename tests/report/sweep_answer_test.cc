// The rule by which a sweep's settings are compared, and its words.
#include "report/sweep_answer.h"

#include <gmock/gmock.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace syncline {
namespace {

using testing::HasSubstr;

// Evaluated every `rounds` syncs of `round_s` each.
StoredResults results(double round_s, std::vector<double> losses, double rounds = 1) {
  StoredResults made;
  made.status = "done";
  made.tokens = 1000;
  for (std::size_t i = 0; i < losses.size(); ++i) {
    const double round = static_cast<double>(i) * rounds;
    made.losses.push_back({round, round * 5, round * round_s, losses[i]});
    made.virtual_time_s = round * round_s;
  }
  if (!losses.empty()) made.final_loss = losses.back();
  return made;
}

SweepFacts two_by_two(std::vector<std::optional<StoredResults>> points) {
  SweepFacts facts;
  facts.scenario = "test";
  facts.dimensions = {{"strategy.local_steps", "local_steps", {"5", "20"}},
                      {"topology.clusters.wan.bandwidth", "bandwidth", {"1 Mbit/s", "1 Gbit/s"}}};
  for (std::size_t p = 0; p < points.size(); ++p)
    facts.points.push_back({{p / 2, p % 2}, "folder", "", std::move(points[p])});
  return facts;
}

TEST(TimeToLoss, IsThatOfTheFirstEvaluationWhereEachSyncIsOne) {
  const StoredResults run = results(10, {4, 3, 2, 2.5, 1});
  EXPECT_EQ(time_to_loss(run, 2), 20);
  EXPECT_EQ(time_to_loss(run, 2.1), 20);
  EXPECT_EQ(time_to_loss(run, 1.9), 40);
  EXPECT_EQ(time_to_loss(run, 5), 0);
  EXPECT_EQ(time_to_loss(run, 0.9), std::nullopt);
}

TEST(TimeToLoss, IsThatOfASyncBetweenEvaluations) {
  const StoredResults run = results(10, {4, 2}, 4);  // 3.5, 3, 2.5 in between
  EXPECT_EQ(time_to_loss(run, 3), 20);
  EXPECT_EQ(time_to_loss(run, 2.9), 30);
  EXPECT_EQ(time_to_loss(run, 2), 40);
}

TEST(SweepAnswer, OneForEachValueOfTheNetwork) {
  const auto answers = sweep_answers(two_by_two({results(10, {4, 3, 2}), results(1, {4, 3, 2}),
                                                 results(12, {4, 2.001}), results(9, {4, 2.001})}));
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(answers[0].sentence,
            "At 1 Mbit/s take H = 20: it reaches a loss of 2.01 after 12 s; H = 5 takes 20 s.");
  EXPECT_EQ(answers[1].sentence,
            "At 1 Gbit/s take H = 5: it reaches a loss of 2.01 after 2 s; H = 20 takes 9 s.");
}

TEST(SweepAnswer, ALossThatIsAskedForMayNotBeReached) {
  SweepFacts facts = two_by_two(
      {results(10, {4, 3, 2}), results(1, {4, 3, 2}), results(12, {4, 3}), results(9, {4, 3})});
  facts.target_loss = 2.5;
  EXPECT_EQ(
      sweep_answers(facts)[0].sentence,
      "At 1 Mbit/s take H = 5: it reaches a loss of 2.5 after 20 s; H = 20 does not get there.");
  facts.target_loss = 1;
  EXPECT_EQ(sweep_answers(facts)[0].sentence, "At 1 Mbit/s no setting reaches a loss of 1.");
}

TEST(SweepAnswer, FailedPointsAreNamed) {
  StoredResults diverged = results(1, {4});
  diverged.status = "diverged";
  const auto answers =
      sweep_answers(two_by_two({results(10, {4, 2}), diverged, std::nullopt, std::nullopt}));
  EXPECT_EQ(answers[0].sentence,
            "At 1 Mbit/s take H = 5: it reaches a loss of 2 after 10 s; H = 20 failed.");
  EXPECT_EQ(answers[1].sentence,
            "At 1 Gbit/s no setting came to a result; H = 5 diverged; H = 20 failed.");
}

TEST(SweepAnswer, WithoutLossesByTheSameTokens) {
  StoredResults slow, fast;
  slow.status = fast.status = "done";
  slow.tokens = 1000;
  slow.virtual_time_s = 30;
  fast.tokens = 4000;
  fast.virtual_time_s = 40;
  const auto answers = sweep_answers(two_by_two({slow, slow, fast, fast}));
  EXPECT_EQ(answers[0].sentence,
            "At 1 Mbit/s take H = 20: it reaches 1000 tokens after 10 s; H = 5 takes 30 s.");
}

TEST(SweepAnswer, WithoutANetworkThereIsOne) {
  SweepFacts facts = two_by_two({results(10, {4, 2}), results(9, {4, 2})});
  facts.dimensions.pop_back();
  for (std::size_t p = 0; p < 2; ++p) facts.points[p].values = {p};
  ASSERT_EQ(sweep_answers(facts).size(), 1u);
  EXPECT_EQ(sweep_answers(facts)[0].sentence,
            "Take H = 20: it reaches a loss of 2 after 9 s; H = 5 takes 10 s.");
}

TEST(SweepAnswer, WithTheNetworkAloneItSaysHowLong) {
  SweepFacts facts = two_by_two({results(10, {4, 2}), results(9, {4, 2})});
  facts.dimensions.erase(facts.dimensions.begin());
  for (std::size_t p = 0; p < 2; ++p) facts.points[p].values = {p};
  EXPECT_EQ(sweep_answers(facts)[1].sentence, "At 1 Gbit/s it reaches a loss of 2 after 9 s.");
}

TEST(TimeText, ReadsWell) {
  EXPECT_EQ(time_text(0), "0 s");
  EXPECT_EQ(time_text(0.02), "20 ms");
  EXPECT_EQ(time_text(41.26), "41.3 s");
  EXPECT_EQ(time_text(412.6), "413 s");
  EXPECT_EQ(time_text(4126), "68.8 min");
  EXPECT_EQ(time_text(36000), "10 h");
  EXPECT_EQ(time_text(864000), "10 days");
}

}  // namespace
}  // namespace syncline
