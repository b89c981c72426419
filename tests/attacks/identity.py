"""M2: A's client has no lease. B learns its identity, and says hello with it when the daemon has forgotten A."""

import uuid

import client
from actor import kept
from harness import A, B, wait_until


def arrive(name):
    """Says hello under an identity that is kept over connections."""
    earlier = next((each for each in kept if str(each.client) == name), None)
    try:
        connection = client.Connection(client=uuid.UUID(name), proof=earlier.proof if earlier else None)
    except (client.Failure, client.Closed, OSError) as error:
        return getattr(error, "kind", type(error).__name__)
    kept.insert(0, connection)
    return None


def leave():
    kept[0].close()


def seen():
    """Identities of other users' clients that this user is shown."""
    connection = client.Connection()
    clients = connection.ask("ClientList").body.clients or []
    connection.close()
    return [str(client.identity(each.client)) for each in clients if each.client is not None]


def take(name):
    """Takes an identity as soon as a daemon answers."""
    result = []

    def once():
        try:
            kept.append(client.Connection(client=uuid.UUID(name), timeout=5))
            result.append("welcome")
        except client.Failure as failure:
            result.append(failure.kind)
        except (client.Closed, OSError):
            return False
        return True
    wait_until(once, "a daemon answers")
    return result[0]


def an_identity_cannot_be_taken(pond, report):
    pond = pond()
    a, b = pond.actor(A), pond.actor(B)
    name = str(uuid.uuid4())
    a.call(arrive, name)
    report.check(name not in b.call(seen), "B is not shown the identity of A's client")
    # B comes first, because A is not asked before.
    pond.restart_daemon(lambda: report.note("B with A's identity after a restart", b.call(take, name)))
    came = a.call(arrive, name)
    report.check(came is None, "A is itself after a restart, although B was first", came or "welcome")
    other = str(uuid.uuid4())
    b.kill()
    b = pond.actor(B)
    a.call(arrive, other)
    a.call(leave)
    wait_until(lambda: pond.admin().clients <= 2, None, 3)
    report.note("B with A's identity after a hang-up", b.call(take, other))
    came = a.call(arrive, other)
    report.check(came is None, "A is itself after a hang-up, although B was first", came or "welcome")
