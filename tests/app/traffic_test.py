"""syncline traffic: what becomes of transfers, and what is said about wrong ones.

usage: traffic_test.py SYNCLINE PART     the tests of one class, with the program SYNCLINE
       traffic_test.py --parts PART...   checks that these are all the classes
"""

import csv
import io
import json
import pathlib
import signal
import subprocess
import sys
import unittest

import cli_test

# One link of 1e6 bytes/s each way.
LINE = """nodes { name: "a" } nodes { name: "b" }
links { a: "a" b: "b" bandwidth: "1 MB/s" latency: "1 ms" }
"""
FLOWS = "start_s,source,destination,bytes\n"
EVENTS = "time_s,link,direction,bandwidth,latency,state\n"
FILES = {"flows.csv", "links.csv", "traffic.json"}


class TrafficTest(cli_test.CommandLine):
    def setUp(self):
        super().setUp()
        self.topology = self.folder / "line.textproto"
        self.topology.write_text(LINE)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def traffic(self, flows, *arguments, code=0):
        """The rows of the answer."""
        done = self.syncline("traffic", self.topology, self.write("flows.csv", FLOWS + flows), *arguments)
        self.assertEqual(done.returncode, code, done.stderr)
        self.said = done.stderr
        return list(csv.DictReader(io.StringIO(done.stdout)))

    def ends(self, flows, events="", *arguments, **changes):
        if events:
            arguments += "--events", self.write("events.csv", EVENTS + events)
        return [float(row["finish_s"]) if row["finish_s"] else None for row in self.traffic(flows, *arguments, **changes)]

    def assert_refused(self, *arguments, says):
        done = self.syncline("traffic", *arguments)
        self.assert_one_line(done, 2)
        self.assertIn(says, done.stderr)
        self.assertEqual(self.left(), set())


class Flows(TrafficTest):
    """Numbers from the cases in docs/network.md's reference: each is a way to be wrong."""

    def test_the_answer_adds_three_columns(self):
        rows = self.traffic("0,a,b,1000000\n0.5,b,a,500\n")
        self.assertEqual(rows[0], {"start_s": "0", "source": "a", "destination": "b", "bytes": "1000000", "finish_s": "1.001", "status": "done",
                                   "bottleneck": "a-b a->b"})
        self.assertEqual((rows[1]["finish_s"], rows[1]["bottleneck"]), ("0.5015", "latency"))
        self.assertEqual(self.left(), set())

    def test_columns_in_any_order_blanks_and_quotes(self):
        path = self.write("other.csv", '\ufeffbytes, destination ,source,start_s\r\n 1e6 ,"b", a ,+0\r\n\r\n')
        done = self.syncline("traffic", self.topology, path)
        self.assertEqual((done.returncode, done.stdout.splitlines()[1]), (0, "0,a,b,1000000,1.001,done,a-b a->b"))

    def test_a_rise_in_flight(self):
        self.topology.write_text(LINE.replace('latency: "1 ms"', ""))
        self.assertEqual(self.ends("0,a,b,10000000\n", "1,a-b,,10 MB/s,,\n"), [1.9])

    def test_capacity_zero_stalls(self):
        self.topology.write_text(LINE.replace('latency: "1 ms"', ""))
        self.assertEqual(self.ends("0,a,b,2000000\n", "1,a-b,,0 B/s,,\n2,a-b,,1 MB/s,,\n"), [3])

    def test_latency_holds_for_later_starts(self):
        self.assertEqual(self.ends("0,a,b,1000000\n2,a,b,1000000\n", "0.5,a-b,,,3 s,\n"), [1.001, 6])

    def test_directions(self):
        self.topology.write_text(LINE.replace('latency: "1 ms"', ""))
        self.assertEqual(self.ends("0,a,b,1000000\n0,b,a,1000000\n", "0,a-b,backward,500 kB/s,,\n"), [1, 2])
        self.assertEqual(self.ends("0,a,b,1000000\n0,b,a,1000000\n", "0,a-b,forward,500 kB/s,,\n"), [2, 1])

    def test_an_outage_by_policy(self):
        outage = "1,a-b,,,,down\n3,a-b,both,,,up\n"
        flow = "0,a,b,2000000\n"
        self.assertEqual(self.ends(flow, outage), [4.001])
        self.assertEqual(self.ends(flow, outage, "--in-flight", "stall"), [4.001])
        self.assertEqual(self.ends(flow, outage, "--in-flight", "restart"), [5.001])
        self.assertEqual(self.ends(flow, outage, "--in-flight", "resume"), [4.002])
        done = self.syncline("traffic", self.topology, self.folder / "flows.csv", "--events", self.folder / "events.csv", "--in-flight", "fail", "--json")
        flow = json.loads(done.stdout)["flows"][0]
        self.assertEqual((done.returncode, flow["status"], flow["finish_s"], flow["delivered_bytes"]), (0, "failed", 1, 999000))

    def test_starts_during_an_outage(self):
        outage = "0,a-b,,,,down\n3,a-b,,,,up\n"
        for policy in "stall", "restart", "resume":
            self.assertEqual(self.ends("1,a,b,1000000\n", outage, "--in-flight", policy), [4.001], policy)

    def test_parallel_links_and_another_way(self):
        self.topology.write_text(LINE + 'nodes { name: "c" } links { a: "a" b: "c" bandwidth: "1 MB/s" latency: "9 ms" }'
                                 ' links { a: "c" b: "b" bandwidth: "1 MB/s" latency: "1 ms" }')
        # What is left goes the other way at once.
        self.assertEqual(self.ends("0,a,b,2000000\n", "1,a-b,,,,down\n", "--in-flight", "resume"), [2.011])

    def test_without_progress_the_rest_is_told(self):
        rows = self.traffic("0,b,a,1000\n0,a,b,2000000\n", "--events", self.write("events.csv", EVENTS + "1,a-b,,,,down\n"), code=1)
        self.assertEqual([(row["finish_s"], row["status"], row["bottleneck"]) for row in rows], [("0.002", "done", "latency"), ("", "waiting", "")])
        self.assertRegex(self.said, r"\Asyncline: no progress at 1 s: [^\n]*2 MB from a to b waits for a-b a->b \(down\)\n\Z")

    def test_no_bytes_and_to_oneself(self):
        self.assertEqual(self.ends("1,a,b,0\n2,a,a,1000\n"), [1.001, 2])

    def test_many_at_once_share(self):
        self.topology.write_text(LINE.replace('latency: "1 ms"', ""))
        self.assertEqual(self.ends("0,a,b,1000000\n" * 4), [4, 4, 4, 4])

    def test_same_bytes_again(self):
        flows = "".join(f"{i % 7},a,b,{1000 + i}\n" for i in range(500))
        self.assertEqual(self.traffic(flows), self.traffic(flows))

    def test_a_scenario_gives_its_network(self):
        scenario = self.write("s.textproto", 'name: "s"\ntopology {\n' + LINE + '}\ntransport { window: "1 kB" }\nstrategy { diloco {} }\n')
        done = self.syncline("traffic", scenario, self.write("flows.csv", FLOWS + "0,a,b,1000000\n"))
        self.assertEqual(done.stdout.splitlines()[1], "0,a,b,1000000,2.001,done,cap")

    def test_a_platform_gives_its_ways_and_profiles(self):
        self.topology = self.write("platform.xml", """<platform version="4.1"><zone id="z" routing="Full">
<host id="a"/><host id="b"/><host id="c"/>
<link id="slow" bandwidth="1MBps" latency="100ms"/><link id="changing" bandwidth="1MBps" latency="0"/>
<route src="a" dst="b"><link_ctn id="slow"/></route>
<route src="a" dst="c"><link_ctn id="slow"/><link_ctn id="changing"/></route>
<route src="c" dst="b"><link_ctn id="changing"/></route>
<trace id="t" periodicity="6">2 2000000\n4 3000000</trace><trace_connect kind="BANDWIDTH" trace="t" element="changing"/>
</zone></platform>""")
        # 2 s at 1 MB/s, 2 s at 2, the rest at 3 until the profile begins anew at 10 and says 2 again at 12.
        self.assertEqual(self.ends("0,c,b,30000000\n"), [12.0])
        self.assertEqual(self.ends("0,a,c,1000000\n"), [1.1])
        self.assertEqual(self.traffic("0,a,c,1000000\n0,b,a,1000000\n")[1]["finish_s"], "2.1")  # both directions share

    def test_a_map_gives_its_network(self):
        graph = self.write("pair.graph", "NODES 2\nlabel x y\nBern,Ost 7.4 46.9\nb 7.6 47.5\n\nEDGES 2\nlabel src dest weight bw delay\n"
                           "e0 0 1 1 8000 1\ne1 1 0 1 8000 1\n")
        flows = self.write("flows.csv", FLOWS + '0,"Bern,Ost",id:b,1000000\n')
        done = self.syncline("traffic", graph, flows, "--latency-unit", "ms")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.splitlines()[1][:33], '0,"Bern,Ost",b,1000000,1.001,done')
        self.assertRegex(done.stdout.splitlines()[1], r'done,"[^"]* Bern,Ost->b"$')
        self.assert_refused(graph, flows, says="give the latency unit")


class Alone(TrafficTest):
    """Networks without a file of flows."""

    def setUp(self):
        super().setUp()
        self.star = self.write("star.textproto", 'clusters { count: 2 hosts: 2 wan { bandwidth: "1 MB/s" } fabric { bandwidth: "10 MB/s" } }')

    def json_of(self, *arguments):
        done = self.syncline("traffic", self.star, "--json", *arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def test_all_pairs(self):
        told = self.json_of("--all-pairs", "--bytes", "1 MB")
        self.assertEqual(len(told["flows"]), 12)
        # Four transfers share each cluster's way out.
        self.assertEqual((told["done"], told["bytes"], told["last_end_s"]), (12, 12_000_000, 4))
        told = self.json_of("--all-pairs", "--bytes", "1e6", "--hosts", "cluster0/0,cluster1/1")
        self.assertEqual([(flow["source"], flow["destination"], flow["finish_s"]) for flow in told["flows"]],
                         [("cluster0/0", "cluster1/1", 1), ("cluster1/1", "cluster0/0", 1)])

    def test_ring(self):
        told = self.json_of("--collective", "ring", "--bytes", "4 MB")
        # 2 (p - 1) steps of a quarter each, over ways of 1 MB/s.
        self.assertEqual([host["finish_s"] for host in told["hosts"]], [6] * 4)
        self.assertEqual([host["sent_bytes"] for host in told["hosts"]], [6_000_000] * 4)
        self.assertEqual(told["traffic"], "ring all-reduce of 4 MB over 4 hosts")

    def test_order_of_the_hosts(self):
        """Back and forth between the clusters, two sends share the way at every step."""
        told = self.json_of("--collective", "ring", "--bytes", "4 MB", "--hosts", "cluster0/0", "cluster1/0", "cluster0/1", "cluster1/1")
        self.assertEqual(told["last_end_s"], 12)

    def test_hierarchical_and_parameter_server(self):
        told = self.json_of("--collective", "hierarchical", "--bytes", "4 MB")
        # Half the payload a rank: 0.2 s inside, 2 s between (both ranks at once), 0.2 s inside.
        self.assertAlmostEqual(told["last_end_s"], 0.2 + 4 + 0.2)
        told = self.json_of("--collective", "parameter-server", "--bytes", "1 MB", "--hosts", "cluster0/0", "cluster0/1", "--server", "cluster1/0")
        self.assertEqual(told["last_end_s"], 4)

    def test_events_act_on_collectives(self):
        told = self.json_of("--collective", "ring", "--bytes", "4 MB", "--events", self.write("e.csv", "time_s,link,bandwidth\n0,cluster0-core,500 kB/s\n"))
        self.assertEqual(told["last_end_s"], 12)

    def test_hosts_as_csv(self):
        done = self.syncline("traffic", self.star, "--collective", "ring", "--bytes", "4 MB")
        self.assertEqual(done.stdout.splitlines()[:2], ["host,finish_s,status,sent_bytes,received_bytes", "cluster0/0,6,done,6000000,6000000"])


class Folders(TrafficTest):
    def run_flows(self, *arguments, code=0, **changes):
        done = self.syncline("traffic", self.topology, self.write("flows.csv", FLOWS + "0,a,b,1000000\n"), "--out", "out", *arguments, **changes)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def test_folder_and_summary(self):
        done = self.run_flows()
        self.assertEqual({path.name for path in (self.work / "out").iterdir()}, FILES)
        self.assertEqual(self.left(), {"out"})
        for part in "flows         1 done, 0 failed, 0 wait for ever", "last end      1.001 s", "sent          1 MB", "a-b a->b in 99.9 % of their time":
            self.assertIn(part, done.stdout)
        self.assertEqual(self.json("out", "traffic.json")["flows"][0]["finish_s"], 1.001)
        with (self.work / "out" / "links.csv").open(newline="") as links:
            rows = list(csv.DictReader(links))
        self.assertEqual([(row["link"], row["from"], row["to"], row["bytes"]) for row in rows], [("a-b", "a", "b", "1000000"), ("a-b", "b", "a", "0")])
        self.assertAlmostEqual(float(rows[0]["mean_load"]), 1 / 1.001)
        self.run_flows()   # replaced

    def test_other_folders_are_left_alone(self):
        (self.work / "out").mkdir()
        (self.work / "out" / "thesis.tex").write_text("years of work")
        self.assert_one_line(self.run_flows(code=2), 2)
        self.assertEqual([path.name for path in (self.work / "out").iterdir()], ["thesis.tex"])

    def test_a_full_disk_leaves_nothing(self):
        done = self.run_flows(code=1, preexec_fn=cli_test.small_files(100))
        self.assertIn("cannot be written", done.stderr)
        self.assertEqual(self.left(), set())


class WrongInput(TrafficTest):
    def refused(self, flows, says, events=None):
        arguments = [self.topology, self.write("flows.csv", flows)]
        if events is not None:
            arguments += "--events", self.write("events.csv", events)
        self.assert_refused(*arguments, says=says)

    def test_command_line(self):
        flows = self.write("flows.csv", FLOWS + "0,a,b,1\n")
        self.assert_refused(says="see syncline traffic --help")
        self.assert_refused(self.topology, says="nothing to carry; give one of FLOWS.csv, --all-pairs and --collective")
        self.assert_refused(self.topology, flows, "--all-pairs", says="several things to carry")
        self.assert_refused(self.topology, flows, "--bytes", "1", says="--bytes: is for --all-pairs and --collective")
        self.assert_refused(self.topology, flows, "--in-flight", "drop", says='--in-flight: "drop"; write stall, fail, restart or resume')
        self.assert_refused(self.topology, flows, "--missing-latency", "1 ms", says="--missing-latency: is for topology files")
        self.assert_refused(self.topology, flows, "--out", "", says="--out")
        self.assert_refused(self.topology, "--all-pairs", says="--bytes: is missing")
        self.assert_refused(self.topology, "--all-pairs", "--bytes", "1 Gbit", says="--bytes: ")
        self.assert_refused(self.topology, "--all-pairs", "--bytes", "-5", says="--bytes: ")
        self.assert_refused(self.topology, "--all-pairs", "--bytes", "1", "--hosts", "a", says="--hosts: 1 host; name two or more")
        self.assert_refused(self.topology, "--all-pairs", "--bytes", "1", "--hosts", "a,a", says='--hosts: "a" is named twice')
        self.assert_refused(self.topology, "--all-pairs", "--bytes", "1", "--hosts", "a,c", says='--hosts: no node is called "c"')
        self.assert_refused(self.topology, "--collective", "star", "--bytes", "1", says='--collective: "star"; write one of all-to-all, halving-doubling, hierarchical, pairwise, parameter-server, ring, sharded-parameter-server, tree')
        self.assert_refused(self.topology, "--collective", "parameter-server", "--bytes", "1", says="--server: is missing")
        self.assert_refused(self.topology, "--collective", "ring", "--bytes", "1", "--server", "a", says="--server: is for")

    def test_files(self):
        self.assert_refused(self.topology, "nowhere.csv", says="nowhere.csv: ")
        self.assert_refused("nowhere.textproto", "nowhere.csv", says="nowhere.textproto: there is no such file")
        self.assert_refused(self.write("empty.textproto", ""), "nowhere.csv", says="topology: is missing")
        self.topology.write_text(LINE.replace('"1 MB/s"', '"1"'))
        self.assert_refused(self.topology, "nowhere.csv", says='line.textproto:2: topology.links[0].bandwidth: "1" has no unit')

    def test_rows(self):
        self.refused("start_s,source,bytes\n", says='flows.csv:1: header: "destination" is missing; the header is start_s,source,destination,bytes')
        self.refused(FLOWS + "0,a,b,1\n0,a,c,1\n", says='flows.csv:3:5: destination: no node is called "c"')
        self.refused(FLOWS + "0,a,b,1\n", events=EVENTS + "0,a-b,,20,,\n", says='events.csv:2:8: bandwidth: "20" has no unit')

    def test_ways(self):
        self.topology.write_text(LINE + 'nodes { name: "c" } nodes { name: "s" host: false } links { a: "a" b: "s" bandwidth: "1 MB/s" }')
        self.refused(FLOWS + "0,a,c,1\n", says="flows.csv:2: no route from a to c")
        self.refused(FLOWS + "0,a,s,1\n", says='flows.csv:2: "s" is a switch')

    def test_help_lists_all_options(self):
        done = self.syncline("traffic", "--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for name in ("TOPOLOGY", "FLOWS", "--events", "--in-flight", "--all-pairs", "--collective", "--bytes", "--hosts", "--server", "--out", "--json",
                     "--missing-bandwidth", "start_s,source,destination,bytes", "time_s,link,direction,bandwidth,latency,state"):
            self.assertIn(name, done.stdout)


class Interrupted(TrafficTest):
    def test_nothing_is_written(self):
        flows = self.write("flows.csv", FLOWS + "".join(f"{i},a,b,1000\n" for i in range(1_000_000)))
        process = subprocess.Popen([cli_test.PROGRAM, "traffic", str(self.topology), str(flows), "--out", "out"], **self.options())
        self.addCleanup(process.kill)
        while True:
            status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
            caught = next(line.split()[1] for line in status.splitlines() if line.startswith("SigCgt:"))
            if int(caught, 16) >> (signal.SIGINT - 1) & 1:
                break
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=cli_test.HANGS_S)
        self.assertEqual((process.returncode, stdout, stderr), (130, "", "syncline: interrupted; nothing was written\n"))
        self.assertEqual(self.left(), set())


def parts():
    return sorted(part.__name__ for part in TrafficTest.__subclasses__())


if __name__ == "__main__":
    if sys.argv[1] == "--parts":
        sys.exit(0 if sorted(sys.argv[2:]) == parts() else f"these are the parts: {' '.join(parts())}")
    cli_test.PROGRAM = str(pathlib.Path(sys.argv[1]).resolve())
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
