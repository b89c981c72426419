"""M8: files of groups belong to their users. B writes into them."""

import bisect
import errno
import json
import os
import pathlib
import shutil
import subprocess
import time
import uuid

import client
from actor import kept
from harness import B, MIB, PATIENCE, wait_until

BYTES = 64 * MIB
ALLOWED = MIB
EXPORTS = 128 << 10  # The format of a file that begins empty.
SECONDS = 1  # What is heard of too late is seen by then.
LOOKS_EVERY = 1  # Seconds between two looks of the daemon at every file, at most.
WRITES_FOR = 3
GROUPS = 4
GROUPS_SIZE = 16 * MIB


def join(name="mine"):
    connection = client.Connection()
    kept.append(connection)
    return client.text(connection.ask("GroupJoin", token=uuid.uuid4(), name=name, limit=1 << 30).body.folder)


def no_more():
    """What is said to a user who has as many groups as may be."""
    try:
        return join("one-more")
    except client.Failure as failure:
        return {"kind": failure.kind, "limit": failure.limit, "has": failure.has, "hint": failure.hint}


def groups_of_b(said):
    """What `status --users --json` says of B's groups."""
    uses = [use for user in json.loads(said)["users"] if user["user"] == B for use in user["resources"]]
    return [use["has"] for use in uses if use["name"] == "groups"]


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


def write_on(folders):
    """Writes into all files of all groups in turn, without an end; the most that was in use meanwhile, the most that was
    written between two looks, and what was written in all."""
    before, most, written = used(), 0, []
    files = [open(pathlib.Path(folder) / name, "r+b", buffering=0) for folder in folders for name in ("ledger", "exports")]
    end = time.monotonic() + WRITES_FOR
    while time.monotonic() < end:
        file = files[len(written) % len(files)]
        try:
            os.pwrite(file.fileno(), bytes(MIB), (2 + len(written) // len(files)) * MIB)
            written.append(time.monotonic())
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
        most = max(most, used() - before)
    between = max((bisect.bisect_right(written, at + LOOKS_EVERY) - index for index, at in enumerate(written)), default=0)
    return most, (between + 1) * MIB, len(written) * MIB


def used(folder="/run"):
    space = os.statvfs(folder)
    return (space.f_blocks - space.f_bfree) * space.f_frsize


def users_cannot_fill_the_runtime_folder(pond, report):
    pond = pond(settings={"limits.groups_per_user": GROUPS})
    b = pond.actor(B)
    folder = b.call(join)
    before = used()
    found = b.call(write, folder)
    report.note("files of B's group", ", ".join(f"{name}: {what}" for name, what in sorted(found.items())))
    report.note("/run just after it", f"{(used() - before) // MIB} MiB more")
    wait_until(lambda: used() - before <= ALLOWED, None, SECONDS)
    grown = used() - before
    report.check(grown <= ALLOWED, f"after {SECONDS} s /run has grown by at most {ALLOWED // MIB} MiB", f"{grown // MIB} MiB")
    report.check(wait_until(lambda: "is cut to" in pond.log(), None, 5), "the log says so")

    # As many files as B may have, all at once.
    folders = [folder] + [b.call(join, f"more-{number}") for number in range(GROUPS - 1)]
    refused = b.call(no_more)
    wanted = {"kind": "too_many", "limit": "limits.groups_per_user", "has": GROUPS}
    report.check(refused == {**wanted, "hint": refused["hint"]} and "millpond group rm" in refused["hint"],
                 "a group too many is refused with the setting and what to end", refused)
    code, said = pond.cli("status", "--users", "--json")
    report.check(code == 0 and groups_of_b(said) == [GROUPS], "`status --users` shows B's groups", said if code else groups_of_b(said))
    formats = used() - before
    most, between, in_all = b.call(write_on, folders)
    report.note(f"the most in /run while B writes for {WRITES_FOR} s into {2 * GROUPS} files", f"{most // MIB} of {in_all // MIB} MiB")
    report.check(most <= between, f"never more than B writes between two looks, {LOOKS_EVERY} s", f"{most // MIB} of {between // MIB} MiB")
    allowed = ALLOWED + GROUPS * EXPORTS
    wait_until(lambda: used() - before - formats <= allowed, None, SECONDS)
    grown = used() - before - formats
    report.check(grown <= allowed, f"after {SECONDS} s it is cut", f"{grown // MIB} MiB")
    b.kill()
    a_fixed_size_for_groups_bounds_them_all(pond, report)


def a_fixed_size_for_groups_bounds_them_all(pond, report):
    """The folder of all groups is a file system of its own: the rest of /run does not notice them."""
    pond.stop()
    pond.keeper.wait(PATIENCE)
    groups = pathlib.Path("/run/millpond/groups")
    shutil.rmtree(groups)
    groups.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={GROUPS_SIZE},mode=0755", "tmpfs", str(groups)], check=True)
    pond.start()
    b = pond.actor(B)
    folder = b.call(join)
    most, _, in_all = b.call(write_on, [folder])
    report.check(in_all > 2 * GROUPS_SIZE and most == 0, "with a file system of its own for groups nothing else in /run is touched",
                 f"{most} bytes of {in_all // MIB} MiB")
    report.check(used(groups) <= GROUPS_SIZE, "and they have no more than its size", f"{used(groups) // MIB} MiB")
    wait_until(lambda: used(groups) <= 2 * MIB, None, SECONDS)
    kept = b.call(join, "another")
    report.check(kept.endswith("another"), "groups are made there as elsewhere", kept)
