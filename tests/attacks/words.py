"""L10 and L11: what is said about nonsense."""

import os
import pathlib
import uuid

import client
from fill_run import join
from harness import A, B, wait_until


def damage(folder):
    for path in pathlib.Path(folder).iterdir():
        try:
            with open(path, "r+b") as file:
                file.truncate(100)
        except OSError:
            pass


def ask():
    connection = client.Connection()
    try:
        connection.ask("GroupJoin", token=uuid.uuid4(), name="mine")
        answer = connection.ask("GroupInspect", name="mine")
    except client.Failure as failure:
        return failure.message
    return "broken" if answer.body.info.broken else None


def a_broken_ledger_is_named(pond, report):
    pond = pond()
    b = pond.actor(B)
    b.call(damage, b.call(join))
    broken = lambda: [line for line in pond.log().split("\n") if "broken" in line and ("ledger" in line or "'mine'" in line)]
    answer = b.call(ask)
    wait_until(broken, None, 4)
    said = broken()
    report.note("an answer about the group", answer)
    report.check(said and all("mine" in line for line in said), "the log says which group's file is broken",
                 said[0][28:160] if said else "nothing was logged")


def nonsense():
    connection = client.Connection()
    tensor = client.identity(connection.create("x").body.info.tensor)
    file = os.memfd_create("bytes")
    os.truncate(file, 4096)
    found = {}
    for name, kind in (("a put", client.PUT), ("a get", client.GET)):
        for offset in (2**64 - 4096, 2**63 - 1, 2**63):
            found[f"{name} at {offset}"] = client.refused(connection.move, kind, tensor, 4096, file, file_offset=offset)
    claim = client.table("LeaseClaim", lease=1, tensor=tensor, mode=client.RO, token=bytes(15))
    connection.close()
    connection = client.Connection(client=connection.client, proof=connection.proof, claims=True)
    try:
        connection.ask("Claim", leases=[claim], last=True)
        message = "accepted"
    except client.Failure as failure:
        message = str(failure)
    return found, message


def nonsense_is_called_invalid(pond, report):
    found, message = pond().actor(A).call(nonsense)
    for what, refusal in found.items():
        report.check(refusal == "invalid", f"{what} of a file is invalid", refusal or "done")
    report.check("at most" not in message and "16" in message, "a token of 15 bytes is said to need 16", message)
