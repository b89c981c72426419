"""What the tests of models share: a pond on whichever driver, holders in other processes, accounts.

These tests run on both drivers. With pytest they use the pond of `conftest.py`; as programs of
their own (`python test_seed_checks.py`, also where pytest is not installed) they start one, on the
driver that MILLPOND_DRIVER names.
"""

import atexit
import contextlib
import gc
import itertools
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

_EXAMPLE = pathlib.Path(__file__).resolve().parents[3] / "examples" / "serve_pool"
sys.path.insert(0, os.environ.get("MILLPOND_SERVE_POOL", str(_EXAMPLE)))

import millpond  # noqa: E402

# No test waits so long unless something hangs.
DEADLINE = 120
_tags = itertools.count(1)


def on_gpu():
    """Whether the pond's driver is a card's."""
    return not millpond.status().software


def framework():
    return "torch" if on_gpu() else "numpy"


def views(model):
    """A mapped model's tensors by name."""
    return model.torch() if on_gpu() else model.numpy()


def host(view):
    """The bytes that a view of either framework shows now."""
    return view.contiguous().cpu().numpy().tobytes() if on_gpu() else view.tobytes()


class Skipped(Exception):
    """A test that cannot be run here, and why; only without pytest, which has its own."""


def skip(reason):
    if "pytest" in sys.modules:
        sys.modules["pytest"].skip(reason)
    raise Skipped(reason)


def new_name(test):
    """A model's name of the test's own."""
    return f"t/{test}/{os.getpid()}-{next(_tags)}"


def settle(ask, good):
    """Asks until the answer is right, and returns the last answer: the caller asserts."""
    deadline = time.monotonic() + DEADLINE
    while True:
        answer = ask()
        if good(answer) or time.monotonic() > deadline:
            return answer
        time.sleep(0.05)


def account():
    """The bytes of the pond's tensors and slabs in use, and its leases."""
    status = millpond.status()
    used = sum(device.slab_bytes - device.recycled_bytes for device in status.devices)
    return {
        "tensors": sum(device.tensor_bytes for device in status.devices),
        "slabs": used,
        "leases": status.leases,
    }


def physical():
    """What the driver says is used, without what the pond keeps to use again."""
    devices = millpond.status().devices
    return sum(device.physical_used_bytes - device.recycled_bytes for device in devices)


def end_movers():
    """A mover has a context, which counts: it is ended, so that readings can be compared."""
    program = os.environ.get("MILLPOND_BIN") or shutil.which("millpond")

    def pids():
        asked = subprocess.run([program, "status", "--json"], capture_output=True, check=True, timeout=DEADLINE)
        return [mover["pid"] for mover in json.loads(asked.stdout)["movers"]]

    for pid in pids():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    assert settle(pids, lambda pids: not pids) == []


def steady(read):
    """A reading once it stays: what ended processes held goes a moment later."""
    before = [read() for _ in range(3)]
    deadline = time.monotonic() + DEADLINE
    while len(set(before)) > 1 and time.monotonic() < deadline:
        time.sleep(0.1)
        before = [*before[1:], read()]
    return before[-1]


class Holder:
    """Another process that runs a script, and talks in lines."""

    def __init__(self, script, *args):
        self.process = subprocess.Popen(
            [sys.executable, "-c", script, *map(str, args)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def says(self):
        return self.process.stdout.readline().strip()

    def tell(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def end(self):
        """Ends it in order, or with -9 if it is not so kind."""
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        try:
            return self.process.wait(DEADLINE)
        finally:
            self.kill()

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        with contextlib.suppress(OSError):
            self.process.stdin.close()


# Maps a model, says its version and holds it until its input ends.
HOLD = """
import sys, millpond
model = millpond.attach(sys.argv[1])
print(model.version, flush=True)
sys.stdin.read()
"""


@contextlib.contextmanager
def holders(count, script, *args):
    """So many processes that have said their first line; ended with -9 unless ended before."""
    started = []
    try:
        for _ in range(count):
            started.append(Holder(script, *args))
        for holder in started:
            holder.first = holder.says()
            assert holder.first, "a holder did not start"
        yield started
    finally:
        for holder in started:
            holder.kill()


def own_pond():
    """Starts a pond for this program and its children, and stops it at the end."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="millpond-models-"))
    (folder / "gpu").mkdir(mode=0o700)
    (folder / "config.toml").touch()
    os.environ.update(MILLPOND_RUNTIME_DIR=str(folder / "run"), MILLPOND_CONFIG=str(folder / "config.toml"))
    os.environ.setdefault("MILLPOND_SOFT_DIR", str(folder / "gpu"))
    program = os.environ.get("MILLPOND_BIN") or shutil.which("millpond")
    if not program:
        sys.exit("set MILLPOND_BIN to the millpond program")
    log = open(folder / "log", "ab")
    keeper = subprocess.Popen([program, "serve"], stdout=log, stderr=log)

    def stop():
        keeper.terminate()
        keeper.wait(DEADLINE)
        shutil.rmtree(folder, ignore_errors=True)

    atexit.register(stop)

    def answers():
        with contextlib.suppress(millpond.Error):
            return millpond.status().driver_ready
        return False

    assert settle(answers, bool), (folder / "log").read_text()


def main(module):
    """Runs a module's tests without pytest; the last line is `N passed, N failed`."""
    own_pond()
    passed = failed = 0
    for name, test in list(module.items()):
        if not name.startswith("test_") or not callable(test):
            continue
        begun = time.monotonic()
        try:
            test()
            gc.collect()
            assert millpond.live_leases() == 0, "leases are left"
        except Skipped as reason:
            print(f"SKIPPED: {name}: {reason}", flush=True)
        except Exception:
            traceback.print_exc()
            failed += 1
            print(f"FAILED  {name}", flush=True)
        else:
            passed += 1
            print(f"ok      {name} [{time.monotonic() - begun:.1f} s]", flush=True)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)
