#!/usr/bin/env python3
"""The first load of a fresh pond, which starts a mover, beside the loads after it.

    first.py --millpond PROGRAM [--ponds N] [--later N] [--out FILE]

Writes a checkpoint of 20,000 small tensors (a mixture of experts, 34 GB; small on the software
driver), reads it once so that it is in memory, and loads it into one new pond after the other: first
as the pond's first load, then several times more, each freed again. Every load gets slabs that were
just made: what a later one has before the first is a mover with a context and a ring, and nothing else.
A last pond logs what happens when in its first load, in milliseconds after the start of the command:
each line is one of EVENTS. Prints JSON with the medians.
"""

import argparse
import datetime
import os
import pathlib
import re
import statistics
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "weights"))

import checkpoints  # noqa: E402
import pond as ponds  # noqa: E402
import verdict  # noqa: E402

GOAL = 0.95
LARGE = {"kind": "moe", "dtype": "BF16", "layers": 32, "experts": 208, "rows": 832, "columns": 1024}
SMALL = {"kind": "moe", "dtype": "F32", "layers": 4, "experts": 166, "rows": 8, "columns": 64}
# What was freed is not the next load's work.
SETTLE_SECONDS = 0.5
# What the log says, and what it is called here. Those of the mover are the pond's, the others the command's.
EVENTS = {
    "the driver is open": "mover_driver_open",
    "a mover is asked for": "hint",
    "a mover is wanted": "mover_told",
    "the context is there": "context_ready",
    "the mover is ready": "mover_ready",
    "the ring is complete": "ring_ready",
    "the files are checked": "headers_read",
    "the slabs are there": "slabs_ready",
    "the first block": "first_byte",
    "the bytes are there": "last_byte",
    "it is committed": "committed",
}
LINE = re.compile(r"^(\d{4}-\d\d-\d\dT[\d:.]+)Z +DEBUG [\w:]+: ([a-z ]+?)(?: elapsed=.*)?$")


def breakdown(program, soft, folder):
    """Milliseconds from the start of the command to each event of a first load. An event before it is negative."""
    os.environ["MILLPOND_LOG"] = "info,millpond_mover=debug"
    try:
        pond = ponds.Pond(program, soft=soft)
    finally:
        del os.environ["MILLPOND_LOG"]
    try:
        begun = time.time()
        said = ponds.run([program, "-vv", "load", "first@v0", folder, "--like", "none"], pond.env).errors
        said += (pond.folder / "log").read_text(errors="replace")
    finally:
        pond.stop()
    found = {}
    for line in re.sub("\x1b\\[[0-9;]*m", "", said).splitlines():
        match = LINE.match(line)
        if match and match[2] in EVENTS:
            at = datetime.datetime.fromisoformat(match[1] + "+00:00").timestamp()
            found.setdefault(EVENTS[match[2]], round((at - begun) * 1000, 1))
    return dict(sorted(found.items(), key=lambda item: item[1]))


def load(pond, folder, version):
    """Seconds as the caller sees them."""
    begun = time.monotonic()
    pond.cli("load", f"first@{version}", folder, "--like", "none")
    return time.monotonic() - begun


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--millpond", required=True)
    parser.add_argument("--ponds", type=int, default=5)
    parser.add_argument("--later", type=int, default=3)
    parser.add_argument("--folder", default="/dev/shm")
    parser.add_argument("--out")
    options = parser.parse_args()
    gpu = os.environ.get("MILLPOND_DRIVER") == "cuda"
    spec = LARGE if gpu else SMALL
    samples = {"first": [], "later": []}
    with tempfile.TemporaryDirectory(prefix="first-", dir=options.folder) as folder:
        path = os.path.join(folder, "checkpoint")
        size = checkpoints.write(path, spec)
        for _ in range(options.ponds):
            pond = ponds.Pond(options.millpond, soft=not gpu)
            try:
                samples["first"].append(load(pond, path, "v0"))
                for number in range(1, options.later + 1):
                    time.sleep(SETTLE_SECONDS)
                    samples["later"].append(load(pond, path, f"v{number}"))
                    pond.cli("retire", "first", f"v{number}")
            finally:
                pond.stop()
        parts = breakdown(options.millpond, not gpu, path)
    medians = {name: statistics.median(times) for name, times in samples.items()}
    ratio = medians["later"] / medians["first"]
    result = {"driver": "cuda" if gpu else "soft", "bytes": size, "tensors": len(checkpoints.shapes_of(spec)),
              "first_seconds": medians["first"], "later_seconds": medians["later"], "ratio": ratio, "goal": GOAL,
              "ok": ratio >= GOAL if gpu else None, "first_load_ms": parts, "samples": samples}
    print("first load, ms: " + ", ".join(f"{name} {at:g}" for name, at in parts.items()))
    line = f"first load {size / medians['first'] / 1e9:.2f} GB/s, later ones {size / medians['later'] / 1e9:.2f} GB/s, {ratio:.2f}x (goal: at least {GOAL:g}x)"
    return verdict.close(result, options.out, line)


if __name__ == "__main__":
    sys.exit(main())
