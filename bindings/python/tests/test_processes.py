"""Forks, signals, restarts, other processes."""

import os
import signal
import subprocess
import sys
import time

import pytest

import millpond
from conftest import DEADLINE, Server

CHILD = """
import os, sys, millpond, numpy
t = millpond.create(sys.argv[1], (4,), "uint8", zero=True)
array = t.numpy()
capsule = t.__dlpack__()
pid = os.fork()
if pid == 0:
    assert millpond.live_leases() == 0
    for use in (t.numpy, t.publish, t.tobytes, t.__dlpack__, lambda: t.ptr, lambda: t.copy_(b"1234")):
        try:
            use()
        except millpond.ForkError as error:
            assert "forked" in str(error) and error.hint, error
        else:
            os._exit(3)
    # The pond is there for the child, the driver of the parent is not: as with CUDA.
    assert millpond.download(sys.argv[1]) == bytes(4)
    try:
        millpond.get(sys.argv[1])
    except millpond.DriverError as error:
        assert "spawn" in error.hint, error
    else:
        os._exit(4)
    del capsule, array
    t.close()
    assert millpond.live_leases() == 0
    sys.exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
# Nothing of the parent's was given back by the child.
array[:] = 5
assert millpond.live_leases() == 1 and millpond.info(sys.argv[1]).leases == 1
t.publish()
print("fine")
"""


def test_a_child_that_was_forked_before_the_first_tensor_has_its_own(name, python):
    millpond.create(name, (4,), "uint8", zero=True).close()
    script = """
import os, sys, millpond
millpond.status()
pid = os.fork()
own = millpond.get(sys.argv[1])
assert own.numpy().tolist() == [0, 0, 0, 0] and millpond.live_leases() == 1
own.close()
assert millpond.flush()
if pid:
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    print("fine")
"""
    assert python(script, name) == "fine\n"
    millpond.delete(name)


def test_a_forked_child_is_told_and_the_parent_keeps_its_own(name, python):
    assert python(CHILD, name) == "fine\n"
    millpond.delete(name)


def test_a_program_in_a_container_shares_with_one_outside(name):
    apart = ["unshare", "--user", "--map-root-user", "--pid", "--net", "--ipc", "--mount", "--fork", "--kill-child", "--mount-proc"]
    if subprocess.run([*apart, "true"], capture_output=True).returncode != 0:
        print("SKIPPED: `unshare` with a user namespace is not permitted here")
        pytest.skip("no namespaces")
    script = """
import os, sys, millpond
with millpond.get(sys.argv[1]) as t:
    assert os.getpid() == 1 and t.tobytes() == bytes(4)
    own = next(one for one in millpond.clients() if one.leases)
    print(own.pid, flush=True)
    sys.stdin.read()
"""
    millpond.create(name, (4,), "uint8", zero=True).close()
    millpond.flush()
    inside = subprocess.Popen(
        [*apart, sys.executable, "-c", script, name],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    pid = int(inside.stdout.readline())
    assert [one.pid for one in millpond.clients() if one.leases] == [pid] and pid > 1
    inside.kill()
    inside.communicate()
    deadline = time.monotonic() + DEADLINE
    while millpond.info(name).leases and time.monotonic() < deadline:
        time.sleep(0.01)
    assert millpond.info(name).leases == 0
    millpond.delete(name)


def test_ctrl_c_ends_a_wait(name):
    script = """
import sys, millpond
millpond.status()
try:
    print("waiting", flush=True)
    millpond.get(sys.argv[1], wait=float("inf"))
except KeyboardInterrupt:
    print("interrupted", millpond.live_leases())
"""
    child = subprocess.Popen([sys.executable, "-c", script, name], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "waiting\n"
    # Long enough to be in the wait most of the time; before it, it must end as well.
    time.sleep(0.3)
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=DEADLINE)
    assert out == "interrupted 0\n" and child.returncode == 0


def test_a_killed_process_leaves_no_lease(name):
    script = """
import sys, time, millpond
keep = millpond.create(sys.argv[1], (1000,), "uint8", zero=True).numpy()
print("there", flush=True)
time.sleep(600)
"""
    child = subprocess.Popen([sys.executable, "-c", script, name], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "there\n"
    assert millpond.info(name).leases == 1
    child.kill()
    child.communicate()
    deadline = time.monotonic() + DEADLINE
    while millpond.info(name).leases and time.monotonic() < deadline:
        time.sleep(0.02)
    assert millpond.info(name).leases == 0
    millpond.delete(name)


def test_memory_outlives_the_daemon(name, pond):
    t = millpond.create(name, (4,), "uint8", zero=True)
    array = t.numpy()
    before = millpond.status()
    os.kill(before.daemon_pid, signal.SIGKILL)
    array[:] = 7
    t.publish()
    after = millpond.status()
    assert after.epoch > before.epoch and not t.is_lost
    assert millpond.get(name).numpy().tolist() == [7] * 4
    millpond.delete(name)


def test_neither_numpy_nor_torch_is_imported_and_neither_is_needed(python):
    script = """
import sys
sys.modules["numpy"] = sys.modules["torch"] = sys.modules["ml_dtypes"] = None
import millpond
t = millpond.create(None, (2,), "bfloat16")
t.copy_(b"1234")
assert t.tobytes() == b"1234" and t.__dlpack__() is not None
millpond.delete(t)
try:
    t.numpy()
except ImportError:
    print("fine")
"""
    assert python(script) == "fine\n"
    assert python("import sys, millpond; print('numpy' in sys.modules, 'torch' in sys.modules)") == "False False\n"


def test_a_pond_with_gpus_that_are_not_ones_own_still_takes_bytes(tmp_path, name, pond):
    server = Server(tmp_path / "run", MILLPOND_SOFT_DIR=str(tmp_path / "gpu"))
    try:
        server.pond.put(name, b"1234")
        assert server.pond.download(name) == b"1234"
        assert pond.list(name) == []
        with pytest.raises(millpond.Error):
            server.pond.get(name)
    finally:
        server.stop()


BUSY = """
import sys, threading, time, millpond
m = millpond.attach(sys.argv[1])
uses = {
    "attach": lambda: millpond.attach(sys.argv[1]).close(),
    "numpy": lambda: [one.numpy() for one in m.values()],
    "wait": lambda: millpond.get("nobody/has/this", wait=0.01),
}
begun = threading.Barrier(5)
def busy(use):
    begun.wait()
    while True:
        try:
            use()
        except millpond.Timeout:
            pass
for _ in range(4):
    threading.Thread(target=busy, args=(uses[sys.argv[2]],), daemon=True).start()
begun.wait()
time.sleep(float(sys.argv[3]))
print("fine")
"""


@pytest.mark.parametrize("use", ["attach", "numpy", "wait"])
def test_threads_that_are_busy_when_the_interpreter_ends_do_no_harm(model, python, use):
    for pause in ("0", "0.01", "0.1"):
        assert python(BUSY, model, use, pause) == "fine\n"
