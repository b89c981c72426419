"""M8: files of groups belong to their users. B writes into them."""

import os
import pathlib
import uuid

import client
from actor import kept
from harness import B, MIB

BYTES = 64 * MIB
ALLOWED = MIB


def join():
    connection = client.Connection()
    kept.append(connection)
    return client.text(connection.ask("GroupJoin", token=uuid.uuid4(), name="mine", limit=1 << 30).body.folder)


def write(folder):
    """Writes into every file of the group that it can open; what came of each."""
    found = {}
    for path in pathlib.Path(folder).iterdir():
        try:
            with open(path, "r+b", buffering=0) as file:
                written = 0
                while written < BYTES:
                    written += os.pwrite(file.fileno(), bytes(MIB), written)
            found[path.name] = "written"
        except OSError as error:
            found[path.name] = error.strerror
    try:
        (pathlib.Path(folder) / "another").write_bytes(bytes(MIB))
        found["another"] = "written"
    except OSError as error:
        found["another"] = error.strerror
    return found


def used():
    space = os.statvfs("/run")
    return (space.f_blocks - space.f_bfree) * space.f_frsize


def users_cannot_fill_the_runtime_folder(pond, report):
    pond = pond()
    b = pond.actor(B)
    folder = b.call(join)
    before = used()
    found = b.call(write, folder)
    report.note("files of B's group", ", ".join(f"{name}: {what}" for name, what in sorted(found.items())))
    grown = used() - before
    report.check(grown <= ALLOWED, f"/run grows by at most {ALLOWED // MIB} MiB", f"{grown // MIB} MiB")
