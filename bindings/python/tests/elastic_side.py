"""The other process of test_elastic_processes.py, which begins without its fixtures."""

import sys

import millpond

MIB = 1 << 20


def reserve(group, name, **more):
    """64 blocks of 512 KiB in each of two segments: 64 MiB."""
    return millpond.elastic(group).reserve(name, (2, 64, MIB // 8), "float32", 1, **more)


def neighbour(group, says, hears, answer):
    """Holds all of the limit, and gives back what it is told to."""
    cache = reserve(group, "neighbour")
    view = cache.numpy()
    cache.commit(64)
    view[:, :64] = 1
    asks = []

    def pressed(ask):
        asks.append((ask.bytes, ask.blocks, 0 < ask.until <= 60, ask.reason, ask.revision))
        if answer == "raises":
            raise RuntimeError("this is no answer")
        if answer == "wrong":
            return 5
        if answer in ("no", "none"):
            return False if answer == "no" else None
        cache.uncommit(range(64 - ask.blocks, 64))
        return {"yes": True, "now": "now"}[answer]

    unraisable = []
    sys.unraisablehook = lambda one: unraisable.append((type(one.exc_value).__name__, one.object is pressed))
    if answer == "idle":
        cache.uncommit(range(32, 64))
    else:
        cache.on_pressure(pressed)
    says.put("there")
    hears.get()
    committed = cache.stats().committed_blocks
    right = bool((view[:, :committed] == 1).all())
    says.put((asks, unraisable, committed, right))
