"""A pond of the example's own: started in a temporary folder, and ended with the example."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

DEADLINE = 60.0
"""Nothing takes so long unless it hangs."""


class OwnPond:
    """`millpond serve` in folders of its own. This process and its children find it by the environment, so make it before
    the first use of the package."""

    def __init__(self) -> None:
        program = os.environ.get("MILLPOND_BIN") or shutil.which("millpond")
        if not program:
            sys.exit("burst: the program `millpond` is not in PATH; MILLPOND_BIN can name it")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="millpond-burst-", dir=_roomy()))
        (self.folder / "gpu").mkdir(mode=0o700)
        (self.folder / "config.toml").touch()
        os.environ["MILLPOND_RUNTIME_DIR"] = str(self.folder / "run")
        os.environ["MILLPOND_CONFIG"] = str(self.folder / "config.toml")
        os.environ["MILLPOND_SOFT_DIR"] = str(self.folder / "gpu")
        self.log = open(self.folder / "log", "ab")
        self.keeper = subprocess.Popen([program, "serve"], stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        self.program = program
        deadline = time.monotonic() + DEADLINE
        while not self._is_ready():
            if self.keeper.poll() is not None or time.monotonic() > deadline:
                log = (self.folder / "log").read_text()
                self.end()
                sys.exit(f"burst: no pond answers; its log:\n{log}")
            time.sleep(0.05)

    def _is_ready(self) -> bool:
        asked = subprocess.run([self.program, "status", "--json"], capture_output=True, text=True, check=False)
        return asked.returncode == 0 and json.loads(asked.stdout)["driver_ready"]

    def end(self) -> None:
        if self.keeper.poll() is None:
            self.keeper.terminate()
            try:
                self.keeper.wait(DEADLINE)
            except subprocess.TimeoutExpired:
                self.keeper.kill()
                self.keeper.wait()
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def _roomy() -> str | None:
    """The software driver's memory is files in the folder: in memory they are fastest."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
