// --vary PATH=V1,V2,…: how a list is split, which points come of it, and how they are named.
#include "app/sweep/vary.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "topology/input_error.h"

namespace syncline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string problem(const std::vector<std::string>& varied) {
  try {
    parse_vary(varied);
  } catch (const InputError& error) {
    return error.what();
  }
  return "none";
}

TEST(SplitValues, AtCommas) {
  EXPECT_THAT(split_values("5"), ElementsAre("5"));
  EXPECT_THAT(split_values("1,10,50"), ElementsAre("1", "10", "50"));
}

TEST(SplitValues, SpacesAroundAValueFallAway) {
  EXPECT_THAT(split_values(" 100 Mbit/s ,\t1 Gbit/s "), ElementsAre("100 Mbit/s", "1 Gbit/s"));
}

TEST(SplitValues, NotInsideBracketsAndQuotes) {
  EXPECT_THAT(split_values("lognormal(1, 0.2),uniform(1, 2)"),
              ElementsAre("lognormal(1, 0.2)", "uniform(1, 2)"));
  EXPECT_THAT(split_values(R"(["a", "b"],["a"])"), ElementsAre(R"(["a", "b"])", R"(["a"])"));
  EXPECT_THAT(split_values("{ rounds: 3, time: \"1 h\" }, { steps: 5 }"),
              ElementsAre("{ rounds: 3, time: \"1 h\" }", "{ steps: 5 }"));
  EXPECT_THAT(split_values(R"("a,b",'c,d')"), ElementsAre(R"("a,b")", "'c,d'"));
  EXPECT_THAT(split_values("{a: [1, (2, 3)], b: 4},{}"),
              ElementsAre("{a: [1, (2, 3)], b: 4}", "{}"));
}

TEST(SplitValues, QuotesHideBracketsAndEscapes) {
  EXPECT_THAT(split_values(R"--("a)", "(b\",c", x)--"),
              ElementsAre(R"--("a)")--", R"--("(b\",c")--", "x"));
}

TEST(SplitValues, SaysWhatIsWrong) {
  const auto fails = [](const char* list) {
    try {
      split_values(list);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  for (const char* list : {"", " ", "1,", ",1", "1,,2", "1, ,2"})
    EXPECT_THAT(fails(list), HasSubstr("empty value")) << list;
  EXPECT_THAT(fails("{a: [1}"), HasSubstr("lacks a closing \"]\""));
  EXPECT_THAT(fails("uniform(1, 2"), HasSubstr("lacks a closing \")\""));
  EXPECT_THAT(fails("\"a,b"), HasSubstr("lacks a closing \""));
}

TEST(ParseVary, TakesTheFirstEqualsSign) {
  const auto dimensions = parse_vary(std::vector<std::string>{" name = a=b, c "});
  ASSERT_EQ(dimensions.size(), 1u);
  EXPECT_EQ(dimensions[0].path, "name");
  EXPECT_THAT(dimensions[0].values, ElementsAre("a=b", "c"));
}

TEST(ParseVary, LabelsAreShortAndDiffer) {
  const auto dimensions = parse_vary(std::vector<std::string>{
      "strategy.local_steps=1", "topology.links[a.b].latency=1 s", "links[c].latency=1 s"});
  EXPECT_EQ(dimensions[0].label, "local_steps");
  EXPECT_EQ(dimensions[1].label, "links[a.b].latency");
  EXPECT_EQ(dimensions[2].label, "links[c].latency");
}

TEST(ParseVary, SaysWhatIsWrong) {
  EXPECT_THAT(problem({"seed"}), HasSubstr("--vary seed: write PATH=V1,V2"));
  EXPECT_THAT(problem({"=1,2"}), HasSubstr("no field"));
  EXPECT_THAT(problem({"seed=1,,2"}), HasSubstr("--vary seed=1,,2: has an empty value"));
  EXPECT_THAT(problem({"seed=1,2, 1"}), HasSubstr("1 stands there twice"));
  EXPECT_THAT(problem({"seed=1", "seed=2"}), HasSubstr("varied twice"));
  std::string many = "=0";
  for (int i = 1; i < 101; ++i) many += "," + std::to_string(i);
  EXPECT_EQ(problem({"a" + many}), "none");
  EXPECT_THAT(problem({"a" + many, "b" + many}), HasSubstr("10201 points"));
}

TEST(Combinations, TheLastChangesFastest) {
  const auto dimensions = parse_vary(std::vector<std::string>{"a=1,2", "b=x,y,z"});
  EXPECT_THAT(combinations(dimensions),
              ElementsAre(ElementsAre(0, 0), ElementsAre(0, 1), ElementsAre(0, 2),
                          ElementsAre(1, 0), ElementsAre(1, 1), ElementsAre(1, 2)));
  EXPECT_EQ(point_name(dimensions, std::vector<std::size_t>{1, 0}), "a=2, b=x");
}

TEST(FolderNames, ArePlainAndDiffer) {
  const auto dimensions = parse_vary(std::vector<std::string>{
      "topology.wan.bandwidth=100 Mbit/s,\"100 Mbit/s\",@../a/b.textproto,{ x: \"/\" }"});
  EXPECT_THAT(folder_names(dimensions, combinations(dimensions)),
              ElementsAre("bandwidth=100-Mbit-s", "bandwidth=100-Mbit-s-2",
                          "bandwidth=..-a-b.textproto", "bandwidth=x"));
}

TEST(FolderNames, LongValuesStayNames) {
  const std::string value(500, 'v');
  const auto dimensions = parse_vary(std::vector<std::string>{"a=" + value + "1," + value + "2"});
  const auto names = folder_names(dimensions, combinations(dimensions));
  EXPECT_LT(names[0].size(), 200u);
  EXPECT_NE(names[0], names[1]);
}

}  // namespace
}  // namespace syncline
