// Topologies in the text format: reading again keeps everything.
#include "scenarios/write_topology.h"

#include <gmock/gmock.h>

#include "scenarios/load_network.h"
#include "tests/compute/temporary_folder.h"
#include "tests/topology/drawn_topologies.h"
#include "topology/input_error.h"
#include "topology/read/read.h"
#include "topology/write/writers.h"

namespace syncline {
namespace {

TEST(WriteTopology, RandomOnesSurvive) {
  const TemporaryFolder folder;
  for (std::uint32_t nodes = 2; nodes <= 200; nodes += 1 + nodes / 5) {
    SCOPED_TRACE(nodes);
    Draw draw(nodes);
    const Topology first = draw.topology(nodes);
    expect_same(first, load_network(folder.write("a.textproto", write_topology(first))).topology);
    // By way of the other writers.
    const std::string graphml = folder.write("a.graphml", write_graphml(as_imported(first)));
    const std::string dot = folder.write("a.dot", write_dot(read_imported(graphml)));
    const std::string text = write_topology(read_topology(dot).topology);
    EXPECT_EQ(text, write_topology(first));
    if (HasFailure()) return;
  }
}

TEST(WriteTopology, IsShortForPeople) {
  Topology topology;
  const NodeId a = topology.add_node({"a", true, ""});
  const NodeId b = topology.add_node({"b", false, "c", GeoPoint{47.5, 7.25}});
  const BitRate rate = BitRate::bits_per_s(1e9);
  topology.add_link({"a-b", a, b, {rate, rate}, {0.02, 0.02}, false});
  EXPECT_EQ(
      write_topology(topology),
      "nodes { name: \"a\" }\n"
      "nodes { name: \"b\" host: false cluster: \"c\" latitude: 47.5 longitude: 7.25 }\n"
      "links { name: \"a-b\" a: \"a\" b: \"b\" bandwidth: \"1 Gbit/s\" latency: \"20 ms\" }\n");
}

TEST(WriteTopology, NamesThatTheFormatDoesNotHave) {
  Topology topology;
  topology.add_node({"a\x01", true, ""});
  EXPECT_THROW(write_topology(topology), InputError);
}

}  // namespace
}  // namespace syncline
