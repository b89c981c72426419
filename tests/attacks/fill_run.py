"""M8: files of groups belong to their users. B writes into them."""

import os
import pathlib
import uuid

import client
from actor import kept
from harness import B, MIB, wait_until

BYTES = 64 * MIB
ALLOWED = MIB
SECONDS = 1  # What is heard of too late is seen by then.


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


def write_on(folder):
    """Writes without an end into the ledger; the most that was in use meanwhile."""
    before, most = used(), 0
    with open(pathlib.Path(folder) / "ledger", "r+b", buffering=0) as file:
        for turn in range(2000):
            os.pwrite(file.fileno(), bytes(MIB), (2 + turn) * MIB)
            most = max(most, used() - before)
    return most


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
    report.note("/run just after it", f"{(used() - before) // MIB} MiB more")
    report.note("the most in /run while B goes on writing, of 2,000 MiB", f"{b.call(write_on, folder) // MIB} MiB")
    wait_until(lambda: used() - before <= ALLOWED, None, SECONDS)
    grown = used() - before
    report.check(grown <= ALLOWED, f"after {SECONDS} s /run has grown by at most {ALLOWED // MIB} MiB", f"{grown // MIB} MiB")
    report.check(wait_until(lambda: "is cut to" in pond.log(), None, 5), "the log says so")
