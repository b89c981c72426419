"""Ponds as the web service tells them: what the page is shown by `mock.py`.

Each scenario is an `Overview` of crates/overview; `browser.py` compares the fields that are used here with those of a real one.
"""

from __future__ import annotations

import json
import time
import uuid

GIB = 1 << 30
MIB = 1 << 20
GPU = "GPU-c345a3ad-47d7-8b6e-9725-a4357e1afa5a"
NAMES = ("demo", "empty", "eight", "thousand", "hundred_thousand", "hostile", "wrong", "away", "locked", "forbidden")
BEGIN_MS = int(time.time() * 1000)
USERS = {"0": "root", "1000": "ada", "1001": "grace"}

HOSTILE = [
    "<script>window.pwned=1</script>",
    '"><img/src=x/onerror=window.pwned=1>',
    "'};window.pwned=1;//",
    "acts/\u202egnp.exe\u202c",
    "zero\u200bwidth\u2066isolate",
    "</bdi></td><h1>big</h1>",
    "x" * 250,
    "\u05e9\u05dc\u05d5\u05dd/\u0645\u0631\u062d\u0628\u0627/" + "\u0645" * 80,
    "a/" * 120 + "b",
    "Z\u0351\u036b\u0343\u036a\u0302\u036b\u033d\u034f\u0334\u0319\u0324\u031e\u0349\u035a\u032f\u031e\u0320\u034da\u036b\u0357\u0334\u0362\u0335\u031c\u0330\u0354l\u0368\u0367\u0369\u0358\u0320g\u0311\u0357\u030e\u0305\u035b\u0341\u0334\u033b\u0348\u034d\u0354\u0339o",
    "constructor",
    "__proto__",
]


def identity(*words: object) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_OID, "/".join(map(str, words))))


def tensor(
    name: str | None,
    size: int,
    leases: int = 0,
    user: int = 1000,
    state: str = "ready",
    age_s: float = 600,
    transport: str = "vmm",
    number: int = 0,
) -> dict:
    return {
        "id": identity("tensor", name, number),
        "name": name,
        "user": user,
        "dtype": "BF16",
        "shape": [max(1, size // 8192), 4096],
        "bytes": size,
        "device": GPU,
        "state": state,
        "generation": 1,
        "share": "user",
        "ephemeral": False,
        "created_unix_ms": BEGIN_MS - int(age_s * 1000),
        "slab": identity("slab", name, number),
        "slab_bytes": size,
        "slab_offset_bytes": 0,
        "lease_count": leases,
        "life": {"ttl_left_ms": None, "linger_left_ms": None, "accesses_left": None},
        "transport": transport,
        "adopted": False,
        "survives": "host" if transport == "ipc" else "everything",
        "home_pid": 4242 if transport == "ipc" else None,
        "holds": None,
    }


def version(
    model: str,
    tag: str,
    size: int,
    own: int,
    readers: int,
    state: str = "ready",
    current: bool = False,
    previous: bool = False,
    user: int = 1000,
    age_s: float = 3000,
    lost: bool = False,
) -> dict:
    return {
        "id": identity("version", model, tag),
        "model": model,
        "version": tag,
        "user": user,
        "state": state,
        "current": current,
        "previous": previous,
        "lost": lost,
        "device": GPU,
        "share": "user",
        "bytes": size,
        "slab_bytes": size,
        "own_bytes": own,
        "shared_bytes": size - own,
        "slab_count": max(1, size // (2 * GIB)),
        "tensor_count": 291,
        "readers": readers,
        "layout_hash": "5f3b" * 8,
        "content_hash": "9c1d" * 8,
        "created_unix_ms": BEGIN_MS - int(age_s * 1000),
        "ready_unix_ms": BEGIN_MS - int(age_s * 1000) + 900,
        "source": f"/models/{model}/{tag}",
        "stager_pid": None,
    }


def process(
    pid: int,
    program: str,
    held: int,
    holds: list[str],
    user: int = 1000,
    silent: bool = False,
    mover: bool = False,
    age_s: float = 900,
) -> dict:
    return {
        "pid": pid,
        "user": user,
        "program": program,
        "since_unix_ms": BEGIN_MS - int(age_s * 1000),
        "silent": silent,
        "mover": mover,
        "connections": 1,
        "lease_count": len(holds),
        "held_bytes": held,
        "holds": holds,
    }


def group(name: str, limit: int | None, programs: int, pond: int = 0, processes: int = 2, **more: object) -> dict:
    device = {
        "device": GPU,
        "limit_bytes": limit,
        "effective_bytes": limit,
        "min_bytes": 0,
        "weight": 1,
        "used_bytes": programs + pond,
        "process_bytes": programs,
        "pond_bytes": pond,
        "context_bytes": 512 * MIB * processes,
        "folded_bytes": 0,
        "shared_bytes": 0,
        "process_count": processes,
    }
    return {
        "name": name,
        "folder": f"/run/millpond/groups/{name}",
        "anonymous": False,
        "owner": None,
        "users": [],
        "process_count": processes,
        "lying": False,
        "stuck": False,
        "broken": False,
        "ends_silent": False,
        "devices": [device],
        **more,
    }


def cache(
    name: str, of: str, committed: int, idle: int, pid: int, program: str, reserved: int = 64 * GIB, wanted: int = 0
) -> dict:
    return {
        "cache": identity("cache", name, pid),
        "name": name,
        "group": of,
        "device": GPU,
        "pid": pid,
        "program": program,
        "user": 1000,
        "reserved_bytes": reserved,
        "held_bytes": committed + idle,
        "committed_bytes": committed,
        "idle_bytes": idle,
        "granule_bytes": 2 * MIB,
        "segments": 64,
        "min_bytes": 2 * GIB,
        "weight": 1,
        "wanted_bytes": wanted,
        "asked_bytes": 0,
        "given_bytes": 3 * GIB,
        "got_bytes": 5 * GIB,
    }


def segment(kind: str, size: int, label: str, **more: object) -> dict:
    return {
        "kind": kind,
        "bytes": size,
        "label": label,
        "id": None,
        "user": None,
        "owner": None,
        "count": 1,
        "readers": None,
        "state": None,
        "survives": None,
        "limit_bytes": None,
        "children": [],
        **more,
    }


def assemble(
    total: int,
    models: list[dict],
    tensors: list[dict],
    groups: list[dict],
    caches: list[dict],
    processes: list[dict],
    other: int = 0,
    tensor_groups: list[dict] | None = None,
    shared: list[tuple[str, int]] | None = None,
    readings: dict | None = None,
    **status: object,
) -> dict:
    """An overview whose card adds up."""
    tensor_groups = tensor_groups or []
    segments = []
    for model in models:
        for it in model["versions"]:
            if it["own_bytes"] and not it["lost"]:
                segments.append(
                    segment(
                        "version",
                        it["own_bytes"],
                        f"{it['model']}@{it['version']}",
                        id=it["id"],
                        user=it["user"],
                        owner=USERS.get(str(it["user"])),
                        readers=it["readers"],
                        state="current" if it["current"] else it["state"],
                        survives="everything",
                        count=it["slab_count"],
                    )
                )
    for label, size in shared or []:
        segments.append(segment("shared_slabs", size, label, count=2, user=1000, owner="ada", survives="everything"))
    for it in tensors:
        segments.append(
            segment(
                "ipc" if it["transport"] == "ipc" else "tensor",
                it["bytes"],
                it["name"] or f"tensor {it['id']}",
                id=it["id"],
                user=it["user"],
                owner=USERS.get(str(it["user"])),
                readers=it["lease_count"],
                state=it["state"],
                survives=it["survives"],
            )
        )
    for it in tensor_groups:
        segments.append(
            segment(
                "tensors",
                it["bytes"],
                f"{it['count']:,} tensors in {it['prefix']}",
                count=it["count"],
                user=it["user"],
                readers=it["lease_count"],
            )
        )
    slabs = sum(it["bytes"] for it in segments)
    room, recycled = total // 300, total // 200
    if slabs:
        segments += [
            segment("slab_room", room, "room beside tensors in slabs"),
            segment("recycled", recycled, "empty slabs, kept for their owners"),
        ]
        slabs += room + recycled
    for it in groups:
        device = it["devices"][0]
        children = []
        for inside in caches:
            if inside["group"] == it["name"]:
                label = f"{inside['name']} in {inside['program']}, pid {inside['pid']}"
                children += [
                    segment("cache", inside["committed_bytes"], label, id=inside["cache"], user=1000),
                    segment("cache_idle", inside["idle_bytes"], label, id=inside["cache"], user=1000),
                ]
        children.append(segment("contexts", device["context_bytes"], "contexts", count=device["process_count"]))
        if device["process_bytes"]:
            segments.append(
                segment(
                    "group",
                    device["process_bytes"],
                    it["name"],
                    count=device["process_count"],
                    state="ok",
                    limit_bytes=device["effective_bytes"],
                    children=children,
                )
            )
    if other:
        segments.append(segment("other", other, "other programs and the driver"))
    used = sum(it["bytes"] for it in segments)
    segments.append(segment("free", total - used, "free"))
    card = {
        "device": GPU,
        "index": 0,
        "name": "NVIDIA H200",
        "total_bytes": total,
        "used_bytes": used,
        "capacity_bytes": total * 95 // 100,
        "slab_bytes": slabs,
        "other_bytes": other,
        "free_bytes": total - used,
        "excess_bytes": 0,
        "drift_bytes": 0,
        "segments": segments,
        "readings": readings,
    }
    counters = {"swaps": 3, "rollbacks": 1, **status.pop("counters", {})}
    return {
        "at_unix_ms": int(time.time() * 1000),
        "sees": "everything",
        "status": {
            "pond": identity("pond"),
            "epoch": 1,
            "version": "0.1.0",
            "daemon_pid": 812,
            "keeper_pid": 811,
            "driver": "CUDA 13.0, driver 580.95",
            "software": False,
            "driver_ready": True,
            "started_unix_ms": BEGIN_MS - 86_400_000,
            "runtime_dir": "/run/millpond",
            "clients": len(processes),
            "silent_clients": 0,
            "leases": 12,
            "lost_tensors": 0,
            "devices": [],
            "counters": counters,
            **status,
        },
        "cards": [card],
        "models": models,
        "groups": groups,
        "members": [],
        "caches": caches,
        "processes": processes,
        "users": [],
        "tensors": tensors,
        "tensors_total": len(tensors) + sum(it["count"] for it in tensor_groups),
        "tensors_shown": len(tensors),
        "tensor_groups": tensor_groups,
        "user_names": USERS,
    }


def model(name: str, *versions: dict) -> dict:
    current = next((it["version"] for it in versions if it["current"]), None)
    return {"name": name, "user": versions[0]["user"], "current": current, "versions": list(versions)}


def demo() -> dict:
    llama = model(
        "llama-70b",
        version("llama-70b", "v3", 38 * GIB, 10 * GIB, 4, current=True),
        version("llama-70b", "v2", 38 * GIB, 10 * GIB, 1, previous=True, age_s=90_000),
    )
    embed = model("embedder", version("embedder", "2026-11", 3 * GIB, 3 * GIB, 2, current=True, user=1001))
    tensors = [
        tensor("acts/layer12", 3 * GIB, 2),
        tensor("acts/layer24", 3 * GIB, 2),
        tensor("prompts/batch", 1536 * MIB, 1),
        tensor("rl/rollout-a", 2 * GIB, 1, state="writing", age_s=12),
        tensor("rl/rollout-b", 2 * GIB, 3),
        tensor("vectors/wiki", 6 * GIB, 2, user=1001),
        tensor("public/tokenizer", 256 * MIB, 6),
        tensor(None, 512 * MIB, 0),
        tensor("ipc/frames", 768 * MIB, 1, transport="ipc"),
    ]
    caches = [
        cache("llama/kv", "serving", 14 * GIB, 2 * GIB, 5121, "engine"),
        cache("embedder/kv", "serving", 2 * GIB, 1 * GIB, 5130, "engine"),
    ]
    groups = [
        group("serving", 32 * GIB, 21 * GIB),
        group("training", 24 * GIB, 9 * GIB, 4 * GIB, 1),
        group("notebooks", None, 0, 0, 0),
    ]
    processes = [
        process(5121, "engine-0", 41 * GIB, ["llama-70b@v3", "acts/layer12", "acts/layer24"]),
        process(5122, "engine-1", 38 * GIB, ["llama-70b@v3"]),
        process(5123, "engine-2", 38 * GIB, ["llama-70b@v3"]),
        process(5124, "engine-3", 38 * GIB, ["llama-70b@v3"], age_s=30),
        process(4870, "canary", 38 * GIB, ["llama-70b@v2"], age_s=9000),
        process(5140, "search", 9 * GIB, ["embedder@2026-11", "vectors/wiki"], user=1001),
        process(813, "mover", 0, [], user=0, mover=True),
    ]
    return assemble(
        141 * GIB,
        [llama, embed],
        tensors,
        groups,
        caches,
        processes,
        other=1 * GIB,
        shared=[("llama-70b: v2, v3", 28 * GIB)],
        readings={
            "utilisation_ratio": 0.83,
            "temperature_celsius": 61,
            "power_watts": 512,
            "power_limit_watts": 700,
            "fan_ratio": None,
        },
    )


def many(shown: int, total: int) -> dict:
    # One of them is always another one, so that every reading moves the whole map.
    second = int(time.time())
    tensors = [
        tensor(f"acts/{i % 7}/layer{i:05}", (8 + (i * i + (second if i == 0 else 0)) % 97) * MIB, i % 3, number=i)
        for i in range(shown)
    ]
    left = total - shown
    rest = (
        [
            {
                "device": GPU,
                "user": 1000,
                "prefix": f"job{i}",
                "count": left // 8,
                "bytes": left // 8 * 300_000,
                "lease_count": i,
                "ipc_bytes": 0,
            }
            for i in range(8)
        ]
        if left
        else []
    )
    return assemble(141 * GIB, [], tensors, [], [], [], tensor_groups=rest)


def eight() -> dict:
    """A machine with eight GPUs."""
    told = demo()
    first = told["cards"][0]
    for index in range(1, 8):
        card = json.loads(json.dumps(first)) | {"index": index, "device": f"GPU-{index}" + GPU[5:]}
        card["segments"] = card["segments"][index:]
        card["segments"][-1]["bytes"] = card["free_bytes"] = card["total_bytes"] - sum(
            it["bytes"] for it in card["segments"][:-1]
        )
        card["used_bytes"] = card["total_bytes"] - card["free_bytes"]
        told["cards"].append(card)
    return told


def hostile() -> dict:
    tensors = [tensor(name, (i + 1) * 300 * MIB, 1) for i, name in enumerate(HOSTILE)]
    models = [model(HOSTILE[i], version(HOSTILE[i], "<b>v1</b>", 2 * GIB, 2 * GIB, 1, current=True)) for i in (0, 3, 6)]
    processes = [process(100 + i, name, GIB, HOSTILE[:4]) for i, name in enumerate(HOSTILE)]
    groups = [group("g" * 64, 8 * GIB, 2 * GIB)]
    caches = [cache(HOSTILE[0], "g" * 64, GIB, 0, 7, HOSTILE[1])]
    return assemble(
        141 * GIB,
        models,
        tensors,
        groups,
        caches,
        processes,
        driver="<i>driver</i>",
        runtime_dir="/run/\u202e" + "d" * 300,
    )


def wrong() -> dict:
    told = demo()
    told["groups"][1]["devices"][0].update(effective_bytes=8 * GIB)
    told["groups"][0].update(lying=True)
    told["tensors"][-1].update(state="orphan")
    told["processes"][4].update(silent=True)
    told["models"].append(model("old", version("old", "v1", GIB, GIB, 0, lost=True, current=True)))
    told["status"].update(lost_tensors=2)
    card = told["cards"][0]
    free = card["segments"][-1]
    card["segments"][-2]["bytes"] += free["bytes"] - 2 * GIB
    free["bytes"] = card["free_bytes"] = 2 * GIB
    card["used_bytes"] = card["total_bytes"] - 2 * GIB
    return told


def overview(name: str) -> dict:
    if name == "empty":
        return assemble(141 * GIB, [], [], [], [], [])
    if name == "thousand":
        return many(1000, 1000)
    if name == "hundred_thousand":
        return many(1000, 100_000)
    if name == "hostile":
        return hostile()
    if name == "eight":
        return eight()
    return wrong() if name == "wrong" else demo()


def events(name: str) -> list[dict]:
    if name == "empty":
        return []
    told = [
        ("model_swapped", "llama-70b", "v2 to v3"),
        ("client_connected", None, "engine-3 (pid 5124)"),
        ("tensor_created", "rl/rollout-a", "2 GiB"),
        ("mover_stopped", None, "nothing to move for a minute"),
        ("cache_pressed", "llama/kv", "512 MiB for embedder/kv, which waits"),
        ("cache_gave", "llama/kv", "512 MiB"),
        ("cache_got", "embedder/kv", "512 MiB"),
        ("limit_reached", "training", "it asked for 4 GiB and may have 24 GiB"),
        ("group_set", "training", "limit 24 GiB"),
        ("version_ready", "llama-70b", "v3, 38 GiB in 291 tensors"),
        ("tensor_freed", "acts/layer06", "3 GiB"),
        ("client_gone", None, "engine-3 (pid 5101) was killed"),
    ]
    if name == "wrong":
        told += [
            ("host_lost", None, "pid 4242 was killed by signal 9"),
            ("tensor_orphaned", "ipc/frames", "its host is gone; 1 reader still maps it"),
            ("group_lying", "serving", "it holds 3 GiB more than it says"),
        ]
    if name == "hostile":
        told += [("tensor_created", it, f"made by {it}") for it in HOSTILE]
    return [
        {
            "sequence": i + 1,
            "unix_ms": BEGIN_MS - (len(told) - i) * 47_000,
            "kind": kind,
            "tensor": None,
            "name": of,
            "user": 1000,
            "text": text,
        }
        for i, (kind, of, text) in enumerate(told)
    ]


def history(name: str) -> dict:
    told = overview(name)
    card = told["cards"][0]
    holders = [
        {"kind": it["kind"], "label": it["label"], "limit_bytes": it["limit_bytes"]}
        for it in card["segments"]
        if it["kind"] != "free"
    ][:32]
    sizes = [it["bytes"] for it in card["segments"] if it["kind"] != "free"][:32]
    now, points = int(time.time() * 1000), []
    for i in range(180):
        part = [
            size if (i * 7 + j * 31) % 180 > 10 * j or i > 150 else size * (i % 23 + 60) // 90
            for j, size in enumerate(sizes)
        ]
        points.append(
            {"monotonic_ms": i * 20_000, "at_unix_ms": now - (179 - i) * 20_000, "used_bytes": sum(part), "bytes": part}
        )
    return {
        "device": GPU,
        "index": 0,
        "name": card["name"],
        "total_bytes": card["total_bytes"],
        "capacity_bytes": card["capacity_bytes"],
        "holders": holders,
        "points": points,
    }
