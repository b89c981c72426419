#!/usr/bin/env python3
"""Create, get and free through the C library and the C++ header beside the Rust client, in one run.

    side_by_side.py --built target/release [--library target/native/libmillpond.so] --out result.json [--program NAME=PATH ...]

Each program runs several times in turn against one pond on this machine's driver (MILLPOND_DRIVER). The Rust client runs twice
in each round: how far it is from itself is the spread that others are judged by.
"""

import argparse
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time

parser = argparse.ArgumentParser()
parser.add_argument("--built", required=True, type=pathlib.Path, help="folder with millpond, libmillpond.so and examples/")
parser.add_argument("--library", type=pathlib.Path, help="libmillpond.so, where it is not in that folder")
parser.add_argument("--out", required=True, type=pathlib.Path)
parser.add_argument("--runs", type=int, default=7)
parser.add_argument("--rounds", type=int, default=2000)
parser.add_argument("--program", action="append", default=[], help="one more program, as NAME=PATH")
arguments = parser.parse_args()

root = pathlib.Path(__file__).resolve().parents[2]
built = arguments.built.resolve()
library = (arguments.library or built / "libmillpond.so").resolve()
work = pathlib.Path(tempfile.mkdtemp())
(work / "lib").mkdir()
for name in ("libmillpond.so", "libmillpond.so.0"):
    (work / "lib" / name).symlink_to(library)
for compiler, standard, source, name in (("cc", "c11", "create_get_free.c", "c"), ("c++", "c++17", "create_get_free.cpp", "cpp")):
    subprocess.run(
        [compiler, "-O2", f"-std={standard}", f"-I{root}/bindings/c/include", root / "benchmarks/c" / source, "-o", work / name,
         f"-L{work}/lib", "-lmillpond", f"-Wl,-rpath,{work}/lib"],
        check=True,
    )  # fmt: skip
rust = built / "examples/create_get_free"
programs = {"rust": rust, "rust_again": rust, "c": work / "c", "cpp": work / "cpp"}
programs.update(dict(one.split("=", 1) for one in arguments.program))

environment = dict(os.environ, MILLPOND_RUNTIME_DIR=str(work / "run"))
if environment.get("MILLPOND_DRIVER") == "soft":
    environment["MILLPOND_SOFT_DIR"] = str(work / "soft")
log = open(work / "log", "w")
keeper = subprocess.Popen([built / "millpond", "serve"], env=environment, stdout=log, stderr=log)
try:
    deadline = time.monotonic() + 30
    while not (work / "run/sock").exists():
        if time.monotonic() > deadline or keeper.poll() is not None:
            sys.exit((work / "log").read_text())
        time.sleep(0.05)
    medians = {name: {"create_get_free_ns": [], "get_again_ns": []} for name in programs}
    for run in range(arguments.runs):
        # Each goes first in turn.
        order = list(programs)[run % len(programs) :] + list(programs)[: run % len(programs)]
        for name in order:
            said = subprocess.run([programs[name], str(arguments.rounds)], env=environment, check=True, capture_output=True)
            for what, times in json.loads(said.stdout).items():
                medians[name][what].append(statistics.median(times))
finally:
    keeper.terminate()
    keeper.wait()

rows = {}
for what in ("create_get_free_ns", "get_again_ns"):
    values = {name: statistics.median(medians[name][what]) for name in programs}
    ratios = {
        name: statistics.median(one / other for one, other in zip(medians[name][what], medians["rust"][what]))
        for name in programs
    }
    own = [one / other for one, other in zip(medians["rust_again"][what], medians["rust"][what])]
    rows[what] = {"median_ns": values, "to_rust": ratios, "rust_to_itself": [min(own), max(own)], "runs": {n: medians[n][what] for n in programs}}
stripped = work / "stripped.so"
subprocess.run(["strip", "-o", stripped, library], check=True)
result = {
    "driver": environment.get("MILLPOND_DRIVER", "cuda"),
    "machine": platform.machine(),
    "cores": os.cpu_count(),
    "rounds": arguments.rounds,
    "library_bytes_stripped": stripped.stat().st_size,
    "rows": rows,
    "goals": {
        "get_again_under_200_ns": all(rows["get_again_ns"]["median_ns"][name] < 200 for name in programs),
        "library_under_3_mib": stripped.stat().st_size < 3 << 20,
    },
}
arguments.out.write_text(json.dumps(result, indent=1) + "\n")
for what, row in rows.items():
    print(what, {name: round(value) for name, value in row["median_ns"].items()}, {name: round(value, 3) for name, value in row["to_rust"].items()},
          "rust to itself", [round(value, 3) for value in row["rust_to_itself"]])  # fmt: skip
print("library", result["library_bytes_stripped"], "bytes stripped")
