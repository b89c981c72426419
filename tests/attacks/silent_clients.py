"""H1: one process says hello, gets a lease and hangs up, again and again, each time as another client."""

import time
import uuid

import bounds
import client
from harness import A, B

NAME = "public/bait"


def flood(most, hold):
    """Silent clients until one is refused or `most` are there; how many, and the refusal."""
    if hold:
        bait = client.Connection()
        bait.create(NAME, audience=client.EVERYBODY)
        bait.close()
    for made in range(most):
        try:
            connection = client.Connection(client=uuid.uuid4())
        except (client.Failure, client.Closed, OSError) as error:
            return made, getattr(error, "kind", type(error).__name__)
        try:
            connection.get(NAME).close()
        except (client.Failure, client.Closed, OSError) as error:
            return made, getattr(error, "kind", type(error).__name__)
        finally:
            connection.close()
    return most, None


def greet(path=client.SOCK):
    return client.refused(client.Connection, path, timeout=5)


def clients_that_hung_up_count_for_their_user(pond, report):
    pond = pond(settings=bounds.SETTINGS)
    a, b, root = pond.actor(A), pond.actor(B), pond.actor(0)
    made, refusal = b.call(flood, bounds.CLIENTS + 100, True)
    report.note("clients that one process of B left behind", made)
    report.check(made < bounds.CLIENTS and refusal == "too_many", "B is refused as too_many before the pond is full", refusal)
    report.check(a.call(greet) is None, "A is let in", a.call(greet) or "welcome")
    report.check(root.call(greet) is None, "root is let in on `sock`", root.call(greet) or "welcome")
    report.check(root.call(greet, client.ADMIN) is None, "root is let in on `admin.sock`")
    code, said = pond.cli("ps")
    report.check(code == 0, "`millpond ps` of root works", said.strip().split("\n")[0][:100] if code else code)
    b.kill()
    begun = time.monotonic()
    while pond.admin().silentClients and time.monotonic() < begun + 10:
        time.sleep(0.01)
    report.check(pond.admin().silentClients == 0, "nothing is left of B's clients when its process has ended")
    report.note("seconds until then", round(time.monotonic() - begun, 2))
