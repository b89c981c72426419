"""A pond that root runs, and the processes of its users.

Every attack runs in namespaces of its own (see `run.py`): its `/run`, its `/dev/shm` and its processes are nobody else's and
end with it. So the pond can be root's in `/run/millpond`, which is the one that all users of a machine share.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import client

A, B = 2101, 2102
PATIENCE = 30  # Ends what hangs; decides nothing.
MIB = 1 << 20


class Actor:
    """A process of a user, through which functions of the attacks are run."""

    def __init__(self, user, limits=()):
        command = ["prlimit", *limits] if limits else []
        command += ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"]
        here = pathlib.Path(__file__).parent
        self.process = subprocess.Popen([*command, sys.executable, "-B", str(here / "actor.py")], text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, cwd="/", env={**os.environ, "HOME": "/nonexistent"})

    def start(self, function, *arguments):
        asked = {"module": function.__module__, "function": function.__name__, "arguments": arguments}
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()

    def result(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the process of a user ended with {self.process.wait()}")
        answer = json.loads(line)
        if "error" in answer:
            raise RuntimeError(answer["error"] + "\n" + answer["trace"])
        return answer["result"]

    def call(self, function, *arguments):
        self.start(function, *arguments)
        return self.result()

    def kill(self):
        self.process.kill()
        self.process.wait()

    def last(self):
        """What the function of a process that was ended had returned, if it had."""
        line = self.process.stdout.readline()
        return json.loads(line).get("result", line[:200]) if line else "was still at it"


class Pond:
    """A pond of root's in /run/millpond, on the software driver."""

    def __init__(self, program, settings=None, unit=False, nofile=None, driver="soft", memory="2G", started=True):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="pond-", dir="/dev/shm"))
        self.folder.chmod(0o755)
        self.program, self.actors, self.log_file = program, [], self.folder / "log"
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(("MILLPOND_", "XDG_"))}
        self.environment |= {"MILLPOND_DRIVER": driver, "MILLPOND_SOFT_DIR": str(self.folder / "soft"), "MILLPOND_SOFT_MEMORY": memory,
                             "MILLPOND_CONFIG": str(self.folder / "config.toml"), "HOME": str(self.folder)}
        # What a user puts under `public/` is an attack too.
        self.environment["MILLPOND_PUBLIC_WRITERS"] = "everybody"
        # A setting that this program does not know is passed over by it.
        self.environment |= {"MILLPOND_" + name.upper().replace(".", "_"): str(value) for name, value in (settings or {}).items()}
        (self.folder / "config.toml").touch()
        self.command = []
        if nofile:
            self.command += ["prlimit", f"--nofile={nofile}:{nofile}"]
        if unit:
            # What the shipped unit leaves; without the capabilities that lift the kernel's limit on descriptors in flight.
            self.command += ["setpriv", "--bounding-set=-all,+chown,+fowner,+dac_override,+ipc_owner"]
        self.keeper = None
        if started:
            self.start()

    def serve(self, *arguments):
        """`serve`, not waited for."""
        with open(self.log_file, "ab") as log:
            return subprocess.Popen([*self.command, self.program, "serve", *arguments], env=self.environment, stdin=subprocess.DEVNULL,
                                    stdout=log, stderr=log)

    def start(self):
        self.keeper = self.serve()
        wait_until(lambda: self.keeper.poll() is not None or client.refused(self.admin) is None, "the pond serves")
        if self.keeper.poll() is not None:
            raise RuntimeError("the pond does not start:\n" + self.log())

    def actor(self, user, limits=()):
        self.actors.append(Actor(user, limits))
        return self.actors[-1]

    def admin(self):
        """The operator's look at the pond."""
        connection = client.Connection(client.ADMIN, program="operator", timeout=PATIENCE)
        try:
            return connection.status()
        finally:
            connection.close()

    def cli(self, *arguments, user=0, seconds=PATIENCE):
        """A command; its exit code and everything that it printed."""
        who = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"] if user else []
        ran = subprocess.run([*who, self.program, *arguments], env={**self.environment, "HOME": "/nonexistent"}, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=seconds, check=False)
        return ran.returncode, ran.stdout

    def log(self):
        return self.log_file.read_text(errors="replace")

    def daemon(self):
        return self.admin().daemonPid

    def restart_daemon(self, before=lambda: None):
        """Kills the daemon; `before` is called at once, while the next one starts."""
        old = self.daemon()
        os.kill(old, signal.SIGKILL)
        before()
        wait_until(lambda: client.refused(self.admin) is None and self.daemon() != old, "the next daemon serves")

    def stop(self):
        for actor in self.actors:
            actor.kill()
        if self.keeper and self.keeper.poll() is None:
            self.keeper.send_signal(signal.SIGTERM)
            try:
                self.keeper.wait(2)
            except subprocess.TimeoutExpired:
                self.keeper.kill()


def wait_until(condition, what, seconds=PATIENCE):
    """Whether it became so; raises if that must be."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            if what:
                raise TimeoutError(f"not within {seconds} s: {what}")
            return False
        time.sleep(0.01)
    return True


def resident(pid):
    """Memory of a process, in bytes."""
    return int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def worked(pid):
    """Nanoseconds on a processor, of all threads."""
    tasks = pathlib.Path(f"/proc/{pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks)


class Report:
    """What an attack measured, and whether it is as it must be."""

    def __init__(self):
        self.checks = []

    def check(self, is_so, what, measured=None):
        self.checks.append({"ok": bool(is_so), "what": what, "measured": measured})

    def note(self, what, measured):
        self.checks.append({"ok": True, "what": what, "measured": measured, "note": True})

    @property
    def ok(self):
        return all(check["ok"] for check in self.checks) and any(not check.get("note") for check in self.checks)
