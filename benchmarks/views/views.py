#!/usr/bin/env python3
"""All tensors of a model as another library's tensors, beside a loop over bare DLPack capsules.

    views.py --millpond PROGRAM [--tensors N] [--rounds N] [--library torch|numpy] [--out FILE]

Makes a checkpoint of N small tensors, loads it into a pond of its own, and attaches it in a fresh
process that has the Python package `millpond` on its path. That process makes all tensors in turns
with the bare loop, which takes as many capsules of one tensor: `torch.from_dlpack(to_dlpack(one))`.
Prints JSON with the medians and their ratio. On a GPU (MILLPOND_DRIVER=cuda) the library is torch; on
the software driver torch on the CPU, or numpy where torch is not installed.
"""

import argparse
import importlib.util
import json
import os
import pathlib
import statistics
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "weights"))

import pond as ponds  # noqa: E402
import verdict  # noqa: E402

GOAL = 2.0
MODEL = "views"
SHAPE = (16, 16)
DTYPE, ITEM_BYTES = "F32", 4


def write_checkpoint(path, tensors):
    """One file of small tensors with names as mixtures of experts have them."""
    each = SHAPE[0] * SHAPE[1] * ITEM_BYTES
    header = {}
    for number in range(tensors):
        layer, expert = divmod(number, 384)
        name = f"model.layers.{layer}.mlp.experts.{expert}.gate_proj.weight"
        header[name] = {"dtype": DTYPE, "shape": SHAPE, "data_offsets": [number * each, (number + 1) * each]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        file.truncate(8 + len(text) + tensors * each)


def bare_torch(gpu):
    import torch
    from torch.utils.dlpack import to_dlpack

    one = torch.zeros(SHAPE, dtype=torch.float32, device="cuda" if gpu else "cpu")
    return lambda count: [torch.from_dlpack(to_dlpack(one)) for _ in range(count)]


def bare_numpy():
    import numpy

    one = numpy.zeros(SHAPE, dtype="float32")
    return lambda count: [numpy.from_dlpack(one) for _ in range(count)]


def measure(library, rounds, gpu):
    """In the fresh process: both loops in turns."""
    bare = bare_torch(gpu) if library == "torch" else bare_numpy()
    import millpond

    begun = time.perf_counter()
    attached = millpond.attach(MODEL)
    attach_seconds = time.perf_counter() - begun
    count = len(attached)

    def own(_count):
        tensors = getattr(attached, library)()
        return [tensors[name] for name in tensors]

    times = {"own": [], "bare": []}
    for _ in range(rounds):
        for name, loop in (("bare", bare), ("own", own)):
            begun = time.perf_counter()
            held = loop(count)
            times[name].append(time.perf_counter() - begun)
            if len(held) != count:
                raise RuntimeError(f"{len(held)} tensors instead of {count}")
            del held
    # The first own loop is the first use of the model as well: it counts by itself.
    return {"tensors": count, "attach_ms": attach_seconds * 1e3, "first_ms": times["own"][0] * 1e3,
            "samples_ms": {name: [one * 1e3 for one in found[1:]] for name, found in times.items()}}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--millpond", required=True)
    parser.add_argument("--tensors", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--library", choices=("torch", "numpy"))
    parser.add_argument("--out")
    parser.add_argument("--child", action="store_true")
    options = parser.parse_args()
    gpu = os.environ.get("MILLPOND_DRIVER") == "cuda"
    library = options.library or ("torch" if gpu or importlib.util.find_spec("torch") else "numpy")
    if options.child:
        print("RESULT " + json.dumps(measure(library, options.rounds, gpu)))
        return 0
    pond = ponds.Pond(options.millpond, soft=not gpu)
    try:
        with tempfile.TemporaryDirectory(prefix="views-") as folder:
            path = os.path.join(folder, "model.safetensors")
            write_checkpoint(path, options.tensors)
            pond.cli("load", MODEL, path)
        command = [sys.executable, str(HERE / "views.py"), "--millpond", options.millpond, "--child",
                   "--library", library, "--rounds", str(options.rounds + 1)]
        printed = ponds.run(command, pond.env).text
    finally:
        pond.stop()
    found = json.loads(printed.split("RESULT ", 1)[1])
    medians = {name: statistics.median(samples) for name, samples in found["samples_ms"].items()}
    ratio = medians["own"] / medians["bare"]
    result = {"driver": "cuda" if gpu else "soft", "library": library, "own_ms": medians["own"], "bare_ms": medians["bare"],
              "ratio": ratio, "goal": GOAL, "ok": ratio <= GOAL if gpu else None} | found
    line = f"{found['tensors']:,} tensors of {library}: {medians['own']:.1f} ms, bare loop {medians['bare']:.1f} ms, {ratio:.2f}x (goal: at most {GOAL:g}x)"
    return verdict.close(result, options.out, line)


if __name__ == "__main__":
    sys.exit(main())
