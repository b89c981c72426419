"""Attach, refresh and flip from Python, in a process of its own.

    attaches.py '{"what": "attach", "model": "dense", "rounds": 20, ...}'
"""

import contextlib
import json
import sys
import time

import driver


def now():
    return time.monotonic()


def settle(millpond):
    """Until what was closed is unmapped: an attach of what is still mapped would cost nothing."""
    if not millpond.flush(30.0):
        raise RuntimeError("what was closed is still mapped after 30 s")


def context(soft, with_torch):
    """A context as a worker has it before it attaches; the bare driver where there is one."""
    if with_torch:
        import torch

        torch.empty(1, device="cuda")
    if soft:
        return None
    raw = driver.Driver()
    raw.context()
    return raw


def attach(model, rounds, soft, raw=None, sizes=(), raw_first=False, views=False):
    """Times of the first attach, of later ones and of the bare driver, in turns."""
    bare = context(soft, views)
    import millpond

    descriptors = driver.take_slabs(raw) if raw and bare else []
    if descriptors and len(descriptors) != len(sizes):
        raise ValueError(f"{len(descriptors)} descriptors for {len(sizes)} slabs")

    def one_raw():
        begun = now()
        mapped = bare.attach(descriptors, sizes)
        took = now() - begun
        bare.detach(mapped)
        return took

    def one_own():
        begun = now()
        attached = millpond.attach(model)
        took = now() - begun
        return took, attached

    # The driver's own first call costs more than the next; each side pays it as it comes.
    raw_times = [one_raw()] if descriptors and raw_first else []
    begun = now()
    millpond.connect()
    connect = now() - begun
    first, attached = one_own()
    result = {"first": connect + first, "connect": connect, "raw_first": raw_times[0] if raw_times else None, "times": [], "raw": [], "views": []}
    if views:
        for _ in range(3):
            begun = now()
            tensors = attached.torch()
            held = [tensors[name] for name in tensors]
            result["views"].append(now() - begun)
            result["tensors"] = len(held)
            del held, tensors
    attached.close()
    del attached
    for _ in range(rounds):
        settle(millpond)
        if descriptors:
            result["raw"].append(one_raw())
        took, attached = one_own()
        result["times"].append(took)
        attached.close()
        del attached
    return result


def refresh(model, versions, rounds, soft, in_place):
    """Times of a flip and of the refresh that follows it."""
    context(soft, False)
    import millpond

    attached = millpond.attach(model)
    flips, times = [], []
    # The first is not counted. Each goes to the version that is not mapped.
    for number in range(rounds + 1):
        wanted = next(version for version in versions if version != attached.version)
        begun = now()
        millpond.swap(model, wanted)
        flip = now() - begun
        pause = attached.paused() if in_place else contextlib.nullcontext()
        with pause:
            begun = now()
            moved = attached.refresh(in_place=in_place)
            took = now() - begun
        if not moved or attached.version != wanted:
            raise RuntimeError(f"refreshed to '{attached.version}' instead of '{wanted}'")
        if number:
            flips.append(flip)
            times.append(took)
        settle(millpond)
    return {"flips": flips, "times": times}


def check(model, folder, soft):
    """Compares tensors with the file, byte by byte."""
    import loads
    import millpond

    torch = None
    if not soft:
        import torch

        torch.empty(1, device="cuda")
    attached = millpond.attach(model)
    tensors = attached.numpy() if soft else attached.torch()
    loads.check(torch, tensors, folder)
    return {"tensors": len(tensors)}


def context_memory():
    """Host memory that the driver and a context take in a process that does nothing else."""
    before = driver.resident()
    driver.Driver().context()
    return {"bytes": driver.resident() - before}


WHATS = {"attach": attach, "refresh": refresh, "check": check, "context": context_memory}

if __name__ == "__main__":
    arguments = json.loads(sys.argv[1])
    print("RESULT " + json.dumps(WHATS[arguments.pop("what")](**arguments)), flush=True)
