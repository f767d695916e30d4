#include "topology/fabrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/topology/graph_facts.h"

namespace syncline {
namespace {

using testing::HasSubstr;

TEST(AddLeafSpine, CountsAndDiameter) {
  const Topology fabric =
      made(add_leaf_spine, LeafSpineSpec{.leaves = 4,
                                         .spines = 3,
                                         .hosts = 5,
                                         .link = plain_link("100 Gbit/s", "1 us"),
                                         .uplink = plain_link("400 Gbit/s", "2 us")});
  EXPECT_EQ(host_count(fabric), 20u);
  EXPECT_EQ(fabric.node_count(), 20u + 4 + 3);
  EXPECT_EQ(fabric.link_count(), 20u + 12);
  EXPECT_EQ(diameter(fabric), 4);
  EXPECT_EQ(fabric.hosts_of("leaf3").size(), 5u);
  const Link& uplink = fabric.link(fabric.require_link("leaf3-spine2"));
  EXPECT_EQ(uplink.capacity[1], BitRate::bits_per_s(400e9));
  EXPECT_EQ(fabric.link(fabric.require_link("leaf0/4-leaf0")).latency_s[0], 1e-6);
}

TEST(AddFatTree, ClosedForms) {
  for (const std::uint32_t k : {2u, 4u, 8u}) {
    const Topology tree = made(add_fat_tree, FatTreeSpec{.ports = k, .link = plain_link()});
    EXPECT_EQ(host_count(tree), k * k * k / 4);
    EXPECT_EQ(tree.node_count(), k * k * k / 4 + 5 * k * k / 4);
    EXPECT_EQ(tree.link_count(), 3 * k * k * k / 4);
    EXPECT_EQ(diameter(tree), 6);
    EXPECT_EQ(tree.hosts_of("pod0").size(), k * k / 4);
    const std::vector<std::size_t> degree = degrees(tree);
    for (std::uint32_t i = 0; i < tree.node_count(); ++i)
      EXPECT_EQ(degree[i], tree.node({i}).host ? 1u : k) << tree.node({i}).name;
    // As many links between pods and core as hosts: nothing is oversubscribed.
    EXPECT_EQ(cut(tree, [](const Node& node) { return node.cluster.empty(); }), k * k * k / 4);
  }
}

TEST(AddDragonfly, ClosedForms) {
  const DragonflySpec spec{.routers = 4,
                           .hosts = 2,
                           .global_links = 2,
                           .link = plain_link("100 Gbit/s", "1 us"),
                           .global = plain_link("50 Gbit/s", "5 us")};
  const Topology fabric = made(add_dragonfly, spec);  // the paper's Figure 5: 9 groups, 72 hosts
  EXPECT_EQ(host_count(fabric), 72u);
  EXPECT_EQ(fabric.node_count(), 72u + 36);
  EXPECT_EQ(fabric.link_count(), 72u + 9 * 6 + 9 * 8 / 2);
  EXPECT_EQ(diameter(fabric), 2 + 3);  // at most local, global, local
  const std::vector<std::size_t> degree = degrees(fabric);
  for (std::uint32_t i = 0; i < fabric.node_count(); ++i)
    EXPECT_EQ(degree[i], fabric.node({i}).host ? 1u : 2u + 3 + 2) << fabric.node({i}).name;
  for (int group = 0; group < 9; ++group) {
    const std::string name = "group" + std::to_string(group);
    EXPECT_EQ(fabric.hosts_of(name).size(), 8u);
    EXPECT_EQ(cut(fabric, [&](const Node& node) { return node.cluster == name; }), 8u);
  }
}

TEST(Fabrics, Errors) {
  EXPECT_THAT(error_of(add_leaf_spine, LeafSpineSpec{.leaves = 0, .spines = 1, .hosts = 1}),
              HasSubstr("leaves: 0; write 1 to"));
  EXPECT_THAT(error_of(add_leaf_spine, LeafSpineSpec{.leaves = 1, .spines = 0, .hosts = 1}),
              HasSubstr("spines: 0"));
  EXPECT_THAT(error_of(add_leaf_spine, LeafSpineSpec{.leaves = 5000, .spines = 5000, .hosts = 1}),
              HasSubstr("15000 nodes and 25005000 links in all"));
  EXPECT_THAT(error_of(add_fat_tree, FatTreeSpec{.ports = 5}), HasSubstr("5 is odd"));
  EXPECT_THAT(error_of(add_fat_tree, FatTreeSpec{.ports = 0}), HasSubstr("ports: 0; write 2"));
  EXPECT_THAT(error_of(add_fat_tree, FatTreeSpec{.ports = 202}), HasSubstr("ports: 202"));
  EXPECT_THAT(error_of(add_dragonfly, DragonflySpec{.routers = 4, .hosts = 0, .global_links = 1}),
              HasSubstr("hosts: 0"));
  EXPECT_THAT(error_of(add_dragonfly,
                       DragonflySpec{.routers = 4'000'000, .hosts = 1, .global_links = 4'000'000}),
              HasSubstr("in all; at most 10000000 of each"));
}

}  // namespace
}  // namespace syncline
