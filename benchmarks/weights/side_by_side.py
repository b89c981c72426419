#!/usr/bin/env python3
"""Loading and attaching weights, beside the bare machine and beside the peers, in one run.

    side_by_side.py --millpond PROGRAM [--out weights.json] [--peers dist/peers] [--small] [--soft]

Needs the `millpond` program, the Python package `millpond` (PYTHONPATH or --wheel), and on a GPU
torch and safetensors. With --soft it runs on the software driver with numpy, where no speed is
judged. Every number is a median beside its floor of the same run. What fails is a row with its
error: of our own it makes the exit code 1, of a peer it is shown. Goals that are missed are shown
and change nothing. The last line is `N passed, N failed`.
"""

import argparse
import datetime
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import parts
import pond as ponds
import rows as tables
import wheels

HERE = pathlib.Path(__file__).resolve().parent
RATIOS = ("load_over_ring", "load_over_new_ring", "load_over_safetensors", "attach_over_raw", "hash_cost")

FULL = {
    "dense": {"hidden": 3072, "intermediate": 9984, "layers": 64, "vocabulary": 32768},
    "moe": {"layers": 32, "experts": 208, "rows": 352, "columns": 1024},
}
SMALL = {
    "dense": {"hidden": 64, "intermediate": 192, "layers": 4, "vocabulary": 4096, "shard_bytes": 1 << 20},
    "moe": {"layers": 4, "experts": 166, "rows": 8, "columns": 64, "shard_bytes": 2 << 20},
}


class Ground:
    """What every part of the run needs."""

    def __init__(self, arguments):
        self.small, self.soft = arguments.small, arguments.soft
        self.here, self.program, self.given = HERE, arguments.millpond, arguments.folder
        self.rounds = 2 if self.small else arguments.rounds
        self.until = time.monotonic() + arguments.seconds
        self.peers = arguments.peers
        self.rows = tables.Rows(self.soft, say=lambda text: print(text, flush=True))
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="weights-", dir=self._room(arguments.folder)))
        self.dtype = "F32" if self.soft else "BF16"
        sizes = SMALL if self.small else FULL
        self.dense = {"kind": "dense", "dtype": self.dtype} | sizes["dense"]
        self.moe = {"kind": "moe", "dtype": self.dtype} | sizes["moe"]
        # Two slabs also where everything is small, so that one can be shared.
        self.slab_flags = ["--slab-bytes", "2MiB"] if self.small else []
        self.extra = {}
        self.python = [str(HERE)]
        if arguments.wheel:
            wheels.unpack(arguments.wheel, self.folder / "python")
            self.python.append(str(self.folder / "python"))
        self.pond = None

    def _room(self, wanted):
        """Where the checkpoints fit: on a disk, whose pages are in memory once they are written. The
        bare ring reads its file there too. The software driver needs the memory's own speed."""
        if wanted:
            return wanted
        need = 1 << 28 if self.small else 26 * 10**9
        folders = (tempfile.gettempdir(), "/dev/shm")
        for folder in reversed(folders) if self.soft else folders:
            if os.path.isdir(folder) and shutil.disk_usage(folder).free > need:
                return folder
        raise SystemExit(f"neither /dev/shm nor {tempfile.gettempdir()} has {need / 1e9:.0f} GB free: --folder, or --small")

    def fits(self, bytes_):
        """Whether so much more can be written, with as much left as others need meanwhile."""
        return shutil.disk_usage(self.folder).free > bytes_ * 1.3

    def path(self, name):
        return str(self.folder / name)

    def left(self):
        return self.until - time.monotonic()

    def in_time(self, seconds):
        """Raises where so many seconds are not left: what is first in the run matters most."""
        if self.left() < seconds:
            raise tables.Skipped(f"no time left: {self.left():.0f} s of the {seconds} s that it may take")

    def child(self, script, arguments, *, first_path=None, seconds=120):
        """A measurement in a fresh process; what it found."""
        done = self.run_child([script, json.dumps(arguments)], first_path, seconds)
        results = [line for line in done.text.splitlines() if line.startswith("RESULT ")]
        if not results:
            raise ponds.CommandFailed(f"{script}: ended without a result: {done.text[-500:]}")
        return json.loads(results[-1][len("RESULT "):])

    def run_child(self, command, first_path=None, seconds=120):
        return ponds.run([sys.executable, str(HERE / command[0]), *command[1:]], self.child_env(first_path), seconds)

    def child_env(self, first_path=None):
        env = dict(self.pond.env if self.pond else os.environ)
        given = [os.environ["PYTHONPATH"]] if os.environ.get("PYTHONPATH") else []
        env["PYTHONPATH"] = ":".join(([first_path] if first_path else []) + self.python + given)
        env["PYTHONUNBUFFERED"] = "1"
        return env

    def checkpoint(self, name, spec):
        """Writes a checkpoint, in a process of its own because of the memory that this takes."""
        done = self.run_child(["checkpoints.py", self.path(name), json.dumps(spec)])
        bytes_ = done.json()["bytes"]
        print(f"  {name}: {bytes_ / 1e9:.3f} GB in {done.seconds:.1f} s", flush=True)
        return bytes_

    def end(self):
        if self.pond:
            self.pond.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


def machine():
    """The GPU as nvidia-smi names it, or None."""
    query = ["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"]
    try:
        return subprocess.run(query, capture_output=True, text=True, timeout=30).stdout.strip() or None
    except (OSError, subprocess.TimeoutExpired):
        return None


def summary(ground):
    """The results: the four ratios, then everything."""
    counts = ground.rows.counts()
    return {
        **{name: ground.extra.get(name) for name in RATIOS},
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "gpu": None if ground.soft else machine(),
        "software_driver": ground.soft, "small": ground.small,
        "dense_bytes": ground.extra.get("dense_bytes"), "moe_bytes": ground.extra.get("moe_bytes"),
        "slabs": ground.extra.get("slabs"), "versions": ground.extra.get("versions", {}),
        "met": counts["missed"] == 0 and counts["errors"] == 0,
        "counts": counts, "rows": ground.rows.rows,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--millpond", default=os.environ.get("MILLPOND_BIN"), help="the program; MILLPOND_BIN unless said")
    parser.add_argument("--wheel", help="the Python package, where it is not installed")
    parser.add_argument("--peers", help="folder with the peers' wheels, from benchmarks/weights/peers")
    parser.add_argument("--out", help="where the results go as JSON")
    parser.add_argument("--folder", help="where checkpoints and the pond are; the folder for temporary files if they fit")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=190, help="peers that would take longer than what is left of it are left out, and shown")
    parser.add_argument("--small", action="store_true", help="megabytes instead of gigabytes")
    parser.add_argument("--soft", action="store_true", help="the software driver and numpy")
    parser.add_argument("--only", default="", help="parts by name, with commas: " + ", ".join(parts.PARTS))
    arguments = parser.parse_args()
    if not arguments.millpond:
        parser.error("--millpond or MILLPOND_BIN must name the program")
    wanted = [name for name in arguments.only.split(",") if name] or list(parts.PARTS)
    unknown = set(wanted) - set(parts.PARTS)
    if unknown:
        parser.error(f"no part is named {', '.join(sorted(unknown))}")
    begun = time.monotonic()
    ground = Ground(arguments)
    try:
        for name in ["start"] + wanted:
            print(f"{name}, after {time.monotonic() - begun:.0f} s", flush=True)
            run = parts.start if name == "start" else parts.PARTS[name]
            done = ground.rows.attempt(name, f"the part '{name}'", lambda: run(ground) or True)
            if name == "start" and not done:
                break
        if not arguments.only and not ground.soft:
            for name in RATIOS:
                if ground.extra.get(name) is None:
                    ground.rows.failed(name, "a ratio that the results must name", "was not measured; the reason is above")
        result = summary(ground)
    finally:
        ground.end()
    if arguments.out:
        pathlib.Path(arguments.out).write_text(json.dumps(result, indent=1) + "\n")
    counts = result["counts"]
    print("\n" + tables.table(result["rows"]) + "\n")
    for name in RATIOS:
        print(f"{name}: {result[name]}")
    print(f"goals missed: {counts['missed']}, peers without a result: {counts['peer_errors']}, "
          f"not measured: {counts['skipped']}, {time.monotonic() - begun:.0f} s")
    print(f"{counts['measured']} passed, {counts['errors']} failed")
    return 1 if counts["errors"] else 0


if __name__ == "__main__":
    sys.exit(main())
