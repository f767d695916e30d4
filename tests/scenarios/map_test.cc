// Topologies from files, and traffic of others.
#include <gmock/gmock.h>

#include "scenarios/load_network.h"
#include "scenarios/setup.h"
#include "sim/simulation.h"
#include "tests/scenarios/base_scenario.h"
#include "tests/scenarios/describe.h"
#include "tests/scenarios/error_case.h"

namespace syncline {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kMap = R"(<graphml>
<key id="n" for="node" attr.name="label"/><key id="y" for="node" attr.name="Latitude"/>
<key id="x" for="node" attr.name="Longitude"/><key id="b" for="edge" attr.name="bandwidth"/>
<graph edgedefault="undirected">
<node id="0"><data key="n">Bern</data><data key="y">46.95</data><data key="x">7.45</data></node>
<node id="1"><data key="n">Basel</data><data key="y">47.56</data><data key="x">7.59</data></node>
<node id="2"><data key="n">Twin</data></node>
<node id="3"><data key="n">Twin</data></node>
<edge source="0" target="1"><data key="b">10 Gbit/s</data></edge>
<edge source="0" target="1"><data key="b">1 Gbit/s</data></edge>
<edge source="1" target="2"/>
<edge source="2" target="3"><data key="b">1 Gbit/s</data></edge>
</graph></graphml>
)";

// The topology on lines 2 and 3, with a site at each of two nodes.
Lines on_map(const std::string& file, const std::string& at = "Twin") {
  return {{2, "topology { file { path: \"map.graphml\" " + file + " }"},
          {3, R"(nodes { name: "milan" at: "Bern" hosts: 2 access { bandwidth: "1 Gbit/s" } }
nodes { name: "paris" at: ")" +
                  at + R"(" hosts: 2 access { bandwidth: "1 Gbit/s" } } })"}};
}
constexpr const char* kMissing = R"(missing { bandwidth: "5 Gbit/s" latency: "2 ms" })";

struct OnMap : testing::Test {
  OnMap() { base.write("map.graphml", kMap); }
  BaseScenario base;
};

TEST_F(OnMap, NodesAndLinksAreThoseOfTheFile) {
  const CheckedScenario scenario = base.load(on_map(kMissing, "id:3"));
  const Topology& topology = scenario.topology;
  EXPECT_EQ(topology.node_count(), 4u + 2 * 3);
  const Link& parallel = topology.link(topology.require_link("Bern-Basel#2"));
  EXPECT_EQ(parallel.capacity[0], BitRate::bits_per_s(1e9));
  EXPECT_NEAR(parallel.latency_s[0], 68.65e3 / 2e8, 1e-6);
  EXPECT_EQ(topology.node(parallel.a).at->latitude, 46.95);
  const Link& given = topology.link(topology.require_link("Basel-id:2"));
  EXPECT_EQ(given.capacity[1], BitRate::bits_per_s(5e9));
  EXPECT_EQ(given.latency_s[1], 0.002);
  // The site stands at the node that its id names.
  const Link& access = topology.link(topology.require_link("paris-id:3"));
  EXPECT_EQ(topology.node(access.b).name, "id:3");
  EXPECT_THAT(scenario.assumptions,
              testing::IsSupersetOf(
                  {HasSubstr("map.graphml: 1 of 4 links: bandwidth as given for missing ones"),
                   HasSubstr("map.graphml: 2 of 4 links: latency from the coordinates, 2e8 m/s"),
                   HasSubstr("map.graphml: parallel links (line 10)")}));
}

TEST_F(OnMap, WhatIsWrittenIsTheSame) {
  const CheckedScenario first = base.load(on_map(kMissing, "id:3"));
  EXPECT_THAT(first.written, AllOf(HasSubstr("path: \"" + base.folder() + "/map.graphml\""),
                                   HasSubstr("hash: \""), HasSubstr("detour: 1")));
  const CheckedScenario second = base.load_text(first.written);
  EXPECT_EQ(second.written, first.written);
  EXPECT_EQ(describe(second), describe(first));
  base.write("map.graphml", std::string(kMap) + "\n");
  EXPECT_THAT(base.error_of(base.write("again.textproto", first.written)),
              AllOf(HasSubstr("topology.file.hash: "), HasSubstr("it was changed since")));
}

TEST_F(OnMap, FieldsOfTheFile) {
  const auto latency = [&](const std::string& file) {
    const CheckedScenario scenario = base.load(on_map(kMissing + (" " + file), "id:3"));
    return scenario.topology.link(scenario.topology.require_link("Bern-Basel")).latency_s[0];
  };
  EXPECT_DOUBLE_EQ(latency("detour: 2"), 2 * latency(""));
  base.write("map.graphml",
             "NODES 2\nlabel x y\nBern 7 46\nBasel 7 47\n\nEDGES 2\nlabel src dest weight bw "
             "delay\ne0 0 1 1 8000 5\ne1 1 0 1 8000 5\n");
  const CheckedScenario scenario = base.load(on_map("latency_unit: \"ms\"", "Basel"));
  EXPECT_EQ(scenario.topology.link(LinkId{0}).latency_s[0], 0.005);
}

TEST_F(OnMap, Errors) {
  const auto error = [&](const std::string& file, const std::string& at = "id:3") {
    return base.error(on_map(file, at));
  };
  EXPECT_THAT(error(""),
              AllOf(StartsWith("base.textproto:2: topology.file.path: "),
                    HasSubstr("1 link has no bandwidth"), HasSubstr("line 11: Basel - id:2"),
                    HasSubstr("2 links have no latency")));
  EXPECT_THAT(error(kMissing, "Twin"),
              AllOf(StartsWith("base.textproto:4: topology.nodes[1].at: "),
                    HasSubstr("2 nodes are called \"Twin\"; write one of \"id:2\" (line 7), "
                              "\"id:3\" (line 8)")));
  EXPECT_THAT(error(kMissing, "Bsael"), HasSubstr("\"Basel\""));
  EXPECT_THAT(error("missing { bandwidth: \"5\" }"),
              StartsWith("base.textproto:2: topology.file.missing.bandwidth: \"5\" has no unit"));
  EXPECT_THAT(error("missing { latency: \"-1 ms\" }"),
              StartsWith("base.textproto:2: topology.file.missing.latency: "));
  EXPECT_THAT(error("missing { name: \"x\" }"), HasSubstr("more than bandwidth and latency"));
  EXPECT_THAT(error("detour: 0.5"),
              StartsWith("base.textproto:2: topology.file.detour: 0.5; write a factor"));
  EXPECT_THAT(error("latency_unit: \"Gbit/s\""),
              StartsWith("base.textproto:2: topology.file.latency_unit: "));
  EXPECT_THAT(error("hash: \"0\""), StartsWith("base.textproto:2: topology.file.hash: 0, but"));
  EXPECT_THAT(base.error({{2, "topology { file {"}, {3, "} }"}}),
              StartsWith("base.textproto:2: topology.file.path: is missing"));
  EXPECT_THAT(base.error({{2, "topology { file { path: \"no.gml\""}, {3, "} }"}}),
              StartsWith("base.textproto:2: topology.file.path: "));
  base.write("map.graphml", "<graphml>\n<graph/></graphml>");
  EXPECT_THAT(error(kMissing),
              HasSubstr("map.graphml:2: graph: the attribute edgedefault is missing"));
}

TEST_F(OnMap, NodesMayHaveAPlaceAndACluster) {
  const auto load = [&](const std::string& node) {
    return base.error(
        {{3, "  wan { bandwidth: \"1 Gbit/s\" } }\nnodes { name: \"x\" " + node + "}\n}"}});
  };
  EXPECT_EQ(load("cluster: \"milan\" latitude: 45.46 longitude: 9.19"), "");
  EXPECT_THAT(load("latitude: 45"), HasSubstr("topology.nodes[0].longitude: is missing"));
  EXPECT_THAT(load("latitude: 91 longitude: 0"), HasSubstr("latitude: 91; write degrees"));
  EXPECT_THAT(load("latitude: 0 longitude: -181"), HasSubstr("longitude: -181; write degrees"));
  EXPECT_THAT(load("hosts: 2 cluster: \"y\""), HasSubstr("topology.nodes[0].cluster: "));
}

TEST_F(OnMap, LatencyBackAndNoLimit) {
  const Lines links = more_topology(
      "links { a: \"milan\" b: \"paris\" bandwidth: \"no limit\" bandwidth_back: \"1 Gbit/s\" "
      "latency: \"1 ms\" latency_back: \"2 ms\" } links { name: \"milan-core\" latency_back: "
      "\"7 ms\" }");
  const CheckedScenario scenario = base.load(links);
  const Topology& topology = scenario.topology;
  const Link& link = topology.link(topology.require_link("milan-paris"));
  EXPECT_EQ(link.capacity[0], BitRate::infinite());
  EXPECT_EQ(link.latency_s[1], 0.002);
  EXPECT_EQ(topology.link(topology.require_link("milan-core")).latency_s[1], 0.007);
  EXPECT_EQ(describe(base.load_text(scenario.written)), describe(scenario));
  EXPECT_THAT(base.error(wan("bandwidth: \"1 Gbit/s\" latency_back: \"1 ms\"")),
              StartsWith("base.textproto:3: topology.clusters.wan.latency_back: "));
}

TEST_F(OnMap, ATopologyAloneIsANetwork) {
  const auto load = [&](const std::string& text) {
    return load_network(base.write("network.textproto", text)).topology.node_count();
  };
  EXPECT_EQ(load("# a comment\nfile { path: \"map.graphml\" " + std::string(kMissing) + " }"), 4u);
  EXPECT_EQ(load("name: \"s\" topology { clusters { count: 1 } }"), 3u);
  try {
    load("nodes { name: \"a\" }\nnodes { name: \"a\" }");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("network.textproto:2: topology.nodes[1].name: "));
  }
}

constexpr const char* kHeader = "start_s,source,destination,bytes\n";
Lines with_others(const std::string& stop = "rounds: 1") {
  return {{9, "stop { " + stop + " }\nbackground { flows: \"others.csv\" }"}};
}

// Two steps of 25 MB each way at 1 Gbit/s, 40 ms apart, after a second of computing.
TEST_F(OnMap, OthersShareTheLinks) {
  const auto time = [&](const CheckedScenario& scenario) {
    return simulate(scenario.topology, simulation_setup(scenario, 12'500'000, {}), nullptr)
        .virtual_time;
  };
  const auto with = [&](const std::string& flows) {
    base.write("others.csv", kHeader + flows);
    return time(base.load(with_others()));
  };
  const Time alone = time(base.load({{9, "stop { rounds: 1 }"}}));
  EXPECT_EQ(alone, Time::seconds(1.48));
  // Half of one direction all the time, and the run ends long before the others.
  EXPECT_EQ(with("0,milan/0,paris/0,1000000000000\n"), Time::seconds(1.88));
  EXPECT_EQ(with("0,milan/0,milan/1,1000000000000\n"), alone);
  EXPECT_EQ(with("1000,milan/0,paris/0,1000\n"), alone);
  // 12.5 MB at half the rate: 0.2 s of which 0.1 s are lost to them.
  EXPECT_EQ(with("1,milan/0,paris/0,12500000\n"), alone + Time::seconds(0.1));
}

TEST_F(OnMap, OthersAreNotInTheAccountsOfTheRun) {
  base.write("others.csv", std::string(kHeader) + "0,milan/0,paris/0,12500000\n");
  const CheckedScenario scenario = base.load(with_others());
  const SimulationOutcome with =
      simulate(scenario.topology, simulation_setup(scenario, 12'500'000, {}), nullptr);
  const CheckedScenario plain = base.load({{9, "stop { rounds: 1 }"}});
  const SimulationOutcome alone =
      simulate(plain.topology, simulation_setup(plain, 12'500'000, {}), nullptr);
  // They are over before the first average.
  EXPECT_EQ(with.virtual_time, alone.virtual_time);
  EXPECT_EQ(with.sent, alone.sent);
  EXPECT_NEAR(with.limited_by_latency_s, alone.limited_by_latency_s, 1e-9);
  const LinkId link = plain.topology.require_link("milan-core");
  const ChannelId out =
      plain.topology.bundle(plain.topology.bundle_of(link))
          .channel[static_cast<int>(plain.topology.turned(link, Direction::FORWARD))];
  EXPECT_NEAR(with.links[out.value].limited_s, alone.links[out.value].limited_s, 1e-9);
  // What crossed the link is all that did.
  EXPECT_EQ(with.links[out.value].use.bytes, alone.links[out.value].use.bytes + Bytes(12'500'000));
}

TEST_F(OnMap, StreamIsNotExactBesideOthers) {
  base.write("others.csv", std::string(kHeader) + "0,milan/0,paris/0,1\n");
  Lines lines = with_others();
  lines[8] = "strategy { diloco {} local_steps: 20 collective { fidelity: STREAM } }";
  const CheckedScenario scenario = base.load(lines);
  EXPECT_EQ(scenario.strategy.collective.fidelity, Fidelity::CHUNK);
  EXPECT_THAT(scenario.assumptions,
              testing::Contains(HasSubstr("since there is background traffic")));
}

TEST_F(OnMap, WrongOthers) {
  EXPECT_THAT(base.error({{9, "stop { rounds: 1 }\nbackground {}"}}),
              StartsWith("base.textproto:10: background.flows: is missing"));
  EXPECT_THAT(base.error(with_others()),
              AllOf(StartsWith("base.textproto:10: background.flows: "), HasSubstr("others.csv")));
  base.write("others.csv", std::string(kHeader) + "0,milan/0,berlin,1\n");
  EXPECT_THAT(base.error(with_others()),
              AllOf(StartsWith("base.textproto:10: background.flows: "),
                    HasSubstr("others.csv:2:11: destination: no node is called \"berlin\"")));
}

}  // namespace
}  // namespace syncline
