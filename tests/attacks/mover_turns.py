"""M4: B keeps many moves queued. What counts is how many of them end before the one of A, and how many after B's death."""

import os
import time
import uuid

import client
from actor import kept
from harness import A, B, MIB, wait_until

MOVES = 150
BYTES = 32 * MIB
# Moves of B that may end before A's: those under way, and a turn or two.
AHEAD = 30
# And after its death: those that the mover has begun.
BEGUN = 8


def queue():
    connection = client.Connection(timeout=60)
    kept.append(connection)
    tensor = client.identity(connection.create(size=BYTES).body.info.tensor)
    file = os.memfd_create("bytes")
    os.truncate(file, BYTES)
    for _ in range(MOVES):
        connection.send("TensorMove", [file], token=uuid.uuid4(), kind=client.PUT, tensor=tensor, bytes=BYTES)
    os.close(file)


def ended():
    """Answers of moves that are there."""
    count = 0
    while kept[-1].readable():
        # One that was refused was no work.
        count += kept[-1].receive().kind == "Moved"
    return count


def put():
    """One small put; its seconds."""
    connection = client.Connection(timeout=60)
    tensor = client.identity(connection.create(size=MIB).body.info.tensor)
    file = os.memfd_create("bytes")
    os.truncate(file, MIB)
    begun = time.monotonic()
    connection.move(client.PUT, tensor, MIB, file)
    return time.monotonic() - begun


def moved(pond):
    return sum(each.movedBytes for each in pond.admin().movers or [])


def users_take_turns_at_the_mover(pond, report):
    pond = pond()
    a, b = pond.actor(A), pond.actor(B)
    alone = min(a.call(put) for _ in range(3))
    b.call(queue)
    took = a.call(put)
    before = b.call(ended)
    report.note("a put of A, ms: alone, then behind B's", f"{alone * 1000:.1f}, {took * 1000:.0f}")
    report.check(before <= AHEAD, f"of B's {MOVES} moves at most {AHEAD} end before the one that A sent after them", before)
    wait_until(lambda: not sum(each.moves for each in pond.admin().movers or []), "B's moves end", 60)
    b.call(queue)
    b.kill()
    at_death = moved(pond)
    wait_until(lambda: not sum(each.moves for each in pond.admin().movers or []), "no move is left", 60)
    after = (moved(pond) - at_death) // BYTES
    report.check(after <= BEGUN, f"of B's {MOVES} moves at most {BEGUN} are made after B's death", after)
