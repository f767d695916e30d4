"""The command line: exit codes, messages, and what a run leaves behind.

usage: cli_test.py SYNCLINE PART     the tests of one class, with the program SYNCLINE
       cli_test.py --parts PART...   checks that these are all the classes
"""

import csv
import json
import os
import pathlib
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = None
# Nothing here is timed; what takes this long hangs.
HANGS_S = 200

TINY = """
name: "tiny"
topology { clusters { count: 2 wan { bandwidth: "100 Mbit/s" latency: "5 ms" } } }
training {
  model { layers: 2 width: 32 heads: 2 context: 16 }
  data { markov { states: 16 entropy: 1.5 } }
  batch: 2
  evaluate_tokens: 512
}
pace { fixed: "50 ms" }
strategy { diloco {} local_steps: 5 }
stop { steps: 40 }
"""
SLOW_NETWORK = "topology.clusters.wan.bandwidth=1 Mbit/s"
# Learns nothing and blows up at once.
DIVERGES = "training.inner={kind: SGD lr: 1e6 warmup: 0}"

RUN_FILES = {"results.json", "real_time.json", "rounds.csv", "workers.csv", "links.csv", "timeline.json", "scenario.textproto"}


class CommandLine(unittest.TestCase):
    """Each test in a folder of its own, with a cache of its own."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="syncline-cli-")
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name).resolve()
        self.work = self.folder / "work"
        self.work.mkdir()
        self.scenario = self.folder / "tiny.textproto"
        self.scenario.write_text(TINY)
        self.cache = self.folder / "cache"

    def options(self, **changes):
        environment = {**os.environ, "SYNCLINE_CACHE": str(changes.pop("cache", self.cache))}
        return {"cwd": self.work, "env": environment, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **changes}

    def syncline(self, *arguments, **changes):
        return subprocess.run([PROGRAM, *map(str, arguments)], timeout=HANGS_S, check=False, **self.options(**changes))

    def run_tiny(self, out, *arguments, code=0, **changes):
        done = self.syncline("run", self.scenario, "--quiet", "--device", "cpu", "--out", out, *arguments, **changes)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def assert_one_line(self, done, code):
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertRegex(done.stderr, r"\Asyncline: [^\n]+\n\Z")
        self.assertEqual(done.stdout, "")

    def json(self, out, name="results.json"):
        return json.loads((self.work / out / name).read_text())

    def bytes(self, out, name="results.json"):
        return (self.work / out / name).read_bytes()

    def left(self):
        """All that lies in the working folder, hidden files too."""
        return {path.name for path in self.work.iterdir()}


class Help(CommandLine):
    def assert_help(self, *arguments, names):
        done = self.syncline(*arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for name in names:
            self.assertIn(name, done.stdout)
        return done.stdout

    def test_of_the_program_lists_the_commands_and_exit_codes(self):
        self.assert_help("--help", names=["run", "check", "--version", "0 done", "1 could not finish", "2 bad input", "130 interrupted"])

    def test_of_each_command_lists_all_its_options(self):
        shared = ["SCENARIO", "--set", "PATH=VALUE", "--seed", "--no-train", "--json", "--help"]
        text = self.assert_help("run", "--help", names=[*shared, "--out", "--device", "--quiet"])
        self.assertNotIn("{", text)  # CLI11 would print its tables
        self.assert_help("check", "--help", names=shared)

    def test_version(self):
        done = self.syncline("--version")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"\Asyncline \d+\.\d+\.\d+\n\Z")


class BadInput(CommandLine):
    def assert_refused(self, *arguments, says):
        done = self.syncline(*arguments)
        self.assert_one_line(done, 2)
        self.assertIn(says, done.stderr)
        self.assertEqual(self.left(), set())

    def test_command_line(self):
        self.assert_refused(says="see syncline --help")
        self.assert_refused("fly", says="see syncline --help")
        self.assert_refused("run", says="see syncline run --help")
        self.assert_refused("check", says="see syncline check --help")
        self.assert_refused("run", self.scenario, "--fast", says="--fast")
        self.assert_refused("run", self.scenario, "twice", says="twice")
        self.assert_refused("run", self.scenario, "--set", says="--set")
        self.assert_refused("run", self.scenario, "--out", "", says="--out")
        self.assert_refused("run", self.scenario, "--device", "tpu", says='--device: "tpu"; write auto, cpu or cuda')
        self.assert_refused("run", self.scenario, "--device", "1", says="write auto, cpu or cuda")
        for seed in "-1", "1.5", "1e3", "many", "", "18446744073709551616":
            self.assert_refused("run", self.scenario, "--seed", seed, says="--seed")

    def test_no_scenario(self):
        self.assert_refused("run", "nowhere.textproto", says="nowhere.textproto: there is no such file")
        self.assert_refused("check", self.folder, says="this is no file")

    def test_wrong_scenario(self):
        self.scenario.write_text(TINY.replace('"5 ms"', '"5"'))
        for command in "run", "check":
            self.assert_refused(command, self.scenario, says='tiny.textproto:3: topology.clusters.wan.latency: "5" has no unit')

    def test_wrong_set(self):
        for command in "run", "check":
            self.assert_refused(command, self.scenario, "--set", "strategy.local_step=5", says='did you mean "local_steps"?')
            self.assert_refused(command, self.scenario, "--set", "strategy.local_steps=0", says="--set strategy.local_steps=0: strategy.local_steps: 0")

    def test_values_with_line_breaks_stay_in_one_line(self):
        self.assert_refused("check", self.scenario, "--set", "seed=a\nb\r\x1b[31m", says="--set seed=a b")
        self.assert_refused("check", "no\nfile", says="there is no such file")

    def test_measured_pace_without_training(self):
        self.assert_refused("run", self.scenario, "--no-train", "--set", "pace.measured={}", says="a measured pace needs training")

    def test_no_way_between_workers(self):
        done = self.syncline("run", self.scenario, "--no-train", "--out", "out", "--set", 'topology={nodes {name: "a"} nodes {name: "b"}}')
        self.assert_one_line(done, 2)
        self.assertIn("no route from a to b", done.stderr)
        self.assertEqual(self.left(), set())

    def test_text_that_is_too_short(self):
        (self.folder / "short.txt").write_text("To be")
        done = self.syncline("run", self.scenario, "--quiet", "--device", "cpu", "--out", "out", "--set", "training.data={text: \"short.txt\"}")
        self.assert_one_line(done, 2)
        self.assertIn("short.txt", done.stderr)
        self.assertEqual(self.left(), set())


class Check(CommandLine):
    def test_text(self):
        done = self.syncline("check", self.scenario)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for part in "tiny is right and means:", "5 nodes, 4 links", "100 Mbit/s each way, 5 ms", "50 ms a step", "every 5 steps", "40 steps a worker: 8 rounds, 2560 tokens":
            self.assertIn(part, done.stdout)
        self.assertEqual(self.left(), set())
        self.assertFalse(self.cache.exists())

    def test_json(self):
        done = self.syncline("check", self.scenario, "--json", "--set", "topology.clusters.wan.bandwidth=1 Gbit/s", "--set", "project={parameters: 1e9}")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        meaning = json.loads(done.stdout)
        self.assertEqual(meaning["workers"], 2)
        self.assertEqual(meaning["local_steps"], 5)
        self.assertEqual(meaning["payload_bytes"], 4e9)
        self.assertEqual(meaning["bytes_sent_per_sync"], 8e9)
        # Two steps of 2 GB at 1 Gbit/s after 10 ms each.
        self.assertAlmostEqual(meaning["ideal_sync_s"], 2 * (16 + 0.010), places=6)
        self.assertAlmostEqual(meaning["round_s"], 5 * 0.05 + 32.02, places=6)
        self.assertAlmostEqual(meaning["compute_utilisation_at_best"], 0.25 / 32.27, places=6)

    def test_says_what_the_order_of_a_ring_gains(self):
        clusters = "topology.clusters={names: ['a', 'b'] hosts: 4 fabric { bandwidth: '100 Gbit/s' latency: '0 s' } wan { bandwidth: '100 Mbit/s' latency: '5 ms' }}"
        ring = "strategy.collective={ring: ['a/0', 'b/0', 'a/1', 'b/1', 'a/2', 'b/2', 'a/3', 'b/3']}"
        sets = [option for value in (clusters, "workers={per: HOST}", ring, "project={parameters: 1e8}") for option in ("--set", value)]
        done = self.syncline("check", self.scenario, *sets)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("with the ring in the workers' order as written: 0.", done.stdout)
        told = json.loads(self.syncline("check", self.scenario, "--json", *sets).stdout)
        # Four edges of the ring cross each cluster's link each way, instead of one.
        self.assertAlmostEqual(told["ideal_sync_s"] / told["ideal_sync_as_written_s"], 4, delta=0.2)

    def test_says_what_a_run_does(self):
        """The round of `check` is that of a run whose workers join at once."""
        meaning = json.loads(self.syncline("check", self.scenario, "--json").stdout)
        done = self.syncline("run", self.scenario, "--no-train", "--json", "--out", "out")
        summary = json.loads(done.stdout)
        self.assertAlmostEqual(summary["virtual_time_s"], 8 * meaning["round_s"], places=6)
        self.assertEqual(summary["bytes_sent"], 8 * meaning["bytes_sent_per_sync"])
        self.assertAlmostEqual(summary["compute_utilisation"], meaning["compute_utilisation_at_best"], places=6)

    def test_measured_pace_is_left_open(self):
        meaning = json.loads(self.syncline("check", self.scenario, "--json", "--set", "pace.measured={}").stdout)
        self.assertNotIn("round_s", meaning)
        self.assertGreater(meaning["ideal_sync_s"], 0)

    def test_what_a_run_wrote(self):
        self.run_tiny("out", "--no-train")
        done = self.syncline("check", self.work / "out" / "scenario.textproto")
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class RunWithoutTraining(CommandLine):
    def test_results(self):
        done = self.run_tiny("out", "--no-train")
        self.assertEqual(done.stderr, "")
        for part in "tiny: 2 workers, DiLoCo", "not trained: time only", "results", "out\n":
            self.assertIn(part, done.stdout)
        self.assertEqual({path.name for path in (self.work / "out").iterdir()}, RUN_FILES)
        self.assertEqual(self.left(), {"out"})
        self.assertFalse(self.cache.exists())
        with (self.work / "out" / "rounds.csv").open(newline="") as rounds:
            self.assertEqual(len(list(csv.DictReader(rounds))), 8)

    def test_json_is_all_there_is_on_stdout(self):
        done = self.run_tiny("out", "--no-train", "--json")
        self.assertEqual(json.loads(done.stdout), self.json("out")["summary"])

    def test_folder_is_named_after_the_scenario(self):
        self.assertEqual(self.syncline("run", self.scenario, "--no-train").returncode, 0)
        self.assertTrue((self.work / "runs" / "tiny" / "results.json").is_file())

    def test_same_bytes_again(self):
        spread = ["--no-train", "--set", "pace.spread=lognormal(1, 0.4)"]
        self.run_tiny("a", *spread)
        self.run_tiny("b", *spread, env={**os.environ, "TZ": "Asia/Tokyo", "LC_ALL": "C"})
        for name in RUN_FILES - {"real_time.json"}:
            self.assertEqual(self.bytes("a", name), self.bytes("b", name), name)
        self.run_tiny("c", *spread, "--seed", "2")
        self.assertNotEqual(self.bytes("a"), self.bytes("c"))
        self.assertEqual(self.json("c")["seed"], 2)

    def test_what_was_written_gives_the_same_run(self):
        self.run_tiny("a", "--no-train", "--seed", "3", "--set", "pace.spread=lognormal(1, 0.4)", "--set", "links[cluster0-core].latency=9 ms")
        self.scenario = self.work / "a" / "scenario.textproto"
        self.run_tiny("b")
        self.assertEqual(self.bytes("a"), self.bytes("b"))
        self.assertEqual(self.bytes("a", "scenario.textproto"), self.bytes("b", "scenario.textproto"))

    def test_the_last_set_counts_and_values_may_hold_anything(self):
        self.run_tiny("out", "--no-train", "--set", "strategy.local_steps=9", "--set", "strategy.local_steps=4", "--set", 'workers.at=["cluster1/0", "cluster0/0"]')
        self.assertEqual(self.json("out")["summary"]["syncs"], 10)

    def test_stdout_that_takes_nothing(self):
        with open("/dev/full", "w") as full:
            done = self.syncline("run", self.scenario, "--no-train", "--out", "out", stdout=full)
        self.assertEqual(done.returncode, 1)
        self.assertIn("No space left on device", done.stderr)

    def test_a_dead_link_is_said_to_be_one(self):
        done = self.run_tiny("out", "--no-train", "--set", "links[cluster0-core].bandwidth=0 bit/s", code=1)
        self.assert_one_line(done, 1)
        self.assertIn("cluster0-core", done.stderr)
        self.assertEqual(self.left(), set())


class Folders(CommandLine):
    def test_a_run_is_replaced(self):
        self.run_tiny("out", "--no-train")
        self.run_tiny("out", "--no-train", "--set", "stop.steps=20")
        self.assertEqual(self.json("out")["summary"]["steps"], 20)
        self.assertEqual(self.left(), {"out"})

    def test_a_folder_that_is_none_is_refused(self):
        (self.work / "thesis").mkdir()
        (self.work / "thesis" / "chapter.tex").write_text("years of work")
        done = self.run_tiny("thesis", "--no-train", code=2)
        self.assert_one_line(done, 2)
        self.assertIn("--out thesis: is not empty and no run's folder", done.stderr)
        self.assertEqual([path.name for path in (self.work / "thesis").iterdir()], ["chapter.tex"])
        self.assertEqual((self.work / "thesis" / "chapter.tex").read_text(), "years of work")
        self.assertEqual(self.left(), {"thesis"})

    def test_is_refused_before_the_training(self):
        (self.work / "notes").write_text("notes")
        self.assert_one_line(self.run_tiny("notes", code=2), 2)
        self.assertFalse(self.cache.exists())

    def test_places_that_cannot_be_written(self):
        for out in self.scenario / "out", "/proc/out", "/dev/null", ".":
            self.assert_one_line(self.run_tiny(out, "--no-train", code=2), 2)
        self.assertEqual(self.left(), set())


def small_files(size):
    """What a full disk looks like to a process."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


class FullDisk(CommandLine):
    def test_leaves_nothing(self):
        done = self.run_tiny("out", "--no-train", code=1, preexec_fn=small_files(600))
        self.assert_one_line(done, 1)
        self.assertIn("cannot be written", done.stderr)
        self.assertEqual(self.left(), set())

    def test_leaves_the_old_run(self):
        self.run_tiny("out", "--no-train")
        before = {path.name: path.read_bytes() for path in (self.work / "out").iterdir()}
        self.assert_one_line(self.run_tiny("out", "--no-train", "--set", "stop.steps=20", code=1, preexec_fn=small_files(600)), 1)
        self.assertEqual({path.name: path.read_bytes() for path in (self.work / "out").iterdir()}, before)
        self.assertEqual(self.left(), {"out"})

    def test_while_training_spoils_nothing(self):
        """What the cache kept of a training on a full disk is right, or is not used."""
        done = self.run_tiny("out", code=1, preexec_fn=small_files(600))
        self.assert_one_line(done, 1)
        self.assertIn("File too large", done.stderr)
        self.assertEqual(self.left(), set())
        self.run_tiny("after")
        self.run_tiny("fresh", cache=self.folder / "another")
        self.assertEqual(self.bytes("after"), self.bytes("fresh"))


class Training(CommandLine):
    def test_results(self):
        done = self.run_tiny("out", "--json")
        self.assertEqual(done.stderr, "")
        summary = json.loads(done.stdout)
        self.assertEqual(summary, self.json("out")["summary"])
        self.assertLess(summary["final_loss"], summary["initial_loss"])
        self.assertGreater(summary["final_loss"], 1.5)  # no model is better than the entropy of its source
        self.assertEqual(summary["trained_tokens"], 40 * 2 * 2 * 16)
        self.assertRegex(summary["program_hash"], r"\A[0-9a-f]{32}\Z")
        self.assertEqual({path.name for path in (self.work / "out").iterdir()}, RUN_FILES | {"program.txt"})
        with (self.work / "out" / "rounds.csv").open(newline="") as rounds:
            rows = list(csv.DictReader(rounds))
        self.assertEqual(float(rows[-1]["loss"]), summary["final_loss"])
        self.assertGreater(float(rows[0]["training_loss"]), float(rows[-1]["training_loss"]))
        self.assertEqual(self.left(), {"out"})

    def test_same_bytes_from_another_training(self):
        self.run_tiny("a")
        self.run_tiny("b", cache=self.folder / "another")
        self.assertEqual(self.json("b", "real_time.json")["steps_executed"], 80)
        for name in "results.json", "rounds.csv", "program.txt", "scenario.textproto":
            self.assertEqual(self.bytes("a", name), self.bytes("b", name), name)

    def test_another_network_is_timed_without_training(self):
        self.run_tiny("fast")
        self.run_tiny("slow", "--set", SLOW_NETWORK)
        fast, slow = self.json("fast"), self.json("slow")
        self.assertEqual(slow["summary"]["program_hash"], fast["summary"]["program_hash"])
        self.assertEqual([point["loss"] for point in slow["losses"]], [point["loss"] for point in fast["losses"]])
        self.assertGreater(slow["summary"]["virtual_time_s"], fast["summary"]["virtual_time_s"])
        self.assertGreater(slow["losses"][-1]["time_s"], fast["losses"][-1]["time_s"])
        self.assertEqual(self.json("fast", "real_time.json")["from_cache"], False)
        self.assertEqual(self.json("fast", "real_time.json")["steps_executed"], 80)
        self.assertEqual(self.json("slow", "real_time.json")["from_cache"], True)
        self.assertEqual(self.json("slow", "real_time.json")["steps_executed"], 0)
        # From the cache come the same bytes.
        self.run_tiny("fast again")
        self.assertEqual(self.bytes("fast again"), self.bytes("fast"))
        self.assertEqual(self.bytes("fast again", "rounds.csv"), self.bytes("fast", "rounds.csv"))

    def test_another_training_is_trained(self):
        self.run_tiny("a")
        for change in "training.inner.lr=1e-3", "strategy.local_steps=4", "strategy.local_sgd={}", "seed=2":
            self.run_tiny("b", "--set", change)
            self.assertGreater(self.json("b", "real_time.json")["steps_executed"], 0, change)
            self.assertNotEqual(self.json("b")["summary"]["program_hash"], self.json("a")["summary"]["program_hash"], change)
            self.assertNotEqual(self.json("b")["summary"]["final_loss"], self.json("a")["summary"]["final_loss"], change)

    def test_every_method(self):
        for method in "data_parallel {}", "local_sgd {} local_steps: 5", "diloco { outer { kind: SGD lr: 1 } } local_steps: 5":
            self.run_tiny("out", "--set", f"strategy={{{method}}}")
            summary = self.json("out")["summary"]
            self.assertLess(summary["final_loss"], summary["initial_loss"], method)

    def test_stop_at_a_loss(self):
        self.run_tiny("whole", "--set", "training.evaluate_every=5")
        losses = self.json("whole")["losses"]
        target = losses[3]["loss"]
        self.assertGreater(min(point["loss"] for point in losses[:3]), target)
        self.run_tiny("part", "--set", "training.evaluate_every=5", "--set", f"stop.loss={target!r}")
        self.assertEqual(self.json("part")["losses"], losses[:4])
        self.assertEqual(self.json("part")["summary"]["syncs"], 3)

    def test_measured_pace_can_be_repeated(self):
        self.run_tiny("measured", "--set", "pace.measured.device_factor=2")
        pace = self.json("measured")["pace"]
        self.assertEqual(pace["source"], "measured")
        self.assertAlmostEqual(pace["slowest_step_s"], 2 * pace["measured_step_s"], places=8)
        self.scenario = self.work / "measured" / "scenario.textproto"
        self.run_tiny("repeated")
        self.assertEqual(self.json("repeated")["summary"], self.json("measured")["summary"])
        self.assertEqual(self.json("repeated")["losses"], self.json("measured")["losses"])


class Diverged(CommandLine):
    def test_is_told_and_kept(self):
        done = self.run_tiny("out", "--set", DIVERGES, code=1)
        self.assertRegex(done.stderr, r"\Asyncline: tiny: diverged: [^\n]+ out\n\Z")
        self.assertIn("diverged", done.stdout)
        results = self.json("out")
        self.assertEqual(results["status"], "diverged")
        self.assertNotIn("final_loss", results["summary"])
        self.assertIn("initial_loss", results["summary"])
        self.assertEqual({path.name for path in (self.work / "out").iterdir()}, RUN_FILES | {"program.txt"})

    def test_again_from_the_cache(self):
        self.run_tiny("a", "--set", DIVERGES, code=1)
        self.run_tiny("b", "--set", DIVERGES, code=1)
        self.assertEqual(self.bytes("a"), self.bytes("b"))
        self.assertEqual(self.json("b", "real_time.json")["steps_executed"], 0)

    def test_stops_a_run_that_waits_for_a_loss(self):
        self.run_tiny("out", "--set", DIVERGES, "--set", "stop.loss=1", "--set", "training.evaluate_every=5", code=1)
        self.assertEqual(self.json("out")["status"], "diverged")
        self.assertLess(self.json("out")["summary"]["steps"], 40)


class Killed(CommandLine):
    """kill -9 at random moments: a run's folder is whole or not there, and what was trained counts."""

    LONG = ["--set", "stop.steps=4000", "--set", "training.evaluate_every=100"]

    def test_twenty_times(self):
        moments = random.Random(1)
        for _ in range(20):
            process = subprocess.Popen([PROGRAM, "run", str(self.scenario), "--quiet", "--device", "cpu", "--out", "out", *self.LONG], **self.options())
            time.sleep(moments.uniform(0.1, 1.5))   # when it is killed decides nothing that is asserted
            process.kill()
            process.communicate()
            for name in self.left() & {"out"}:
                self.assertEqual({path.name for path in (self.work / name).iterdir()}, RUN_FILES | {"program.txt"})
        self.run_tiny("out", *self.LONG)
        self.assertEqual(self.left(), {"out"})
        self.run_tiny("whole", *self.LONG, cache=self.folder / "another")
        self.assertEqual(self.json("whole", "real_time.json")["steps_executed"], 8000)
        for name in RUN_FILES - {"real_time.json"} | {"program.txt"}:
            self.assertEqual(self.bytes("out", name), self.bytes("whole", name), name)


class Interrupted(CommandLine):
    LONG = ["--set", "stop.steps=4000", "--set", "training.evaluate_every=100"]

    def start(self, *arguments):
        process = subprocess.Popen([PROGRAM, *map(str, arguments)], **self.options())
        self.addCleanup(process.kill)
        return process

    def catches(self, process, number):
        """Whether the process has set a handler for this signal."""
        for line in pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines():
            if line.startswith("SigCgt:"):
                return bool(int(line.split()[1], 16) >> (number - 1) & 1)
        return False

    def assert_interrupted(self, process):
        stdout, stderr = process.communicate(timeout=HANGS_S)
        self.assertEqual(process.returncode, 130, stderr)
        self.assertEqual(stderr.splitlines()[-1], "syncline: interrupted; run it again: it goes on where it was")
        self.assertEqual(stdout, "")
        self.assertEqual(self.left(), set())

    def test_training_goes_on_where_it_was(self):
        process = self.start("run", self.scenario, "--device", "cpu", "--out", "out", *self.LONG)
        # The second evaluation: a good part is trained, and much is left.
        seen = 0
        while seen < 2:
            line = process.stderr.readline()
            self.assertNotEqual(line, "", "the run ended before it could be interrupted")
            seen += " loss " in line
        process.send_signal(signal.SIGINT)
        self.assert_interrupted(process)

        self.run_tiny("out", *self.LONG)
        executed = self.json("out", "real_time.json")["steps_executed"]
        self.assertGreater(executed, 0)
        self.assertLess(executed, 8000)   # what was trained before the interruption counts
        self.run_tiny("whole", *self.LONG, cache=self.folder / "another")
        self.assertEqual(self.json("whole", "real_time.json")["steps_executed"], 8000)
        for name in "results.json", "rounds.csv", "program.txt":
            self.assertEqual(self.bytes("out", name), self.bytes("whole", name), name)

    def test_simulation(self):
        for number in signal.SIGINT, signal.SIGTERM:
            process = self.start("run", self.scenario, "--no-train", "--quiet", "--out", "out", "--set", "strategy.local_steps=1", "--set", "stop.steps=1000000000000")
            while not self.catches(process, number):
                self.assertIsNone(process.poll())
            process.send_signal(number)
            self.assert_interrupted(process)

    def test_old_run_stays(self):
        self.run_tiny("out", "--no-train")
        before = self.bytes("out")
        process = self.start("run", self.scenario, "--no-train", "--quiet", "--out", "out", "--set", "strategy.local_steps=1", "--set", "stop.steps=1000000000000")
        while not self.catches(process, signal.SIGINT):
            self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=HANGS_S)
        self.assertEqual(process.returncode, 130)
        self.assertEqual(self.bytes("out"), before)
        self.assertEqual(self.left(), {"out"})


def parts():
    return sorted(part.__name__ for part in CommandLine.__subclasses__())


if __name__ == "__main__":
    if sys.argv[1] == "--parts":
        sys.exit(0 if sorted(sys.argv[2:]) == parts() else f"these are the parts: {' '.join(parts())}")
    PROGRAM = str(pathlib.Path(sys.argv[1]).resolve())
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
