"""L3, of the software driver alone: a reader shortens the file that a slab is. Its bytes are gone; nobody else pays for it."""

import os
import uuid

import client
from actor import kept
from harness import A, B, MIB

BYTES = 4 * MIB
MARK = b"kept"


def make(name):
    connection = client.Connection()
    kept.append(connection)
    answer = connection.create(name, size=BYTES, lease=1, audience=client.EVERYBODY if name.startswith("public/") else client.USER)
    bytes_of = client.mapped(answer, writable=True)
    bytes_of[-len(MARK):] = MARK
    kept.append(bytes_of)
    return str(client.identity(answer.body.info.tensor))


def truncate():
    answer = client.Connection().get("public/slab", mode=client.RO)
    try:
        os.ftruncate(answer.fds[0], 0)
    except OSError as error:
        return error.strerror
    return None


def look():
    return bytes(kept[1][-len(MARK):]) == MARK


def save(tensor):
    """The mover reads it: the refusal, and whether the bytes are right."""
    file = os.memfd_create("bytes")
    os.truncate(file, BYTES)
    connection = client.Connection()
    refusal = client.refused(connection.move, client.GET, uuid.UUID(tensor), BYTES, file)
    return refusal, os.pread(file, len(MARK), BYTES - len(MARK)) == MARK


def a_reader_cannot_truncate_a_slab(pond, report):
    pond = pond()
    a, other, b = pond.actor(A), pond.actor(A), pond.actor(B)
    tensor, whole = a.call(make, "public/slab"), a.call(make, "whole")
    other.call(save, tensor)
    movers = [each.pid for each in pond.admin().movers]
    could = b.call(truncate)
    report.note("B's ftruncate with a lease that says `ro`", could or "done")
    refusal, right = other.call(save, tensor)
    report.check(right or refusal == "file", "a move of it has A's bytes, or says that they are gone", refusal or right)
    report.check(other.call(save, whole) == [None, True], "another tensor is moved")
    report.check([each.pid for each in pond.admin().movers or []] == movers, "it is the same mover")
    try:
        report.note("A reads them", a.call(look))
    except RuntimeError as error:
        # As docs/software-driver.md says: memory of this driver is files, which whoever holds one can shorten.
        report.note("A reads them", str(error).split("\n")[0])
