"""The same checkpoint by the peers' loaders, each in a process of its own."""

import importlib.util

import wheels
from rows import Skipped, median

# (how, projects whose wheels it needs, seconds that it may take)
PEERS = [
    ("fastsafetensors", ["fastsafetensors"], 40),
    ("runai", ["runai-model-streamer", "humanize"], 40),
    ("safetensors-then-cuda", [], 30),
    ("torch", [], 30),
    ("safetensors-next", ["safetensors"], 30),
    ("instanttensor", ["instanttensor"], 60),
]


def measure(ground, how, checkpoint, rounds, seconds, path=None, tag=None):
    """A row of a peer; its median speed."""
    tag = tag or how
    name = f"peer/{tag}" if checkpoint.startswith("dense") else f"peer/{tag}-{checkpoint}"

    def one():
        ground.in_time(seconds / 2)
        arguments = {"how": how, "folder": ground.path(checkpoint), "rounds": rounds}
        found = ground.child("loads.py", arguments, first_path=path, seconds=seconds)
        speeds = [found["bytes"] / one / 1e9 for one in found["seconds"]]
        # The first call of a process is slower for all of them; it is shown, and judges nobody.
        first, speeds = speeds[0], speeds[1:] or speeds
        ground.extra["versions"][tag] = found["version"]
        ground.rows.add(name, f"{found['version']}, {found['tensors']} tensors, {found['bytes'] / 1e9:.1f} GB",
                        median(speeds), "GB/s", samples=speeds, note={"first_gigabytes_per_second": round(first, 3)})
        return median(speeds)

    return ground.rows.attempt(name, f"{tag}, {checkpoint}", one, peer=True)


def needs_gpu(ground):
    if ground.soft:
        raise Skipped("needs torch on a GPU; this is the software driver")


def safetensors(ground):
    """load_over_safetensors."""
    if ground.soft and not importlib.util.find_spec("safetensors"):
        raise Skipped("safetensors is not installed here")
    how = "safetensors-numpy" if ground.soft else "safetensors"
    theirs = measure(ground, how, "dense-v1", 3, 90)
    ours = ground.rows.value("load/dense")
    if theirs and ours:
        row = ground.rows.add("load/over-safetensors", "`millpond load` beside safetensors.torch.load_file(device=\"cuda\")",
                              ours, "GB/s", floor=theirs, floor_what="safetensors", ratio_goal=6)
        ground.extra["load_over_safetensors"] = row["ratio"]


def run(ground):
    """Everybody else."""
    for how, projects, seconds in PEERS:
        ground.rows.attempt(f"peer/{how}", f"{how}, dense", lambda: one_peer(ground, how, projects, seconds), peer=True)
    if not ground.soft and "moe_bytes" in ground.extra:
        measure(ground, "safetensors", "moe", 2, 60)


def one_peer(ground, how, projects, seconds):
    needs_gpu(ground)
    path = None
    if projects:
        path = ground.path(f"peer-{how}")
        for project in projects:
            wheel = wheels.find(ground.peers, project)
            if wheel is None:
                raise FileNotFoundError(f"no wheel of {project} in {ground.peers}; benchmarks/weights/peers downloads it")
            wheels.unpack(wheel, path)
    measure(ground, "safetensors" if how == "safetensors-next" else how, "dense-v1", 3, seconds, path, tag=how)
