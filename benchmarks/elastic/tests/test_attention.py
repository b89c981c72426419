"""attention.py on the software driver, with numpy in the place of torch: `python test_attention.py`, with numpy and the package
`millpond` installed and MILLPOND_BIN set."""

import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = HERE.parent / "attention.py"
SECONDS = 120


def run(*arguments, path=None):
    env = {**os.environ, "MILLPOND_DRIVER": "soft", "OPENBLAS_NUM_THREADS": "1"}
    if path:
        env["PYTHONPATH"] = os.pathsep.join(filter(None, [str(path), os.environ.get("PYTHONPATH")]))
    command = [sys.executable, "-B", PROGRAM, *arguments]
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=SECONDS, check=False)


class Attention(unittest.TestCase):
    def test_without_torch_it_says_so_and_fails(self):
        if importlib.util.find_spec("torch"):
            print("SKIPPED: torch is installed")
            self.skipTest("torch is installed")
        ran = run("--millpond", "/nowhere")
        self.assertEqual((ran.returncode, ran.stderr), (1, "attention: the package 'torch' is not installed\n"))

    def test_outputs_over_all_memories_are_compared(self):
        missing = [name for name in ("millpond", "numpy") if not importlib.util.find_spec(name)]
        if missing:
            print(f"SKIPPED: the benchmark needs {', '.join(missing)}")
            self.skipTest("packages are not installed")
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "attention.json"
            ran = run("--rounds", "2", "--out", str(out), path=HERE / "stand_in")
            self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
            result = json.loads(out.read_text())
        self.assertEqual((result["ok"], result["different"], result["torch"]), (True, [], "stand-in"))
        rows = {(row["kernel"], row["memory"]) for row in result["rows"]}
        self.assertEqual(rows, {(kernel, memory) for kernel in ("sdpa", "paged") for memory in ("plain", "2m", "16m", "64m")})
        self.assertTrue(all(row["over_plain"] > 0 and row["rounds"] == 2 for row in result["rows"]))
        self.assertIn("equal to the last bit", ran.stdout)


if __name__ == "__main__":
    unittest.main()
