"""M9: the runtime folder is removed under a pond, as logind does with that of a user."""

import shutil

import client
from actor import kept
from harness import A, wait_until

SECONDS = 5  # A look once a second would do.


def greet():
    kept.append(client.Connection(timeout=5))


def ping():
    kept[0].ask("Ping")


def a_pond_whose_folder_was_removed_comes_back(pond, report):
    pond = pond()
    a = pond.actor(A)
    a.call(greet)
    before = len(pond.log())
    shutil.rmtree(client.FOLDER)
    a.call(ping)
    back = wait_until(lambda: client.refused(client.Connection, timeout=5) is None, None, SECONDS)
    report.check(back, f"a new client is let in within {SECONDS} s")
    report.check(client.refused(client.Connection, client.ADMIN, timeout=5) is None, "so is the operator")
    # The log is written by a thread of its own.
    is_said = wait_until(lambda: client.FOLDER in pond.log()[before:], None, SECONDS)
    report.check(is_said, "the log says so", pond.log()[before:].strip()[-100:] or "nothing was logged")
    a.call(ping)
