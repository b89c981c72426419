"""What attackers do at the same time, each up to a time on the clock that all processes share; for
the siege."""

import itertools
import os
import random
import socket
import time
import uuid

import client
import descriptors_in_flight
import unread_replies
from actor import kept
from harness import MIB

REFUSED = (client.Failure, client.Closed, OSError)


def until(end, step):
    """Repeats a step, whatever is refused; how often it was done and refused."""
    done, refused = 0, {}
    while time.monotonic() < end:
        try:
            step()
            done += 1
        except REFUSED as error:
            reason = getattr(error, "kind", type(error).__name__)
            refused[reason] = refused.get(reason, 0) + 1
            time.sleep(0.01)
    return done, refused


def silent(end):
    """clients that get a lease and hang up"""
    def step():
        connection = client.Connection()
        connection.create(lease=1).close()
        connection.close()
    return until(end, step)


def descriptors(end):
    """versions that are asked for and not read"""
    turns = itertools.cycle(kept[-60:])

    def step():
        next(turns).send("VersionGet", model="many", lease=1, mode=client.RO)
        time.sleep(0.02)
    return until(end, step)


def replies(end):
    """listings that are asked for and not read"""
    turns = itertools.cycle(kept[-30:])

    def step():
        next(turns).send("TensorList", prefix="")
        time.sleep(0.02)
    return until(end, step)


def waits(end):
    """requests that wait for ever"""
    get = client.Template("TensorGet", ("lease",), name="never", lease=1, mode=client.RO, wait_ms=client.FOREVER)
    numbers, turns = itertools.count(1), itertools.cycle(kept[-20:])

    def step():
        connection = next(turns)
        for number in itertools.islice(numbers, 50):
            connection.put(get.fill(number, lease=number))
        while connection.readable():
            connection.receive().close()
        time.sleep(0.02)
    return until(end, step)


def inspects(end):
    """inspects of a tensor with many leases"""
    def step():
        for each in kept[-30:]:
            each.send("TensorInspect", name="leased")
        for each in kept[-30:]:
            each.receive().close()
    return until(end, step)


def moves(end):
    """moves without end"""
    connection = kept[-1]
    tensor = client.identity(connection.create(size=32 * MIB).body.info.tensor)
    file = os.memfd_create("bytes")
    os.truncate(file, 32 * MIB)
    waiting = []

    def step():
        while len(waiting) < 100:
            waiting.append(connection.send("TensorMove", [file], token=uuid.uuid4(), kind=client.PUT, tensor=tensor, bytes=32 * MIB))
        connection.answer_to(waiting.pop(0))
    return until(end, step)


def nonsense(end):
    """connections without a hello, and messages that are none"""
    def step():
        one = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        one.settimeout(5)
        one.connect(client.SOCK)
        one.send(random.randbytes(random.randrange(1, 2000)))
        one.close()
        time.sleep(0.001)
    return until(end, step)


def thieves(end):
    """identities of others, and their names under `public/`"""
    def step():
        connection = client.Connection()
        for each in (connection.ask("ClientList").body.clients or [])[:50]:
            if each.user != connection.welcome.user and each.client is not None:
                client.refused(client.Connection, client=client.identity(each.client))
        client.refused(connection.create, "public/work/bait", audience=client.EVERYBODY)
        connection.close()
        time.sleep(0.02)
    return until(end, step)


def events(end):
    """creates that fill the events"""
    return until(end, lambda: kept[-1].create(size=64))


def connect(count):
    for _ in range(count):
        kept.append(client.Connection(timeout=5))


def stage_and_connect():
    descriptors_in_flight.stage()
    connect(60)


def fill_and_connect():
    unread_replies.fill(5000)
    connect(30)


def lease_and_connect():
    unread_replies.leases(1, 2000)
    connect(30)


def connect_some():
    connect(20)


# What is done beforehand, one after the other: under attack, B's own account would be used up before all of them have begun.
PREPARED = {descriptors: stage_and_connect, replies: fill_and_connect, inspects: lease_and_connect, waits: connect_some,
            moves: connect_some,
            events: connect_some}
# When each begins, as a part of the time: those that stop a pond altogether come last, so that the others are seen as well.
ALL = {silent: 0, nonsense: 0.2, thieves: 0.2, events: 0.2, moves: 0.25, waits: 0.3, inspects: 0.4, replies: 0.5, descriptors: 0.6}
# Those who leave names.
NAMING = (thieves, inspects, descriptors)


def wait_for_the_end():
    """A process that is there already when it has to tidy up."""


def tidy():
    """Removes what lives under names; how much that was."""
    connection, count = client.Connection(timeout=30), 0
    for each in connection.ask("TensorList", prefix="").body.tensors or []:
        if each.user == connection.welcome.user and each.name:
            connection.ask("TensorDelete", tensor=client.identity(each.tensor))
            count += 1
    for model in connection.ask("ModelList", prefix="").body.models or []:
        for version in model.versions:
            connection.ask("VersionRetire", version=client.identity(version.version), current=True)
            count += 1
    connection.ask("Goodbye")
    connection.close()
    return count
