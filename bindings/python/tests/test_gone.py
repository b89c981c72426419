"""A pond that goes while a program is connected."""

import os
import signal
import subprocess
import sys
import time

import pytest

from conftest import DEADLINE, Server

# With a lease there is a thread that looks for the pond too; both must not wait one after the other.
SCRIPT = """
import sys, time, millpond
pond = millpond.Pond(sys.argv[1], **eval(sys.argv[3]))
held = pond.create("held", 4, "uint8", zero=True) if sys.argv[2] == "lease" else None
pond.status()
print("connected", flush=True)
sys.stdin.readline()
print("calling", flush=True)
begun = time.monotonic()
try:
    pond.list()
except BaseException as error:
    print(type(error).__name__, time.monotonic() - begun, str(error).partition("\\n")[0] or "-", flush=True)
"""


class Caller:
    """A program that is connected, and calls when it is told to."""

    def __init__(self, folder, kind, **options):
        command = [sys.executable, "-c", SCRIPT, str(folder), kind, repr(options)]
        environment = {**os.environ, "MILLPOND_SOFT_DIR": str(folder.parent / "gpu")}
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        assert self.process.stdout.readline() == "connected\n"

    def call(self):
        print(file=self.process.stdin, flush=True)
        assert self.process.stdout.readline() == "calling\n"

    def outcome(self):
        """Which exception, after how many seconds, with what message."""
        out, _ = self.process.communicate(timeout=DEADLINE)
        kind, seconds, message = out.strip().split(" ", 2)
        return kind, float(seconds), message


@pytest.fixture
def server(tmp_path):
    made = Server(tmp_path / "run", MILLPOND_SOFT_DIR=str(tmp_path / "gpu"))
    yield made
    made.stop()


def test_after_an_orderly_stop_a_call_ends_soon(server):
    callers = [Caller(server.folder, kind) for kind in ("lease", "none")]
    server.stop()
    for caller in callers:
        caller.call()
    for caller in callers:
        kind, seconds, message = caller.outcome()
        # The promise for a pond that does not say goodbye is 15 s.
        assert kind == "NoPond" and seconds < 8, (kind, seconds)
        assert "it was stopped" in message


def kill(server):
    status = server.pond.status()
    for pid in (status.keeper_pid, status.daemon_pid):
        os.kill(pid, signal.SIGSTOP)
    for pid in (status.keeper_pid, status.daemon_pid):
        os.kill(pid, signal.SIGKILL)
    server.process.wait(DEADLINE)


def test_a_pond_that_was_killed_is_waited_for_once_and_ctrl_c_ends_the_wait(server):
    # Two waits one after the other would take 8.5 s.
    callers = [Caller(server.folder, kind, reconnect_timeout=5) for kind in ("lease", "none")]
    interrupted = [Caller(server.folder, kind) for kind in ("lease", "none")]
    kill(server)
    for caller in callers + interrupted:
        caller.call()
    time.sleep(0.5)
    for caller in interrupted:
        caller.process.send_signal(signal.SIGINT)
    for caller in interrupted:
        kind, seconds, _ = caller.outcome()
        assert kind == "KeyboardInterrupt" and seconds < 5, (kind, seconds)
    for caller in callers:
        kind, seconds, message = caller.outcome()
        assert kind == "NoPond" and 1 < seconds < 8, (kind, seconds)
        assert "nothing listens there" in message


def test_ctrl_c_ends_a_call_that_the_pond_does_not_answer(server):
    caller = Caller(server.folder, "none")
    pid = server.pond.status().daemon_pid
    os.kill(pid, signal.SIGSTOP)
    try:
        caller.call()
        time.sleep(0.3)
        caller.process.send_signal(signal.SIGINT)
        kind, seconds, _ = caller.outcome()
    finally:
        os.kill(pid, signal.SIGCONT)
    assert kind == "KeyboardInterrupt" and seconds < 5, (kind, seconds)
