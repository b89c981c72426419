"""The example with small caches on the software driver, and its picture without any: `python test_burst.py`."""

import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import picture  # noqa: E402

MIB = 1 << 20
SECONDS = 120


def missing():
    """What the example needs and this interpreter does not have."""
    return [name for name in ("millpond", "numpy") if not importlib.util.find_spec(name)]


class Picture(unittest.TestCase):
    RESULT = {
        "device": "a <card>", "limit_bytes": 64 * MIB, "seconds": 3.0, "checks": 12, "wrong": 0,
        "phases": [{"name": "one & two", "at": 0.0}, {"name": "later", "at": 1.5}],
        "caches": [
            {"name": "a", "samples": [[0.0, 0, 0, 0], [1.0, 32 * MIB, 8 * MIB, 40 * MIB], [2.0, 32 * MIB, 0, 32 * MIB]]},
            {"name": "b", "samples": [[0.5, 8 * MIB, 0, 8 * MIB], [2.5, 32 * MIB, 0, 32 * MIB]]},
        ],
    }

    def test_a_sample_holds_until_the_next_one(self):
        grid, (used_a, idle_a, idle_b, used_b) = picture.stacked([cache["samples"] for cache in self.RESULT["caches"]])
        self.assertEqual(grid, [0.0, 0.5, 1.0, 2.0, 2.5])
        self.assertEqual([amount // MIB for amount in used_a], [0, 0, 32, 32, 32])
        self.assertEqual([amount // MIB for amount in idle_a], [0, 0, 8, 0, 0])
        self.assertEqual([amount // MIB for amount in used_b], [0, 8, 8, 8, 32])
        self.assertEqual(set(idle_b), {0})

    def test_it_is_an_svg_with_axes_a_legend_and_the_limit(self):
        drawn = picture.draw(self.RESULT)
        xml.etree.ElementTree.fromstring(drawn)
        for words in ("memory of the GPU in MiB", "seconds", "limit of the group: 64 MiB", "a: in use", "b: idle", "one &amp; two"):
            self.assertIn(words, drawn)


class Burst(unittest.TestCase):
    def test_memory_moves_to_who_needs_it_and_back_and_every_output_is_right(self):
        if missing():
            print(f"SKIPPED: the example needs {', '.join(missing())}")
            self.skipTest("packages are not installed")
        with tempfile.TemporaryDirectory() as folder:
            out, svg = pathlib.Path(folder) / "burst.json", pathlib.Path(folder) / "burst.svg"
            command = [sys.executable, "-B", HERE / "burst.py", "--limit", "64M", "--pause", "0", "--out", out, "--svg", svg]
            ran = subprocess.run(command, env={**os.environ, "MILLPOND_DRIVER": "soft"}, capture_output=True, text=True,
                                 timeout=SECONDS, check=False)
            self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
            result = json.loads(out.read_text())
            xml.etree.ElementTree.fromstring(svg.read_text())
        self.assertEqual(result["wrong"], 0)
        self.assertGreater(result["checks"], 100)
        self.assertEqual(result["limit_bytes"], 64 * MIB)
        moved = {cache["name"]: cache for cache in result["moved"]}
        # Twelve steps to the other one, twelve back, six that the handler gives, six back.
        for one, other in (("model-a", "model-b"), ("model-b", "model-a")):
            self.assertEqual(moved[one]["given_bytes"], 18 * result["step_bytes"])
            self.assertEqual(moved[one]["given_bytes"], moved[other]["got_bytes"])
        self.assertGreater(result["caches"][0]["given_blocks"], 0, "the handler was asked")
        _, layers = picture.stacked([cache["samples"] for cache in result["caches"]])
        self.assertLessEqual(max(map(sum, zip(*layers))), 64 * MIB)
        self.assertRegex(ran.stdout, re.compile(r"model-a gave 72 MiB and got 72 MiB"))


if __name__ == "__main__":
    unittest.main()
