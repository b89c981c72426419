"""elastic.py on the software driver, where it judges no speed: `python3 test_elastic.py`, with MILLPOND_BIN set."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import elastic  # noqa: E402

SECONDS = 120


class Elastic(unittest.TestCase):
    def test_it_writes_every_number_and_judges_no_speed_without_a_gpu(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "elastic.json"
            command = [sys.executable, "-B", HERE.parent / "elastic.py", "--quick", "--out", out]
            ran = subprocess.run(command, env={**os.environ, "MILLPOND_DRIVER": "soft"}, capture_output=True, text=True,
                                 timeout=SECONDS, check=False)
            self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
            result = json.loads(out.read_text())
        for name in ("warm_block_us", "cold_1g_over_raw", "move_1g_ms", "move_1g_asked_ms", "kv_page_us", "kv_page_free_us", "book_ratio"):
            self.assertGreater(result[name], 0, name)
        for name in ("machine", "driver", "device", "commit", "date"):
            self.assertTrue(result[name], name)
        self.assertTrue(result["software_driver"])
        judged = {name for name, verdict in result["goals"].items() if verdict["ok"] is not None}
        self.assertEqual(judged, {"book_ratio"})
        self.assertTrue(result["goals"]["book_ratio"]["ok"])
        self.assertIn("not judged", ran.stdout)

    def test_a_program_that_fails_is_a_failure(self):
        ran = subprocess.run([sys.executable, "-B", HERE.parent / "elastic.py", "--millpond", "false"], capture_output=True,
                             text=True, timeout=SECONDS, check=False)
        self.assertEqual(ran.returncode, 1)
        self.assertIn("ended with 1", ran.stderr)

    def test_goals_are_judged_on_a_gpu_alone_and_by_what_was_measured(self):
        found = dict.fromkeys(elastic.GOALS, 0.5) | {"book_ratio": 0.0001, "move_1g_ms": 7.0, "kv_page_p90_us": None}
        verdicts = elastic.judge(found, soft=False)
        self.assertEqual([verdicts[name]["ok"] for name in ("warm_block_us", "move_1g_ms", "kv_page_p90_us")], [True, False, None])


if __name__ == "__main__":
    unittest.main()
