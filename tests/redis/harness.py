"""A pond on the software driver, bridges to it, and processes that hold: each can be killed at any time, and started again."""

import base64
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid

import redis

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PATIENCE = int(os.environ.get("REDIS_TESTS_PATIENCE", "30"))  # Ends what hangs; decides nothing.
MIB = 1 << 20


class Late(AssertionError):
    """Something did not become so."""


def eventually(what, condition, seconds=PATIENCE):
    """Waits until a condition gives something true, and returns that. What it raises is the reason if it never does."""
    deadline, last = time.monotonic() + seconds, None
    while True:
        try:
            given = condition()
            if given:
                return given
            last = given
        except (AssertionError, OSError, KeyError, ValueError, redis.RedisError, subprocess.SubprocessError) as error:
            last = error
        if time.monotonic() > deadline:
            raise Late(f"not within {seconds} s: {what}; last: {last!r}")
        time.sleep(0.02)


def eventually_equal(what, expected, value, seconds=PATIENCE):
    def equal():
        found = value()
        if found != expected:
            raise AssertionError(f"{found!r} instead of {expected!r}")
        return True

    eventually(what, equal, seconds)


def kill(pid):
    """Kills a process that may be gone already, and waits until it is."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        signal.pidfd_send_signal(descriptor, signal.SIGKILL)
    except ProcessLookupError:
        pass
    finally:
        os.close(descriptor)
    eventually(f"process {pid} ends", lambda: not lives(pid))


def lives(pid):
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return False
    return stat.rpartition(") ")[2][0] not in "ZX"


def resident(pid):
    """Memory of a process, in bytes."""
    return int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def peak(pid):
    """The most memory that a process ever had, in bytes."""
    line = next(line for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) << 10


class Folder:
    """In memory, with the number of this process, so that what is left behind has a name. Short: sockets have to fit."""

    def __init__(self):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix=f"rt-{os.getpid()}-", dir="/dev/shm"))

    def __truediv__(self, name):
        return self.path / name

    def remove(self):
        shutil.rmtree(self.path, ignore_errors=True)


class Pond:
    """`millpond serve` in a folder of its own, with software GPUs of its own."""

    def __init__(self, folder, name="pond", devices=1, memory="2G"):
        self.home = folder / name
        self.home.mkdir()
        self.program, self.keeper = os.environ["MILLPOND_BIN"], None
        self.log_file = self.home / "log"
        (self.home / "config.toml").touch()
        plain = {name: value for name, value in os.environ.items() if not name.startswith(("MILLPOND_", "XDG_"))}
        # What programs of this machine see of the driver, also those that know nothing of Millpond.
        self.driver = plain | {"CUDA_LIBRARY": os.environ["MILLPOND_SOFT_LIBRARY"], "MILLPOND_SOFT_DIR": str(self.home / "soft"),
                               "MILLPOND_SOFT_MEMORY": memory, "MILLPOND_SOFT_DEVICES": str(devices)}
        # Memory that is not used is given back at once, so that it can be counted.
        self.environment = self.driver | {"MILLPOND_DRIVER": "soft", "MILLPOND_RUNTIME_DIR": str(self.home / "run"), "HOME": str(self.home),
                                          "MILLPOND_CONFIG": str(self.home / "config.toml"), "MILLPOND_RECYCLE_BYTES": "0"}
        self.start()
        self.unused_bytes = [gpu["physical_used_bytes"] for gpu in self.status()["devices"]]

    def start(self):
        with open(self.log_file, "ab") as log:
            self.keeper = subprocess.Popen([self.program, "serve"], env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        eventually(f"a pond in {self.home}", lambda: self.status()["driver_ready"])

    def cli(self, *arguments, code=0):
        """A command of `millpond`; what it printed."""
        ran = subprocess.run([self.program, *arguments], env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                             timeout=PATIENCE, check=False)
        if ran.returncode != code:
            raise AssertionError(f"millpond {' '.join(arguments)}: {ran.returncode}: {ran.stdout}{ran.stderr}")
        return ran.stdout

    def status(self):
        return json.loads(self.cli("status", "--json"))

    def tensors(self):
        """The catalog, with what is deleted and still held."""
        return json.loads(self.cli("tensor", "ls", "--all", "--json"))["tensors"]

    def inspect(self, name):
        return json.loads(self.cli("tensor", "inspect", name, "--json"))

    def holds(self, name):
        return self.inspect(name)["holds"]

    def handle(self, name):
        """The 64 bytes that open it, as the pond hands them out to its own user."""
        return base64.b64decode(json.loads(self.cli("tensor", "handle", name, "--json"))["memory"])

    def hosts(self):
        return [host["pid"] for host in self.status()["hosts"]]

    def daemon(self):
        return self.status()["daemon_pid"]

    def kill_daemon(self, wait=True):
        before = self.daemon()
        kill(before)
        if wait:
            eventually("the next daemon serves", lambda: self.status()["driver_ready"] and self.daemon() != before)

    def kill_keeper(self, wait=True):
        before = self.status()["keeper_pid"]
        kill(before)
        if self.keeper.pid == before:
            self.keeper.wait()
        if wait:
            eventually("the next keeper", lambda: self.status()["keeper_pid"] not in (0, None, before))

    def kill_hosts(self):
        hosts = self.hosts()
        for pid in hosts:
            kill(pid)
        return hosts

    def kill_all(self):
        """As when the machine loses power: nothing ends in order."""
        status = self.status()
        for pid in (status["keeper_pid"], status["daemon_pid"], *[host["pid"] for host in status["hosts"]]):
            kill(pid)
        self.keeper.wait()

    def stop(self):
        try:
            status = self.status()
            pids = [status["keeper_pid"], status["daemon_pid"], *[host["pid"] for host in status["hosts"]]]
            self.cli("stop")
        except (AssertionError, OSError, subprocess.SubprocessError):
            pids = []
        for pid in filter(None, pids):
            kill(pid)
        if self.keeper.poll() is None:
            self.keeper.kill()
        self.keeper.wait()


class Bridge:
    """`millpond redis`: between one pond and one Redis."""

    def __init__(self, pond, *urls, node="a", prefix="", repair_every="60s", arguments=(), environment=None, start=True, apart=()):
        self.pond, self.node, self.prefix, self.process = pond, node, prefix, None
        self.log_file = pond.home / f"bridge-{node}.log"
        self.environment = pond.environment | (environment or {})
        # What it sees as its own number.
        self.own_pid = (lambda: 1) if apart else (lambda: self.pid)
        self.command = [*apart, os.environ["MILLPOND_REDIS_BIN"], *(word for url in urls for word in ("--url", url)), "--node", node,
                        "--repair-every", repair_every, *(["--prefix", prefix] if prefix else []), *arguments]
        if start:
            self.start()

    def start(self):
        with open(self.log_file, "ab") as log:
            self.process = subprocess.Popen(self.command, env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        return self

    @property
    def pid(self):
        return self.process.pid

    def registered(self, connection):
        """Waits until this very process has said that it lives."""
        def said():
            if self.process.poll() is not None:
                raise AssertionError(f"the bridge ended with {self.process.returncode}: {self.log()[-2000:]}")
            pid = connection.hget(f"{self.prefix}tensor:node:{self.node}", "pid")
            return pid == str(self.own_pid()) and connection.exists(f"{self.prefix}tensor:heartbeat:{self.node}")

        eventually(f"node '{self.node}' is registered", said)
        return self

    def once(self, code=0):
        ran = subprocess.run([*self.command, "--once"], env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                             timeout=PATIENCE, check=False)
        if ran.returncode != code:
            raise AssertionError(f"--once: {ran.returncode}: {ran.stdout}{ran.stderr}")
        return ran

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def restart(self):
        self.kill()
        return self.start()

    def end(self):
        """Ends it in order; how it ended, and after how many seconds."""
        begun = time.monotonic()
        self.process.terminate()
        return self.process.wait(PATIENCE), time.monotonic() - begun

    def log(self):
        return self.log_file.read_text(errors="replace")


class Holder:
    """A process that holds a tensor, and does nothing else."""

    def __init__(self):
        self.process = subprocess.Popen(["sleep", "600"], stdin=subprocess.DEVNULL)
        self.pid = self.process.pid

    def kill(self):
        self.process.kill()
        self.process.wait()


class Owner:
    """A program with memory of its own, which it has put into the pond under a name."""

    def __init__(self, pond, name, bytes_):
        tool = os.environ.get("PONDTOOL") or pathlib.Path(os.environ["MILLPOND_BIN"]).parent / "pondtool"
        self.process = subprocess.Popen([str(tool), "shell"], env=pond.environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.pid = self.process.pid
        self.process.stdin.write(f"shared adopt {name} linear {bytes_} 5\n")
        self.process.stdin.flush()
        said = self.process.stdout.readline().strip()
        if said != "ok owner":
            self.kill()
            raise AssertionError(f"'{name}' was not adopted: {said}")

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


class Memory:
    """A process that opens memory by its 64 bytes, and knows nothing else of it."""

    def __init__(self, pond, handle, device=0):
        self.process = subprocess.Popen([sys.executable, str(HERE / "memory.py"), base64.b64encode(handle).decode(), str(device)],
                                        env=pond.driver, text=True, bufsize=1, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.opened = self.process.stdout.readline().strip()
        if self.opened != "opened":
            self.close()
            raise AssertionError(f"the handle does not open: {self.opened}")

    def ask(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        return self.process.stdout.readline().strip()

    def fill(self, value, bytes_):
        assert self.ask("fill", bytes_, value) == "filled"

    def sum(self, bytes_):
        return int(self.ask("sum", bytes_))

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Refused(AssertionError):
    def __init__(self, answer):
        super().__init__(json.dumps(answer))
        self.answer, self.code = answer, answer["error"]["code"]


class Commands:
    """A user who has Redis and nothing else."""

    def __init__(self, connect, prefix="", node=None):
        self.connect, self.prefix, self.node = connect, prefix, node
        self.redis = connect()
        self.sent = 0

    @property
    def list(self):
        return f"{self.prefix}tensor:cmd" if self.node is None else f"{{{self.prefix}tensor:cmd}}:node:{self.node}"

    def make(self, op, **fields):
        """The bytes of a command, with an id and a list for its answer."""
        id_ = uuid.uuid4().hex
        command = {"op": op, **fields, "id": id_, "reply": f"{self.prefix}tensor:reply:{id_}"}
        return json.dumps(command).encode(), command["reply"]

    def push(self, raw):
        self.redis.lpush(self.list, raw)

    def answer(self, reply, seconds=PATIENCE):
        found = self.redis.brpop([reply], timeout=seconds)
        if found is None:
            raise Late(f"no answer in {reply} within {seconds} s")
        return json.loads(found[1])

    def ask(self, op, **fields):
        """A command and its answer, whatever it is."""
        raw, reply = self.make(op, **fields)
        self.push(raw)
        self.sent += 1
        return self.answer(reply)

    def ask_through(self, op, seconds=90, **fields):
        """The same while anything may be killed: repeats the same bytes until there is an answer, and counts on the id."""
        raw, reply = self.make(op, **fields)
        deadline = time.monotonic() + seconds
        while True:
            try:
                self.push(raw)
                self.sent += 1
                return self.answer(reply, seconds=1)
            except (redis.RedisError, OSError, Late) as error:
                if time.monotonic() > deadline:
                    raise Late(f"no answer to {raw.decode()} within {seconds} s: {error!r}") from error
                if not isinstance(error, Late):
                    self.again()

    def again(self):
        """Another connection, as soon as there is something to connect to."""
        def connected():
            self.redis = self.connect()
            return self.redis.ping()

        eventually("Redis answers", connected)

    def do(self, op, **fields):
        """A command that must succeed; what it gave."""
        answer = self.ask(op, **fields)
        if answer["status"] != "ok":
            raise Refused(answer)
        return answer.get("tensor", answer)

    def refused(self, op, **fields):
        """A command that must be refused; its error."""
        answer = self.ask(op, **fields)
        if answer["status"] != "error":
            raise AssertionError(f"not refused: {answer}")
        return answer["error"]

    def create(self, name, dtype="f32", shape=(2, 3), **fields):
        return self.do("create", name=name, dtype=dtype, shape=list(shape), **fields)

    def get(self, name, **fields):
        return self.do("get", name=name, **fields)

    def delete(self, name, **fields):
        return self.do("delete", name=name, **fields)

    def hash(self, name):
        return self.redis.hgetall(f"{self.prefix}tensor:{name}")

    def refcount(self, name):
        count = self.redis.hget(f"{self.prefix}tensor:{name}", "refcount")
        return None if count is None else int(count)
