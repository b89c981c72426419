"""H2 and L14: connections of B carry descriptors that B does not read.

The kernel counts descriptors in flight for each sending user against its limit of open files, unless the sender has a
capability that the shipped unit drops. So the pond runs with what the unit leaves, and with a small limit."""

import resource
import time
import uuid

import bounds
import client
from actor import kept
from harness import A, B, MIB, worked

# Other ponds of root at the same time count as well: so much that they make no difference.
NOFILE = min(16384, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
SLABS = 127
CONNECTIONS = NOFILE // (SLABS + 1) + 20
SECONDS = 3  # Every answer here takes milliseconds.


def stage():
    """A version of many slabs, ready to be read."""
    connection = client.Connection()
    version = uuid.uuid4()
    parts = [client.table("PartSpec", bytes=2 * MIB) for _ in range(SLABS)]
    connection.ask("VersionStage", version=version, model="many", audience=client.USER, parts=parts, lease=1).close()
    kept.append(connection)
    import manifests
    manifests.commit(connection, version, [2 * MIB] * SLABS, activate=True).close()


def ask_and_do_not_read(model, connections):
    """How many connections were opened, which all ask then; the refusal of the first that was not."""
    opened, refusal = [], None
    while len(opened) < connections and not refusal:
        try:
            opened.append(client.Connection(timeout=SECONDS))
        except (client.Failure, client.Closed, OSError) as error:
            refusal = getattr(error, "kind", type(error).__name__)
    kept.extend(opened)
    for connection in opened:
        if model:
            connection.send("VersionGet", model=model, lease=1, mode=client.RO)
        else:
            # The second answer waits until the first is read.
            connection.send("TensorGet", name="bait", lease=1, mode=client.RO)
            connection.send("TensorGet", name="bait", lease=2, mode=client.RO)
    return len(opened), refusal


def bait():
    connection = client.Connection()
    connection.create("bait")
    kept.append(connection)


def unread():
    return sum(each.readable() for each in kept)


def in_flight():
    """Descriptors that are on the way to this process. What it reads makes room for more, so each connection is read once."""
    count = 0
    for each in [each for each in kept if each.readable()]:
        answer = each.receive()
        count += len(answer.fds)
        answer.close()
    return count


def work(seconds):
    """Hello, create, get: the kind of the first failure."""
    def all_of_it():
        connection = client.Connection(timeout=seconds)
        connection.create("mine")
        connection.get("mine").close()
        connection.close()
    return client.refused(all_of_it)


def greeted():
    kept.append(client.Connection(timeout=20))


def large():
    """On a connection that was there before: tensors that each need a slab, which the keeper has to hold."""
    return [client.refused(kept[-1].create, f"large{at}", size=33 * MIB) for at in range(2)]


def greet(path):
    return client.refused(client.Connection, path, timeout=SECONDS)


def descriptors_that_one_user_does_not_read_stop_nobody(pond, report):
    pond = pond(unit=True, nofile=NOFILE)
    a, b, root = pond.actor(A), pond.actor(B), pond.actor(0)
    keeper = pond.admin().keeperPid
    a.call(greeted)
    b.call(stage)
    made, refusal = b.call(ask_and_do_not_read, "many", CONNECTIONS)
    time.sleep(0.5)
    report.note("connections of B that asked and read nothing", f"{made}, then {refusal}" if refusal else made)
    report.note("of those with an answer on the way", b.call(unread))
    failure = a.call(work, SECONDS)
    report.check(failure is None, "A says hello, creates and gets", failure or "done")
    for path in (client.SOCK, client.ADMIN):
        failure = root.call(greet, path)
        report.check(failure is None, f"root is let in on `{path.rsplit('/', 1)[1]}`", failure or "welcome")
    failures = a.call(large)
    report.check(failures == [None, None], "creates of A on a connection that it had before are answered", failures)
    time.sleep(1)
    log = pond.log()
    report.check("replacing it" not in log and "no new keeper" not in log, "the keeper is not given up",
                 next((line[-90:] for line in log.split("\n") if "keeper" in line and ("replac" in line or "no new" in line)), "kept"))
    count, most = b.call(in_flight), NOFILE // bounds.DESCRIPTORS_IN_FLIGHT_PART
    # An answer more is sent before it counts.
    report.check(count <= most + SLABS + 1, f"at most {most} descriptors are on the way to B", count)
    b.kill()
    try:
        status = pond.admin()
        report.check(status.keeperPid == keeper, "it is the same keeper at the end", f"{keeper}, then {status.keeperPid}")
    except OSError as error:
        report.check(False, "the pond answers when B has ended", error)
    failure = a.call(work, SECONDS)
    report.check(failure is None, "A is served when B has ended", failure or "done")


def unread_descriptors_cost_no_work(pond, report):
    pond = pond()
    b = pond.actor(B)
    daemon = pond.daemon()
    b.call(bait)
    made, refusal = b.call(ask_and_do_not_read, None, 3000)
    report.note("connections of B with an unread descriptor", f"{made}, then {refusal}" if refusal else made)
    time.sleep(1)
    before = worked(daemon)
    time.sleep(2)
    share = (worked(daemon) - before) / 2e9
    report.check(share < 0.02, "the daemon rests while they are there: of a core less than 2 %", f"{share:.1%}")
