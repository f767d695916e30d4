"""The notebook over a sweep: runs from top to bottom, draws, and says what the sweep says.

usage: sync_interval_vs_bandwidth_test.py SYNCLINE     exit code 77: there is no Jupyter
"""

import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOTEBOOK = ROOT / "notebooks" / "sync_interval_vs_bandwidth.ipynb"
PROGRAM = None

TINY = """
name: "tiny"
topology { clusters { count: 2 wan { bandwidth: "100 Mbit/s" latency: "1 ms" } } }
training {
  model { layers: 2 width: 32 heads: 2 context: 16 }
  data { markov { states: 16 entropy: 1.5 } }
  batch: 2
  evaluate_tokens: 512
  evaluate_every: 5
}
pace { fixed: "50 ms" }
strategy { diloco {} local_steps: 5 }
stop { steps: 40 }
"""
BANDWIDTHS = ["1 Mbit/s", "10 Mbit/s", "100 Mbit/s"]


class NotebookTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="syncline-notebook-")
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name).resolve()
        (self.folder / "tiny.textproto").write_text(TINY)
        # No kernel and no settings but the environment's own.
        self.environment = {**os.environ, "SYNCLINE_CACHE": str(self.folder / "cache"), "SYNCLINE_SWEEP": str(self.folder / "sweep"),
                            "JUPYTER_DATA_DIR": str(self.folder / "jupyter"), "JUPYTER_CONFIG_DIR": str(self.folder / "jupyter"),
                            "JUPYTER_RUNTIME_DIR": str(self.folder / "jupyter"), "IPYTHONDIR": str(self.folder / "ipython"),
                            "MPLCONFIGDIR": str(self.folder / "matplotlib")}

    def sweep(self, *arguments):
        done = subprocess.run([PROGRAM, "sweep", "tiny.textproto", "--quiet", "--device", "cpu", "--out", "sweep", *arguments],
                              cwd=self.folder, env=self.environment, capture_output=True, text=True, check=False)
        self.assertIn(done.returncode, (0, 1), done.stderr)

    def execute(self):
        """The outputs of all cells: texts, and the number of pictures."""
        done = subprocess.run([sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute", "--output-dir", str(self.folder), "--output", "done.ipynb", str(NOTEBOOK)],
                              env=self.environment, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        cells = json.loads((self.folder / "done.ipynb").read_text())["cells"]
        outputs = [output for cell in cells for output in cell.get("outputs", [])]
        self.assertEqual([output for output in outputs if output.get("name") == "stderr"], [])
        data = [output.get("data", {}) for output in outputs]
        texts = ["".join(output.get("text", [])) for output in outputs] + ["".join(each.get("text/markdown", [])) for each in data]
        return "\n".join(texts), sum("image/png" in each for each in data)

    def test_holds_no_outputs(self):
        for cell in json.loads(NOTEBOOK.read_text())["cells"]:
            self.assertEqual(cell.get("outputs", []), [])
            self.assertIsNone(cell.get("execution_count"))

    def test_says_what_the_sweep_says(self):
        self.sweep("--vary", "strategy.local_steps=5,10,20", "--vary", f"topology.clusters.wan.bandwidth={','.join(BANDWIDTHS)}")
        text, pictures = self.execute()
        self.assertEqual(pictures, 2)
        for answer in json.loads((self.folder / "sweep" / "sweep.json").read_text())["answers"]:
            bandwidth, best = answer["network"][0]["value"], answer["take"][0]["value"]
            self.assertIn(f"At **{bandwidth}** take **H = {best}** ({answer['time_s']:.4g} s)", text)
        self.assertIn("**tiny**: 9 points, 3 trainings.", text)
        self.assertIn("The best interval", text)

    def test_points_that_failed_are_left_out(self):
        self.sweep("--no-train", "--vary", "strategy.local_steps=5,10", "--vary", "topology.clusters.wan.bandwidth=0 bit/s,1 Mbit/s")
        text, pictures = self.execute()
        self.assertEqual(pictures, 1)
        for part in "2 came to nothing", "Nothing was trained", "At **1 Mbit/s** take **H = 10**":
            self.assertIn(part, text)


if __name__ == "__main__":
    if not all(importlib.util.find_spec(name) for name in ("nbconvert", "ipykernel", "pandas", "matplotlib")):
        print("skipped: there is no Jupyter in this environment; ./dev setup installs it")
        sys.exit(77)
    PROGRAM = str(pathlib.Path(sys.argv[1]).resolve())
    unittest.main(argv=sys.argv[:1])
