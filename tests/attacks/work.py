"""What A does all day: create, put, get, inspect, list, look a version up. And the operator's looks."""

import os
import pathlib
import time
import uuid

import client
import manifests
import waiters
from harness import MIB

BYTES = MIB
# What the driver's thread, a mover or turns have to do with: the main thread works for others meanwhile.
THROUGH_OTHERS = ("create", "put", "list")
PATIENCE = 5  # Of A and of the operator, for one answer.


def prepare():
    """A model of A's own."""
    connection = client.Connection()
    version = uuid.uuid4()
    parts = [client.table("PartSpec", bytes=2 * MIB) for _ in range(4)]
    connection.ask("VersionStage", version=version, model="served", audience=client.USER, parts=parts, lease=1).close()
    manifests.commit(connection, version, [2 * MIB] * 4, activate=True).close()
    connection.ask("Goodbye")
    connection.close()


def one_round(timed):
    """Everything once, on a new connection."""
    name, token = f"work/{uuid.uuid4()}", uuid.uuid4()
    connection = timed("hello", client.Connection, timeout=PATIENCE)
    file = os.memfd_create("bytes")
    try:
        os.pwrite(file, name.encode(), 0)
        os.truncate(file, BYTES)
        tensor = client.identity(timed("create", connection.create, name, size=BYTES, zero=False).body.info.tensor)
        timed("put", connection.move, client.PUT, tensor, BYTES, file)
        timed("publish", connection.ask, "TensorPublish", tensor=tensor, token=token)
        answer = timed("get", connection.get, name, lease=1)
        assert bytes(client.mapped(answer)[:len(name)]) == name.encode(), "other bytes than were put"
        answer.close()
        timed("inspect", connection.ask, "TensorInspect", name=name)
        timed("list", connection.ask, "TensorList", prefix="work/")
        timed("version", connection.ask, "VersionGet", model="served", lease=2, mode=client.RO).close()
        timed("models", connection.ask, "ModelList", prefix="")
        timed("release", connection.ask, "LeaseRelease", leases=[1, 2])
        timed("delete", connection.ask, "TensorDelete", tensor=tensor)
        timed("goodbye", connection.ask, "Goodbye")
    finally:
        os.close(file)
        connection.close()


def tidy():
    """A round that broke off has left its tensor."""
    connection = client.Connection(timeout=PATIENCE)
    for each in connection.ask("TensorList", prefix="work/").body.tensors or []:
        connection.ask("TensorDelete", tensor=client.identity(each.tensor))
    connection.ask("Goodbye")
    connection.close()


def main_thread(process):
    """How long the main thread of a process has been on a processor, and how long it has waited for one, in seconds."""
    worked, waited = pathlib.Path(f"/proc/{process}/task/{process}/schedstat").read_text().split()[:2]
    return int(worked) / 1e9, int(waited) / 1e9


def rounds(seconds, daemon):
    """Rounds for so long: how many requests were answered, which were not, how long they took, and what the daemon's main
    thread did meanwhile, in milliseconds. That is what A waits for; what else takes time is the machine's to give."""
    trips, failures, end = [], {}, time.monotonic() + seconds

    def timed(what, call, *args, **named):
        worked, waited = main_thread(daemon)
        begun = time.monotonic()
        try:
            return call(*args, **named)
        except (client.Failure, client.Closed, OSError) as error:
            reason = f"{what}: {getattr(error, 'kind', type(error).__name__)}"
            failures[reason] = failures.get(reason, 0) + 1
            raise
        finally:
            took = time.monotonic() - begun
            now_worked, now_waited = main_thread(daemon)
            trips.append({"kind": what, "took": took, "worked": now_worked - worked, "waited": now_waited - waited})
    while time.monotonic() < end:
        try:
            one_round(timed)
        except (client.Failure, client.Closed, OSError):
            time.sleep(0.05)
    trips.sort(key=lambda trip: trip["took"])
    late = trips[-(1 + len(trips) // 100):]
    kinds = {trip["kind"]: None for trip in trips}
    return {"answered": len(trips) - sum(failures.values()), "failures": failures, "took": spread(trips, "took"),
            "work": spread([trip for trip in trips if trip["kind"] not in THROUGH_OTHERS], "worked"),
            "late": {part: sum(trip[part] for trip in late) * 1000 / len(late) for part in ("took", "worked", "waited")},
            "kinds": {kind: spread([trip for trip in trips if trip["kind"] == kind], "took") for kind in kinds}}


def spread(trips, part):
    """Median, 99th of a hundred, and most."""
    values = sorted(trip[part] for trip in trips)
    return [values[min(int(len(values) * share), len(values) - 1)] * 1000 for share in (0.5, 0.99, 1)]


def looks(seconds):
    """The operator looks, on `admin.sock` and on `sock`."""
    failures, answered, end = {}, 0, time.monotonic() + seconds
    while time.monotonic() < end:
        for path in (client.ADMIN, client.SOCK):
            def look():
                connection = client.Connection(path, timeout=PATIENCE)
                connection.status()
                connection.close()
            refusal = client.refused(look)
            answered += refusal is None
            if refusal:
                reason = f"{path.rsplit('/', 1)[1]}: {refusal}"
                failures[reason] = failures.get(reason, 0) + 1
        time.sleep(0.2)
    return {"answered": answered, "failures": failures}


def cost(daemon):
    """The daemon's work for a create, in microseconds."""
    return waiters.own_work(daemon, "create")[0]
