"""M1: B has many requests that wait. What they cost is counted as the daemon's work for pings and creates of A."""

import time
import uuid

import bounds
import client
from actor import kept
from harness import A, B, worked

CONNECTIONS = 50
EACH = 1000
ROUNDS = 100
# The work for a request may grow so much; a walk over all waiting requests is beyond it by far.
GROWTH = 5


def wait(connections, each):
    """Requests that wait for ever; the kind of a refusal."""
    get = client.Template("TensorGet", ("lease",), name="never", lease=1, mode=client.RO, wait_ms=client.FOREVER)
    failed = None
    for _ in range(connections):
        connection = client.Connection()
        kept.append(connection)
        for number in range(1, each + 1):
            connection.put(get.fill(number, lease=number))
            # Whoever is refused has to read that, or is not listened to any more.
            while number % 50 == 0 and connection.readable():
                failed = client.Failure(connection.receive().body).kind
        ping = client.Template("Ping").fill(0xF1F1)
        connection.put(ping)
        while (answer := connection.receive()).number != 0xF1F1:
            failed = client.Failure(answer.body).kind
    return failed


def rounds(request, count):
    """Round trips on one connection; the median in milliseconds."""
    connection = client.Connection(timeout=30)
    fields = {"tensor": uuid.uuid4(), "dtype": client.U8, "shape": [64], "audience": client.USER, "ephemeral": True, "zero": True}
    message = client.Template("TensorCreate", ("tensor",), **fields) if request == "create" else client.Template("Ping")
    times = []
    for number in range(1, count + 1):
        begun = time.monotonic()
        connection.put(message.fill(number, tensor=uuid.uuid4()) if request == "create" else message.fill(number))
        connection.receive()
        times.append(time.monotonic() - begun)
    connection.ask("Goodbye")
    connection.close()
    return sorted(times)[count // 2] * 1000


def own_work(daemon, request):
    """The daemon's work for one request of this process, in microseconds, and its round trip."""
    before = worked(daemon)
    median = rounds(request, ROUNDS)
    return (worked(daemon) - before) / ROUNDS / 1000, median


def work(daemon, actor, request):
    return actor.call(own_work, daemon, request)


def requests_that_wait_are_counted_and_cost_others_nothing(pond, report):
    pond = pond(settings=bounds.SETTINGS)
    a, b = pond.actor(A), pond.actor(B)
    daemon = pond.daemon()
    kinds = ("ping", "create")
    for request in kinds:
        work(daemon, a, request)
    alone = {request: work(daemon, a, request) for request in kinds}
    refusal = b.call(wait, CONNECTIONS, EACH)
    report.check(refusal == "too_many", f"of {CONNECTIONS * EACH} requests of B some are refused as too_many", refusal or "all wait")
    for request in kinds:
        (before, round_trip), (behind, slower) = alone[request], work(daemon, a, request)
        report.note(f"round trip of a {request} of A, median in ms", f"{round_trip:.2f}, then {slower:.2f}")
        report.check(behind <= GROWTH * max(before, 20), f"a {request} of A is no more work for the daemon, in µs",
                     f"{before:.0f}, then {behind:.0f}")
    b.kill()
    time.sleep(0.5)
    for request in kinds:
        after, _ = work(daemon, a, request)
        report.check(after <= GROWTH * max(alone[request][0], 20), f"nor is a {request} when B has ended, in µs", f"{after:.0f}")
