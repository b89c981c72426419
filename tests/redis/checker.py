"""Compares what Redis shows, what the pond has in its catalog, and what the driver has, when everything is at rest.

Every difference is a line. `look` takes the three views, `differences` compares them and touches nothing, so that it can be
tested with views that are wrong; `agree` waits until there is none.
"""

import base64
import json

import redis

from harness import PATIENCE, lives
import harness

FIELDS = {"name", "dtype", "shape", "device", "bytes", "ipc_handle", "owner_pid", "refcount", "ctime", "mtime",
          "node", "gpu_uuid", "transport", "epoch", "state", "survives", "id", "offset"}
HANDLE_BYTES = 64
TAKEN = ("cmd", "nodes")
TAKEN_PREFIXES = ("reply:", "index:", "node:", "heartbeat:")
# Each handle is a command of its own; of many tensors some are looked at.
MOST_HANDLES = 12


def is_shown(name):
    """Whether a tensor of this name has a hash."""
    return bool(name) and "{" not in name and "}" not in name and name not in TAKEN and not name.startswith(TAKEN_PREFIXES)


def look_at_redis(connection, prefix=""):
    """Everything under the prefix."""
    view = {"hashes": {}, "indexes": {}, "nodes": set(), "node_hashes": {}, "heartbeats": {}, "lists": {}, "replies": {}, "done": {}, "odd": []}
    begin, braces = f"{prefix}tensor:", f"{{{prefix}tensor:cmd}}:"
    for key in set(connection.scan_iter(count=1000)):
        try:
            if key.startswith(f"{braces}done:"):
                view["done"][key] = connection.pttl(key)
            elif key.startswith(braces) or key == f"{begin}cmd":
                view["lists"][key] = connection.lrange(key, 0, -1)
            elif not key.startswith(begin):
                continue
            elif key == f"{begin}nodes":
                view["nodes"] = connection.smembers(key)
            elif (rest := key.removeprefix(begin)).startswith("index:"):
                view["indexes"][rest.removeprefix("index:")] = connection.smembers(key)
            elif rest.startswith("node:"):
                view["node_hashes"][rest.removeprefix("node:")] = connection.hgetall(key)
            elif rest.startswith("heartbeat:"):
                view["heartbeats"][rest.removeprefix("heartbeat:")] = connection.pttl(key)
            elif rest.startswith("reply:"):
                view["replies"][key] = connection.pttl(key)
            else:
                view["hashes"][rest] = connection.hgetall(key)
        except redis.ResponseError as error:
            view["odd"].append(f"key '{key}': {error}")
    return view


def look_at_pond(pond, handles=True):
    """The catalog, the daemon's books, the driver's own number, and the processes that there are."""
    status, tensors = pond.status(), pond.tensors()
    shared = [each for each in tensors if each.get("holds") and each["state"] == "ready"] if handles else []
    return {"status": status, "tensors": tensors, "unused_bytes": pond.unused_bytes,
            "handles": {each["name"]: base64.b64encode(pond.handle(each["name"])).decode() for each in shared[:MOST_HANDLES]},
            "living": {host["pid"] for host in status["hosts"] if lives(host["pid"])}}


def expected_hash(tensor, node, status):
    """What the hash of a tensor must say, apart from its handle and the time it was written."""
    device = {gpu["device"]: gpu["index"] for gpu in status["devices"]}
    return {"name": tensor["name"], "dtype": tensor["dtype"].lower(), "shape": json.dumps(tensor["shape"], separators=(",", ":")),
            "device": str(device.get(tensor["device"])), "bytes": str(tensor["bytes"]), "owner_pid": str(tensor["home_pid"] or 0),
            "refcount": str(tensor["holds"] or 0), "ctime": str(tensor["created_unix_ms"]), "node": node, "gpu_uuid": tensor["device"],
            "transport": tensor["transport"], "epoch": str(status["epoch"]), "state": tensor["state"], "survives": tensor["survives"],
            "id": tensor["id"]}


def shown_tensors(view):
    """The tensors that have a hash, by name: of several with one name the one that can be got, or else the newest."""
    found = {}
    order = lambda each: (each["state"] not in ("deleted", "orphan"), each["created_unix_ms"])
    for tensor in sorted(view["tensors"], key=order):
        over = tensor["state"] == "deleted" and not tensor["holds"]
        if is_shown(tensor["name"]) and not over:
            found[tensor["name"]] = tensor
    return found


def compare_hashes(redis_view, node, view):
    wrong, tensors = [], shown_tensors(view)
    for name, tensor in tensors.items():
        found = redis_view["hashes"].get(name)
        if found is None:
            wrong.append(f"tensor '{name}' of node '{node}' has no hash")
            continue
        expected = expected_hash(tensor, node, view["status"])
        wrong += [f"hash of '{name}': {field} is {found.get(field)!r}, the pond says {value!r}" for field, value in expected.items()
                  if found.get(field) != value]
        if set(found) != FIELDS:
            wrong.append(f"hash of '{name}': its fields differ: {sorted(set(found) ^ FIELDS)}")
        handle = found.get("ipc_handle", "")
        opens = bool(tensor["holds"]) and tensor["state"] == "ready"
        if not opens and handle:
            wrong.append(f"hash of '{name}': it has a handle, and {tensor['transport']} tensor is {tensor['state']} with {tensor['holds']} holds")
        if opens and len(base64.b64decode(handle)) != HANDLE_BYTES:
            wrong.append(f"hash of '{name}': its handle has {len(base64.b64decode(handle))} bytes")
        if name in view["handles"] and handle != view["handles"][name]:
            wrong.append(f"hash of '{name}': its handle is not the pond's")
    index = redis_view["indexes"].get(node, set())
    wrong += [f"index of node '{node}': '{name}' is missing" for name in sorted(set(tensors) - index)]
    wrong += [f"index of node '{node}': '{name}' is not in the pond" for name in sorted(index - set(tensors))]
    return wrong


def compare_node(redis_view, node, view):
    wrong, status = [], view["status"]
    if node not in redis_view["nodes"]:
        wrong.append(f"node '{node}' is not registered")
    if not redis_view["heartbeats"].get(node, 0) > 0:
        wrong.append(f"node '{node}' has no heartbeat that expires")
    found = redis_view["node_hashes"].get(node, {})
    for field, value in {"node": node, "epoch": str(status["epoch"]), "pond": status["pond"]}.items():
        if found.get(field) != value:
            wrong.append(f"hash of node '{node}': {field} is {found.get(field)!r}, the pond says {value!r}")
    gpus = [(gpu["index"], gpu["uuid"], gpu["name"], gpu["total_bytes"]) for gpu in json.loads(found.get("gpus") or "[]")]
    expected = [(gpu["index"], gpu["device"], gpu["name"], gpu["total_bytes"]) for gpu in status["devices"]]
    if gpus != expected:
        wrong.append(f"hash of node '{node}': its GPUs are {gpus}, the pond says {expected}")
    return wrong


def compare_driver(node, view):
    """The catalog with the driver: nothing is kept that nobody has, and nothing is shown that is not there."""
    wrong, status = [], view["status"]
    if status["leases"]:
        wrong.append(f"pond of '{node}': {status['leases']} leases, and nobody is connected")
    for gpu, unused in zip(status["devices"], view["unused_bytes"]):
        here = [tensor for tensor in view["tensors"] if tensor["device"] == gpu["device"]]
        where = f"GPU {gpu['index']} of '{node}'"
        bytes_ = sum(tensor["bytes"] for tensor in here)
        slabs = sum({tensor["slab"]: tensor["slab_bytes"] for tensor in here}.values())
        # The memory of an orphan is there for as long as somebody has it mapped, which the pond cannot know.
        orphans = sum({tensor["slab"]: tensor["slab_bytes"] for tensor in here if tensor["state"] == "orphan"}.values())
        if (gpu["tensors"], gpu["tensor_bytes"]) != (len(here), bytes_):
            wrong.append(f"{where}: {gpu['tensors']} tensors with {gpu['tensor_bytes']} bytes, the catalog has {len(here)} with {bytes_}")
        if gpu["slab_bytes"] != slabs:
            wrong.append(f"{where}: slabs of {gpu['slab_bytes']} bytes, those of the catalog have {slabs}")
        if not 0 <= gpu["slab_bytes"] - (gpu["physical_used_bytes"] - unused) <= orphans:
            wrong.append(f"{where}: the driver has {gpu['physical_used_bytes'] - unused} bytes in use, the pond {gpu['slab_bytes']}")
    homes = {}
    for tensor in view["tensors"]:
        if tensor["transport"] == "ipc" and not tensor["adopted"] and tensor["state"] != "orphan":
            homes[tensor["home_pid"]] = homes.get(tensor["home_pid"], 0) + 1
    hosts = {host["pid"]: host["tensors"] for host in status["hosts"]}
    wrong += [f"host {pid} of '{node}' has {hosts.get(pid, 0)} tensors, the catalog {homes.get(pid, 0)}"
              for pid in sorted(set(hosts) | set(homes)) if hosts.get(pid, 0) != homes.get(pid, 0)]
    wrong += [f"host {pid} of '{node}' has nothing and lives" for pid in sorted(hosts) if not hosts[pid]]
    wrong += [f"host {pid} of '{node}' does not live" for pid in sorted(set(hosts) - view["living"])]
    return wrong


def differences(redis_view, pond_views):
    """Every difference between Redis and the ponds of all nodes, by name of node."""
    wrong = list(redis_view["odd"])
    for key, waiting in redis_view["lists"].items():
        wrong += [f"list '{key}' has {command[:200]}" for command in waiting]
    wrong += [f"'{key}' never expires" for kind in ("replies", "done") for key, left in redis_view[kind].items() if left == -1]
    known = {}
    for node, view in pond_views.items():
        wrong += compare_hashes(redis_view, node, view) + compare_node(redis_view, node, view) + compare_driver(node, view)
        known |= dict.fromkeys(shown_tensors(view), node)
    wrong += [f"hash of '{name}' (node {fields.get('node')!r}): no pond has it" for name, fields in redis_view["hashes"].items() if name not in known]
    for kind, nodes in (("nodes", redis_view["nodes"]), ("indexes", redis_view["indexes"]), ("node hashes", redis_view["node_hashes"]),
                        ("heartbeats", redis_view["heartbeats"])):
        wrong += [f"{kind}: '{node}' is no node" for node in sorted(set(nodes) - set(pond_views))]
    return wrong


def look(connection, ponds, prefix=""):
    """What differs now. `ponds` by name of node."""
    return differences(look_at_redis(connection, prefix), {node: look_at_pond(pond) for node, pond in ponds.items()})


def agree(connect, ponds, prefix="", seconds=PATIENCE, tell=lambda: ""):
    """Waits until Redis, catalogs and drivers say the same; otherwise names every difference. `tell` adds what may explain it."""
    last = []

    def same():
        last[:] = look(connect(), ponds, prefix)
        return not last

    try:
        harness.eventually("Redis, catalog and driver agree", same, seconds)
    except harness.Late as late:
        raise AssertionError("\n".join(["Redis, catalog and driver differ:", *last, str(late), tell()])) from late
