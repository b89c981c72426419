"""L1 and L2: the keeper stands still; a process of B is silent over a restart."""

import os
import signal
import time
import uuid

import client
from actor import kept
from harness import A, B, MIB, wait_until

CLIENTS = 400


def come(count):
    """So many clients with a lease, each of which the keeper has to hold."""
    for _ in range(count):
        connection = client.Connection(timeout=30)
        connection.create(lease=1).close()
        kept.append(connection)


def longest(seconds):
    """The longest round trip of a ping within so many seconds."""
    connection = client.Connection(timeout=30)
    most, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        begun = time.monotonic()
        connection.ask("Ping")
        most = max(most, time.monotonic() - begun)
        time.sleep(0.002)
    return most


def a_stopped_keeper_delays_nobody(pond, report):
    pond = pond(settings={"limits.clients_per_process": 2 * CLIENTS})
    a, b = pond.actor(A), pond.actor(B)
    keeper = pond.admin().keeperPid
    alone = a.call(longest, 0.5)
    os.kill(keeper, signal.SIGSTOP)
    a.start(longest, 4)
    b.start(come, CLIENTS)
    most = a.result()
    b.result()
    try:
        os.kill(keeper, signal.SIGCONT)
    except ProcessLookupError:
        pass
    report.note("longest round trip of A's ping before, ms", f"{alone * 1000:.1f}")
    # The daemon's patience with its keeper is two seconds.
    report.check(most < 1, "no ping of A waits for the keeper, longest in s", f"{most:.2f}")


def share():
    connection = client.Connection()
    kept.append(connection)
    return str(client.identity(connection.create("public/shared", size=33 * MIB, audience=client.EVERYBODY).body.info.tensor))


def delete(tensor):
    client.Connection().ask("TensorDelete", tensor=uuid.UUID(tensor))


def fall_silent():
    """Has a lease on a tensor of its own, and hangs up."""
    connection = client.Connection()
    connection.create("own", lease=1).close()
    connection.close()


def a_silent_process_keeps_nothing_that_it_never_had(pond, report):
    pond = pond(settings={"recycle_bytes": 0})
    a, b = pond.actor(A), pond.actor(B)
    tensor = a.call(share)
    b.call(fall_silent)
    pond.restart_daemon()
    a.call(delete, tensor)
    held = lambda: sum(each.slabBytes for each in pond.admin().devices)
    freed = wait_until(lambda: held() < 33 * MIB, None, 2)
    report.check(freed, "what A deletes after a restart is freed, although a process of B is silent that never had it",
                 f"{held() // MIB} MiB held")
    b.kill()
    report.check(wait_until(lambda: held() < 33 * MIB, None, 5), "it is freed when that process has ended")
