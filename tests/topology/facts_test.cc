#include "topology/facts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>

#include "topology/distribution.h"

namespace syncline {
namespace {

BitRate bits(double value) { return BitRate::bits_per_s(value); }

TEST(FactsTest, DiameterOfALine) {
  const std::vector<Arc> arcs{{0, 1, {}, 1}, {1, 0, {}, 1}, {1, 2, {}, 2.5}, {2, 1, {}, 2.5}};
  const auto found = find_diameter(4, arcs);  // node 3 is alone
  ASSERT_TRUE(found);
  EXPECT_EQ(found->length, 3.5);
  EXPECT_EQ(found->from + found->to, 2U);
  EXPECT_TRUE(found->exact);
  EXPECT_FALSE(find_diameter(3, {}));
  EXPECT_FALSE(find_diameter(0, {}));
}

TEST(FactsTest, DiameterWithLittleWorkIsALowerBound) {
  std::vector<Arc> ring;
  for (std::uint32_t i = 0; i < 100; ++i) {
    ring.push_back({i, (i + 1) % 100, {}, 1});
    ring.push_back({(i + 1) % 100, i, {}, 1});
  }
  const auto found = find_diameter(100, ring, 1000);
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->exact);
  EXPECT_EQ(found->length, 50);  // from every node of a ring
}

TEST(FactsTest, CutBetweenGroups) {
  // Two pairs, joined by a link of 3 there and 2 back, and one of 4 and 4.
  const std::vector<Arc> arcs{{0, 1, bits(100)}, {1, 0, bits(100)}, {2, 3, bits(100)},
                              {3, 2, bits(100)}, {1, 2, bits(3)},   {2, 1, bits(2)},
                              {0, 3, bits(4)},   {3, 0, bits(4)}};
  const std::vector<std::vector<std::uint32_t>> groups{{0, 1}, {2}};
  const auto cut = find_narrowest_cut(4, arcs, groups);
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->bandwidth, bits(6));  // the way back
  EXPECT_EQ(cut->from, 1U);
  EXPECT_EQ(cut->near, (std::vector<bool>{false, false, true, true}));
}

TEST(FactsTest, CutWithoutLimitAndWithoutWay) {
  const std::vector<std::vector<std::uint32_t>> groups{{0}, {1}};
  const std::vector<Arc> wide{{0, 1, BitRate::infinite()}, {1, 0, BitRate::infinite()}};
  EXPECT_EQ(find_narrowest_cut(2, wide, groups)->bandwidth, BitRate::infinite());
  EXPECT_EQ(find_narrowest_cut(2, {}, groups)->bandwidth, BitRate());
  EXPECT_FALSE(find_narrowest_cut(2, wide, groups, 1));
  EXPECT_FALSE(find_narrowest_cut(2, wide, {}));
}

// Against plain oracles: Floyd and Warshall, and all ways to divide the nodes.
TEST(FactsTest, RandomGraphs) {
  RandomStream random(1, "facts");
  const auto below = [&](std::uint32_t most) {
    return static_cast<std::uint32_t>(random.uniform() * most);
  };
  for (int round = 0; round < 200; ++round) {
    const std::uint32_t nodes = 2 + below(7);
    std::vector<Arc> arcs;
    for (std::uint32_t i = 0; i < 2 * nodes; ++i) {
      const std::uint32_t from = below(nodes);
      const std::uint32_t to = below(nodes);
      if (from != to) arcs.push_back({from, to, bits(below(20)), static_cast<double>(below(9))});
    }
    constexpr double kFar = std::numeric_limits<double>::infinity();
    std::vector<std::vector<double>> length(nodes, std::vector<double>(nodes, kFar));
    for (const Arc& arc : arcs)
      length[arc.from][arc.to] = std::min(length[arc.from][arc.to], arc.length);
    for (std::uint32_t k = 0; k < nodes; ++k) {
      for (std::uint32_t i = 0; i < nodes; ++i) {
        for (std::uint32_t j = 0; j < nodes; ++j)
          length[i][j] = std::min(length[i][j], length[i][k] + length[k][j]);
      }
    }
    double longest = -1;
    for (std::uint32_t i = 0; i < nodes; ++i) {
      for (std::uint32_t j = 0; j < nodes; ++j) {
        if (i != j && length[i][j] < kFar) longest = std::max(longest, length[i][j]);
      }
    }
    const auto diameter = find_diameter(nodes, arcs);
    EXPECT_EQ(diameter ? diameter->length : -1, longest);

    std::vector<std::vector<std::uint32_t>> groups;
    for (std::uint32_t i = 0; i < nodes; ++i) groups.push_back({i});
    double least = kFar;
    for (std::uint32_t side = 1; side + 1 < 1U << nodes; ++side) {
      double crossing = 0;
      for (const Arc& arc : arcs) {
        if ((side >> arc.from & 1) == 1 && (side >> arc.to & 1) == 0)
          crossing += arc.bandwidth.in_bits_per_s();
      }
      least = std::min(least, crossing);
    }
    const auto cut = find_narrowest_cut(nodes, arcs, groups);
    ASSERT_TRUE(cut);
    EXPECT_EQ(cut->bandwidth.in_bits_per_s(), least);
    double crossing = 0;
    for (const Arc& arc : arcs) {
      if (cut->near[arc.from] && !cut->near[arc.to]) crossing += arc.bandwidth.in_bits_per_s();
    }
    EXPECT_EQ(crossing, least);
  }
}

}  // namespace
}  // namespace syncline
