#!/usr/bin/env python3
"""What page and metrics show of a card adds up to what the driver's management library says, on a real card or the software one.

    python3 tests/web/adds_up.py --bin FOLDER [--out FOLDER] [--gib N] [--library libnvidia-ml.so.1]

A pond of its own holds a model, tensors of every transport, a group with a program and a program that the pond does not know. Then three
readings are compared: `/api/v1/overview`, `/metrics`, and the library itself. What was read is kept in --out.
"""

from __future__ import annotations

import argparse
import collections
import ctypes
import json
import os
import pathlib
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request

PATIENCE = 60.0
"""Nothing takes so long unless it hangs."""

HOLD = """
import ctypes, os, sys, time
cuda = ctypes.CDLL(os.environ.get("CUDA_LIBRARY", "libcuda.so.1"))
def must(code):
    if code:
        sys.exit(f"the driver said {code}")
device, context, address = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_uint64()
must(cuda.cuInit(0))
must(cuda.cuDeviceGet(ctypes.byref(device), 0))
must(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device))
must(cuda.cuCtxSetCurrent(context))
must(cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(int(sys.argv[1]))))
print("ready", flush=True)
sys.stdin.read()
"""
"""A program that takes memory of the card and keeps it until its input ends."""


class Pond:
    """A pond in a folder of its own, with the programs beside it."""

    def __init__(self, built: pathlib.Path, folder: pathlib.Path) -> None:
        self.built, self.folder = built, folder
        self.children: list[subprocess.Popen] = []
        self.environment = {name: value for name, value in os.environ.items() if name != "MILLPOND_CONFIG"} | {
            "MILLPOND_RUNTIME_DIR": str(folder / "run"), "XDG_STATE_HOME": str(folder / "state")}
        self.keeper = self.start([built / "millpond", "serve", "--quiet"])
        until(lambda: json.loads(self.run("status", "--json", check=False) or "{}").get("driver_ready"), "the pond's driver")

    def start(self, words: list, **more: object) -> subprocess.Popen:
        child = subprocess.Popen(words, env=self.environment, text=True, **{"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, **more})
        self.children.append(child)
        return child

    def run(self, *words: object, check: bool = True) -> str:
        done = subprocess.run([self.built / "millpond", *map(str, words)], env=self.environment, capture_output=True, text=True, check=False)
        if check and done.returncode:
            raise SystemExit(f"millpond {' '.join(map(str, words))}: {done.stderr.strip()}")
        return done.stdout

    def hold(self, taken: int, *before: object) -> subprocess.Popen:
        child = self.start([*before, sys.executable, "-c", HOLD, str(taken)])
        if child.stdout.readline().strip() != "ready":
            raise SystemExit("a program got no memory of the card")
        return child

    def end(self) -> None:
        for child in reversed(self.children[1:]):
            child.kill()
            child.wait()
        self.run("stop", check=False)
        try:
            self.keeper.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.keeper.send_signal(signal.SIGKILL)


class Library:
    """The management library, which says what is in use on a card."""

    class Memory(ctypes.Structure):
        _fields_ = [("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong)]

    def __init__(self, path: str) -> None:
        self.library = ctypes.CDLL(path)
        self.must(self.library.nvmlInit_v2())
        self.handle = ctypes.c_void_p()
        self.must(self.library.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(self.handle)))

    @staticmethod
    def must(code: int) -> None:
        if code:
            raise SystemExit(f"the management library said {code}")

    def memory(self) -> tuple[int, int]:
        said = self.Memory()
        self.must(self.library.nvmlDeviceGetMemoryInfo(self.handle, ctypes.byref(said)))
        return said.total, said.used


def until(ready, what: str):
    deadline = time.monotonic() + PATIENCE
    while not (found := ready()):
        if time.monotonic() > deadline:
            raise SystemExit(f"{what} did not come")
        time.sleep(0.1)
    return found


def checkpoint(path: pathlib.Path, tensors: int, each: int) -> None:
    """A file of safetensors whose data is a hole with a few bytes in each tensor."""
    header = {f"layers.{at}.weight": {"dtype": "U8", "shape": [each], "data_offsets": [at * each, (at + 1) * each]} for at in range(tensors)}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.truncate(8 + len(text) + tensors * each)
        for at in range(tensors):
            file.seek(8 + len(text) + at * each)
            file.write(os.urandom(64))


def samples(text: str) -> dict[str, list[tuple[dict[str, str], float]]]:
    """The samples of a scrape by name."""
    found = collections.defaultdict(list)
    for line in text.splitlines():
        if matched := re.match(r"(\w+)(?:\{(.*)\})? ([-+.\deEinfNa]+)$", line):
            labels = dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', matched[2] or ""))
            found[matched[1]].append((labels, float(matched[3])))
    return found


class Checks:
    def __init__(self) -> None:
        self.passed = self.failed = 0

    def __call__(self, what: str, right: bool, numbers: object = "") -> None:
        self.passed += right
        self.failed += not right
        print(f"{'ok' if right else 'FAILED'}: {what} {numbers}", flush=True)


def main() -> int:
    reading = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reading.add_argument("--bin", type=pathlib.Path, required=True, help="the folder with millpond and millpond-web")
    reading.add_argument("--out", type=pathlib.Path, help="keep what was read here")
    reading.add_argument("--gib", type=float, default=8.0, help="GiB that all of it takes, about")
    reading.add_argument("--library", default="libnvidia-ml.so.1", help="the management library")
    arguments = reading.parse_args()
    unit = int(arguments.gib * (1 << 30) / 16) & ~((2 << 20) - 1)
    check = Checks()
    with tempfile.TemporaryDirectory(prefix="millpond-adds-up-") as folder:
        pond = Pond(arguments.bin.resolve(), pathlib.Path(folder))
        try:
            look(pond, pathlib.Path(folder), unit, arguments, check)
        finally:
            pond.end()
    print(f"{check.passed} passed, {check.failed} failed")
    return bool(check.failed)


def look(pond: Pond, folder: pathlib.Path, unit: int, arguments: argparse.Namespace, check: Checks) -> None:
    file = folder / "model.safetensors"
    checkpoint(file, 4, unit)
    pond.run("load", "llama", file, "--version", "v1")
    file.unlink()
    for name, transport in (("acts/a", "vmm"), ("acts/b", "mempool"), ("acts/c", "ipc")):
        pond.run("tensor", "create", name, "--dtype", "u8", "--shape", unit, "--transport", transport, "--zero")
    pond.run("group", "set", "serving", "--limit", 4 * unit + (1 << 30))
    pond.hold(2 * unit, pond.built / "millpond", "run", "--group", "serving", "--")
    pond.hold(unit)
    web = pond.start([pond.built / "millpond-web", "--listen", "127.0.0.1:0"])
    address = web.stdout.readline().strip()
    if not address.startswith("http"):
        raise SystemExit(f"the web service says no address but '{address}'")

    def fetch(path: str) -> str:
        with urllib.request.urlopen(address.rstrip("/") + path, timeout=PATIENCE) as answer:
            return answer.read().decode()

    library = Library(arguments.library)
    readings: dict[str, object] = {}

    def still() -> bool:
        """All three are read between two equal readings of the card: nothing moved meanwhile."""
        before = library.memory()
        overview = json.loads(fetch("/api/v1/overview"))
        scrape = fetch("/metrics")
        card = overview["cards"][0]
        used = [value for _, value in samples(scrape)["millpond_gpu_memory_used_bytes"]]
        readings.update(overview=overview, metrics=scrape, library={"total_bytes": before[0], "used_bytes": before[1]})
        return before == library.memory() and card["used_bytes"] == before[1] and used == [float(before[1])]

    try:
        until(still, "a reading of the card that all three agree on")
        agreed = True
    except SystemExit as error:
        print(error)
        agreed = False
    overview, scrape = readings["overview"], samples(str(readings["metrics"]))
    card = overview["cards"][0]
    library_total, library_used = library.memory()
    check("page, metrics and the library agree on the bytes in use", agreed,
          f"({card['used_bytes']}, {scrape['millpond_gpu_memory_used_bytes']}, {library_used})")
    parts = collections.Counter()
    for segment in card["segments"]:
        parts[segment["kind"]] += segment["bytes"]
    check("the parts of the page add up to the card", sum(parts.values()) == card["total_bytes"], dict(parts))
    check("those that are in use add up to the bytes in use", sum(parts.values()) - parts["free"] == card["used_bytes"],
          f"({sum(parts.values()) - parts['free']} and {card['used_bytes']}; {card['excess_bytes']} too many in the books)")
    held = {labels["holder"]: value for labels, value in scrape["millpond_gpu_memory_held_bytes"]}
    check("the holders of the metrics add up to them too", sum(held.values()) == card["used_bytes"], held)
    kinds = sum(value for _, value in scrape["millpond_gpu_pond_memory_bytes"])
    check("the kinds of the pond's memory add up to its slabs", kinds == card["slab_bytes"], f"({kinds:.0f} and {card['slab_bytes']})")
    check("the model has its bytes", parts["version"] >= 4 * unit, f"({parts['version']} of {4 * unit})")
    check("the tensors have theirs", parts["tensor"] + parts["ipc"] >= 3 * unit, f"({parts['tensor']} and {parts['ipc']} of {3 * unit})")
    check("the group has what its program took", parts["group"] >= 2 * unit, f"({parts['group']} of {2 * unit})")
    check("memory of a program that the pond does not know is shown as that of others", parts["other"] >= unit, f"({parts['other']} of {unit})")
    if arguments.out:
        arguments.out.mkdir(parents=True, exist_ok=True)
        pictures = {"events": fetch("/api/v1/events?from=0"), "whoami": fetch("/api/v1/whoami"), "history": fetch("/api/v1/history?device=gpu0&since_s=60")}
        kept = {"library": readings["library"], "overview": overview, **{name: json.loads(text) for name, text in pictures.items()}, "metrics": readings["metrics"]}
        # Where the programs lie on that machine is no result.
        told = json.dumps(kept, indent=1).replace(str(pond.built), "/opt/millpond")
        (arguments.out / "adds-up.json").write_text(told + "\n")
        done = subprocess.run([pond.built / "millpond", "map", "gpu0", "-o", arguments.out / "map.svg"], env=pond.environment, check=False)
        check("the picture of the card is drawn", done.returncode == 0)


if __name__ == "__main__":
    sys.exit(main())
