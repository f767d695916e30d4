// Losses in the results: where they stand, and what a loss that is not a number does.
#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "tests/report/small_run.h"

namespace syncline {
namespace {

const std::vector<std::string> kEvaluateEachRound = {"training.evaluate_every=5"};

// Numbers are given out in the program's order; later ones are lower here.
double falling(NumberIndex number) { return 5 - 0.125 * number; }

TEST(Losses, StandAtTheirRoundsAndTimes) {
  const SmallRun run(kTwoSites, kEvaluateEachRound, falling);
  const std::vector<Evaluation>& evaluations = run.outcome().evaluations;
  ASSERT_EQ(evaluations.size(), 3u);
  const nlohmann::json results = run.json();
  ASSERT_EQ(results.at("losses").size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(results.at("losses").at(i).at("round"), i);
    EXPECT_EQ(results.at("losses").at(i).at("steps"), 5 * i);
    EXPECT_DOUBLE_EQ(results.at("losses").at(i).at("time_s"), 0.338 * static_cast<double>(i));
    EXPECT_EQ(results.at("losses").at(i).at("loss"), falling(evaluations[i].loss));
  }
  EXPECT_EQ(results.at("status"), "done");
  const nlohmann::json& summary = results.at("summary");
  EXPECT_EQ(summary.at("initial_loss"), falling(evaluations[0].loss));
  EXPECT_EQ(summary.at("final_loss"), falling(evaluations[2].loss));
  EXPECT_EQ(summary.at("best_loss"), summary.at("final_loss"));
  EXPECT_FALSE(summary.contains("proxy_loss"));
  EXPECT_EQ(summary.at("trained_tokens"), 640);
}

TEST(Losses, StandInTheRounds) {
  const SmallRun run(kTwoSites, {"training.evaluate_every=10"}, falling);
  const std::vector<Row> rounds = read_csv(run.file("rounds.csv"));
  ASSERT_EQ(rounds.size(), 2u);
  EXPECT_EQ(rounds[0].at("loss"), "");  // not evaluated
  EXPECT_EQ(number(rounds[1], "loss"), falling(run.outcome().evaluations.back().loss));
  // The mean over both workers' five steps each.
  for (std::size_t i = 0; i < 2; ++i) {
    const auto& losses = run.outcome().rounds[i].losses;
    ASSERT_EQ(losses.size(), 2u);
    EXPECT_DOUBLE_EQ(number(rounds[i], "training_loss"),
                     (falling(losses[0].first) + falling(losses[1].first)) / 2);
  }
}

TEST(Losses, TheBestOneMayBeAnEarlierOne) {
  const SmallRun run(kTwoSites, kEvaluateEachRound,
                     [](NumberIndex number) { return 1 + std::abs(number - 3.0); });
  double best = std::numeric_limits<double>::infinity();
  const nlohmann::json results = run.json();
  for (const nlohmann::json& point : results.at("losses"))
    best = std::min(best, point.at("loss").get<double>());
  EXPECT_EQ(run.summary().at("best_loss"), best);
  EXPECT_LT(run.summary().at("best_loss"), run.summary().at("final_loss"));
}

TEST(Losses, OfALargeRunAreOnlyAProxy) {
  const SmallRun run(kTwoSites, {"project={parameters: 7e9 tokens_per_step: 1e6}"}, falling);
  EXPECT_FALSE(run.summary().contains("final_loss"));
  EXPECT_EQ(run.summary().at("proxy_loss"), falling(run.outcome().evaluations.back().loss));
  EXPECT_EQ(run.summary().at("trained_tokens"), 640);  // of the small model
}

TEST(Losses, OfFewReplicasThatStandForAll) {
  const SmallRun run(kTwoSites, {"training.replicas=1"}, falling);
  EXPECT_EQ(run.summary().at("tokens"), 640);
  EXPECT_EQ(run.summary().at("trained_tokens"), 320);
}

TEST(Losses, WithinABudgetOfTraining) {
  const SmallRun run(kTwoSites, {"training.tokens=320"}, falling);
  EXPECT_EQ(run.summary().at("tokens"), 640);
  EXPECT_EQ(run.summary().at("trained_tokens"), 320);
}

class NotANumber : public testing::TestWithParam<double> {};
INSTANTIATE_TEST_SUITE_P(Kinds, NotANumber,
                         testing::Values(std::nan(""), std::numeric_limits<double>::infinity(),
                                         -std::numeric_limits<double>::infinity()));

TEST_P(NotANumber, IsADivergedRun) {
  const double broken = GetParam();
  const NumberIndex last =
      SmallRun(kTwoSites, kEvaluateEachRound, falling).outcome().evaluations.back().loss;
  const SmallRun run(kTwoSites, kEvaluateEachRound,
                     [=](NumberIndex number) { return number == last ? broken : falling(number); });
  EXPECT_TRUE(diverged(run.facts()));
  const nlohmann::json results = run.json();
  EXPECT_EQ(results.at("status"), "diverged");
  EXPECT_FALSE(results.at("summary").contains("final_loss"));
  EXPECT_TRUE(results.at("summary").at("best_loss").is_number());
  ASSERT_EQ(results.at("losses").size(), 3u);
  EXPECT_FALSE(results.at("losses").at(2).contains("loss"));
  EXPECT_EQ(results.at("losses").at(1).at("loss"), run.summary().at("best_loss"));
  EXPECT_EQ(read_csv(run.file("rounds.csv"))[1].at("loss"), "");
  EXPECT_THAT(summary_text(run.facts()), testing::HasSubstr("diverged"));
  // Neither word is a number in JSON.
  EXPECT_THAT(
      run.file("results.json"),
      testing::Not(testing::AnyOf(testing::HasSubstr("NaN"), testing::HasSubstr("Infinity"))));
}

TEST(Losses, NoneAtAll) {
  const SmallRun run(kTwoSites, kEvaluateEachRound, [](NumberIndex) { return std::nan(""); });
  EXPECT_TRUE(diverged(run.facts()));
  EXPECT_FALSE(run.summary().contains("initial_loss"));
  EXPECT_FALSE(run.summary().contains("best_loss"));
}

TEST(Losses, WithoutTrainingThereAreNone) {
  const SmallRun run(kTwoSites);
  EXPECT_FALSE(diverged(run.facts()));
  for (const char* name :
       {"initial_loss", "final_loss", "best_loss", "proxy_loss", "trained_tokens", "program_hash"})
    EXPECT_FALSE(run.summary().contains(name)) << name;
  EXPECT_FALSE(run.json().contains("losses"));
  EXPECT_FALSE(run.json().contains("device"));
}

}  // namespace
}  // namespace syncline
