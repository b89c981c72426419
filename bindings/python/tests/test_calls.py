"""Events, clients, groups, copies, zeroes and what nobody uses: as on the command line."""

import json
import math
import os
import pickle
import subprocess
import threading
import time

import pytest

import millpond
from conftest import DEADLINE, program

numpy = pytest.importorskip("numpy")


def command(*arguments):
    """What the program prints as JSON."""
    done = subprocess.run([program(), *arguments, "--json"], capture_output=True, text=True, timeout=DEADLINE)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def fields(thing):
    return {one for one in dir(thing) if not one.startswith("_") and not callable(getattr(thing, one))}


def test_what_the_pond_says_has_the_fields_that_the_command_prints(name, model):
    held = millpond.create(name, 4, "uint8")
    told = command("status")
    assert set(told) <= fields(millpond.status())
    assert set(told["devices"][0]) <= fields(millpond.status().devices[0])
    millpond.upload(name, b"abcd")
    assert set(command("status")["movers"][0]) <= fields(millpond.status().movers[0])
    told = command("ps")["clients"]
    own = next(one for one in millpond.clients() if one.pid == os.getpid() and one.leases)
    assert set(told[0]) <= fields(own)
    lease = next(one for one in own.leases if one.name == name)
    assert (lease.tensor, lease.mode, lease.bytes, lease.pid) == (held.id, "rw", 4, os.getpid())
    assert own.held_bytes >= 4 and not own.silent and not own.mover
    leases = [lease for one in told for lease in one["leases"]]
    assert set(leases[0]) <= fields(lease)
    made = millpond.set_group("py-fields", 1 << 30, weight=7)
    told = next(one for one in command("group", "ls")["groups"] if one["name"] == "py-fields")
    assert set(told) <= fields(made.group) and set(told["devices"][0]) <= fields(made.group.devices[0])
    millpond.remove_group("py-fields")
    told = next(one for one in command("tensor", "ls")["tensors"] if one["name"] == name)
    assert set(told) <= fields(millpond.info(name)) and set(told["life"]) <= fields(millpond.info(name).life)
    told = next(one for one in command("models")["models"] if one["name"] == model)
    assert set(told) <= fields(millpond.inspect(model))
    assert set(told["versions"][0]) <= fields(millpond.inspect(model).versions[0])
    assert set(command("gc", "--dry-run")) <= fields(millpond.gc(dry_run=True))
    happened = subprocess.run([program(), "events", "--json"], capture_output=True, text=True)
    event = next(iter(millpond.events(follow=False)))
    assert set(json.loads(happened.stdout.splitlines()[0])) <= fields(event)
    millpond.delete(held)
    held.close()


def test_groups_are_set_listed_and_removed():
    made = millpond.set_group("py-group", "25%", weight=3)
    first = made.group.devices[0]
    total = millpond.status().devices[0].total_bytes
    assert first.limit_bytes == total // 4 and first.weight == 3 and made.processes == []
    for text in ("1G", "1GiB", "1 gb", "1024M", str(1 << 30)):
        assert millpond.set_group("py-group", text).group.devices[0].limit_bytes == 1 << 30
    # What is not named stays.
    changed = millpond.set_group("py-group", math.inf).group.devices[0]
    assert changed.limit_bytes is None and changed.weight == 3
    assert "py-group" in [one.name for one in millpond.groups()]
    assert millpond.group("py-group").group.name == "py-group"
    millpond.remove_group("py-group")
    with pytest.raises(millpond.NotFound):
        millpond.group("py-group")
    with pytest.raises(millpond.NotFound) as caught:
        millpond.set_group("py-group", 1 << 30, create=False)
    assert caught.value.hint == "create=True makes it"
    for bad in ("ten", "101%", -1, 0.5, "a%", "10X"):
        with pytest.raises(millpond.Invalid, match="is no limit"):
            millpond.set_group("py-group", bad)
    with pytest.raises(millpond.Invalid):
        millpond.set_group("no spaces", 1 << 30)


def test_caches_are_listed_by_group():
    millpond.set_group("py-caches", 1 << 30)
    assert millpond.caches() == millpond.caches("py-caches") == millpond.caches(group="py-caches") == []
    assert command("elastic", "ls", "--group", "py-caches") == {"caches": []}
    millpond.remove_group("py-caches")
    with pytest.raises(millpond.NotFound, match="py-caches"):
        millpond.caches("py-caches")
    with pytest.raises(millpond.Invalid):
        millpond.caches("no spaces")


def test_copies_and_zeroes(name):
    source = millpond.put(name, numpy.arange(6, dtype="int16").reshape(2, 3))
    seen = []
    copied = millpond.copy(name, name + "/copy", progress=lambda done, total: seen.append((done, total)))
    assert (copied.name, copied.dtype, copied.shape, copied.state) == (name + "/copy", "int16", (2, 3), "ready")
    assert seen[-1] == (12, 12) and copied.id != source.id
    with pytest.raises(millpond.Exists) as caught:
        millpond.copy(source, name + "/copy")
    assert "replace=True" in caught.value.hint and "--" not in caught.value.hint
    assert millpond.copy(source, name + "/copy", replace=True).id != copied.id
    zeroed = millpond.zero(name + "/copy")
    assert zeroed.generation > copied.generation - 1
    assert millpond.download(name + "/copy") == bytes(12)
    assert millpond.download(name) != bytes(12)
    for one in (name, name + "/copy"):
        millpond.delete(one)


def test_what_nobody_uses_is_given_back(name):
    millpond.put(name, b"abcd")
    would = millpond.gc(0, dry_run=True)
    assert name in [one.name for one in would.tensors] and would.dry_run and would.tensor_bytes >= 4
    assert "Collected(" in repr(would)
    assert millpond.info(name).state == "ready"
    # What is used stays, and so does what was used a moment ago.
    with millpond.get(name):
        assert name not in [one.name for one in millpond.gc(0, dry_run=True).tensors]
    assert name not in [one.name for one in millpond.gc(3600, dry_run=True).tensors]
    millpond.delete(name)
    assert millpond.gc().slabs >= 0


def test_a_delete_of_what_is_used_is_refused_and_names_the_process(name):
    millpond.put(name, b"abcd")
    with millpond.get(name):
        with pytest.raises(millpond.InUse) as refused:
            millpond.delete(name, unused=True)
        (holder,) = refused.value.holders
        assert (holder.pid, holder.user, holder.bytes) == (os.getpid(), os.getuid(), 4)
        assert f"pid={os.getpid()}" in repr(holder)
        assert pickle.loads(pickle.dumps(holder)).pid == holder.pid
        assert millpond.info(name).state == "ready"
    # What was let go of is given back first.
    millpond.delete(name, unused=True)
    with pytest.raises(millpond.NotFound):
        millpond.info(name)


def test_events_are_followed_and_filtered(name):
    with millpond.events(prefix=name) as events, millpond.events(kind="tensor_deleted") as deleted:
        millpond.put(name, b"abcd")
        other = millpond.put(name + "/other", b"abcd")
        millpond.delete(name)
        kinds = {}
        while True:
            event = events.next(timeout=DEADLINE)
            assert event.name.startswith(name), event
            kinds.setdefault(event.name, []).append(event.kind)
            if event.kind == "tensor_deleted":
                break
        assert "tensor_published" in kinds[name] and "tensor_published" in kinds[name + "/other"]
        found = next(one for one in deleted if one.name == name)
        assert found.kind == "tensor_deleted" and found.sequence > 0 and found.user == os.getuid()
    millpond.delete(other)
    # What the pond has kept, without waiting for more.
    kept = [one.kind for one in millpond.events(prefix=name, follow=False)]
    assert kept.count("tensor_deleted") == 2
    later = millpond.events(found.sequence + 1, kind=["tensor_deleted", "tensor_freed"], prefix=name, follow=False)
    assert found.sequence not in [one.sequence for one in later]
    assert later.next() is None
    with pytest.raises(millpond.Invalid, match="no kind of event 'tensor_made'") as caught:
        millpond.events(kind="tensor_made")
    import typing

    assert caught.value.hint == "kinds: " + ", ".join(typing.get_args(millpond.EventKind))


def test_events_of_a_model(model):
    with millpond.events(model=model) as events:
        millpond.swap(model, "v2")
        event = events.next(timeout=DEADLINE)
        assert (event.kind, event.name) == ("model_swapped", model)


def test_a_thread_that_waits_for_an_event_ends_with_its_close():
    events = millpond.events(kind="group_gone")
    ended = []
    thread = threading.Thread(target=lambda: ended.append(list(events)))
    thread.start()
    time.sleep(0.1)
    assert "open" in repr(events)
    events.close()
    thread.join(DEADLINE)
    assert ended == [[]] and "closed" in repr(events)
    with pytest.raises(millpond.ClosedError):
        events.next()
