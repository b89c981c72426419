"""Loads through the pond: beside a bare pinned ring, with and without hashing, and their memory."""

import importlib.util
import os
import time

import pond as ponds
from rows import Skipped, median

MIB = 1 << 20
# The mover's own numbers: threads of two buffers of 4 MiB.
RING_THREADS = (2, 16)
RING_BYTES_PER_THREAD = 2 * 4 * MIB
MORE_THAN_RING_BYTES = 64 * MIB
# Behind the free of much memory, copies to a card are slower for a while: on an H200 at half their
# speed for about 50 ms after 15 GB, and for at least 170 ms after 46 GB.
SETTLE_SECONDS = 0.5


def ring(ground):
    """GB/s of a bare pinned ring into memory that was filled before, and into memory that was just
    made, as a load's is; by `millpond bench`."""
    quick = ["--quick"] if ground.small else []
    result = ground.pond.cli("bench", "--pond", "--json", "--only", "^move/put(-new)?$", *quick).json()
    floors = {row["name"]: row["floor"] for row in result["rows"]}
    return floors["move/put"], floors["move/put-new"]


def load(ground, model, checkpoint, *flags, version="v1"):
    """`millpond load`; (seconds as the caller sees them, its answer, its largest size)."""
    done = ground.pond.cli("load", model, ground.path(checkpoint), "--version", version, "--json", *ground.slab_flags, *flags)
    answer = done.json()
    if answer["cold"]:
        raise RuntimeError(f"'{checkpoint}' was not in the page cache: this measured the disk")
    return done.seconds, answer, done.peak_bytes


def slab_sizes(ground, version):
    """Bytes of each slab of a version, as the pond has them."""
    return [slab["bytes"] for slab in ground.pond.cli("inspect", version, "--json").json()["slabs"]]


def forget(ground, model, version):
    """Frees a version that nothing uses any more. If that fails it is seen, and the loads go on."""
    try:
        ground.pond.cli("retire", model, version, "--wait")
    except ponds.CommandFailed as error:
        if not ground.extra.get("retire_failed"):
            ground.extra["retire_failed"] = True
            ground.rows.failed("load/retire", "a version is freed after its load", error)


def own_seconds(answer, otherwise):
    """How long a command says that its work took, without the start and end of the program."""
    for key, unit in (("elapsed_ms", 1e-3), ("seconds", 1.0)):
        if isinstance(answer.get(key), (int, float)):
            return answer[key] * unit
    return otherwise


def settle(ground):
    """Waits until copies are as fast as ever: what was freed before is not the next load's work."""
    if not ground.soft:
        time.sleep(SETTLE_SECONDS)


def fresh_loads(ground, checkpoint, rounds, *flags, name="round", settled=True):
    """Loads of versions beside the current one that share nothing with it, each freed again.

    (seconds as the caller sees them, seconds as the command says, largest size of the loader)
    """
    seconds, own, peak = [], [], 0
    for number in range(rounds):
        version = "-".join([name, *(flag.strip("-") for flag in flags), str(number)])
        if settled:
            settle(ground)
        took, answer, largest = load(ground, "dense", checkpoint, "--like", "none", *flags, version=version)
        if answer["shared_tensor_bytes"]:
            raise RuntimeError(f"{answer['shared_tensor_bytes']} bytes were shared and not loaded: this measured something else")
        seconds.append(took)
        own.append(own_seconds(answer, took))
        peak = max(peak, largest)
        forget(ground, "dense", version)
    return seconds, own, peak


def put_all(ground, checkpoint):
    """`tensor put` of the same files: the same bytes by the same ring, and nothing is hashed."""
    names, seconds = [], 0.0
    folder = ground.path(checkpoint)
    settle(ground)
    for file in sorted(os.listdir(folder)):
        if file.endswith(".safetensors"):
            names.append(f"weights-bench/{file}")
            done = ground.pond.cli("tensor", "put", names[-1], os.path.join(folder, file), "--format", "raw", "--dtype", "u8", "--json")
            # One load is one command, and here is one for each file: their starts do not count.
            seconds += own_seconds(done.json(), done.seconds)
    for name in names:
        ground.pond.cli("tensor", "rm", name)
    ground.pond.cli("gc")
    return seconds


def has_flag(ground, flag):
    return flag in ground.pond.cli("load", "--help").text


def run(ground):
    """load_over_ring and hash_cost."""
    rows, bytes_ = ground.rows, ground.extra["dense_bytes"]
    speed = lambda seconds: bytes_ / seconds / 1e9
    took, _, _ = load(ground, "dense", "dense-v1", "--activate")
    rows.add("load/first", "the first load: the mover starts and pins its ring", took * 1e3, "ms")
    ground.extra["slabs"] = len(slab_sizes(ground, "dense@v1"))
    rows.attempt("load/bytes", "tensors as the file has them", lambda: check(ground))

    before, before_new = ring(ground)
    seconds, own, ground.extra["loader_peak"] = fresh_loads(ground, "dense-v1", ground.rounds)
    mover = ground.pond.mover()
    ground.extra["mover_peak"] = ponds.memory_of(mover)[1] if mover else None
    puts = rows.attempt("load/put", "`tensor put` of the same files", lambda: [put_all(ground, "dense-v1") for _ in range(ground.rounds)])
    bare = fresh_loads(ground, "dense-v1", ground.rounds, "--no-hash")[1] if has_flag(ground, "--no-hash") else None
    # Behind the first of these was a free too, of what was measured last.
    behind = fresh_loads(ground, "dense-v1", ground.rounds, name="behind", settled=False)[0]
    after, after_new = ring(ground)

    floor = (before + after) / 2
    rows.add("ring", "a bare pinned ring, before the loads and after them", floor, "GB/s", samples=[before, after])
    rows.add("ring/new", "the same into memory that was just made, as a load's is", (before_new + after_new) / 2, "GB/s",
             samples=[before_new, after_new])
    row = rows.add(
        "load/dense", f"load of {bytes_ / 1e9:.1f} GB, `millpond load` from start to end", speed(median(seconds)), "GB/s",
        floor=floor, floor_what="a bare pinned ring", ratio_goal=0.9, samples=[speed(one) for one in seconds],
        note={"seconds_as_the_command_says": own})
    ground.extra["load_over_ring"] = row["ratio"]
    ground.extra["load_over_new_ring"] = round(row["value"] / rows.value("ring/new"), 4)
    rows.add(
        "load/behind-retire", "the same right behind the retirement of a version as large", speed(median(behind)), "GB/s",
        floor=floor, floor_what="a bare pinned ring", samples=[speed(one) for one in behind])
    if puts:
        rows.add("load/put", "`tensor put` of the same files, which hashes nothing", speed(median(puts)), "GB/s",
                 floor=floor, floor_what="a bare pinned ring", samples=[speed(one) for one in puts])
    unhashed, how = (bare, "load --no-hash") if bare else (puts, "`tensor put` of the same files")
    if unhashed:
        # Less than nothing is noise; it is shown as it was measured.
        cost = 1 - median(unhashed) / median(own)
        ground.extra["hash_cost"] = round(cost, 4)
        rows.add("hash/cost", f"part of a load's speed that hashing takes, against {how}", cost * 100, "%", value_goal=10)
    rows.attempt("load/shared", "load of a version with one slab that differs", lambda: shared(ground))


def check(ground):
    if ground.soft and not importlib.util.find_spec("numpy"):
        raise Skipped("numpy is not installed here")
    found = ground.child("attaches.py", {"what": "check", "model": "dense", "folder": ground.path("dense-v1"), "soft": ground.soft})
    ground.rows.add("load/bytes", "tensors; three of them compared with the file, byte by byte", found["tensors"], "")


def shared(ground):
    """The next version of the model that stays: what is equal is not copied."""
    took, answer, _ = load(ground, "dense", "dense-v2", version="v2")
    if not answer["shared_tensor_bytes"]:
        raise RuntimeError("nothing was shared")
    ground.rows.add("load/shared", "load of a version with one slab that differs: the rest is hashed and shared",
                    took * 1e3, "ms", note={"shared_tensor_bytes": answer["shared_tensor_bytes"]})


def memory(ground):
    """Host memory of a load: the mover without what a bare context takes, and the loader."""
    peak, loader = ground.extra.get("mover_peak"), ground.extra.get("loader_peak")
    if not peak or not loader:
        raise Skipped("no load was measured, or no mover was seen")
    context = 0 if ground.soft else ground.child("attaches.py", {"what": "context"})["bytes"]
    threads = min(max(len(os.sched_getaffinity(0)), RING_THREADS[0]), RING_THREADS[1])
    ring_bytes = threads * RING_BYTES_PER_THREAD
    ground.rows.add("memory/load", "largest resident size of mover and loader together, less that of a bare context",
                    (peak - context + loader) / MIB, "MiB", floor=ring_bytes / MIB, floor_what="the ring",
                    value_goal=(ring_bytes + MORE_THAN_RING_BYTES) / MIB,
                    note={"mover_bytes": peak, "loader_bytes": loader, "context_bytes": context, "ring_bytes": ring_bytes})
