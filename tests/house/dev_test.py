"""The developer command: it parses, its help lists what it can do, and it refuses what it cannot."""

import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEV = ROOT / "dev"


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False)


class DevTest(unittest.TestCase):
    def test_scripts_parse(self):
        for script in (DEV, ROOT / ".ci" / "run", *sorted((ROOT / "tools").glob("*.sh"))):
            with self.subTest(script=script.name):
                result = run("bash", "-n", script)
                self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_help_lists_every_command(self):
        cases = DEV.read_text(encoding="utf-8").split("\ncase $command in\n")[1]
        commands = re.findall(r"^  ([a-z-]+)(?: \|.*)?\)$", cases, re.MULTILINE)
        self.assertIn("setup", commands)
        result = run(DEV, "help")
        self.assertEqual(result.returncode, 0)
        self.assertEqual(commands, re.findall(r"^  ([a-z-]+) ", result.stdout, re.MULTILINE))

    def test_unknown_command_is_bad_input(self):
        result = run(DEV, "no-such-command")
        self.assertEqual(result.returncode, 2)
        self.assertEqual(result.stdout, "")
        self.assertIn("no-such-command", result.stderr)


if __name__ == "__main__":
    unittest.main()
