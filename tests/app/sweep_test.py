"""syncline sweep: its points, its folder, and how it goes on.

usage: sweep_test.py SYNCLINE PART     the tests of one class, with the program SYNCLINE
       sweep_test.py --parts PART...   checks that these are all the classes
"""

import csv
import json
import pathlib
import shutil
import signal
import subprocess
import sys
import unittest

import cli_test

H = "strategy.local_steps"
BANDWIDTH = "topology.clusters.wan.bandwidth"
FILES = {"sweep.csv", "sweep.json", "losses.csv", "sweep_state.json"}


class SweepTest(cli_test.CommandLine):
    def sweep(self, *arguments, code=0, out="out", **changes):
        done = self.syncline("sweep", self.scenario, "--quiet", "--device", "cpu", "--out", out, *arguments, **changes)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def two_by_two(self, *arguments, **changes):
        return self.sweep("--vary", f"{H}=5,10", "--vary", f"{BANDWIDTH}=100 Mbit/s, 1 Mbit/s", *arguments, **changes)

    def rows(self, out="out", name="sweep.csv"):
        with (self.work / out / name).open(newline="") as file:
            return list(csv.DictReader(file))

    def assert_same_files(self, point, run):
        """All but what this computer took."""
        point, run = self.files(pathlib.Path("out") / point), self.files(run)
        self.assertEqual(point.keys(), run.keys())
        for name in run.keys() - {"real_time.json"}:
            self.assertEqual(point[name], run[name], name)

    def executed(self, out="out"):
        """Steps that each point's training took, in order; 0: all of it was known."""
        return [self.json(pathlib.Path(out) / row["folder"], "real_time.json")["steps_executed"] for row in self.rows(out)]

    def files(self, out="out"):
        return {path.relative_to(self.work / out).as_posix(): path.read_bytes() for path in sorted((self.work / out).rglob("*")) if path.is_file()}

    def times(self, out="out"):
        """When each point's folder was written."""
        return {row["folder"]: (self.work / out / row["folder"] / "results.json").stat().st_mtime_ns for row in self.rows(out) if row["folder"]}


class Points(SweepTest):
    def test_all_combinations_the_last_varied_changes_fastest(self):
        self.two_by_two("--no-train")
        self.assertEqual([(row[H], row[BANDWIDTH]) for row in self.rows()],
                         [("5", "100 Mbit/s"), ("5", "1 Mbit/s"), ("10", "100 Mbit/s"), ("10", "1 Mbit/s")])
        self.assertEqual([row["point"] for row in self.rows()], ["0", "1", "2", "3"])
        self.assertEqual({row["status"] for row in self.rows()}, {"done"})

    def test_each_equals_the_run_with_the_same_settings(self):
        self.two_by_two("--seed", "3", "--set", "training.evaluate_every=10")
        for row in self.rows():
            # With a cache of its own: trained anew.
            self.run_tiny("run", "--seed", "3", "--set", "training.evaluate_every=10", "--set", f"{H}={row[H]}", "--set", f"{BANDWIDTH}={row[BANDWIDTH]}",
                          cache=self.folder / "another")
            self.assert_same_files(row["folder"], "run")

    def test_without_training_too(self):
        self.two_by_two("--no-train")
        for row in self.rows():
            self.run_tiny("run", "--no-train", "--set", f"{H}={row[H]}", "--set", f"{BANDWIDTH}={row[BANDWIDTH]}")
            self.assert_same_files(row["folder"], "run")
        self.assertFalse(self.cache.exists())

    def test_stop_by_loss(self):
        stop = ["--set", "stop.loss=2.5", "--set", "training.evaluate_every=5"]
        self.two_by_two(*stop)
        for row in self.rows():
            self.run_tiny("run", *stop, "--set", f"{H}={row[H]}", "--set", f"{BANDWIDTH}={row[BANDWIDTH]}")
            self.assertEqual(self.bytes(pathlib.Path("out") / row["folder"]), self.bytes("run"))
        self.assertEqual([count > 0 for count in self.executed()], [True, False, True, False])

    def test_equal_programs_are_trained_once(self):
        self.two_by_two()
        self.assertEqual(self.executed(), [80, 0, 80, 0])
        hashes = [row["program_hash"] for row in self.rows()]
        self.assertEqual(hashes[0], hashes[1])
        self.assertEqual(hashes[2], hashes[3])
        self.assertNotEqual(hashes[0], hashes[2])

    def test_reports_say_what_the_runs_say(self):
        done = self.two_by_two("--json")
        sweep = json.loads(done.stdout)
        self.assertEqual(sweep, self.json("out", "sweep.json"))
        for number, (row, point) in enumerate(zip(self.rows(), sweep["points"], strict=True)):
            results = self.json(pathlib.Path("out") / row["folder"])
            for name in "virtual_time_s", "ideal_network_time_s", "compute_utilisation", "final_loss", "tokens", "bytes_sent", "syncs":
                self.assertEqual(float(row[name]), results["summary"][name])
                self.assertEqual(point[name], results["summary"][name])
            self.assertEqual(point["settings"], [{"path": H, "value": row[H]}, {"path": BANDWIDTH, "value": row[BANDWIDTH]}])
            losses = [loss for loss in self.rows(name="losses.csv") if loss["point"] == str(number)]
            self.assertEqual([(float(loss["round"]), float(loss["steps"]), float(loss["virtual_time_s"]), float(loss["loss"])) for loss in losses],
                             [(loss["round"], loss["steps"], loss["time_s"], loss["loss"]) for loss in results["losses"]])

    def test_a_sentence_for_each_bandwidth(self):
        done = self.two_by_two()
        sentences = [answer["sentence"] for answer in self.json("out", "sweep.json")["answers"]]
        self.assertEqual(len(sentences), 2)
        for sentence, bandwidth in zip(sentences, ["100 Mbit/s", "1 Mbit/s"]):
            self.assertRegex(sentence, rf"\AAt {bandwidth} take H = \d+: it reaches a loss of [\d.]+ after [\d.]+ s; H = \d+ takes [\d.]+ s\.\Z")
            self.assertIn(sentence + "\n", done.stdout)
        # Half as many syncs cost half as much, and this network is slow.
        self.assertIn("take H = 10", sentences[1])

    def test_messages_from_files(self):
        clusters = 'clusters { count: 2 wan { bandwidth: "%s" latency: "5 ms" } }\n'
        (self.folder / "near.textproto").write_text(clusters % "100 Mbit/s")
        (self.folder / "far.textproto").write_text("# far away\n" + clusters % "1 Mbit/s")
        self.sweep("--no-train", "--vary", "topology=@near.textproto,@far.textproto")
        self.run_tiny("run", "--no-train", "--set", "topology=@far.textproto")
        self.run_tiny("plain", "--no-train", "--set", cli_test.SLOW_NETWORK)
        far = self.bytes(pathlib.Path("out") / self.rows()[1]["folder"])
        self.assertEqual(far, self.bytes("run"))
        self.assertEqual(far, self.bytes("plain"))


class BadInput(SweepTest):
    def assert_refused(self, *arguments, says):
        done = self.sweep(*arguments, code=2)
        self.assert_one_line(done, 2)
        for part in [says] if isinstance(says, str) else says:
            self.assertIn(part, done.stderr)
        self.assertEqual(self.left(), set())
        self.assertFalse(self.cache.exists())  # nothing was trained

    def test_vary(self):
        self.assert_refused(says="--vary is required")
        self.assert_refused("--vary", H, says=f"--vary {H}: write PATH=V1,V2")
        self.assert_refused("--vary", f"{H}=", says="empty value")
        self.assert_refused("--vary", f"{H}=5,,10", says="empty value")
        self.assert_refused("--vary", f"{H}=5,10,5", says="5 stands there twice")
        self.assert_refused("--vary", f"{H}=5", "--vary", f"{H}=10", says="varied twice")
        self.assert_refused("--vary", "topology.links=[{name: 1}", says='lacks a closing "]"')
        self.assert_refused("--vary", "strategy.local_step=5,10", says='did you mean "local_steps"?')

    def test_target_loss(self):
        for loss in "0", "-1", "nan", "low":
            self.assert_refused("--vary", f"{H}=5", "--target-loss", loss, says=f'--target-loss: "{loss}"; write a number above 0')

    def test_the_point_is_named(self):
        self.assert_refused("--vary", f"{BANDWIDTH}=1 Mbit/s,2 Mbit/s", "--vary", f"{H}=5,0",
                            says="point bandwidth=1 Mbit/s, local_steps=0: --set strategy.local_steps=0: strategy.local_steps: 0")
        self.assert_refused("--vary", f"{BANDWIDTH}=1 Mbit/s,2", says=["point bandwidth=2: ", "has no unit"])
        self.assert_refused("--vary", 'topology={ nodes {name: "a"} nodes {name: "b"} }', says=["point topology=", "no route from a to b"])

    def test_files(self):
        self.assert_refused("--vary", "topology=@nowhere.textproto", says="nowhere.textproto: there is no such file")
        (self.folder / "wrong.textproto").write_text('clusters {\n  count: 2\n  wan { bandwidth: "1" }\n}\n')
        self.assert_refused("--vary", "topology=@wrong.textproto", says='wrong.textproto:3: topology.clusters.wan.bandwidth: "1" has no unit')
        (self.folder / "wrong.textproto").write_text("clusters {\n  counts: 2\n}\n")
        self.assert_refused("--vary", "topology=@wrong.textproto", says=["wrong.textproto:2:", 'no field "counts"'])

    def test_seed_twice(self):
        self.assert_refused("--seed", "1", "--vary", "seed=2,3", says="--seed")


class Failed(SweepTest):
    def test_no_progress_is_reported_and_others_finish(self):
        done = self.sweep("--vary", "links[cluster0-core].bandwidth=0 bit/s,1 Mbit/s", code=1)
        self.assertRegex(done.stderr, r"\Asyncline: 1 of 2 points came to nothing, the first: [^\n]*cluster0-core[^\n]*\n\Z")
        self.assertIn("failed", done.stdout)
        failed, fine = self.rows()
        self.assertEqual((failed["status"], failed["folder"], failed["virtual_time_s"]), ("failed", "", ""))
        self.assertIn("cluster0-core", failed["message"])
        self.assertEqual((fine["status"], fine["message"]), ("done", ""))
        self.assertTrue((self.work / "out" / fine["folder"] / "results.json").is_file())
        self.assertIn("at 0 bit/s no setting", self.json("out", "sweep.json")["answers"][0]["sentence"].lower())
        # And again: the one is known, the other fails as before.
        before = self.times()[fine["folder"]]
        self.sweep("--vary", "links[cluster0-core].bandwidth=0 bit/s,1 Mbit/s", code=1)
        self.assertEqual((self.work / "out" / fine["folder"] / "results.json").stat().st_mtime_ns, before)

    def test_diverged_is_reported_and_kept(self):
        vary = ["--vary", cli_test.DIVERGES + ",{}"]
        done = self.sweep(*vary, code=1)
        self.assertIn("diverged", done.stderr)
        self.assertEqual([row["status"] for row in self.rows()], ["diverged", "done"])
        before = self.times()
        self.assertEqual(self.sweep(*vary, code=1).stdout, done.stdout)
        self.assertEqual(self.times(), before)

    def test_a_full_disk_leaves_no_half_point(self):
        self.two_by_two("--no-train")
        before = self.files()
        done = self.two_by_two("--no-train", "--set", "stop.steps=20", code=1, preexec_fn=cli_test.small_files(1500))
        self.assertNotEqual(done.stderr, "")
        self.assertEqual({name for name in self.files() if "/" in name}, {name for name in before if "/" in name})


class Folders(SweepTest):
    def test_named_after_the_scenario(self):
        done = self.syncline("sweep", self.scenario, "--no-train", "--quiet", "--vary", f"{H}=5")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue((self.work / "runs" / "tiny-sweep" / "sweep.csv").is_file())
        self.assertIn("runs/tiny-sweep", done.stdout)

    def test_holds_the_points_and_the_reports(self):
        self.two_by_two("--no-train")
        self.assertEqual({path.name for path in (self.work / "out").iterdir()}, FILES | {row["folder"] for row in self.rows()})
        self.assertEqual(self.left(), {"out"})

    def test_others_are_refused(self):
        (self.work / "thesis").mkdir()
        (self.work / "thesis" / "chapter.tex").write_text("years of work")
        self.assert_one_line(self.two_by_two(out="thesis", code=2), 2)
        self.run_tiny("run", "--no-train")
        before = self.files("run")
        done = self.two_by_two(out="run", code=2)
        self.assertIn("--out run: is not empty and no sweep's folder", done.stderr)
        self.assertEqual(self.files("run"), before)
        self.assertEqual(self.files("thesis"), {"chapter.tex": b"years of work"})
        self.assertFalse(self.cache.exists())
        # Nor is a sweep's a run's.
        self.two_by_two("--no-train")
        self.assert_one_line(self.run_tiny("out", "--no-train", code=2), 2)

    def test_a_strangers_folder_in_a_points_place(self):
        self.two_by_two("--no-train")
        folder = self.work / "out" / self.rows()[0]["folder"]
        shutil.rmtree(folder)
        folder.mkdir()
        (folder / "notes.txt").write_text("mine")
        self.assert_one_line(self.two_by_two("--no-train", code=2), 2)
        self.assertEqual((folder / "notes.txt").read_text(), "mine")

    def test_another_sweep_takes_its_place(self):
        self.two_by_two("--no-train")
        (self.work / "out" / "notes.txt").write_text("mine")
        self.sweep("--no-train", "--vary", f"{H}=10,20")
        self.assertEqual({path.name for path in (self.work / "out").iterdir()}, FILES | {"notes.txt"} | {row["folder"] for row in self.rows()})
        self.assertEqual(len(self.rows()), 2)


class GoingOn(SweepTest):
    def test_finished_points_are_kept(self):
        self.two_by_two()
        files, times = self.files(), self.times()
        self.two_by_two()
        self.assertEqual(self.files(), files)
        self.assertEqual(self.times(), times)

    def test_by_content(self):
        self.two_by_two("--no-train")
        times = self.times()
        # Another scenario makes all points others.
        self.two_by_two("--no-train", "--seed", "2")
        for folder, time in self.times().items():
            self.assertNotEqual(time, times[folder])
        # One that lost a file, or has another one's, is run again.
        times, files = self.times(), self.files()
        folders = list(times)
        (self.work / "out" / folders[0] / "results.json").unlink()
        shutil.copy(self.work / "out" / folders[1] / "scenario.textproto", self.work / "out" / folders[2])
        (self.work / "out" / folders[0] / "scenario.textproto").unlink()
        shutil.rmtree(self.work / "out" / folders[0])
        self.two_by_two("--no-train", "--seed", "2")
        self.assertEqual([self.times()[folder] == times[folder] for folder in folders], [False, True, False, True])
        for name, data in files.items():
            if not name.endswith("real_time.json"):
                self.assertEqual(self.files()[name], data, name)

    def test_another_build_runs_all_again(self):
        self.two_by_two("--no-train")
        times = self.times()
        state = self.work / "out" / "sweep_state.json"
        state.write_text(state.read_text().replace('"made_by": "', '"made_by": "another '))
        self.two_by_two("--no-train")
        for folder, time in self.times().items():
            self.assertNotEqual(time, times[folder])

    def test_a_measured_pace_is_measured_once(self):
        vary = ["--vary", f"{BANDWIDTH}=1 Mbit/s,2 Mbit/s", "--set", "pace.measured={}"]
        self.sweep(*vary)
        paces = [self.json(pathlib.Path("out") / row["folder"])["pace"] for row in self.rows()]
        self.assertEqual(paces[0], paces[1])
        times = self.times()
        shutil.rmtree(self.work / "out" / self.rows()[1]["folder"])
        self.sweep(*vary)
        self.assertEqual(self.times()[self.rows()[0]["folder"]], times[self.rows()[0]["folder"]])
        self.assertEqual([self.json(pathlib.Path("out") / row["folder"])["pace"] for row in self.rows()], paces)

    def test_after_an_interruption(self):
        vary = ["--vary", f"{H}=20,25", "--vary", f"{BANDWIDTH}=1 Mbit/s,2 Mbit/s", "--set", "stop.steps=2000"]
        process = subprocess.Popen([cli_test.PROGRAM, "sweep", str(self.scenario), "--device", "cpu", "--out", "out", *vary], **self.options())
        self.addCleanup(process.kill)
        # The first program's points are there, and the second one has just begun.
        line = ""
        while not line.startswith("training 2/2"):
            line = process.stderr.readline()
            self.assertNotEqual(line, "", "the sweep ended before it could be interrupted")
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=cli_test.HANGS_S)
        self.assertEqual((process.returncode, stdout), (130, ""), stderr)
        self.assertEqual(stderr.splitlines()[-1], "syncline: interrupted; run it again: it goes on where it was")
        points = [path for path in (self.work / "out").iterdir() if path.is_dir()]
        self.assertEqual({path.name for path in points}, {"local_steps=20,bandwidth=1-Mbit-s", "local_steps=20,bandwidth=2-Mbit-s"})
        times = {path.name: (path / "results.json").stat().st_mtime_ns for path in points}

        self.sweep(*vary)
        for folder, time in times.items():
            self.assertEqual(self.times()[folder], time)
        self.sweep(*vary, out="whole", cache=self.folder / "another")
        whole = self.files("whole")
        for name, data in self.files().items():
            if not name.endswith("real_time.json"):
                self.assertEqual(data, whole[name], name)


def parts():
    return sorted(part.__name__ for part in SweepTest.__subclasses__())


if __name__ == "__main__":
    if sys.argv[1] == "--parts":
        sys.exit(0 if sorted(sys.argv[2:]) == parts() else f"these are the parts: {' '.join(parts())}")
    cli_test.PROGRAM = str(pathlib.Path(sys.argv[1]).resolve())
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
