"""H6: B has many leases on one tensor and inspects it on many connections at once.

What counts is the work between: how many of B's inspects are answered before a ping of A that was sent after them."""

import time

import client
import unread_replies
from actor import kept
from harness import A, B

LEASES = 8000
CONNECTIONS = 100
# Messages that may be ahead of A's: a turn of the loop has some.
AHEAD = 25
SHOWN = LEASES // 10


def prepare():
    """A tensor with many leases of this process; how many."""
    made, _ = unread_replies.leases(1, LEASES)
    for _ in range(CONNECTIONS):
        kept.append(client.Connection())
    return made


def inspect():
    for each in kept[-CONNECTIONS:]:
        each.send("TensorInspect", name="leased")


def answered():
    return sum(each.readable() for each in kept[-CONNECTIONS:])


def drain():
    """Reads all answers; how many leases the last one shows."""
    shown = None
    for each in kept[-CONNECTIONS:]:
        each.socket.settimeout(30)
        answer = each.receive()
        answer.close()
        shown = len(answer.body.leases or []) if each is kept[-1] else None
    return shown


def greet():
    kept.append(client.Connection(timeout=30))


def ping():
    """Seconds of a round trip."""
    begun = time.monotonic()
    kept[-1].ask("Ping")
    return time.monotonic() - begun


def a_large_answer_is_made_in_slices(pond, report):
    pond = pond(settings={"limits.clients_per_process": 2 * CONNECTIONS})
    a, b = pond.actor(A), pond.actor(B)
    report.note("leases of B on one tensor", b.call(prepare))
    a.call(greet)
    alone = min(a.call(ping) for _ in range(20))
    b.call(inspect)
    took = a.call(ping)
    before = b.call(answered)
    shown = b.call(drain)
    report.note("round trip of A's ping, ms: alone, then behind the inspects", f"{alone * 1000:.1f}, {took * 1000:.0f}")
    # Answers that show few leases cost little, and all of them may come first.
    report.check(before <= AHEAD or shown <= SHOWN,
                 f"of B's {CONNECTIONS} inspects at most {AHEAD} are answered before A's ping, or each shows few leases",
                 f"{before} answered, {shown} leases shown")
