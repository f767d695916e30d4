#include "compute/fragments.h"

#include <gmock/gmock.h>

#include <numeric>

namespace syncline {
namespace {

using testing::ElementsAre;
using Pattern = Fragment::Pattern;

TEST(Fragments, AreLayersInStridesOrInRuns) {
  EXPECT_THAT(fragment_of_layers(5, 2, Pattern::STRIDED), ElementsAre(0, 1, 0, 1, 0));
  EXPECT_THAT(fragment_of_layers(5, 2, Pattern::SEQUENTIAL), ElementsAre(0, 0, 0, 1, 1));
  EXPECT_THAT(fragment_of_layers(3, 3, Pattern::SEQUENTIAL), ElementsAre(0, 1, 2));
  EXPECT_THAT(fragment_of_layers(4, 1, Pattern::STRIDED), ElementsAre(0, 0, 0, 0));
}

TEST(Fragments, EmbeddingAndHeadGoWithTheFirstAndTheLastLayer) {
  const ModelConfig model{.layers = 3, .width = 4, .heads = 1, .context = 8};
  const std::uint64_t layer = 12 * 16 + 8;
  EXPECT_THAT(fragment_sizes(model, 40, 2, Pattern::STRIDED),
              ElementsAre(2 * layer + 40 + 40 + 4, layer));
  EXPECT_THAT(fragment_sizes(model, 40, 3, Pattern::SEQUENTIAL),
              ElementsAre(layer + 40, layer, layer + 40 + 4));
}

TEST(Fragments, SumToTheModel) {
  for (std::uint32_t layers = 1; layers <= 7; ++layers) {
    const ModelConfig model{.layers = layers, .width = 8, .heads = 2, .context = 16};
    for (std::uint32_t count = 1; count <= layers; ++count) {
      for (const Pattern pattern : {Pattern::STRIDED, Pattern::SEQUENTIAL}) {
        const std::vector<std::uint64_t> sizes = fragment_sizes(model, 8 * 50, count, pattern);
        EXPECT_THAT(sizes, testing::Each(testing::Gt(0u)));
        EXPECT_EQ(std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0}),
                  parameter_count(model, 50));
      }
    }
  }
}

TEST(Fragments, HaveKeysOfTheirOwnInTheProgram) {
  const auto hash = [](Fragment fragment, bool written) {
    Program program("header");
    Replica a = program.init(1), b = program.init(2);
    const Value value = program.read(a, Part::PARAMETERS, fragment);
    if (written) program.write(b, Part::PARAMETERS, value, fragment);
    const Value all = program.read(b, Part::PARAMETERS);
    program.eval(written ? all : value);
    return program.hash();
  };
  for (const bool written : {false, true}) {
    const Key whole = hash({}, written);
    EXPECT_EQ(hash({0, 1, Pattern::SEQUENTIAL}, written), whole);
    EXPECT_NE(hash({0, 2, Pattern::STRIDED}, written), whole);
    EXPECT_NE(hash({0, 2, Pattern::STRIDED}, written), hash({1, 2, Pattern::STRIDED}, written));
    EXPECT_NE(hash({0, 2, Pattern::STRIDED}, written), hash({0, 2, Pattern::SEQUENTIAL}, written));
    EXPECT_NE(hash({0, 2, Pattern::STRIDED}, written), hash({0, 3, Pattern::STRIDED}, written));
  }
}

}  // namespace
}  // namespace syncline
