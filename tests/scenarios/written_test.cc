// The scenario as it was run: what a reader of the results finds, and can run again.
#include <gmock/gmock.h>

#include <string>

#include "tests/scenarios/base_scenario.h"
#include "tests/scenarios/describe.h"

namespace syncline {
namespace {

void expect_same_again(const BaseScenario& base, const Lines& lines, const Sets& sets = {}) {
  SCOPED_TRACE(BaseScenario::text(lines));
  const CheckedScenario first = base.load(lines, sets);
  const CheckedScenario second = base.load_text(first.written);
  EXPECT_EQ(second.written, first.written);
  EXPECT_EQ(describe(second), describe(first));
}

TEST(Written, ReadAgainItIsTheSame) {
  const BaseScenario base;
  expect_same_again(base, {});
  expect_same_again(base, {{4, ""}});
  expect_same_again(
      base,
      {{2, "topology { star { count: 5"},
       {3,
        R"x(link { bandwidth: "lognormal(8 Mbit/s, 0.6)" latency: "uniform(1 ms, 9 ms)" } } })x"},
       {4, ""},
       {7, R"x(pace { fixed: "50 ms" spread: "lognormal(1, 0.4)" })x"},
       {8, "strategy { local_sgd {} local_steps: 3 collective { algorithm: PARAMETER_SERVER } }"}});
  expect_same_again(base,
                    {{8, "strategy { data_parallel {} collective { algorithm: HIERARCHICAL } }"}});
  expect_same_again(
      base,
      {{2, R"(topology { nodes { name: "hub" host: false })"},
       {3,
        R"(nodes { name: "x" hosts: 2 at: "hub" access { bandwidth: "1 Gbit/s" } } nodes { name: "y" hosts: 1 } links { a: "y" b: "hub" bandwidth: "2 Mbit/s" shared: true } })"}});
  expect_same_again(base,
                    {{7, "pace { mfu: 0.3 }"},
                     {4, R"(workers { device: "A100" chips: 8 })"},
                     {9, "stop { tokens: 1e9 } project { parameters: 1e9 tokens_per_step: 5e5 }"}});
  expect_same_again(base, {{7, ""}});  // measured
  expect_same_again(base,
                    {{9, "stop { time: \"1 h\" loss: 0.1 steps: 3 rounds: 4 tokens: 1e300 }"}},
                    {"stop.tokens=0.1"});
  // Numbers that have no short form.
  expect_same_again(base, {{5,
                            "training { inner { kind: SGD lr: 0.30000000000000004 momentum: 0.1 "
                            "weight_decay: 1e-300 clip: 3.3333333333333335 decay: CONSTANT }"}});
}

// A run without training needs no data, and neither does its repetition.
TEST(Written, WithoutTrainingItNeedsNoData) {
  const BaseScenario base;
  expect_same_again(base, {{5, "training { trainer: NONE"}, {6, "}"}});
  expect_same_again(base, {{5, ""}, {6, ""}}, {"training.trainer=NONE"});
}

TEST(Written, HasItsDefaults) {
  const BaseScenario base;
  const std::string written = base.load({{1, ""}, {4, ""}}).written;
  for (const char* expected :
       {"name: \"base\"", "seed: 1",        "shape: STAR",       "count: 2",
        "per: HOST",      "trainer: TORCH", "precision: FP32",   "evaluate_tokens: 32768",
        "kind: ADAMW",    "lr: 0.003",      "weight_decay: 0.1", "warmup: 20",
        "decay: COSINE",  "split: EVEN",    "states: 64",        "entropy: 2",
        "spread: \"1\"",  "kind: NESTEROV", "lr: 0.7",           "momentum: 0.9",
        "algorithm: RING"}) {
    EXPECT_THAT(written, testing::HasSubstr(expected));
  }
}

TEST(Written, ASpreadOutReplicaAveragesInside) {
  const BaseScenario base;
  const CheckedScenario scenario = base.load();
  ASSERT_TRUE(scenario.strategy.within_cluster);
  EXPECT_EQ(scenario.strategy.within_cluster->local_steps, 1u);
  EXPECT_THAT(scenario.written, testing::HasSubstr("within_cluster {"));
  EXPECT_FALSE(base.load({{4, "workers { per: HOST }"}}).strategy.within_cluster);
}

TEST(Written, OrderOfTheFieldsInTheFileDoesNotMatter) {
  const BaseScenario base;
  const CheckedScenario usual = base.load();
  std::string reversed;
  const Lines lines = BaseScenario::base();
  for (const auto& group : {std::pair{9, 9}, {8, 8}, {7, 7}, {5, 6}, {4, 4}, {2, 3}, {1, 1}}) {
    for (int line = group.first; line <= group.second; ++line) reversed += lines.at(line) + "\n";
  }
  const CheckedScenario other = base.load_text(reversed);
  EXPECT_EQ(other.written, usual.written);
  EXPECT_EQ(describe(other), describe(usual));
}

TEST(Written, FilesAreAbsoluteWhereTheyLie) {
  const BaseScenario base;
  base.write("speech.txt", "Friends, Romans, countrymen");
  const CheckedScenario scenario = base.load({{6, R"(data { text: "./speech.txt" } })"}});
  EXPECT_THAT(scenario.training.data.files, testing::ElementsAre(base.folder() + "/speech.txt"));
  // From another folder the written one still finds them.
  std::filesystem::create_directory(base.folder() + "/elsewhere");
  const CheckedScenario again =
      load_scenario(base.write("elsewhere/run.textproto", scenario.written), base.options());
  EXPECT_EQ(again.training.data.files, scenario.training.data.files);
}

TEST(Written, AFolderOfTextsIsItsTextsByName) {
  const BaseScenario base;
  std::filesystem::create_directory(base.folder() + "/texts");
  for (const char* name : {"texts/b.txt", "texts/a.txt", "texts/notes.md"})
    base.write(name, "words");
  const CheckedScenario scenario =
      base.load({{6, R"(data { text: "texts" split: DIRICHLET alpha: 0.1 } })"}});
  EXPECT_THAT(scenario.training.data.files,
              testing::ElementsAre(base.folder() + "/texts/a.txt", base.folder() + "/texts/b.txt"));
  EXPECT_EQ(scenario.training.data.split, DataConfig::Split::DIRICHLET);
}

TEST(Written, OptionsOfTheCommandLineStandInIt) {
  const BaseScenario base;
  const std::string file = base.write("base.textproto", BaseScenario::text());
  LoadOptions options = base.options();
  options.seed = 42;
  options.without_training = true;
  const CheckedScenario scenario = load_scenario(file, options);
  EXPECT_EQ(scenario.seed, 42u);
  EXPECT_EQ(scenario.training.seed, 42u);
  EXPECT_FALSE(scenario.train);
  const CheckedScenario again = base.load_text(scenario.written);
  EXPECT_EQ(again.seed, 42u);
  EXPECT_FALSE(again.train);
}

TEST(Written, TheSeedDecidesWhatIsDrawn) {
  const BaseScenario base;
  const Lines lines = {{3, R"x(  wan { bandwidth: "uniform(1 Mbit/s, 9 Mbit/s)" } } })x"}};
  const auto rate = [&](const Sets& sets) {
    const CheckedScenario scenario = base.load(lines, sets);
    return scenario.topology.link(scenario.topology.require_link("milan-core"))
        .capacity[0]
        .in_bits_per_s();
  };
  EXPECT_EQ(rate({}), rate({"seed=1"}));
  EXPECT_NE(rate({}), rate({"seed=2"}));
}

}  // namespace
}  // namespace syncline
