#include "topology/random_graphs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "tests/topology/graph_facts.h"

namespace syncline {
namespace {

using testing::Each;
using testing::Ge;
using testing::HasSubstr;

TEST(AddWaxman, IsConnectedHoweverFewLinksItDraws) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Topology sparse =
        made(add_waxman, WaxmanSpec{.count = 40, .alpha = 0.05, .beta = 0.1, .link = plain_link()},
             seed);
    EXPECT_EQ(host_count(sparse), 40u);
    EXPECT_GE(sparse.link_count(), 39u);
    EXPECT_GT(diameter(sparse), 0) << "seed " << seed;
  }
  // Nothing but what connects: the shortest links that do, a tree.
  const Topology tree =
      made(add_waxman, WaxmanSpec{.count = 60, .alpha = 1e-9, .beta = 1e-9, .link = plain_link()});
  EXPECT_EQ(tree.link_count(), 59u);
  EXPECT_GT(diameter(tree), 0);
}

TEST(AddWaxman, LinksAsManyAsTheFormulaSays) {
  // Mean of exp(-d / (alpha * L)) over two random points of a square by a plain sum over a grid of
  // differences: their density is 4 (1 - x) (1 - y).
  const double alpha = 0.3;
  double mean = 0;
  constexpr int kSteps = 400;
  for (int i = 0; i < kSteps; ++i) {
    for (int j = 0; j < kSteps; ++j) {
      const double x = (i + 0.5) / kSteps;
      const double y = (j + 0.5) / kSteps;
      mean += 4 * (1 - x) * (1 - y) * std::exp(-std::hypot(x, y) / (alpha * std::numbers::sqrt2)) /
              kSteps / kSteps;
    }
  }
  const Topology graph =
      made(add_waxman, WaxmanSpec{.count = 400, .alpha = alpha, .beta = 0.5, .link = plain_link()});
  const double expected = 0.5 * mean * 400 * 399 / 2;
  EXPECT_NEAR(static_cast<double>(graph.link_count()), expected, 0.1 * expected);
}

TEST(AddWaxman, LatencyGrowsWithTheLength) {
  const WaxmanSpec spec{
      .count = 50, .alpha = 1, .beta = 1, .side_s = 0.1, .link = plain_link("1 Gbit/s", "1 ms")};
  const Topology graph = made(add_waxman, spec);
  double least = 1;
  double most = 0;
  for (std::uint32_t i = 0; i < graph.link_count(); ++i) {
    least = std::min(least, graph.link({i}).latency_s[0]);
    most = std::max(most, graph.link({i}).latency_s[0]);
  }
  EXPECT_GT(least, 0.001);
  EXPECT_GT(most, 0.05);
  EXPECT_LT(most, 0.001 + 0.1 * std::numbers::sqrt2);
}

TEST(AddBarabasiAlbert, CountsAndDegrees) {
  for (const std::uint32_t m : {1u, 2u, 5u}) {
    const std::uint32_t n = 500;
    const Topology graph =
        made(add_barabasi_albert, BarabasiAlbertSpec{.count = n, .links = m, .link = plain_link()});
    EXPECT_EQ(host_count(graph), n);
    EXPECT_EQ(graph.link_count(), m * (m + 1) / 2 + (n - m - 1) * m);
    EXPECT_EQ(graph.bundle_count(), graph.link_count()) << "no pair is joined twice";
    const std::vector<std::size_t> degree = degrees(graph);
    EXPECT_THAT(degree, Each(Ge(m)));
    EXPECT_GT(diameter(graph), 0);
    // A few are far above the mean of 2 m: in a random graph of equal chances none is.
    EXPECT_GT(*std::max_element(degree.begin(), degree.end()), 6 * m);
  }
}

TEST(RandomGraphs, TheSeedDecides) {
  const BarabasiAlbertSpec spec{.count = 50, .links = 2, .link = plain_link()};
  EXPECT_EQ(degrees(made(add_barabasi_albert, spec, 1)),
            degrees(made(add_barabasi_albert, spec, 1)));
  EXPECT_NE(degrees(made(add_barabasi_albert, spec, 1)),
            degrees(made(add_barabasi_albert, spec, 2)));
}

TEST(RandomGraphs, Errors) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(error_of(add_waxman, WaxmanSpec{.count = 1}),
              HasSubstr("count: 1; write 2 to 20000"));
  EXPECT_THAT(error_of(add_waxman, WaxmanSpec{.count = 9, .alpha = 0}),
              HasSubstr("alpha: 0; write a number above 0 and at most 1"));
  EXPECT_THAT(error_of(add_waxman, WaxmanSpec{.count = 9, .beta = 1.5}), HasSubstr("beta: 1.5"));
  EXPECT_THAT(error_of(add_waxman, WaxmanSpec{.count = 9, .beta = nan}), HasSubstr("beta: nan"));
  EXPECT_THAT(error_of(add_waxman, WaxmanSpec{.count = 9, .side_s = -1}), HasSubstr("side: -1"));
  EXPECT_THAT(error_of(add_barabasi_albert, BarabasiAlbertSpec{.count = 9, .links = 0}),
              HasSubstr("links: 0; write 1"));
  EXPECT_THAT(error_of(add_barabasi_albert, BarabasiAlbertSpec{.count = 3, .links = 3}),
              HasSubstr("count: 3; write 4"));
  EXPECT_THAT(error_of(add_barabasi_albert, BarabasiAlbertSpec{.count = 9'000'000, .links = 2}),
              HasSubstr("links: more than 10000000 in all"));
}

}  // namespace
}  // namespace syncline
