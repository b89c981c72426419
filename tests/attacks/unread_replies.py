"""H3, L12, L13: replies that are sent and not read, leases of many clients, and what the daemon keeps afterwards."""

import os
import time
import uuid

import bounds
import client
from actor import kept
from harness import A, B, MIB, resident

TENSORS = 8000
CONNECTIONS = 100


def fill(tensors):
    """Tiny tensors of the caller's own."""
    connection = client.Connection()
    kept.append(connection)
    create = client.Template("TensorCreate", ("tensor",), tensor=uuid.uuid4(), dtype=client.U8, shape=[64], audience=client.USER,
                             ephemeral=True)
    pipeline(connection, tensors, lambda number: create.fill(number, tensor=uuid.uuid4()))


def pipeline(connection, count, message, ahead=256):
    """Sends so many messages, reads all answers, and returns the kind of the first failure."""
    sent = read = 0
    failed = None
    while read < count:
        while sent < count and sent - read < ahead:
            connection.put(message(sent + 1000))
            sent += 1
        answer = connection.receive()
        answer.close()
        if answer.kind == "Failure" and not failed:
            failed = client.Failure(answer.body).kind
        read += 1
    return failed


def list_and_do_not_read(connections):
    """How many were opened; the refusal of the first that was not."""
    for made in range(connections):
        try:
            connection = client.Connection(timeout=5)
        except (client.Failure, client.Closed, OSError) as error:
            return made, getattr(error, "kind", type(error).__name__)
        connection.send("TensorList", prefix="")
        kept.append(connection)
    return connections, None


def on_the_way():
    """Bytes of answers that have been sent to this process and not been read; a memfd that came twice counts once."""
    files, refusals = {}, 0
    waiting = [each for each in kept if each.readable()]
    for each in waiting:
        data, control, _, _ = each.socket.recvmsg(client.MESSAGE_BYTES, 1024)
        answer = client.Answer(data, [int.from_bytes(control[0][2][:4], "little")] if control else [])
        refusals += answer.kind == "Failure"
        for file in answer.fds:
            files[os.fstat(file).st_ino] = os.fstat(file).st_size
            os.close(file)
    return len(waiting), refusals, sum(files.values())


def read_all():
    """Every listing is read to its end; how many."""
    for each in kept[1:]:
        each.receive().close()
    return len(kept) - 1


def ping():
    connection = client.Connection(timeout=5)
    connection.ask("Ping")
    connection.close()


def replies_count_until_they_are_read(pond, report):
    pond = pond(settings=bounds.SETTINGS)
    a, b = pond.actor(A), pond.actor(B)
    before = resident(pond.daemon())
    b.call(fill, TENSORS)
    made, refusal = b.call(list_and_do_not_read, CONNECTIONS)
    time.sleep(2)
    report.note("connections of B that asked for a listing", f"{made}, then {refusal}" if refusal else made)
    report.note("the daemon's own memory, MiB", f"{before // MIB}, then {resident(pond.daemon()) // MIB}")
    a.call(ping)
    waiting, refusals, unread = b.call(on_the_way)
    report.note("answers on the way, refusals among them", f"{waiting}, {refusals}")
    # One may go beyond: it is counted when it is made.
    report.check(unread <= 2 * bounds.REPLY_BYTES_PER_USER,
                 f"unread answers of B have at most {2 * bounds.REPLY_BYTES_PER_USER // MIB} MiB",
                 f"{unread / MIB:.0f} MiB")


def memory_is_given_back_after_listings(pond, report):
    pond = pond()
    b = pond.actor(B)
    b.call(fill, TENSORS)
    daemon = pond.daemon()
    time.sleep(0.5)
    before = resident(daemon)
    b.call(list_and_do_not_read, CONNECTIONS)
    time.sleep(2)
    most = resident(daemon)
    b.call(read_all)
    b.kill()
    time.sleep(2)
    after = resident(daemon)
    report.check(after <= before + (most - before) // 4 or after <= before + 16 * MIB, "the daemon gives back what it grew to",
                 f"{before // MIB} MiB before, {most // MIB} MiB with {CONNECTIONS} listings, {after // MIB} MiB after")


def leases(clients, each):
    """Leases until one is refused: how many, and the refusal."""
    for at in range(clients):
        connection = client.Connection()
        kept.append(connection)
        if at == 0:
            tensor = client.identity(connection.create("leased").body.info.tensor)
        get = client.Template("TensorGet", ("lease",), tensor=tensor, lease=1, mode=client.RO)
        for lease in range(1, each + 1):
            connection.put(get.fill(lease, lease=lease))
            answer = connection.receive()
            answer.close()
            if answer.kind == "Failure":
                return at * each + lease - 1, client.Failure(answer.body).kind
    return clients * each, None


def leases_are_counted_for_each_user(pond, report):
    pond = pond(settings=bounds.SETTINGS)
    a, b = pond.actor(A), pond.actor(B)
    most = bounds.LEASES_PER_CLIENT
    made, refusal = b.call(leases, 3, most)
    report.check(made <= bounds.LEASES_PER_USER and refusal == "too_many",
                 f"B is refused as too_many at {bounds.LEASES_PER_USER} leases",
                 f"{made} leases, {refusal or 'no refusal'}")
    made, refusal = a.call(leases, 1, 100)
    report.check(refusal is None, "A gets leases", refusal or made)
