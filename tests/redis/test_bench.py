"""The benchmark, in short: it writes every number, and judges no speed."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import harness

BENCH = harness.ROOT / "benchmarks" / "redis"
sys.path.insert(0, str(BENCH))

import bench  # noqa: E402


class Benchmark(unittest.TestCase):
    def test_it_writes_every_number_and_judges_no_speed_in_short(self):
        pondtool = pathlib.Path(os.environ.get("PONDTOOL") or pathlib.Path(os.environ["MILLPOND_BIN"]).parent / "pondtool")
        if not pondtool.exists():
            self.skipTest(f"no {pondtool}")
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "redis.json"
            ran = subprocess.run([sys.executable, str(BENCH / "bench.py"), "--short", "--out", str(out), "--pondtool", str(pondtool)],
                                 capture_output=True, text=True, timeout=120, check=False)
            self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
            result = json.loads(out.read_text())
        for name in ("ping_us", "ping_p99_us", "get_us", "get_p99_us", "delete_us", "gets_per_second", "repair_seconds", "bridge_mib", "tensors"):
            self.assertGreater(result[name], 0, name)
        self.assertEqual({verdict["ok"] for verdict in result["goals"].values()}, {None})
        self.assertIn("not judged", ran.stdout)

    def test_a_ratio_compares_what_was_measured_in_the_same_round(self):
        # The machine was ten times slower in one round, for both.
        rounds = [{"ping": [100], "get": [200], "delete": [300]}, {"ping": [1000], "get": [2000], "delete": [3000]}]
        found = bench.numbers(rounds)
        self.assertEqual((found["get_over_ping"], found["delete_over_ping"], found["ping_us"]), (2.0, 3.0, 0.55))

    def test_goals_are_at_most_or_at_least(self):
        verdicts = bench.judge({"get_over_ping": 3.1, "gets_per_second": 6000, "repair_seconds": 9.9}, True)
        self.assertEqual([verdicts[name]["ok"] for name in ("get_over_ping", "gets_per_second", "repair_seconds", "bridge_mib")],
                         [False, True, True, None])
