"""H4: A means its own `x`, which is not there yet; B puts something at `public/x`."""

import time
import uuid

import client
import manifests
from actor import kept
from harness import A, B, MIB

WAIT_MS = 2000


def wait(name, mode, model):
    """Waits for the caller's own: the owner of what came, or the kind of the failure."""
    connection = client.Connection()
    try:
        if model:
            answer = connection.ask("VersionGet", model=name, lease=1, mode=mode, wait_ms=WAIT_MS)
        else:
            answer = connection.get(name, lease=1, mode=mode, wait_ms=WAIT_MS)
    except client.Failure as failure:
        return failure.kind
    answer.close()
    return answer.body.info.user


def ask(name, mode, model):
    connection = client.Connection()
    try:
        answer = connection.ask("VersionGet", model=name, lease=1, mode=mode) if model else connection.get(name, mode=mode)
    except client.Failure as failure:
        return failure.kind
    answer.close()
    return answer.body.info.user


def offer(names, model):
    connection = client.Connection()
    kept.append(connection)
    for name in names:
        connection.create("public/" + name, audience=client.EVERYBODY)
    version = uuid.uuid4()
    parts = [client.table("PartSpec", bytes=2 * MIB)]
    connection.ask("VersionStage", version=version, model="public/" + model, audience=client.EVERYBODY, parts=parts, lease=1).close()
    manifests.commit(connection, version, [2 * MIB], activate=True).close()


def a_bare_name_is_the_callers_own(pond, report):
    pond = pond()
    wishes = [("acts/x", client.RO, False), ("rw/x", client.RW, False), ("llama", client.RO, True)]
    waiting = [pond.actor(A) for _ in wishes]
    for actor, wish in zip(waiting, wishes):
        actor.start(wait, *wish)
    time.sleep(0.5)
    pond.actor(B).call(offer, ["acts/x", "rw/x"], "llama")
    for actor, wish in zip(waiting, wishes):
        came = actor.result()
        report.check(came == "timeout", f"a wait for '{wish[0]}' ({('', 'ro', 'rw')[wish[1]]}) is not answered with what B made",
                     owner(came))
    a = pond.actor(A)
    for wish in wishes:
        came = a.call(ask, *wish)
        report.check(came == "not_found", f"'{wish[0]}' without a wait is not B's", owner(came))
    for name, mode, model in wishes[::2]:
        came = a.call(ask, "public/" + name, mode, model)
        report.check(came == B, f"'public/{name}', written out, is found", owner(came))


def owner(came):
    return came if isinstance(came, str) else f"answered with what user {came} made"
