"""Attach, flip and refresh from Python, beside the bare driver and beside torch.multiprocessing."""

import contextlib
import subprocess
import sys

import checkpoints
import part_loads
from rows import Skipped, median

MS = 1e3


@contextlib.contextmanager
def raw_slabs(ground, sizes):
    """A process that holds slabs of these sizes; the path where their descriptors are handed out."""
    if ground.soft:
        yield None
        return
    path = str(ground.pond.folder / "raw")
    script = str(ground.here / "driver.py")
    process = subprocess.Popen([sys.executable, script, path, *map(str, sizes)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        if process.stdout.readline().strip() != "ready":
            raise RuntimeError(f"bare slabs could not be made: {process.stderr.read()[-500:]}")
        yield path
    finally:
        process.kill()
        process.communicate()


def attach(ground, **arguments):
    return ground.child("attaches.py", {"what": "attach", "soft": ground.soft} | arguments)


def run(ground):
    """attach_over_raw."""
    rows, sizes = ground.rows, part_loads.slab_sizes(ground, "dense@v1")
    fresh = 3 if ground.small else 20
    with raw_slabs(ground, sizes) as path:
        # The raw attach is in the same process, in turns with ours.
        one = attach(ground, model="dense", rounds=fresh, raw=path, sizes=sizes)
        raw = median(one["raw"]) * MS if one["raw"] else None
        if raw is not None:
            rows.add("attach/raw", f"import, reserve, map, set access of {len(sizes)} slabs, in the same process", raw, "ms",
                     samples=[time * MS for time in one["raw"]])
        else:
            rows.skipped("attach/raw", "the bare driver's calls", "the software driver is inside the program, not a library that Python can call")
        row = rows.add("attach/python", "millpond.attach() in one process", median(one["times"]) * MS, "ms", floor=raw,
                       floor_what="the bare driver", ratio_goal=1.5, value_goal=2, samples=[time * MS for time in one["times"]])
        ground.extra["attach_over_raw"] = row["ratio"]
        first_raw = None
        if path:
            found = [attach(ground, model="dense", rounds=0, raw=path, sizes=sizes, raw_first=True) for _ in range(5)]
            first_raw = median([one["raw_first"] for one in found]) * MS
    processes = [attach(ground, model="dense", rounds=0) for _ in range(fresh)]
    found = [one["first"] * MS for one in processes]
    rows.add("attach/fresh", "the first attach of a fresh process that has a context; it connects too", median(found), "ms",
             floor=first_raw, floor_what="the bare driver, first in a fresh process", ratio_goal=1.5 if first_raw else None, value_goal=2, samples=found)
    connects = [one["connect"] * MS for one in processes]
    rows.add("attach/connect", "of that, the connection", median(connects), "ms", samples=connects)


def refresh(ground):
    """Flip and refresh, also in place."""
    rows, floor = ground.rows, ground.rows.value("attach/python")
    rounds = 4 if ground.small else 20
    arguments = {"what": "refresh", "model": "dense", "versions": ["v1", "v2"], "rounds": rounds, "soft": ground.soft}

    def one(name, what, in_place):
        found = ground.child("attaches.py", arguments | {"in_place": in_place})
        rows.add(name, what, median(found["times"]) * MS, "ms", floor=floor, floor_what="attach/python", ratio_goal=2,
                 samples=[time * MS for time in found["times"]])
        return found["flips"]

    flips = rows.attempt("refresh", "refresh", lambda: one("refresh", "refresh to the new current version", False))
    if flips:
        rows.add("flip", "millpond.swap(), with its round trip", median(flips) * MS, "ms", value_goal=1, samples=[time * MS for time in flips])
    rows.attempt("refresh/in-place", "refresh in place", lambda: one("refresh/in-place", "the same in place: one slab is remapped", True))


def many(ground):
    """20,000 tensors beside 200 of the same bytes; the first of them is a load too."""
    rows = ground.rows
    while not ground.fits(checkpoints.total_bytes(ground.moe)) and ground.moe["rows"] > 8:
        # As many tensors, but smaller ones; the row says how many bytes they are.
        ground.moe["rows"] //= 2
    bytes_ = checkpoints.total_bytes(ground.moe)
    tensors = len(checkpoints.shapes_of(ground.moe))
    ground.extra["moe_bytes"] = ground.checkpoint("moe", ground.moe)
    few = {"kind": "few", "dtype": ground.dtype, "count": max(2, tensors // 100), "total_bytes": bytes_, "sparse": True}
    ground.checkpoint("few", few)
    part_loads.load(ground, "moe", "moe", "--activate")
    took, _, _ = part_loads.fresh_loads(ground, "moe", 1 if ground.small else 3)
    rows.add("load/moe", f"load of {tensors:,} tensors, {bytes_ / 1e9:.1f} GB", bytes_ / median(took) / 1e9, "GB/s",
             floor=rows.value("ring"), floor_what="a bare pinned ring", samples=[bytes_ / one / 1e9 for one in took])
    part_loads.load(ground, "few", "few", "--activate")
    found = {name: attach(ground, model=name, rounds=4 if ground.small else 20) for name in ("few", "moe")}
    medians = {name: median(one["times"]) * MS for name, one in found.items()}
    rows.add("attach/few", f"attach of {few['count']} tensors", medians["few"], "ms", samples=[time * MS for time in found["few"]["times"]])
    rows.add("attach/many", f"attach of {tensors:,} tensors of the same bytes", medians["moe"], "ms", floor=medians["few"],
             floor_what="attach/few", ratio_goal=1.5, samples=[time * MS for time in found["moe"]["times"]])
    rows.attempt("attach/views", "all of them as torch tensors", lambda: views(ground))


def views(ground):
    if ground.soft:
        raise Skipped("needs torch on a GPU; this is the software driver")
    found = attach(ground, model="moe", rounds=0, views=True)
    ground.rows.add("attach/views", f"{found['tensors']:,} torch tensors made from an attached model", median(found["views"]) * MS, "ms",
                    samples=[time * MS for time in found["views"]])


def handover(ground):
    """The tensors of the dense model by torch.multiprocessing."""

    def one():
        if ground.soft:
            raise Skipped("needs torch on a GPU; this is the software driver")
        shapes = list(checkpoints.shapes_of(ground.dense).values())
        found = ground.child("handover.py", {"shapes": shapes, "rounds": 5})
        times = [time * MS for time in found["seconds"]]
        ground.rows.add("peer/multiprocessing", f"torch.multiprocessing hands over {found['tensors']} tensors to a process with a context",
                        median(times), "ms", samples=times)
        ours = ground.rows.value("attach/python")
        if ours:
            ground.rows.add("attach/over-multiprocessing", "millpond.attach() beside it", ours, "ms", floor=median(times),
                            floor_what="torch.multiprocessing")

    ground.rows.attempt("peer/multiprocessing", "torch.multiprocessing", one, peer=True)
