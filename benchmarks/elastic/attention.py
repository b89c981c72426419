#!/usr/bin/env python3
"""Attention over elastic caches with handles of 2, 16 and 64 MiB, beside plain memory of torch.

    attention.py --millpond PROGRAM [--rounds N] [--out FILE]

Starts a pond of its own and a fresh process that has torch and the Python package `millpond` on its path. All memories have the
same shape and the same contents; they are read in turns, in an order that changes from round to round. Outputs must be equal
to the last bit. On a GPU times are those of the device. On the software driver (MILLPOND_DRIVER=soft) torch computes on the
CPU with small shapes, and times mean nothing.
"""

import argparse
import contextlib
import importlib.util
import json
import os
import pathlib
import statistics
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "weights"))

import pond as ponds  # noqa: E402
import verdict  # noqa: E402

GROUP = "attention"
MIB = 1 << 20
HANDLES = (2 * MIB, 16 * MIB, 64 * MIB)
PLAIN = "plain"
KERNELS = ("sdpa", "paged")
# 64 sequences of 32,768 tokens: 8 GiB of keys and values.
GPU = {"batch": 64, "sequence": 32_768, "tokens": 16, "heads": 8, "dim": 128, "dtype": "bfloat16", "item_bytes": 2}
# Keys take one handle of 64 MiB, and so do values.
SOFT = {"batch": 4, "sequence": 2_048, "tokens": 16, "heads": 4, "dim": 32, "dtype": "float32", "item_bytes": 4}
SECONDS = 240


class Memories:
    """Keys and values of the same contents, in plain memory and in caches."""

    def __init__(self, torch, millpond, sizes, device):
        self.torch, self.sizes, self.device = torch, sizes, device
        self.random = torch.Generator(device).manual_seed(1)
        blocks = sizes["batch"] * sizes["sequence"] // sizes["tokens"]
        shape = (2, blocks, sizes["tokens"], sizes["heads"], sizes["dim"])
        plain = torch.empty(shape, dtype=getattr(torch, sizes["dtype"]), device=device)
        for part in plain:
            part.copy_(self.normal(*shape[1:]))
        self.tensors, self.caches = {PLAIN: plain}, []
        pool = millpond.elastic(GROUP)
        for handle in HANDLES:
            cache = pool.reserve(f"kv-{handle // MIB}m", shape=shape, dtype=sizes["dtype"], grow_along=1, granule=handle,
                                 largest_handle=handle)
            cache.commit(blocks)
            tensor = torch.from_dlpack(cache)
            tensor.copy_(plain)
            self.caches.append(cache)
            self.tensors[f"{handle // MIB}m"] = tensor
        self.query = self.normal(sizes["batch"], sizes["heads"], 1, sizes["dim"])
        self.table = torch.randperm(blocks, device=device, generator=self.random)

    def normal(self, *shape):
        return self.torch.randn(shape, dtype=getattr(self.torch, self.sizes["dtype"]), device=self.device, generator=self.random)

    def attend(self, kernel, name):
        """One token of each sequence attends over all of its sequence."""
        keys, values = self.tensors[name]
        if kernel == "paged":
            keys, values = keys.index_select(0, self.table), values.index_select(0, self.table)
        sizes = self.sizes
        shape = (sizes["batch"], sizes["sequence"], sizes["heads"], sizes["dim"])
        keys, values = (part.view(shape).transpose(1, 2) for part in (keys, values))
        with self.one_order():
            return self.torch.nn.functional.scaled_dot_product_attention(self.query, keys, values)

    def one_order(self):
        """A kernel that always adds in the same order. cuDNN's, which torch prefers on some cards, does not: it differs from call to
        call over plain memory too."""
        if self.device != "cuda":
            return contextlib.nullcontext()
        from torch.nn.attention import SDPBackend, sdpa_kernel

        return sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.MATH])


class Clock:
    """Microseconds of a call: by events of the device, or by the host's clock."""

    def __init__(self, torch, device):
        self.torch, self.on_gpu = torch, device == "cuda"

    def time(self, call):
        if not self.on_gpu:
            begun = time.perf_counter()
            found = call()
            return found, (time.perf_counter() - begun) * 1e6
        start, end = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        self.torch.cuda.synchronize()
        start.record()
        found = call()
        end.record()
        end.synchronize()
        return found, start.elapsed_time(end) * 1e3


def measure(rounds, gpu):
    """In the fresh process: all kernels over all memories, in turns."""
    import torch

    import millpond

    device = "cuda" if gpu else "cpu"
    memories = Memories(torch, millpond, GPU if gpu else SOFT, device)
    clock = Clock(torch, device)
    times = {(kernel, name): [] for kernel in KERNELS for name in memories.tensors}
    different = []
    names = list(memories.tensors)
    for number in range(rounds + 2):
        # Another one is first in each round; two rounds do not count.
        names = names[1:] + names[:1]
        for kernel in KERNELS:
            outputs = {}
            for name in names:
                outputs[name], took = clock.time(lambda: memories.attend(kernel, name))
                if number >= 2:
                    times[kernel, name].append(took)
            for name in names:
                if not torch.equal(outputs[name], outputs[PLAIN]):
                    different.append(f"{kernel} over {name}, round {number}")
    handles = [cache.stats().handles for cache in memories.caches]
    for handle, found in zip(HANDLES, handles):
        if set(found) != {handle}:
            raise RuntimeError(f"a cache has handles of {sorted(found)} bytes instead of {handle}")
    return {"torch": torch.__version__, "bytes": memories.tensors[PLAIN].nbytes, "different": different,
            "times": [{"kernel": kernel, "memory": name, "samples_us": found} for (kernel, name), found in times.items()]}


def summary(times):
    """Median and p90 of each, and the median over that of plain memory."""
    rows = []
    for one in times:
        samples = sorted(one["samples_us"])
        rows.append({"kernel": one["kernel"], "memory": one["memory"], "median_us": statistics.median(samples),
                     "p90_us": samples[-(-len(samples) * 9 // 10) - 1], "rounds": len(samples)})
    plain = {row["kernel"]: row["median_us"] for row in rows if row["memory"] == PLAIN}
    return [{**row, "over_plain": round(row["median_us"] / plain[row["kernel"]], 4)} for row in rows]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--millpond", default=os.environ.get("MILLPOND_BIN", "millpond"))
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--out")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    for package in ("torch", "millpond"):
        if not importlib.util.find_spec(package):
            sys.exit(f"attention: the package '{package}' is not installed")
    gpu = os.environ.get("MILLPOND_DRIVER") != "soft"
    if options.child:
        print("RESULT " + json.dumps(measure(options.rounds, gpu)))
        return 0
    pond = ponds.Pond(options.millpond, soft=not gpu)
    try:
        pond.cli("group", "set", GROUP, "--limit", "32G" if gpu else "1G")
        command = [sys.executable, str(HERE / "attention.py"), "--millpond", options.millpond, "--child", "--rounds", str(options.rounds)]
        printed = ponds.run(command, pond.env, seconds=SECONDS).text
    except ponds.CommandFailed as error:
        sys.exit(f"attention: {error}")
    finally:
        pond.stop()
    found = json.loads(printed.split("RESULT ", 1)[1])
    rows = summary(found["times"])
    same = not found["different"]
    result = {"driver": "cuda" if gpu else "soft", "torch": found["torch"], "bytes": found["bytes"], "ok": same,
              "different": found["different"], "rows": rows, "samples": found["times"]}
    lines = [f"{row['kernel']:6} {row['memory']:>6}  {row['median_us']:12.1f} us, p90 {row['p90_us']:12.1f}, {row['over_plain']:.3f}x plain" for row in rows]
    lines.append(f"outputs over {found['bytes'] / (1 << 30):.2f} GiB of keys and values " + ("are equal to the last bit" if same else "DIFFER"))
    return verdict.close(result, options.out, "\n".join(lines))


if __name__ == "__main__":
    sys.exit(main())
