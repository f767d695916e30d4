// Random topologies with everything in them.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "topology/distribution.h"
#include "topology/read/imported.h"
#include "topology/topology.h"

namespace syncline {

inline void expect_same(const Topology& a, const Topology& b) {
  ASSERT_EQ(a.node_count(), b.node_count());
  ASSERT_EQ(a.link_count(), b.link_count());
  for (std::uint32_t i = 0; i < a.node_count(); ++i) {
    const Node &x = a.node(NodeId{i}), &y = b.node(NodeId{i});
    EXPECT_EQ(x.name, y.name);
    EXPECT_EQ(x.host, y.host);
    EXPECT_EQ(x.cluster, y.cluster);
    EXPECT_EQ(x.at, y.at);
  }
  for (std::uint32_t i = 0; i < a.link_count(); ++i) {
    const Link &x = a.link(LinkId{i}), &y = b.link(LinkId{i});
    SCOPED_TRACE(x.name);
    EXPECT_EQ(x.name, y.name);
    EXPECT_EQ(x.a, y.a);
    EXPECT_EQ(x.b, y.b);
    EXPECT_EQ(x.capacity, y.capacity);
    EXPECT_EQ(x.latency_s, y.latency_s);
    EXPECT_EQ(x.shared, y.shared);
  }
}

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed, "write_test") {}

  std::uint32_t below(std::uint32_t most) {
    return static_cast<std::uint32_t>(random_.uniform() * most);
  }
  bool often() { return random_.uniform() < 0.5; }
  // Some are round, some have all digits.
  double number() {
    return often() ? below(100) * 1000.0 : random_.uniform() * std::pow(10.0, below(12));
  }
  std::string text() {
    static const std::vector<std::string> kParts{"a",   "Zürich", "\"",   "\\",   "&",  "<x>",
                                                 "]]>", "'",      ", ",   "-> b", "#1", "//c",
                                                 "=",   "{",      "東京", "7"};
    std::string text;
    for (std::uint32_t i = 1 + below(4); i > 0; --i) text += kParts[below(kParts.size())];
    while (text.ends_with(' ')) text.pop_back();
    while (text.starts_with(' ')) text.erase(0, 1);
    return text.empty() ? "x" : text;
  }

  ImportedTopology imported(std::uint32_t nodes) {
    ImportedTopology topology;
    for (std::uint32_t i = 0; i < nodes; ++i) {
      ImportedNode& node = topology.nodes.emplace_back();
      node.id = std::to_string(i) + text();
      if (often()) node.label = text();
      if (often()) node.at = GeoPoint{180 * random_.uniform() - 90, 360 * random_.uniform() - 180};
      node.host = often();
      if (often()) node.cluster = text();
      if (often()) {
        node.up = BitRate::bits_per_s(number());
        node.down = BitRate::bits_per_s(number());
      }
      if (below(9) == 0) node.self_latency_s = number() * 1e-9;
    }
    for (std::uint32_t i = 0; i < 2 * nodes; ++i) {
      ImportedLink& link = topology.links.emplace_back();
      link.a = below(nodes);
      link.b = below(nodes);
      if (often()) link.name = text();
      link.directed = below(3) == 0;
      link.shared = below(5) == 0;
      if (const std::uint32_t kind = below(4); kind == 0) {
        link.bandwidth_number = number();
      } else if (kind == 1) {
        link.bandwidth = BitRate::infinite();
      } else if (kind == 2) {
        link.bandwidth = BitRate::bits_per_s(number());
      }
      if (const std::uint32_t kind = below(3); kind == 0) {
        link.latency_number = number();
      } else if (kind == 1) {
        link.latency_s = number() * 1e-9;
      }
      if (often()) link.length_m = number();
      if (below(4) == 0) {
        link.planned = true;
        link.status = "Planned";
      } else if (often()) {
        link.status = text();
      }
    }
    return topology;
  }

  Topology topology(std::uint32_t nodes) {
    Topology topology;
    for (std::uint32_t i = 0; i < nodes; ++i) {
      std::optional<GeoPoint> at;
      if (often()) at = GeoPoint{180 * random_.uniform() - 90, 360 * random_.uniform() - 180};
      topology.add_node({std::to_string(i) + text(), often(), often() ? text() : "", at});
    }
    for (std::uint32_t i = 0; i < 2 * nodes; ++i) {
      Link link;
      link.a = NodeId{below(nodes)};
      link.b = NodeId{below(nodes)};
      if (link.a == link.b) continue;
      link.name = std::to_string(i) + text();
      link.shared = below(4) == 0;
      const auto rate = [&] {
        return below(5) == 0 ? BitRate::infinite() : BitRate::bits_per_s(number());
      };
      link.capacity[0] = rate();
      link.capacity[1] = link.shared || often() ? link.capacity[0] : rate();
      link.latency_s[0] = number() * 1e-9;
      link.latency_s[1] = often() ? link.latency_s[0] : number() * 1e-9;
      topology.add_link(link);
    }
    return topology;
  }

 private:
  RandomStream random_;
};

}  // namespace syncline
