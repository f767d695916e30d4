"""syncline topology: what it says of files, what it writes and draws.

usage: topology_test.py SYNCLINE PART     the tests of one class, with the program SYNCLINE
       topology_test.py --parts PART...   checks that these are all the classes
"""

import csv
import json
import os
import pathlib
import sys
import unittest
import xml.etree.ElementTree

import cli_test

SKIPPED = 77

# Two cities with two lines between them, and a village without any.
ZOO = """<?xml version="1.0" encoding="utf-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key attr.name="label" attr.type="string" for="node" id="l"/>
  <key attr.name="Latitude" attr.type="double" for="node" id="y"/>
  <key attr.name="Longitude" attr.type="double" for="node" id="x"/>
  <key attr.name="bandwidth" attr.type="string" for="edge" id="b"/>
  <key attr.name="latency" attr.type="string" for="edge" id="t"/>
  <graph edgedefault="undirected">
    <node id="0"><data key="l">Bern</data><data key="y">46.95</data><data key="x">7.45</data></node>
    <node id="1"><data key="l">Basel</data><data key="y">47.56</data><data key="x">7.59</data></node>
    <node id="2"><data key="l">Chur</data></node>
    <node id="3"><data key="l">Arosa</data></node>
    <edge source="0" target="1"><data key="b">10 Gbit/s</data></edge>
    <edge source="0" target="1"><data key="b">1 Gbit/s</data><data key="t">3 ms</data></edge>
    <edge source="1" target="2"><data key="b">100 Mbit/s</data></edge>
  </graph>
</graphml>
"""


class TopologyTest(cli_test.CommandLine):
    def setUp(self):
        super().setUp()
        self.file = self.folder / "map.graphml"
        self.file.write_text(ZOO)

    def info(self, file, *arguments):
        done = self.syncline("topology", "info", file, "--json", *arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def assert_refused(self, *arguments, says):
        done = self.syncline("topology", *arguments)
        self.assert_one_line(done, 2)
        self.assertIn(says, done.stderr)
        self.assertEqual(self.left(), set())


class Info(TopologyTest):
    def test_shape(self):
        info = self.info(self.file)
        for name, value in {"format": "GraphML", "nodes": 4, "records": 3, "links": 3, "components": 2, "links_with_bandwidth": 3, "self_loops": 0,
                            "parallel_links": 1, "isolated_nodes": 1, "nodes_with_coordinates": 2}.items():
            self.assertEqual(info[name], value, name)
        self.assertEqual({warning["kind"]: warning["line"] for warning in info["warnings"]}, {"parallel links": 14, "isolated node": 12})

    def test_what_is_missing_is_not_made_up(self):
        info = self.info(self.file)
        self.assertEqual(info["latency_s"]["links"], 2)
        self.assertIsNone(info["diameter_latency"])
        self.assertEqual(len(info["missing"]), 1)
        self.assertIn("1 link has no latency", info["missing"][0])
        self.assertIn("line 15: Basel - Chur", info["missing"][0])
        self.assertEqual(info["assumed"], ["1 of 3 links: latency from the coordinates, 2e8 m/s, detour 1"])

    def test_what_is_given_is_said(self):
        info = self.info(self.file, "--missing-latency", "5 ms", "--detour", "2")
        self.assertEqual(info["missing"], [])
        self.assertEqual(info["assumed"], ["1 of 3 links: latency as given for missing ones",
                                           "1 of 3 links: latency from the coordinates, 2e8 m/s, detour 2"])
        # Bern to Basel is 68.6 km as the crow flies.
        self.assertAlmostEqual(info["diameter_latency"]["seconds"], 0.005 + 2 * 68.64e3 / 2e8, places=5)
        self.assertEqual({info["diameter_latency"]["from"], info["diameter_latency"]["to"]}, {"Bern", "Chur"})
        self.assertEqual((info["diameter_hops"]["hops"], info["diameter_hops"]["exact"]), (2, True))

    def test_narrowest_cut(self):
        cut = self.info(self.file)["narrowest_cut"]
        self.assertEqual((cut["bandwidth_bit_s"], cut["around"]), (1e8, ["Chur"]))
        cut = self.info(self.file, "--between", "Bern", "--between", "Basel")["narrowest_cut"]
        self.assertEqual((cut["bandwidth_bit_s"], cut["around"]), (11e9, ["Bern"]))
        self.assertEqual(self.info(self.file, "--between", "Bern", "--between", "Arosa")["narrowest_cut"]["bandwidth_bit_s"], 0)

    def test_units(self):
        graph = self.folder / "pair.graph"
        graph.write_text("NODES 2\nlabel x y\na 7.6 47.5\nb 7.4 46.9\n\nEDGES 2\nlabel src dest weight bw delay\ne0 0 1 1 1000 400\ne1 1 0 1 1000 400\n")
        info = self.info(graph)
        self.assertEqual((info["records"], info["links"], info["parallel_links"]), (2, 1, 1))
        self.assertIn("a latency without unit", info["missing"][0])
        info = self.info(graph, "--latency-unit", "us")
        self.assertEqual((info["missing"], info["latency_s"]["most"]), ([], 400e-6))

    def test_twins_of_different_values_are_two_links(self):
        graph = self.folder / "pair.graph"
        graph.write_text("NODES 2\nlabel x y\na 7.6 47.5\nb 7.4 46.9\n\nEDGES 2\nlabel src dest weight bw delay\ne0 0 1 1 1000 400\ne1 1 0 1 2000 400\n")
        self.assertEqual(self.info(graph)["links"], 2)

    def test_a_scenario(self):
        info = self.info(self.scenario)
        self.assertEqual((info["nodes"], info["links"], info["narrowest_cut"]["bandwidth_bit_s"]), (5, 4, 1e8))
        self.assertEqual({info["narrowest_cut"]["from"], info["narrowest_cut"]["to"]}, {"cluster0", "cluster1"})

    def test_text(self):
        done = self.syncline("topology", "info", self.file)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for part in ("map.graphml: GraphML", "4, 2 with coordinates, 1 without a link", "3 (3 records, 1 parallel to another, 0 self-loops)",
                     "100 Mbit/s to 10 Gbit/s, median 1 Gbit/s", "not known for 1 of 3 links", "2 hops from Bern to Chur", "100 Mbit/s from", "around Chur",
                     "Basel - Chur: 100 Mbit/s", "give a missing latency", "latency from the coordinates", "parallel links (line 14)"):
            self.assertIn(part, done.stdout)

    def test_help_lists_all_options(self):
        done = self.syncline("topology", "info", "--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for name in ("FILE", "--latency-unit", "--bandwidth-unit", "--missing-latency", "--missing-bandwidth", "--detour", "--drop-planned", "--between",
                     "--json"):
            self.assertIn(name, done.stdout)

    def test_wrong_input(self):
        self.assert_refused(says="see syncline topology --help")
        self.assert_refused("info", says="see syncline topology info --help")
        self.assert_refused("info", "nowhere.gml", says="nowhere.gml: ")
        self.assert_refused("info", self.folder, says="is a directory")
        (self.folder / "notes.txt").write_text("hello world")
        self.assert_refused("info", self.folder / "notes.txt", says="the format is not known")
        self.assert_refused("info", self.file, "--missing-latency", "5", says='--missing-latency: "5" has no unit')
        self.assert_refused("info", self.file, "--missing-bandwidth", "-1 Gbit/s", says="--missing-bandwidth: ")
        self.assert_refused("info", self.file, "--latency-unit", "Gbit/s", says="--latency-unit: ")
        self.assert_refused("info", self.file, "--bandwidth-unit", "2", says="--bandwidth-unit: ")
        self.assert_refused("info", self.file, "--detour", "0.5", says="--detour: 0.5")
        self.assert_refused("info", self.file, "--between", "Bern", says="--between: one node")
        self.assert_refused("info", self.file, "--between", "Bern", "--between", "Bern", says='"Bern" is named twice')
        self.assert_refused("info", self.file, "--between", "Bern", "--between", "Bsael", says="nearest: Basel")
        self.file.write_text(ZOO.replace('target="2"', 'target="9"'))
        self.assert_refused("info", self.file, says='map.graphml:15: edge target: there is no node "9"')


class Convert(TopologyTest):
    def convert(self, file, out, *arguments):
        done = self.syncline("topology", "convert", file, "-o", out, *arguments)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        return (self.work / out).read_text()

    def test_what_is_open_stays_open(self):
        for out in "a.graphml", "a.dot":
            self.convert(self.file, out)
            again, first = self.info(self.work / out), self.info(self.file)
            for name in first.keys() - {"file", "format", "missing", "warnings", "narrowest_links"}:
                self.assertEqual(again[name], first[name], f"{out}: {name}")
            self.assertIn("1 link has no latency", again["missing"][0])

    def test_what_the_flags_say_is_written(self):
        self.convert(self.file, "a.dot", "--missing-latency", "5 ms", "--detour", "2")
        info = self.info("a.dot")
        self.assertEqual((info["missing"], info["assumed"]), ([], []))
        self.assertAlmostEqual(info["diameter_latency"]["seconds"], 0.005 + 2 * 68.64e3 / 2e8, places=5)

    def test_all_the_way_round(self):
        text = self.convert(self.file, "a.textproto", "--missing-latency", "5 ms")
        self.convert(self.work / "a.textproto", "b.dot")
        self.convert(self.work / "b.dot", "c.graphml")
        self.assertEqual(self.convert(self.work / "c.graphml", "d.textproto"), text)
        self.assertEqual(self.left(), {"a.textproto", "b.dot", "c.graphml", "d.textproto"})

    def test_a_run_takes_what_was_written(self):
        self.convert(self.file, "map.textproto", "--missing-latency", "5 ms", "--drop-planned")
        done = self.syncline("check", self.scenario, "--json", "--set", f"topology=@{self.work / 'map.textproto'}", "--set", 'workers.at=["Bern", "Basel"]')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["nodes"], 4)

    def test_a_scenario_gives_its_topology(self):
        self.convert(self.scenario, "a.dot")
        info = self.info("a.dot")
        self.assertEqual((info["nodes"], info["links"]), (5, 4))
        self.assertEqual((info["narrowest_cut"]["bandwidth_bit_s"], info["narrowest_cut"]["from"], info["narrowest_cut"]["to"]), (1e8, "cluster0", "cluster1"))

    def test_wrong_input(self):
        self.assert_refused("convert", self.file, says="-o")
        self.assert_refused("convert", self.file, "-o", "a.png", says="-o a.png: write a name that ends in .textproto, .graphml or .dot")
        self.assert_refused("convert", self.file, "-o", "a.textproto", says="1 link has no latency; give a missing latency")
        self.assert_refused("convert", self.file, "-o", "no/a.dot", says="there is no folder")
        self.assert_refused("convert", self.scenario, "-o", "a.dot", "--detour", "2", says="--detour: is for topology files")
        (self.work / "a.dot").mkdir()
        done = self.syncline("topology", "convert", self.file, "-o", "a.dot")
        self.assert_one_line(done, 2)
        self.assertIn("is a folder", done.stderr)

    def test_a_full_disk_leaves_what_was_there(self):
        (self.work / "a.dot").write_text("old")
        done = self.syncline("topology", "convert", self.file, "-o", "a.dot", preexec_fn=cli_test.small_files(100))
        self.assert_one_line(done, 1)
        self.assertEqual(((self.work / "a.dot").read_text(), self.left()), ("old", {"a.dot"}))


class Draw(TopologyTest):
    SVG = "{http://www.w3.org/2000/svg}"

    def draw(self, file, *arguments):
        done = self.syncline("topology", "draw", file, *arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return xml.etree.ElementTree.fromstring(done.stdout)

    def places(self, picture):
        return {circle.find(self.SVG + "title").text: (float(circle.get("cx")), float(circle.get("cy"))) for circle in picture.iter(self.SVG + "circle")}

    def paths(self, picture):
        return {path.find(self.SVG + "title").text: path for path in picture.iter(self.SVG + "path") if path.find(self.SVG + "title") is not None}

    def test_a_map(self):
        picture = self.draw(self.file)
        places = self.places(picture)
        self.assertEqual(places.keys(), {"Bern", "Basel", "Chur", "Arosa"})
        self.assertLess(places["Bern"][0], places["Basel"][0])   # west
        self.assertGreater(places["Bern"][1], places["Basel"][1])   # south
        for x, y in places.values():
            self.assertTrue(0 < x < float(picture.get("width")) and 0 < y < float(picture.get("height")))
        paths = self.paths(picture)
        self.assertEqual(paths.keys(), {"Bern-Basel: 10 Gbit/s", "Bern-Basel: 1 Gbit/s", "Basel-Chur: 100 Mbit/s"})
        self.assertEqual(len({path.get("d") for path in paths.values()}), 3)   # parallel links do not hide each other
        self.assertEqual(len({path.get("stroke") for path in paths.values()}), 3)
        texts = {text.text for text in picture.iter(self.SVG + "text")}
        self.assertTrue({"Bern", "100 Mbit/s", "10 Gbit/s"} <= texts, texts)

    def test_without_places(self):
        places = self.places(self.draw(self.scenario))
        self.assertEqual(len(set(places.values())), 5)

    def test_unknown_values_are_dashed(self):
        self.file.write_text(ZOO.replace('<data key="b">100 Mbit/s</data>', ""))
        path = self.paths(self.draw(self.file))["Basel-Chur: bandwidth not known"]
        self.assertIsNotNone(path.get("stroke-dasharray"))

    def test_load_of_traffic(self):
        flows = self.folder / "flows.csv"
        flows.write_text("start_s,source,destination,bytes\n0,Chur,Basel,125000000\n")
        done = self.syncline("traffic", self.file, flows, "--missing-latency", "0 s", "--out", "out")
        self.assertEqual(done.returncode, 0, done.stderr)
        paths = self.paths(self.draw(self.file, "--load", "out"))
        self.assertIn("Basel-Chur: 100 Mbit/s, load 100.0 %", paths)
        self.assertIn("Bern-Basel: 10 Gbit/s, load 0.0 %", paths)

    def test_load_of_a_run(self):
        self.run_tiny("out", "--no-train")
        paths = self.paths(self.draw(self.scenario, "--load", "out"))
        self.assertTrue(any(name.startswith("cluster0-core: 100 Mbit/s, load ") for name in paths), paths)

    def test_to_a_file(self):
        done = self.syncline("topology", "draw", self.file, "-o", "map.svg")
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertEqual(self.left(), {"map.svg"})
        xml.etree.ElementTree.parse(self.work / "map.svg")

    def test_wrong_input(self):
        self.assert_refused("draw", says="see syncline topology draw --help")
        self.assert_refused("draw", self.file, "--load", "nowhere", says="--load nowhere: has no links.csv")
        (self.folder / "links.csv").write_text("a,b\n")
        self.assert_refused("draw", self.file, "--load", self.folder, says="this is no links.csv")
        (self.folder / "links.csv").write_text("from,to,mean_load\nx,y,1\n")
        self.assert_refused("draw", self.file, "--load", self.folder, says="has none of the links of")


class Published(TopologyTest):
    """The files that SYNCLINE_DATA holds, through the command's JSON."""

    def setUp(self):
        super().setUp()
        if "SYNCLINE_DATA" not in os.environ:
            self.skipTest("SYNCLINE_DATA names no folder")
        self.data = pathlib.Path(os.environ["SYNCLINE_DATA"]) / "topologies"

    def test_every_expected_row(self):
        with (self.data / "EXPECTED.tsv").open(newline="") as table:
            rows = list(csv.DictReader(table, delimiter="\t"))
        self.assertEqual(len(rows), 21)
        for row in rows:
            with self.subTest(row["file"]):
                info = self.info(self.data / row["file"])
                self.assertEqual({"nodes": info["nodes"], "link_records": info["records"], "parallel_extra": info["parallel_links"],
                                  "self_loops": info["self_loops"], "components": info["components"], "links_with_speed": info["links_with_bandwidth"]},
                                 {name: int(row[name]) for name in ("nodes", "link_records", "parallel_extra", "self_loops", "components",
                                                                    "links_with_speed")})
                # Two opposite equal records are one link.
                self.assertEqual(info["links"], info["records"] // 2 if "DIRECTED" in row["note"] else info["records"])

    def test_planned_links_of_padi(self):
        info = self.info(self.data / "zoo/Padi.graphml", "--drop-planned")
        self.assertEqual((info["links"], info["components"]), (5, 10))

    def test_faster_than_light(self):
        info = self.info(self.data / "repetita/Abilene.graph", "--latency-unit", "us")
        self.assertIn("faster than light", {warning["kind"] for warning in info["warnings"]})

    def test_every_file_that_is_read_survives_every_writer(self):
        for row in csv.DictReader((self.data / "EXPECTED.tsv").open(newline=""), delimiter="\t"):
            first = self.info(self.data / row["file"])
            for out in "a.graphml", "a.dot":
                done = self.syncline("topology", "convert", self.data / row["file"], "-o", out)
                self.assertEqual(done.returncode, 0, done.stderr)
                again = self.info(self.work / out)
                for name in ("nodes", "records", "links", "components", "links_with_bandwidth", "self_loops", "parallel_links", "bandwidth_bit_s", "latency_s",
                             "nodes_with_coordinates", "diameter_hops", "diameter_latency"):
                    self.assertEqual(again[name], first[name], f"{row['file']}: {out}: {name}")

    def test_cut_of_nodes_with_rates_of_their_own(self):
        info = self.info(self.data / "shadow/tor_20_node_graph.gml")
        self.assertEqual(len(info["narrowest_cut"]["around"]), 1)


def parts():
    return sorted(part.__name__ for part in TopologyTest.__subclasses__())


if __name__ == "__main__":
    if sys.argv[1] == "--parts":
        sys.exit(0 if sorted(sys.argv[2:]) == parts() else f"these are the parts: {' '.join(parts())}")
    cli_test.PROGRAM = str(pathlib.Path(sys.argv[1]).resolve())
    result = unittest.main(argv=sys.argv[:1] + sys.argv[2:], exit=False).result
    if not result.wasSuccessful():
        sys.exit(1)
    sys.exit(SKIPPED if result.skipped and len(result.skipped) == result.testsRun else 0)
