// Published files that are easy to read wrong, and what is right. The points that are traces alone
// stand with the readers of traces. Skipped where SYNCLINE_DATA does not name the files' folder.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/topology/read_helpers.h"
#include "topology/routing.h"

namespace syncline {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;

class Tricky : public testing::Test {
 protected:
  void SetUp() override {
    if (published_folder().empty()) GTEST_SKIP() << "SYNCLINE_DATA names no folder";
  }
  static std::string topology(const std::string& name) {
    return published_folder() + "/topologies/" + name;
  }
  static std::string trace(const std::string& name) {
    return published_folder() + "/traces/" + name;
  }
};

struct WayFacts {
  std::vector<std::string> links;
  double bits_per_s = 0, latency_s = 0;
};

WayFacts way(const Topology& topology, const std::string& from, const std::string& to) {
  Router router(topology);
  const Route route = router.route(topology.require_node(from), topology.require_node(to));
  WayFacts facts;
  facts.latency_s = route.latency_s;
  BitRate least = BitRate::infinite();
  for (const Hop& hop : route.hops) {
    BitRate rate;
    for (const LinkId member : topology.bundle(hop.bundle).members) {
      const Link& link = topology.link(member);
      rate = std::max(
          rate, link.capacity[static_cast<std::size_t>(topology.turned(member, hop.direction))]);
    }
    facts.links.push_back(topology.link(topology.bundle(hop.bundle).members.front()).name);
    least = std::min(least, rate);
  }
  facts.bits_per_s = least.in_bits_per_s();
  return facts;
}

std::vector<std::size_t> component_sizes(const ImportedTopology& read) {
  std::vector<std::uint32_t> root(read.nodes.size());
  for (std::uint32_t i = 0; i < root.size(); ++i) root[i] = i;
  for (bool changed = true; changed;) {
    changed = false;
    for (const ImportedLink& link : read.links) {
      const std::uint32_t least = std::min(root[link.a], root[link.b]);
      changed = changed || root[link.a] != least || root[link.b] != least;
      root[link.a] = root[link.b] = least;
    }
  }
  std::map<std::uint32_t, std::size_t> sizes;
  for (const std::uint32_t each : root) ++sizes[each];
  std::vector<std::size_t> result;
  for (const auto& [unused, size] : sizes) result.push_back(size);
  std::sort(result.rbegin(), result.rend());
  return result;
}

TEST_F(Tricky, Point1PadiHasIsolatedNodesAndAPlannedLink) {
  const std::string path = topology("zoo/Padi.graphml");
  ImportedTopology read = read_imported(path);
  EXPECT_EQ(read.nodes.size(), 15U);
  EXPECT_EQ(component_sizes(read), (std::vector<std::size_t>{7, 1, 1, 1, 1, 1, 1, 1, 1}));
  ReadOptions options;
  options.missing_bandwidth = BitRate::bits_per_s(1e6);
  options.missing_latency_s = 0.001;
  const ReadTopology whole = to_topology(read, options);
  EXPECT_EQ(whole.topology.link_count(), 6U);
  EXPECT_EQ(way(whole.topology, "GEANT", "QOU").bits_per_s, 45e6);
  const ImportedLink& planned = *std::find_if(read.links.begin(), read.links.end(),
                                              [](const ImportedLink& l) { return l.planned; });
  EXPECT_EQ(std::set<std::string>({read.nodes[planned.a].label, read.nodes[planned.b].label}),
            (std::set<std::string>{"PADI2", "BU"}));
  EXPECT_FALSE(planned.bandwidth);
  options.drop_planned = true;
  EXPECT_EQ(to_topology(read, options).topology.link_count(), 5U);
  std::erase_if(read.links, [](const ImportedLink& link) { return link.planned; });
  EXPECT_EQ(count(read).components, 10U);
  // A way to an isolated node is refused by its name.
  std::vector<bool> joined(read.nodes.size());
  for (const ImportedLink& link : read.links) joined[link.a] = joined[link.b] = true;
  const auto lone =
      static_cast<std::uint32_t>(std::find(joined.begin(), joined.end(), false) - joined.begin());
  const std::string name = whole.topology.node(NodeId{lone}).name;
  EXPECT_THAT(error_of([&] { way(whole.topology, "GEANT", name); }),
              HasSubstr("no route from GEANT to " + name));
}

TEST_F(Tricky, Point2BelnetKeepsItsParallelLinks) {
  ReadOptions options;
  options.missing_latency_s = 0.001;
  const Topology read = read_topology(topology("zoo/Belnet2005.graphml"), options).topology;
  EXPECT_EQ(read.link_count(), 44U);
  EXPECT_EQ(read.bundle_count(), 41U);
  std::multiset<std::size_t> bundles;
  std::map<std::set<std::uint32_t>, std::vector<double>> rates;
  for (std::uint32_t i = 0; i < read.link_count(); ++i) {
    const Link& link = read.link(LinkId{i});
    rates[{link.a.value, link.b.value}].push_back(link.capacity[0].in_bits_per_s());
  }
  EXPECT_THAT((rates[{7, 10}]), ElementsAre(1e9, 1e9));
  EXPECT_THAT((rates[{10, 14}]), ElementsAre(1e9, 1e9, 1e9));
}

TEST_F(Tricky, Point3GarrHasSpeedsAsNumberAndUnitAndDarkFibre) {
  const std::string path = topology("zoo/Garr.graphml");
  const ImportedTopology read = read_imported(path);
  std::map<double, int> rates;
  int none = 0, dark = 0;
  for (const ImportedLink& link : read.links) {
    if (link.bandwidth) {
      ++rates[link.bandwidth->in_bits_per_s()];
      continue;
    }
    ++none;
    dark += link.status.find("Dark Fibre") != std::string::npos;
  }
  EXPECT_EQ(rates[2.5e9], 17);
  EXPECT_EQ(rates[1.55e8], 12);
  EXPECT_EQ(none, 19);
  EXPECT_EQ(dark, 11);
  for (const ImportedNode& node : read.nodes) EXPECT_FALSE(node.at);
  EXPECT_THAT(error_of([&] { read_topology(path); }), AllOf(HasSubstr("19 links have no bandwidth"),
                                                            HasSubstr("74 links have no latency")));
}

TEST_F(Tricky, Point4AbileneThreeTimes) {
  const ImportedTopology zoo = read_imported(topology("zoo/Abilene.graphml"));
  EXPECT_EQ(zoo.nodes.size(), 11U);
  EXPECT_EQ(zoo.links.size(), 14U);
  const auto labelled = [&](const std::string& label) {
    return *zoo.nodes[find_imported_node(zoo, label)].at;
  };
  const double metres = great_circle_m(labelled("New York"), labelled("Chicago"));
  EXPECT_NEAR(metres, 1145.84e3, 10);
  EXPECT_NEAR(metres / 2e8, 5.729e-3, 1e-6);
  for (const ImportedLink& link : zoo.links) {
    EXPECT_FALSE(link.bandwidth);
    EXPECT_THAT(link.status, HasSubstr("OC-192"));
  }

  const ImportedTopology sndlib = read_imported(topology("sndlib/abilene.txt"));
  EXPECT_EQ(sndlib.nodes.size(), 12U);
  std::map<double, int> rates;
  for (const ImportedLink& link : sndlib.links) ++rates[link.bandwidth->in_bits_per_s()];
  EXPECT_EQ(rates, (std::map<double, int>{{2480e6, 1}, {9920e6, 14}}));

  const std::string repetita = topology("repetita/Abilene.graph");
  EXPECT_EQ(read_imported(repetita).links.size(), 28U);
  const ReadTopology made = read_topology(repetita, {.latency_unit = "us"});
  EXPECT_EQ(made.topology.node_count(), 11U);
  EXPECT_EQ(made.topology.link_count(), 14U);
  for (std::uint32_t i = 0; i < 14; ++i)
    EXPECT_EQ(made.topology.link(LinkId{i}).capacity[0].in_bits_per_s(), 9953280e3);
  EXPECT_TRUE(std::any_of(made.warnings.begin(), made.warnings.end(),
                          [](const auto& warning) { return warning.kind == "faster than light"; }));
}

TEST_F(Tricky, Point5TheUnitOfRf1221IsAskedFor) {
  const std::string path = topology("repetita/rf1221_real_hard.graph");
  EXPECT_EQ(read_imported(path).links.size(), 302U);
  EXPECT_THAT(error_of([&] { read_topology(path); }), HasSubstr("a latency without unit"));
  const ReadTopology made = read_topology(path, {.latency_unit = "ms"});
  EXPECT_EQ(made.topology.link_count(), 151U);
  for (std::uint32_t i = 0; i < 151; ++i) {
    EXPECT_GE(made.topology.link(LinkId{i}).latency_s[0], 1e-3);
    EXPECT_LE(made.topology.link(LinkId{i}).latency_s[0], 17e-3);
  }
}

TEST_F(Tricky, Point6SmallPlatform) {
  const Topology read = read_topology(topology("simgrid/small_platform.xml")).topology;
  const WayFacts facts = way(read, "Tremblay", "Fafard");
  EXPECT_THAT(facts.links, ElementsAre("4", "3", "2", "0", "1", "8"));
  EXPECT_DOUBLE_EQ(facts.bits_per_s, 65.264e6);
  EXPECT_NEAR(facts.latency_s, 1.976025e-3, 1e-12);
  EXPECT_NEAR(facts.latency_s + 8e6 / facts.bits_per_s, 0.124555, 5e-7);
  EXPECT_NEAR(13.01 * facts.latency_s + 8e6 / (0.97 * facts.bits_per_s), 0.152078, 5e-7);
  // Ways are as written, in both directions, and not the least latency.
  EXPECT_THAT(way(read, "Tremblay", "Boivin").links,
              ElementsAre("3", "0", "16", "10", "11", "44", "47"));
  for (std::uint32_t i = 0; i < read.link_count(); ++i) {
    EXPECT_TRUE(read.link(LinkId{i}).shared);
  }
}

// When `bytes` are through, over a link that changes as the trace says.
double finish_s(const LinkTrace& trace, double base, double bytes) {
  double now = 0, rate = base;
  for (std::int64_t round = 0;; ++round) {
    for (const LinkTrace::Point& point : trace.points) {
      const double at =
          point.at.in_seconds() + static_cast<double>(round) * trace.period.value().in_seconds();
      if (bytes <= rate * (at - now)) return now + bytes / rate;
      bytes -= rate * (at - now);
      now = at;
      if (point.bandwidth) rate = point.bandwidth->in_bytes_per_s();
    }
  }
}

TEST_F(Tricky, Point7ProfileOfLink1) {
  const ReadTopology read = read_topology(topology("simgrid/small_platform_profile.xml"));
  ASSERT_EQ(read.traces.size(), 1U);
  const Link& link = read.topology.link(read.traces[0].link);
  EXPECT_EQ(link.name, "1");
  const LinkTrace& trace = read.traces[0].trace;
  std::vector<double> fast;
  for (const LinkTrace::Point& point : trace.points) {
    if (point.bandwidth == BitRate::bytes_per_s(2e6)) fast.push_back(point.at.in_seconds());
  }
  EXPECT_EQ(fast.at(0), 2);
  EXPECT_EQ(fast.at(1), 12);
  const double base = link.capacity[0].in_bytes_per_s();
  EXPECT_DOUBLE_EQ(finish_s(trace, base, 5e6), 3.5);
  EXPECT_NEAR(finish_s(trace, base, 10e6), 5.3333, 5e-5);
  EXPECT_DOUBLE_EQ(finish_s(trace, base, 30e6), 12.0);
  // The two directions go different ways.
  EXPECT_THAT(way(read.topology, "Fafard", "Jupiter").links, ElementsAre("1"));
  EXPECT_THAT(way(read.topology, "Jupiter", "Fafard").links, ElementsAre("1", "2"));
}

TEST_F(Tricky, Point10MatricesOfRoundTripsHaveNoUnit) {
  const std::string path = trace("rtt/SeattleData_1");
  ReadOptions options;
  options.missing_bandwidth = BitRate::bits_per_s(1e9);
  options.missing_latency_s = 1;
  EXPECT_THAT(error_of([&] { read_topology(path, options); }), HasSubstr("a latency without unit"));
  const ImportedTopology seattle = read_imported(path);
  EXPECT_EQ(seattle.nodes.size(), 99U);
  EXPECT_EQ(times_warned(seattle, "missing measurement"), 65U);
  EXPECT_EQ(link_of(seattle, "0", "1").latency_number, 0.085);
  EXPECT_EQ(link_of(seattle, "1", "0").latency_number, 0.06);
  std::vector<double> trips;
  double own = 0;
  for (const ImportedLink& link : seattle.links) {
    if (link.a == link.b) own = std::max(own, 2 * *link.latency_number);
    if (link.a != link.b && link.latency_number) trips.push_back(2 * *link.latency_number);
  }
  std::sort(trips.begin(), trips.end());
  EXPECT_DOUBLE_EQ(trips[trips.size() / 2], 0.21);
  EXPECT_DOUBLE_EQ(trips.back(), 9.16);
  EXPECT_DOUBLE_EQ(own, 0.45);
  options.latency_unit = "s";
  const Topology made = to_topology(seattle, options).topology;
  EXPECT_DOUBLE_EQ(way(made, "0", "1").latency_s, 0.085);
  EXPECT_DOUBLE_EQ(way(made, "1", "0").latency_s, 0.060);
  // Ways are not led through a third node, shorter or not.
  Router router(made);
  for (std::uint32_t i = 0; i < 99; ++i) {
    for (std::uint32_t j = 0; j < 99; ++j) {
      if (i != j) {
        ASSERT_EQ(router.route(NodeId{i}, NodeId{j}).hops.size(), 1U);
      }
    }
  }
  const ImportedTopology planetlab = read_imported(trace("rtt/PlanetLabData_1_first60rows"));
  EXPECT_EQ(planetlab.nodes.size(), 60U);  // of 490: the rows that are there
  EXPECT_EQ(times_warned(planetlab, "further columns"), 1U);
}

TEST_F(Tricky, Point11Skyplane) {
  const ImportedTopology read = read_imported(trace("skyplane/throughput.csv"));
  EXPECT_EQ(read.nodes.size(), 63U);
  EXPECT_EQ(times_warned(read, "repeated rows"), 80U);
  EXPECT_EQ(count(read).self_loops, 22U);
  const auto rate = [&](const char* a, const char* b) {
    return link_of(read, a, b).bandwidth->in_bits_per_s();
  };
  EXPECT_NEAR(rate("gcp:asia-south2-a", "gcp:southamerica-east1-a"), 6.31e9, 0.005e9);
  EXPECT_NEAR(rate("gcp:southamerica-east1-a", "gcp:asia-south2-a"), 1.36e8, 0.005e8);
  std::vector<double> amazon;
  for (const ImportedLink& link : read.links) {
    if (read.nodes[link.a].id.starts_with("aws:") && read.nodes[link.b].id.starts_with("aws:"))
      amazon.push_back(link.bandwidth->in_bits_per_s());
  }
  std::sort(amazon.begin(), amazon.end());
  EXPECT_NEAR(amazon[amazon.size() / 2], 4.999e9, 0.001e9);
  // A machine's own rate is shared by all of its transfers: each way begins with it.
  ReadOptions options;
  options.missing_latency_s = 0.01;
  const Topology made = to_topology(read, options).topology;
  EXPECT_EQ(way(made, "aws:eu-west-3", "aws:us-east-1").links.front(), "aws:eu-west-3/access");
  EXPECT_EQ(way(made, "aws:eu-west-3", "aws:us-east-1").links.size(), 3U);
}

TEST_F(Tricky, Point14Hgx) {
  const Topology read = read_topology(topology("astra-sim/hgx_h100_16gpu.yml")).topology;
  EXPECT_EQ(read.hosts_of("").size() + read.node_count(), 16U + 2);
  const WayFacts inside = way(read, "npu0", "npu7");
  EXPECT_NEAR(inside.bits_per_s, 3.436e12, 0.0005e12);
  EXPECT_NEAR(inside.bits_per_s / 8, 429.497e9, 0.0005e9);
  EXPECT_NEAR(inside.latency_s, 1872.5e-9, 1e-15);
  EXPECT_NEAR(way(read, "npu0", "npu8").latency_s, 1000e-9, 1e-15);
}

TEST_F(Tricky, Point15HpccReads65Links) {
  const ImportedTopology read = read_imported(topology("hpcc-ns3/topology.txt"));
  EXPECT_EQ(read.nodes.size(), 66U);
  EXPECT_EQ(read.links.size(), 65U);
  EXPECT_EQ(times_warned(read, "further lines"), 196U);
}

TEST_F(Tricky, Point16ShadowRatesStandAtTheNodes) {
  const ImportedTopology read = read_imported(topology("shadow/tor_20_node_graph.gml"));
  EXPECT_EQ(read.nodes[0].down->in_bits_per_s(), 78'028'800);
  EXPECT_EQ(read.nodes[0].up->in_bits_per_s(), 85'598'208);
  EXPECT_DOUBLE_EQ(*link_of(read, "0", "18").latency_s, 0.118555);
  EXPECT_EQ(read.links.size(), 210U);
  EXPECT_EQ(count(read).self_loops, 20U);
  for (const ImportedNode& node : read.nodes) EXPECT_TRUE(node.self_latency_s);
}

// Each published file is read, or refused for what it is.
TEST_F(Tricky, EveryFileIsReadOrRefusedForWhatItIs) {
  namespace fs = std::filesystem;
  const std::map<std::string, std::string> refused = {
      {"topologies/EXPECTED.tsv", "not known"},
      {"topologies/MANIFEST.tsv", "not known"},
      {"traces/MANIFEST.tsv", "not known"},
      {"traces/skyplane/cost_head200.csv", "prices of traffic"},
      {"traces/rtt/ibm-vpc-network-latency.md", "a page with several tables"},
      {"traces/rtt/median_meridian.syscoord", "network coordinates"},
      {"traces/rtt/median_p2psim.syscoord", "network coordinates"},
      {"traces/starlink/autobahn_throughput_head600.csv", "a measured bandwidth log"},
      {"traces/ucc5g/B_2019.12.16_11.49.59.csv", "a measured bandwidth log"},
      {"traces/mahimahi/README", "not known"}};
  const std::set<std::string> traces = {"mahimahi", "norway3g", "fcc", "lumos5g"};
  std::size_t read = 0;
  for (const auto& entry : fs::recursive_directory_iterator(published_folder())) {
    if (!entry.is_regular_file()) continue;
    const std::string path = entry.path().string();
    const std::string name = fs::relative(entry.path(), published_folder()).string();
    if (!name.starts_with("topologies/") && !name.starts_with("traces/")) continue;
    const std::string error = error_of([&] { read_imported(path); });
    if (error == "no error") {
      EXPECT_FALSE(refused.contains(name)) << name;
      EXPECT_FALSE(name.ends_with(".profile")) << name;
      ++read;
      continue;
    }
    EXPECT_TRUE(error.starts_with(path)) << error;
    if (const auto known = refused.find(name); known != refused.end()) {
      EXPECT_THAT(error, HasSubstr(known->second)) << name;
    } else if (name.ends_with(".profile")) {
      EXPECT_THAT(error, HasSubstr("a SimGrid profile")) << name;
    } else if (traces.contains(entry.path().parent_path().filename().string())) {
      EXPECT_THAT(error, HasSubstr("a link's trace")) << name;
    } else {
      EXPECT_THAT(name, HasSubstr("pantheon")) << error;
    }
  }
  // Zoo 9, SNDlib 4, Repetita 2, B4 2, Shadow 2, topohub 1, HPCC 2, ns-3 3, SimGrid 7, ASTRA-sim 4,
  // htsim 2; Skyplane 1, pairs 1, matrices 2, Ookla 1.
  EXPECT_EQ(read, 38U + 5);
}

TEST_F(Tricky, ClustersAndPeersOfSimgrid) {
  const ReadTopology tree = read_topology(topology("simgrid/cluster_fat_tree.xml"));
  EXPECT_EQ(way(tree.topology, "node-0.simgrid.org", "node-15.simgrid.org").links.size(), 4U);
  const ReadTopology peers = read_topology(topology("simgrid/two_peers.xml"));
  EXPECT_NEAR(way(peers.topology, "100030591", "100036570").latency_s,
              (std::hypot(25.5 + 12.7, 9.4 + 9.9) + 1.4 + 2.1) / 1e3, 1e-12);
  const ReadTopology grid = read_topology(topology("simgrid/g5k.xml"));
  const WayFacts far =
      way(grid.topology, "bordeplage-1.bordeaux.grid5000.fr", "adonis-12.grenoble.grid5000.fr");
  EXPECT_EQ(far.bits_per_s, 1e9);  // the hosts' own links
  const ReadTopology failing = read_topology(topology("simgrid/small_platform_failures.xml"));
  EXPECT_EQ(failing.traces.size(), 2U);
}

}  // namespace
}  // namespace syncline
