"""A pond of the siege's own: started in a temporary folder, looked at from outside, killed in parts."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from typing import Any

DEADLINE = 60.0
"""Nothing takes so long unless it hangs."""


class OwnPond:
    """`millpond serve` in folders of its own. This process and its children find it by the
    environment, so make it before the first use of the package."""

    def __init__(self) -> None:
        self.program = os.environ.get("MILLPOND_BIN") or shutil.which("millpond")
        if not self.program:
            sys.exit("siege: the program `millpond` is not in PATH; MILLPOND_BIN can name it")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="millpond-siege-"))
        (self.folder / "gpu").mkdir(mode=0o700)
        os.environ["MILLPOND_RUNTIME_DIR"] = str(self.folder / "run")
        os.environ["MILLPOND_CONFIG"] = str(self.folder / "config.toml")
        os.environ["MILLPOND_SOFT_DIR"] = str(self.folder / "gpu")
        (self.folder / "config.toml").touch()
        self.log = open(self.folder / "log", "ab")
        self.keeper = subprocess.Popen([self.program, "serve"], stdout=self.log, stderr=self.log)
        self.status_when(lambda status: status["driver_ready"])

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([self.program, *command], capture_output=True, text=True, timeout=DEADLINE, check=False)

    def status(self) -> dict[str, Any] | None:
        """What `millpond status` says; nothing while no daemon answers."""
        asked = self.run("status", "--json")
        return json.loads(asked.stdout) if asked.returncode == 0 else None

    def status_when(self, good: Any) -> dict[str, Any]:
        """The status, once it is as it should be; the last one if it never is."""
        deadline = time.monotonic() + DEADLINE
        while True:
            status = self.status()
            if status and good(status):
                return status
            if status and time.monotonic() > deadline:
                return status
            if not status and (self.keeper.poll() is not None or time.monotonic() > deadline):
                sys.exit(f"siege: no pond answers; its log:\n{(self.folder / 'log').read_text()}")
            time.sleep(0.05)

    def kill_daemon(self) -> bool:
        status = self.status()
        return bool(status) and _kill(status["daemon_pid"])

    def kill_mover(self) -> bool:
        status = self.status()
        pids = [mover["pid"] for mover in status["movers"]] if status else []
        return sum(map(_kill, pids)) > 0

    def memory(self, expected: dict[str, int] | None = None) -> dict[str, int]:
        """The account and the card's own count, with no mover's context in it. What processes held
        that have just ended goes a moment later, so it is asked until it is as expected, or stays."""
        self.kill_mover()
        self.run("gc")
        before: dict[str, int] | None = None

        def settled(status: dict[str, Any]) -> bool:
            nonlocal before
            now, last = _memory(status), before
            before = now
            if status["movers"] or status["clients"] > 2:
                return False
            return same(now, expected, status) if expected else now == last

        return _memory(self.status_when(settled))

    def stop(self) -> None:
        self.keeper.terminate()
        try:
            self.keeper.wait(DEADLINE)
        except subprocess.TimeoutExpired:
            self.keeper.kill()
        self.log.close()

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


def same(one: dict[str, int], other: dict[str, int], status: dict[str, Any]) -> bool:
    """Whether two readings are equal. The account must be so to the byte, and the software
    driver's count as well; a card's has some megabytes of driver state in it that come and go."""
    tolerance = 0 if status["driver"].startswith("soft") else 64 << 20
    account = all(one[key] == other[key] for key in one if key != "physical_used_bytes")
    return account and abs(one["physical_used_bytes"] - other["physical_used_bytes"]) <= tolerance


def _memory(status: dict[str, Any]) -> dict[str, int]:
    names = ("slab_bytes", "tensor_bytes", "slabs", "tensors", "physical_used_bytes")
    return {
        "leases": status["leases"],
        **{name: sum(device[name] or 0 for device in status["devices"]) for name in names},
    }


def _kill(pid: int) -> bool:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
        return True
    return False
