// Writing and reading again keeps everything.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/topology/drawn_topologies.h"
#include "topology/read/read.h"
#include "topology/write/exact_text.h"
#include "topology/write/writers.h"

namespace syncline {
namespace {

namespace fs = std::filesystem;

ImportedTopology read_again(const std::string& text) {
  const std::string path =
      (fs::path(testing::TempDir()) / ("write_test_" + std::to_string(::getpid()))).string();
  std::ofstream(path, std::ios::binary) << text;
  ImportedTopology read = read_imported(path);
  fs::remove(path);
  return read;
}

void expect_same(const ImportedTopology& a, const ImportedTopology& b) {
  ASSERT_EQ(a.nodes.size(), b.nodes.size());
  ASSERT_EQ(a.links.size(), b.links.size());
  for (std::size_t i = 0; i < a.nodes.size(); ++i) {
    SCOPED_TRACE(a.nodes[i].id);
    EXPECT_EQ(a.nodes[i].id, b.nodes[i].id);
    EXPECT_EQ(a.nodes[i].label, b.nodes[i].label);
    EXPECT_EQ(a.nodes[i].at, b.nodes[i].at);
    EXPECT_EQ(a.nodes[i].host, b.nodes[i].host);
    EXPECT_EQ(a.nodes[i].cluster, b.nodes[i].cluster);
    EXPECT_EQ(a.nodes[i].up, b.nodes[i].up);
    EXPECT_EQ(a.nodes[i].down, b.nodes[i].down);
    EXPECT_EQ(a.nodes[i].self_latency_s, b.nodes[i].self_latency_s);
  }
  for (std::size_t i = 0; i < a.links.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(a.links[i].name, b.links[i].name);
    EXPECT_EQ(a.links[i].a, b.links[i].a);
    EXPECT_EQ(a.links[i].b, b.links[i].b);
    EXPECT_EQ(a.links[i].directed, b.links[i].directed);
    EXPECT_EQ(a.links[i].shared, b.links[i].shared);
    EXPECT_EQ(a.links[i].bandwidth, b.links[i].bandwidth);
    EXPECT_EQ(a.links[i].bandwidth_number, b.links[i].bandwidth_number);
    EXPECT_EQ(a.links[i].latency_s, b.links[i].latency_s);
    EXPECT_EQ(a.links[i].latency_number, b.links[i].latency_number);
    EXPECT_EQ(a.links[i].length_m, b.links[i].length_m);
    EXPECT_EQ(a.links[i].planned, b.links[i].planned);
    EXPECT_EQ(a.links[i].status, b.links[i].status);
  }
}

TEST(WriteTest, ExactTexts) {
  EXPECT_EQ(exact_text(BitRate::bits_per_s(1e9)), "1 Gbit/s");
  EXPECT_EQ(exact_text(BitRate::infinite()), "no limit");
  EXPECT_EQ(exact_text(BitRate::bits_per_s(9953280001)), "9953280001 bit/s");
  EXPECT_EQ(exact_time_text(0.02), "20 ms");
  EXPECT_EQ(exact_time_text(0), "0 s");
  Draw draw(1);
  for (int i = 0; i < 2000; ++i) {
    const double value = draw.number();
    EXPECT_EQ(parse_bit_rate(exact_text(BitRate::bits_per_s(value))), BitRate::bits_per_s(value));
    EXPECT_EQ(parse_quantity(exact_time_text(value * 1e-9), Dimension::TIME), value * 1e-9);
  }
}

TEST(WriteTest, RandomFilesSurviveEveryWriter) {
  for (std::uint32_t nodes = 2; nodes <= 200; nodes += 1 + nodes / 5) {
    SCOPED_TRACE(nodes);
    Draw draw(nodes);
    const ImportedTopology first = draw.imported(nodes);
    expect_same(first, read_again(write_graphml(first)));
    expect_same(first, read_again(write_dot(first)));
    // From one to the other and back.
    expect_same(first, read_again(write_dot(read_again(write_graphml(first)))));
    if (HasFailure()) return;
  }
}

TEST(WriteTest, RandomTopologiesSurviveEveryWriter) {
  for (std::uint32_t nodes = 2; nodes <= 200; nodes += 1 + nodes / 5) {
    SCOPED_TRACE(nodes);
    Draw draw(1000 + nodes);
    const Topology first = draw.topology(nodes);
    const ImportedTopology imported = as_imported(first);
    expect_same(first, to_topology(imported).topology);
    expect_same(first, to_topology(read_again(write_graphml(imported))).topology);
    expect_same(first, to_topology(read_again(write_dot(imported))).topology);
    if (HasFailure()) return;
  }
}

// What the samples of other formats say survives, too.
TEST(WriteTest, SamplesSurvive) {
  for (const auto& entry : fs::directory_iterator(SYNCLINE_SAMPLES)) {
    SCOPED_TRACE(entry.path());
    const ImportedTopology first = read_imported(entry.path().string());
    expect_same(first, read_again(write_graphml(first)));
    expect_same(first, read_again(write_dot(first)));
  }
}

}  // namespace
}  // namespace syncline
