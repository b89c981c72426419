"""A pond of its own in a temporary folder, and the `millpond` program as a user calls it."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

START_SECONDS = 60
STOP_SECONDS = 30
COMMAND_SECONDS = 180


class CommandFailed(Exception):
    """A command ended with an error; the message is what it said."""


class Ran:
    """What a command printed, on standard output and on standard error, how long it took as its caller sees it, and its largest size."""

    def __init__(self, text, errors, seconds, peak_bytes):
        self.text = text
        self.errors = errors
        self.seconds = seconds
        self.peak_bytes = peak_bytes

    def json(self):
        return json.loads(self.text)


def run(command, env=None, seconds=COMMAND_SECONDS):
    """Runs a command to its end. An exit code other than 0 raises with its standard error."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        begun = time.monotonic()
        process = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        killed = False
        while True:
            # Its end must be seen at once and by us, for the size that comes with it.
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() - begun > seconds and not killed:
                process.kill()
                killed = True
            time.sleep(0.0002)
        took = time.monotonic() - begun
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        text, error = out.read().decode(errors="replace"), err.read().decode(errors="replace")
    if killed:
        raise CommandFailed(f"{' '.join(command[:4])}: killed after {seconds} s\n{error[-2000:]}")
    if process.returncode != 0:
        raise CommandFailed(f"{' '.join(map(str, command[:4]))}: exit code {process.returncode}: {(error or text).strip()[-2000:]}")
    return Ran(text, error, took, usage.ru_maxrss * 1024)


class Pond:
    """`millpond serve`, until stop()."""

    def __init__(self, program, soft, memory="1G", parent=None):
        self.program = str(program)
        # Names of sockets are short.
        parent = parent or ("/dev/shm" if soft and os.path.isdir("/dev/shm") else "/tmp")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="mpw-", dir=parent))
        self.env = os.environ | {
            "MILLPOND_DRIVER": "soft" if soft else os.environ.get("MILLPOND_DRIVER", "cuda"),
            "MILLPOND_BIN": self.program,
            "MILLPOND_RUNTIME_DIR": str(self.folder / "run"),
            "MILLPOND_SOFT_DIR": str(self.folder / "soft"),
            "MILLPOND_SOFT_MEMORY": memory,
            "MILLPOND_CONFIG": str(self.folder / "config.toml"),
        }
        (self.folder / "config.toml").write_text("")
        self.log = open(self.folder / "log", "wb")
        # The mover stays, so that only the first load starts one.
        self.process = subprocess.Popen(
            [self.program, "serve", "--mover-idle-seconds", "900"], env=self.env,
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        until = time.monotonic() + START_SECONDS
        while True:
            try:
                if self.cli("status", "--json").json()["driver_ready"]:
                    return
            except CommandFailed as error:
                if self.process.poll() is not None or time.monotonic() > until:
                    said = self.said()
                    self.stop()
                    raise CommandFailed(f"the pond did not start: {error}\n{said}") from error
            time.sleep(0.02)

    def cli(self, *arguments, seconds=COMMAND_SECONDS):
        return run([self.program, *map(str, arguments)], self.env, seconds)

    def said(self):
        """The end of the pond's log."""
        return (self.folder / "log").read_text(errors="replace")[-2000:]

    def status(self):
        return self.cli("status", "--json").json()

    def mover(self):
        """The mover's pid, or None."""
        movers = self.status().get("movers") or [{"pid": None}]
        return movers[0]["pid"]

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def memory_of(pid):
    """(resident now, largest so far) in bytes, as the kernel counts them."""
    values = {}
    for row in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        key, _, value = row.partition(":")
        if key in ("VmRSS", "VmHWM"):
            values[key] = int(value.split()[0]) * 1024
    return values["VmRSS"], values["VmHWM"]

