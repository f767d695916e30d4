"""check_includes.py names each kind of forbidden include in a made-up tree, and nothing else there."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

# File, what it includes, whether that is allowed.
CASES = [
    ("topology/graph.cc", '"topology/graph.h"', True),
    ("topology/graph.cc", "<boost/graph/adjacency_list.hpp>", True),
    ("topology/graph.cc", '"sim/engine/engine.h"', False),
    ("topology/graph.cc", "<google/protobuf/message.h>", False),
    ("compute/program.h", '"topology/quantity.h"', True),
    ("compute/program.h", '"sim/engine/engine.h"', False),
    ("compute/program.h", "<torch/torch.h>", False),
    ("compute/torch/model.cc", "<torch/torch.h>", True),
    ("compute/torch/model.cc", "<ATen/ATen.h>", True),
    ("compute/torch/model.cc", '"scenarios/scenario.h"', False),
    ("compute/nccl/ranks.cc", "<nccl.h>", True),
    ("compute/compression/quantize.cu", "<cuda_runtime.h>", True),
    ("compute/compression/quantize.cc", "<cuda_runtime.h>", False),
    ("compute/pace/pace.cc", "<c10/core/Device.h>", False),
    ("sim/strategy/local_sgd.cc", '"compute/program.h"', True),
    ("sim/strategy/local_sgd.cc", '"compute/pace/pace.h"', True),
    ("sim/strategy/local_sgd.cc", '"compute/trainer.h"', False),
    ("sim/strategy/local_sgd.cc", '"compute/torch/torch_trainer.h"', False),
    ("sim/strategy/local_sgd.cc", "<boost/graph/adjacency_list.hpp>", False),
    ("sim/strategy/local_sgd.cc", "<boost/random/mersenne_twister.hpp>", True),
    ("sim/strategy/local_sgd.cc", '"../../scenarios/scenario.h"', False),
    ("sim/strategy/local_sgd.h", '"scenarios/scenario.pb.h"', False),
    ("scenarios/load.cc", '"scenarios/scenario.pb.h"', True),
    ("scenarios/load.cc", '"compute/trainer.h"', True),
    ("scenarios/load.cc", '"report/results.h"', False),
    ("report/json.cc", '"scenarios/scenario.h"', True),
    ("report/json.cc", "<google/protobuf/util/json_util.h>", True),
    ("report/json.cc", '"app/run.h"', False),
    ("app/run.cc", '"compute/torch/torch_trainer.h"', True),
    ("app/run.cc", "<mpi.h>", True),
    ("app/run.cc", '"report/results.pb.h"', False),
    ("app/run.cc", '"tests/sim/oracle.h"', False),
    ("tests/sim/network_test.cc", '"tests/sim/oracle.h"', True),
    ("tests/sim/network_test.cc", '"app/run.h"', True),
    ("tests/sim/network_test.cc", "<cuda.h>", False),
    ("tests/sim/network_test.cc", '"scenarios/scenario.pb.h"', False),
    ("tests/scenarios/load_test.cc", '"scenarios/scenario.pb.h"', True),
    ("tests/compute/torch_model_test.cc", "<torch/torch.h>", True),
    ("tests/compute/program_test.cc", "<torch/torch.h>", False),
    ("bench/sharing.cc", '"sim/network/sharing.h"', True),
    ("bench/sharing.cc", "<mpi.h>", False),
]


class CheckIncludesTest(unittest.TestCase):
    def test_names_the_forbidden_includes_and_no_others(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            expected = []
            for file, included, allowed in CASES:
                path = root / file
                path.parent.mkdir(parents=True, exist_ok=True)
                with path.open("a", encoding="utf-8") as out:
                    out.write(f"#include {included}\n")
                if not allowed:
                    line = len(path.read_text(encoding="utf-8").splitlines())
                    expected.append(f"{file}:{line}: {included[1:-1]}")
            result = self.check(root)
        self.assertEqual(result.returncode, 1)
        # One include may be forbidden for two reasons.
        named = {line.split(" is ")[0] for line in result.stdout.splitlines()}
        self.assertEqual(named, set(expected))

    def test_says_nothing_when_all_is_well(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "sim").mkdir()
            (pathlib.Path(folder) / "sim" / "a.cc").write_text('#include <vector>\n#include "topology/quantity.h"\n')
            result = self.check(folder)
        self.assertEqual((result.returncode, result.stdout), (0, ""))

    @staticmethod
    def check(root):
        script = pathlib.Path(__file__).with_name("check_includes.py")
        return subprocess.run([sys.executable, script, root], capture_output=True, text=True, check=False)


if __name__ == "__main__":
    unittest.main()
