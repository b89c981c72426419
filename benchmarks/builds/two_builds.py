#!/usr/bin/env python3
"""Two builds of Millpond in turns, in one run: is the new one slower anywhere?

    two_builds.py --old FOLDER --new FOLDER [--rounds 4] [--seconds N] [--quick] [--out two-builds.json] [--small | --soft FOLDER]

Each folder has `millpond`, `tenant` and `libmillpond_preload.so`, as `dist/gpu` has them. In every
round the old build is measured twice and the new one twice, in an order that changes. The two series of the old
build show by how much a build differs from itself: a row is worse only if the new median differs
from the old one by more than that spread, in the wrong direction. --small makes everything short; no
speed is judged then. With --soft (cargo's target/debug) the software driver is used, in whose memory
only the --small checkpoint fits.
--quick takes fewer samples for each row of a round. No round begins after --seconds; limits come first.
The last line is `N passed, N failed`; a row that is worse has failed.
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time

here = pathlib.Path(__file__).resolve().parent
for place in (here.parent / "limits", here.parent / "limits" / "bench"):
    sys.path.append(str(place))
from side_by_side import CALLS, Process  # noqa: E402

ROWS = "^(request|create|get)/|^attach/(2m|15g)$|^move/put"
SERIES = ("old", "old-again", "new", "new-again")
# What is better when it is larger.
RATES = ("per_second", "/s")


def checkpoint(path, tensors, bytes_each):
    """A safetensors file of one block of noise, repeated; writing it leaves it in the page cache."""
    header = {f"layer.{i}.weight": {"dtype": "U8", "shape": [bytes_each], "data_offsets": [i * bytes_each, (i + 1) * bytes_each]} for i in range(tensors)}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    block = os.urandom(bytes_each)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for _ in range(tensors):
            file.write(block)
    return tensors * bytes_each


class Builds:
    def __init__(self, arguments):
        self.arguments = arguments
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="two-", dir="/dev/shm"))
        self.samples, self.units = {}, {}
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("MILLPOND_") and k != "LD_PRELOAD"}
        self.environment["MILLPOND_DRIVER"] = "soft" if arguments.soft else "cuda"
        if arguments.soft:
            # Devices of its own: those that every program finds by default are somebody else's.
            self.environment["MILLPOND_SOFT_DIR"] = str(self.folder / "devices")

    def place(self, series):
        return pathlib.Path(self.arguments.old if series.startswith("old") else self.arguments.new).resolve()

    def order(self, round_):
        turn = list(SERIES[round_ % 4:] + SERIES[:round_ % 4])
        return turn if round_ % 2 == 0 else turn[::-1]

    def add(self, name, series, value, unit):
        self.units[name] = unit
        self.samples.setdefault(name, {s: [] for s in SERIES})[series].append(value)

    def run(self, series, *words, runtime=None):
        environment = dict(self.environment)
        if runtime:
            environment["MILLPOND_RUNTIME_DIR"] = str(runtime)
        done = subprocess.run([self.place(series) / "millpond", *words], env=environment, capture_output=True, text=True, timeout=300)
        if done.returncode != 0:
            raise RuntimeError(f"{series}: {' '.join(words)}: {done.stderr.strip()[-400:]}")
        return done.stdout

    def bench(self, series):
        flags = ["--quick"] if self.arguments.small or self.arguments.quick else []
        for row in json.loads(self.run(series, "bench", "--json", "--only", ROWS, *flags))["rows"]:
            if row.get("median") is not None:
                self.add(row["name"], series, row["median"], row["unit"])

    def loads(self, series, file, size):
        """The first load of a fresh pond and later ones, as the command says how long it took."""
        runtime = self.folder / f"pond-{series}"
        self.run(series, "serve", "--detach", runtime=runtime)
        try:
            for n in range(3):
                answer = json.loads(self.run(series, "load", f"m{n}", str(file), "--version", "v1", "--json", runtime=runtime))
                seconds = answer["elapsed_ms"] / 1000 if "elapsed_ms" in answer else answer["seconds"]
                self.add("load/first" if n == 0 else "load/later", series, size / seconds / 1e9, "GB/s")
                time.sleep(0 if self.arguments.small else 0.3)
        finally:
            self.run(series, "stop", runtime=runtime)
            shutil.rmtree(runtime, ignore_errors=True)

    def limits(self):
        """Four tenants that stay, asked in turn; two of them with the old library."""
        tenants = {}
        processors = sorted(os.sched_getaffinity(0))[-1:]
        base = {k: v for k, v in self.environment.items() if k != "MILLPOND_DRIVER"}
        limit = "60G"
        if self.arguments.soft:
            soft = self.folder / "soft"
            soft.mkdir()
            for library, name in (("libcuda.so", "libcuda.so.1"), ("libnvidia_ml.so", "libnvidia-ml.so.1")):
                os.symlink(os.path.abspath(os.path.join(self.arguments.soft, library)), soft / name)
            base |= {"LD_LIBRARY_PATH": str(soft), "MILLPOND_SOFT_DIR": str(soft / "memory"), "MILLPOND_SOFT_MEMORY": "2G"}
            limit = "1G"
        groups = {}
        try:
            for series in SERIES:
                place = self.place(series)
                groups[series] = f"two-builds-{os.getpid()}-{series}"
                environment = base | {"LD_PRELOAD": str(place / "libmillpond_preload.so"), "MILLPOND_MEMORY_LIMIT": limit, "MILLPOND_GROUP": groups[series]}
                tenants[series] = Process([str(place / "tenant")], environment, processors=processors)
                tenants[series].ask("keep")
                tenants[series].ask("alloc linear 4096")
            for name, (command, place, count) in CALLS.items():
                if "1 GiB" in name or (self.arguments.soft and "graph" in name):
                    continue
                count = min(count, 50) if self.arguments.small else count
                for round_ in range(1 + 3 * self.arguments.rounds):
                    for series in self.order(round_):
                        took = int(tenants[series].ask(f"{command} {count}")[place])
                        if round_ > 0:
                            self.add(f"limits/{name}", series, took, "ns")
        finally:
            for tenant in tenants.values():
                tenant.end()
            for group in groups.values():
                shutil.rmtree(f"/dev/shm/millpond-{os.getuid()}/{group}", ignore_errors=True)

    def judged(self):
        rows = []
        for name, samples in self.samples.items():
            if not all(samples.values()):
                continue
            old, again = statistics.median(samples["old"]), statistics.median(samples["old-again"])
            both_old, new = samples["old"] + samples["old-again"], samples["new"] + samples["new-again"]
            middle, new_middle = statistics.median(both_old), statistics.median(new)
            larger = any(self.units[name].endswith(rate) for rate in RATES)
            change = (new_middle / middle - 1) * (-1 if larger else 1)
            # The old build against itself: its two series, and what half of all its rounds lie within.
            quarters = statistics.quantiles(both_old, n=4)
            spread = max(abs(old / again - 1), (quarters[2] - quarters[0]) / middle, 0.03)
            rows.append({"name": name, "unit": self.units[name], "old": round(middle, 4), "new": round(new_middle, 4),
                         "worse_by": round(change, 4), "spread_of_old": round(spread, 4), "worse": change > spread, "samples": samples})
        return rows

    def all(self):
        failed = done = 0
        file = self.folder / "checkpoint.safetensors"
        tensors, each = (64, 1 << 18) if self.arguments.small else (1200, 12 << 20)
        size = checkpoint(file, tensors, each)
        try:
            started = time.monotonic()
            self.limits()
            for round_ in range(self.arguments.rounds):
                if time.monotonic() - started > self.arguments.seconds:
                    break
                for series in self.order(round_):
                    self.loads(series, file, size)
                    self.bench(series)
                    print(f"{time.monotonic() - started:4.0f} s  round {round_ + 1} of {self.arguments.rounds}: {series}", flush=True)
                done = round_ + 1
        except Exception as error:
            failed += 1
            print(f"FAILED: {type(error).__name__}: {error}", flush=True)
        shutil.rmtree(self.folder, ignore_errors=True)
        rows = self.judged()
        print(f"{'row':34} {'old':>12} {'new':>12} unit     {'worse by':>9} {'spread':>8}")
        for row in rows:
            print(f"{row['name']:34} {row['old']:12,.2f} {row['new']:12,.2f} {row['unit']:8} {row['worse_by']:9.1%} {row['spread_of_old']:8.1%} {'WORSE' if row['worse'] else ''}")
        if self.arguments.out:
            commits = {side: (self.place(side) / "commit").read_text().strip() if (self.place(side) / "commit").exists() else None for side in ("old", "new")}
            pathlib.Path(self.arguments.out).write_text(json.dumps({"rounds": done, "commits": commits, "rows": rows}, indent=1) + "\n")
        judged = 0 if self.arguments.small else sum(row["worse"] for row in rows)
        print(f"{len(rows) - judged} passed, {judged + failed} failed")
        return 1 if judged + failed else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--old", required=True)
    parser.add_argument("--new", required=True)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--out")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--soft")
    arguments = parser.parse_args()
    arguments.small = arguments.small or arguments.soft is not None
    sys.exit(Builds(arguments).all())


if __name__ == "__main__":
    main()
