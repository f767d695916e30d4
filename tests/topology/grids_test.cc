#include "topology/grids.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/topology/graph_facts.h"

namespace syncline {
namespace {

using testing::Each;
using testing::HasSubstr;

TEST(AddRing, CountsDegreesAndDiameter) {
  for (const std::uint32_t n : {3u, 4u, 9u, 16u}) {
    const Topology ring = made(add_ring, RingSpec{.count = n, .link = plain_link()});
    EXPECT_EQ(host_count(ring), n);
    EXPECT_EQ(ring.link_count(), n);
    EXPECT_THAT(degrees(ring), Each(2u));
    EXPECT_EQ(diameter(ring), static_cast<int>(n / 2));
  }
  const Topology ring = made(add_ring, RingSpec{.count = 3, .link = plain_link()});
  EXPECT_TRUE(ring.find_link("node2-node0"));
}

TEST(AddGrid, MeshOfThreeByFour) {
  const Topology mesh = made(add_grid, GridSpec{.size = {3, 4}, .link = plain_link()});
  EXPECT_EQ(host_count(mesh), 12u);
  EXPECT_EQ(mesh.link_count(), 2u * 4 + 3u * 3);
  EXPECT_EQ(diameter(mesh), 2 + 3);
  EXPECT_TRUE(mesh.find_link("node0.0-node0.1"));
  EXPECT_TRUE(mesh.find_link("node1.3-node2.3"));
  EXPECT_FALSE(mesh.find_node("node3.0"));
  EXPECT_EQ(cut(mesh, [](const Node& node) { return node.name < "node1"; }), 4u);
}

TEST(AddGrid, Torus) {
  const Topology torus =
      made(add_grid, GridSpec{.size = {4, 4, 3}, .wrap = true, .link = plain_link()});
  EXPECT_EQ(host_count(torus), 48u);
  EXPECT_EQ(torus.link_count(), 3u * 48);
  EXPECT_THAT(degrees(torus), Each(6u));
  EXPECT_EQ(diameter(torus), 2 + 2 + 1);
  // The bisection of a torus: two planes of 4 * 3 links.
  EXPECT_EQ(cut(torus, [](const Node& node) { return node.name < "node2"; }), 24u);
}

TEST(AddGrid, RowsOfTwoAreJoinedOnce) {
  const Topology cube =
      made(add_grid, GridSpec{.size = {2, 2, 2}, .wrap = true, .link = plain_link()});
  EXPECT_EQ(cube.link_count(), 12u);
  EXPECT_EQ(diameter(cube), 3);
  const Topology row = made(add_grid, GridSpec{.size = {1, 5}, .wrap = true, .link = plain_link()});
  EXPECT_EQ(row.link_count(), 5u);
}

TEST(AddTree, CountsAndDiameter) {
  for (const std::uint32_t arity : {2u, 3u}) {
    for (const std::uint32_t depth : {1u, 2u, 4u}) {
      const Topology tree =
          made(add_tree, TreeSpec{.arity = arity, .depth = depth, .link = plain_link()});
      std::size_t leaves = 1;
      std::size_t nodes = 1;
      for (std::uint32_t level = 0; level < depth; ++level) nodes += leaves *= arity;
      EXPECT_EQ(host_count(tree), leaves);
      EXPECT_EQ(tree.node_count(), nodes);
      EXPECT_EQ(tree.link_count(), nodes - 1);
      EXPECT_EQ(diameter(tree), static_cast<int>(2 * depth));
    }
  }
}

TEST(Grids, Errors) {
  EXPECT_THAT(error_of(add_ring, RingSpec{.count = 2}), HasSubstr("count: 2; write 3 to"));
  EXPECT_THAT(error_of(add_grid, GridSpec{}), HasSubstr("size: is missing"));
  EXPECT_THAT(error_of(add_grid, GridSpec{.size = {4, 0}}), HasSubstr("size: 0; write 1 to"));
  EXPECT_THAT(error_of(add_grid, GridSpec{.size = {1, 1}}), HasSubstr("it is one host"));
  EXPECT_THAT(error_of(add_grid, GridSpec{.size = {100'000, 100'000}}),
              HasSubstr("more than 10000000 hosts"));
  EXPECT_THAT(error_of(add_tree, TreeSpec{.arity = 1, .depth = 1}), HasSubstr("arity: 1; write 2"));
  EXPECT_THAT(error_of(add_tree, TreeSpec{.arity = 2, .depth = 0}), HasSubstr("depth: 0; write 1"));
  EXPECT_THAT(error_of(add_tree, TreeSpec{.arity = 2, .depth = 32}),
              HasSubstr("depth: more than 10000000 nodes"));
  RingSpec both{.count = 4, .link = plain_link()};
  both.link.shared = both.link.asymmetric = true;
  EXPECT_THAT(error_of(add_ring, both), HasSubstr("link: it is shared"));
}

}  // namespace
}  // namespace syncline
