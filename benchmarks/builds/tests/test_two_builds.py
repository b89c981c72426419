#!/usr/bin/env python3
"""Keeps the benchmark of two builds alive without a GPU: test_two_builds.py FOLDER

One build is the old and the new one, in one short round on the software driver. Every part must have run, and the JSON
must say so; that driver alone makes it short. FOLDER is cargo's target/debug.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

SCRIPT = pathlib.Path(__file__).resolve().parent.parent / "two_builds.py"
# One row of each part: loads, the bench, calls under a limit.
PARTS = ("load/first", "load/later", "request/", "create/", "get/", "attach/", "move/put", "limits/")


def faults(result):
    rows = {row["name"]: row for row in result["rows"]}
    for part in PARTS:
        if not any(name.startswith(part) for name in rows):
            yield f"there is no row {part}"
    for name, row in rows.items():
        counts = {series: len(samples) for series, samples in row["samples"].items()}
        if set(counts) != {"old", "old-again", "new", "new-again"} or 0 in counts.values():
            yield f"{name} was not measured in every series: {counts}"
        elif len(set(counts.values())) != 1:
            yield f"{name} was not measured in turns: {counts}"


def main():
    build = sys.argv[1]
    with tempfile.TemporaryDirectory(prefix="two-builds-") as folder:
        out = pathlib.Path(folder) / "two-builds.json"
        words = ["--old", build, "--new", build, "--soft", build, "--rounds", "1", "--out", out]
        ran = subprocess.run([sys.executable, "-B", SCRIPT, *words])
        if ran.returncode != 0:
            return ran.returncode
        found = list(faults(json.loads(out.read_text())))
    for fault in found:
        print(f"error: {fault}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
