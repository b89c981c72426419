"""M5: what is at `admin.sock` may look and delete, and neither reads nor writes what is not shared with it."""

import os
import uuid

import client
from actor import kept
from harness import A

SECRET = b"A's own bytes..."


def secret():
    connection = client.Connection()
    kept.append(connection)
    answer = connection.create("secret", lease=1)
    client.mapped(answer, writable=True)[:len(SECRET)] = SECRET
    answer.close()
    return str(client.identity(answer.body.info.tensor))


def still():
    answer = kept[0].get("secret", lease=2)
    return bytes(client.mapped(answer)[:len(SECRET)]) == SECRET


def operate(name):
    """What the operator gets at, each as the kind of the refusal."""
    tensor = uuid.UUID(name)
    connection = client.Connection(client.ADMIN)
    file = os.memfd_create("bytes")
    os.truncate(file, 4096)
    span = client.table("Span", offset=0, bytes=4096)
    found = {"get": client.refused(connection.get, tensor=tensor)}
    found["move to a file"] = client.refused(connection.move, client.GET, tensor, 4096, file)
    read = os.pread(file, len(SECRET), 0) == SECRET
    os.pwrite(file, bytes(4096), 0)
    found["hash"] = client.refused(connection.move, client.HASH, tensor, 4096, pieces=[span], runs=[])
    found["publish"] = client.refused(connection.ask, "TensorPublish", tensor=tensor, token=uuid.uuid4())
    found["move from a file"] = client.refused(connection.move, client.PUT, tensor, 4096, file)
    found["zeroes"] = client.refused(connection.move, client.ZERO, tensor, 4096)
    found["look"] = client.refused(connection.ask, "TensorInspect", tensor=tensor)
    return found, read


def the_operator_moves_no_private_bytes(pond, report):
    pond = pond()
    a = pond.actor(A)
    found, read = pond.actor(0).call(operate, a.call(secret))
    report.check(found.pop("look") is None, "the operator sees the tensor")
    for what, refusal in found.items():
        report.check(refusal == "denied", f"{what} of A's private tensor is denied", refusal or "done")
    report.check(not read, "no byte was read")
    report.check(a.call(still), "no byte was written")
