"""What processes of B do at the same time, each for so many seconds; for the siege."""

import os
import random
import socket
import time
import uuid

import client
import descriptors_in_flight
import unread_replies
import waiters
from actor import kept
from harness import MIB

REFUSED = (client.Failure, client.Closed, OSError)


def until(seconds, step):
    """Repeats a step, whatever is refused; how often it was done and refused."""
    done, refused, end = 0, {}, time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            step()
            done += 1
        except REFUSED as error:
            reason = getattr(error, "kind", type(error).__name__)
            refused[reason] = refused.get(reason, 0) + 1
            time.sleep(0.01)
    return done, refused


def silent(seconds):
    """clients that get a lease and hang up"""
    def step():
        connection = client.Connection()
        connection.create(lease=1).close()
        connection.close()
    return until(seconds, step)


def descriptors(seconds):
    """versions that are asked for and not read"""
    descriptors_in_flight.stage()
    # The others come first: where these stop a pond, nothing else can be seen.
    time.sleep(seconds / 2)

    def step():
        connection = client.Connection(timeout=5)
        kept.append(connection)
        connection.send("VersionGet", model="many", lease=1, mode=client.RO)
        time.sleep(0.05 if len(kept) > 80 else 0)
    return until(seconds / 2, step)


def replies(seconds):
    """listings that are asked for and not read"""
    unread_replies.fill(5000)

    def step():
        connection = client.Connection(timeout=5)
        kept.append(connection)
        connection.send("TensorList", prefix="")
        time.sleep(0.1)
    return until(seconds, step)


def waits(seconds):
    """requests that wait for ever"""
    return until(seconds, lambda: (waiters.wait(1, 1000), time.sleep(0.5)))


def inspects(seconds):
    """inspects of a tensor with many leases"""
    unread_replies.leases(1, 2000)
    for _ in range(30):
        kept.append(client.Connection(timeout=30))

    def step():
        for each in kept[-30:]:
            each.send("TensorInspect", name="leased")
        for each in kept[-30:]:
            each.receive().close()
    return until(seconds, step)


def moves(seconds):
    """moves without end"""
    connection = client.Connection(timeout=30)
    tensor = client.identity(connection.create(size=32 * MIB).body.info.tensor)
    file = os.memfd_create("bytes")
    os.truncate(file, 32 * MIB)
    waiting = []

    def step():
        while len(waiting) < 100:
            waiting.append(connection.send("TensorMove", [file], token=uuid.uuid4(), kind=client.PUT, tensor=tensor, bytes=32 * MIB))
        connection.answer_to(waiting.pop(0))
    return until(seconds, step)


def nonsense(seconds):
    """connections without a hello, and messages that are none"""
    def step():
        one = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        one.settimeout(5)
        one.connect(client.SOCK)
        one.send(random.randbytes(random.randrange(1, 2000)))
        one.close()
        time.sleep(0.001)
    return until(seconds, step)


def thieves(seconds):
    """identities of others, and their names under `public/`"""
    def step():
        connection = client.Connection()
        for each in (connection.ask("ClientList").body.clients or [])[:50]:
            if each.user != connection.welcome.user and each.client is not None:
                client.refused(client.Connection, client=client.identity(each.client))
        client.refused(connection.create, "public/work/bait", audience=client.EVERYBODY)
        connection.close()
        time.sleep(0.02)
    return until(seconds, step)


def events(seconds):
    """creates that fill the events"""
    connection = client.Connection()
    return until(seconds, lambda: connection.create(size=64))


ALL = [silent, descriptors, replies, waits, inspects, moves, nonsense, thieves, events]


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
