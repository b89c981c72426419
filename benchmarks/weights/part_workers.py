"""A worker's time from exec to its first output: with attach, and loading by itself."""

import importlib.util
import json
import subprocess
import sys
import time

from rows import Skipped, median


def start(ground, how):
    """(seconds from exec to the first output, its fingerprint)"""
    command = [sys.executable, str(ground.here / "worker.py"), "--how", how, "--model", "dense@v1", "--folder", ground.path("dense-v1")]
    begun = time.monotonic()
    process = subprocess.Popen(command + (["--soft"] if ground.soft else []), env=ground.child_env(), stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    line = process.stdout.readline()
    took = time.monotonic() - begun
    _, error = process.communicate(timeout=60)
    if not line.startswith("{"):
        raise RuntimeError(f"the worker ended without an output: {error.strip()[-1500:]}")
    answer = json.loads(line)
    return took, answer["digest"], answer["seconds"]


def run(ground):
    if ground.soft:
        missing = [name for name in ("numpy", "safetensors") if not importlib.util.find_spec(name)]
        if missing:
            raise Skipped(f"{' and '.join(missing)} not installed here")
    rounds = 2
    found = {how: [start(ground, how) for _ in range(rounds)] for how in ("safetensors", "attach")}
    digests = {digest for times in found.values() for _, digest, _ in times}
    if len(digests) != 1:
        raise RuntimeError(f"outputs with attached and with private weights differ: {sorted(digests)}")
    loaded = median([took for took, _, _ in found["safetensors"]])
    ground.rows.add("worker/safetensors", "exec to first output, the worker loads by safetensors", loaded, "s",
                    samples=[took for took, _, _ in found["safetensors"]], note=found["safetensors"][-1][2])
    ground.rows.add("worker/attach", "exec to first output, the worker attaches; outputs are equal to the last bit",
                    median([took for took, _, _ in found["attach"]]), "s", floor=loaded, floor_what="worker/safetensors",
                    samples=[took for took, _, _ in found["attach"]], note=found["attach"][-1][2])
