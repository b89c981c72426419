#!/usr/bin/env python3
"""Blocks out and back by Millpond's pool and by other allocators, in one process and in turns.

    peers.py --group NAME [--peers FOLDER] [--quick] [--svg FILE]

side_by_side.py starts it, with a pond that runs and a group that has a limit. It compiles the loops (peers.cpp) and the peers on
this machine, and prints all samples, in nanoseconds: `RESULT {...}`.
"""

import argparse
import contextlib
import ctypes
import json
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import build  # noqa: E402

SIZES = {"512": 512, "64k": 64 << 10, "1m": 1 << 20, "2m": 2 << 20, "20m": 20 << 20, "256m": 256 << 20}
CALLS = ("cuStreamGetId", "cuStreamGetCaptureInfo_v2", "cuStreamIsCapturing", "cuEventRecord", "cuEventQuery", "cuStreamWaitEvent",
         "cuCtxGetCurrent", "getpid")
OWN, SLOW, NOTHING = "pool", "malloc", "nothing"
# How two streams share, and who can do it: torch's blocks are freed on the stream that they are of.
TWO_STREAMS = {"two_streams": (0, ("pool", "async", "torch")), "recorded": (1, ("pool", "async", "torch")), "handed": (2, ("pool", "async"))}
SEED, SLOTS, STEPS = 1, 1000, 24_000
# (rounds, samples in a round, pairs in a sample, pairs of the slow one, rounds of the mixed sequence, of the slow one)
FULL = {"rounds": 21, "samples": 5, "pairs": 1000, "slow": 10, "mixed": 11, "mixed_slow": 1}
QUICK = {"rounds": 5, "samples": 2, "pairs": 200, "slow": 2, "mixed": 3, "mixed_slow": 0}


class Failed(Exception):
    """The loops said no."""


class Loops:
    """The compiled loops."""

    def __init__(self, library):
        self.library = ctypes.CDLL(str(library))
        words, number, whole, real = ctypes.c_char_p, ctypes.c_int, ctypes.c_uint64, ctypes.POINTER(ctypes.c_double)
        shapes = {
            "open": (words, [words, words, number]), "pool": (words, [words]), "load": (words, [words]), "count": (number, []),
            "name": (words, [number]), "records": (number, [number]), "held": (ctypes.c_longlong, [number]), "empty": (None, [number]),
            "card_free": (ctypes.c_longlong, []), "pairs": (words, [number, whole, ctypes.c_long, real]),
            "two_streams": (words, [number, whole, ctypes.c_long, number, real]), "mix": (None, [whole, ctypes.c_uint32, ctypes.c_uint32]),
            "mix_facts": (None, [ctypes.POINTER(whole)] * 3), "mixed": (words, [number, real]), "mixed_end": (None, [number]),
            "call": (words, [words, ctypes.c_long, real]),
        }
        for name, (answer, arguments) in shapes.items():
            function = getattr(self.library, f"bench_{name}")
            function.restype, function.argtypes = answer, arguments
            setattr(self, name, function)

    @staticmethod
    def check(said):
        if said is not None:
            raise Failed(said.decode(errors="replace"))

    def timed(self, function, *arguments):
        """One sample, in nanoseconds."""
        took = ctypes.c_double()
        self.check(function(*arguments, ctypes.byref(took)))
        return took.value

    def names(self):
        return {self.name(number).decode(): number for number in range(self.count())}


class Turns:
    """Measures all peers in turns, another one first in each round. A peer that fails once is out, with its words."""

    def __init__(self, names):
        self.names, self.out = names, {}

    def take(self, rounds, one, names=None):
        """`one(name, number of the peer)` is a list of samples; per name a list of rounds."""
        order = [name for name in names or self.names if name in self.names]
        found = {name: [] for name in order}
        for _ in range(rounds):
            for name in order:
                if name in self.out:
                    continue
                try:
                    found[name].append(one(name, self.names[name]))
                except Failed as error:
                    self.out[name] = str(error)
            order = order[1:] + order[:1]
        return {name: rounds for name, rounds in found.items() if name not in self.out}


class Memory:
    """What each peer holds of the card, by its own books, since it was emptied."""

    def __init__(self, torch, loops, pool):
        self.torch, self.loops, self.pool = torch, loops, pool

    def empty(self, name, number):
        self.loops.empty(number)
        if name == "torch":
            self.torch.cuda.empty_cache()
            self.torch.cuda.reset_peak_memory_stats()
        elif name == OWN:
            self.pool.trim(wait=True)
            self.pool.reset_peaks()

    def held(self, name, number):
        if name == "torch":
            return self.torch.cuda.max_memory_reserved()
        if name == OWN:
            return self.pool.stats()["peak_held_bytes"]
        held = self.loops.held(number)
        return None if held < 0 else held


def mixed(loops, turns, memory, plan, svg):
    """The mixed sequence from nothing, then again in turns."""
    loops.mix(SEED, SLOTS, STEPS)
    facts = [ctypes.c_uint64() for _ in range(3)]
    loops.mix_facts(*map(ctypes.byref, facts))
    found = dict(zip(("allocations", "used_bytes", "blocks"), (fact.value for fact in facts)), peers={})

    def first(name, number):
        memory.empty(name, number)
        before = loops.card_free()
        took = loops.timed(loops.mixed, number)
        card, held = before - loops.card_free(), memory.held(name, number)
        if name == OWN and svg:
            # With the blocks that are in use at the end.
            memory.pool.snapshot_svg(str(svg))
        loops.mixed_end(number)
        found["peers"][name] = {"first_ns": took, "card_bytes": card, "held_bytes": held}
        return [took]

    def again(_name, number):
        took = loops.timed(loops.mixed, number)
        loops.mixed_end(number)
        return [took]

    turns.take(1, first, [name for name in turns.names if name != NOTHING])
    fast = [name for name in turns.names if name not in (NOTHING, SLOW)]
    samples = turns.take(plan["mixed"], again, fast) | turns.take(plan["mixed_slow"], again, [SLOW])
    for name, rounds in samples.items():
        if rounds and name in found["peers"]:
            found["peers"][name] |= {"rounds": rounds, "held_last_bytes": memory.held(name, turns.names[name])}
    for name in fast:
        if name not in turns.out:
            memory.empty(name, turns.names[name])
    return found


def pairs(loops, turns, plan, bytes_, names=None):
    """One size: a block out and back."""
    def one(name, number):
        if name == SLOW:
            return [loops.timed(loops.pairs, number, bytes_, plan["slow"])]
        return [loops.timed(loops.pairs, number, bytes_, plan["pairs"]) for _ in range(plan["samples"])]

    # The first round makes caches warm, and does not count.
    turns.take(1, one, names)
    return turns.take(plan["rounds"], one, names)


def measure(loops, memory, plan, svg):
    """Everything. What makes a pool know a second stream comes last."""
    turns = Turns(loops.names())
    found = {"mixed": mixed(loops, turns, memory, plan, svg)}
    found["pairs"] = {size: pairs(loops, turns, plan, bytes_) for size, bytes_ in SIZES.items()}
    # The order changes here too, with calls in the place of peers.
    calls = Turns({name: name.encode() for name in CALLS})
    found["calls"] = calls.take(plan["rounds"], lambda _, name: [loops.timed(loops.call, name, plan["pairs"])])
    found["two_streams"] = {}
    for row, (how, names) in TWO_STREAMS.items():
        def one(_name, number, how=how):
            return [loops.timed(loops.two_streams, number, SIZES["1m"], plan["pairs"], how) for _ in range(plan["samples"])]

        names = [name for name in names if how != 1 or name in turns.names and loops.records(turns.names[name])]
        turns.take(1, one, names)
        found["two_streams"][row] = turns.take(plan["rounds"], one, names)
    found["known_second"] = {size: pairs(loops, turns, plan, SIZES[size], ("pool", "async")) for size in ("512", "1m")}
    return found, turns.out | calls.out


def prepare(millpond, torch, group):
    """The pool of the group, which the symbols serve from then on. No block is taken, so that the pool knows no other stream than
    those of the loops."""
    # Torch makes the context and has it current.
    torch.empty(1, device="cuda")
    torch.cuda.synchronize()
    return millpond.torch.pool(group)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--group", required=True)
    parser.add_argument("--peers", help="the folder with the peers' wheels")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--svg", help="draw the pool in the mixed sequence into this file")
    parser.add_argument("--driver", default="libcuda.so.1", help=argparse.SUPPRESS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mpp-") as folder:
        places = build.Places(peers=options.peers, folder=folder)
        made, absent = build.build(places, folder)
        if "peers" not in made:
            sys.exit(f"peers: the loops could not be compiled: {absent['peers']}")
        import torch

        import millpond
        import millpond.torch

        pool = prepare(millpond, torch, options.group)
        loops = Loops(made["peers"])
        try:
            runtime = places.runtime().name
        except build.Absent as error:
            runtime, absent[SLOW] = "", str(error)
        device = torch.cuda.current_device()
        loops.check(loops.open(options.driver.encode(), runtime.encode(), device))
        loops.check(loops.pool(str(millpond._millpond.__file__).encode()))
        if "rmm" in made:
            # Its library finds what it needs by name, because that is loaded.
            for name in ("rapids_logger/lib64/librapids_logger.so", "librmm/lib64/librmm.so"):
                with contextlib.suppress(OSError):
                    ctypes.CDLL(str(places.rmm() / name), mode=ctypes.RTLD_GLOBAL)
        for unit in ("torch", "cub", "rmm"):
            said = loops.load(str(made[unit]).encode()) if unit in made else None
            if said:
                absent[unit] = said.decode(errors="replace")
            for name in build.PEERS_OF[unit] if unit not in absent else ():
                if name not in loops.names():
                    absent[name] = "it could not be made on this machine"
        before = pool.stats()["allocations"]
        found, out = measure(loops, Memory(torch, loops, pool), QUICK if options.quick else FULL, options.svg)
        allocations = pool.stats()["allocations"] - before
    absent = {name: why for unit, why in absent.items() for name in build.PEERS_OF.get(unit, (unit,))} | out
    failed = [f"the pool failed: {absent[OWN]}"] if OWN in absent else []
    if OWN not in absent and not allocations:
        failed.append("the symbols did not serve from the pool of the group: it counted no allocation")
    found |= {"absent": absent, "failed": failed, "pool_allocations": allocations, "torch": torch.__version__,
              "device": torch.cuda.get_device_name(device), "sizes": SIZES, "seed": SEED}
    print("RESULT " + json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
