"""cuda.core's own package over memory of the pond: on a GPU, or over the software driver behind a real libcuda.so."""

import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import pytest

import millpond
from conftest import DEADLINE, GPU

pytest.importorskip("cuda.core", reason="cuda-core is not installed")

PRELUDE = """
import gc, os, pickle, subprocess, sys, time
import millpond
from cuda.core import Buffer, Device
from cuda.core.utils import StridedMemoryView

name = sys.argv[1]
device = Device(0)
device.set_current()
stream = device.create_stream()

def seen(buffer):
    return StridedMemoryView.from_any_interface(buffer, stream_ptr=-1)

def gone(id):
    deadline = time.monotonic() + 60
    while True:
        try:
            if millpond.info(id).state == "deleted":
                return
        except millpond.NotFound:
            return
        assert time.monotonic() < deadline, "it stays"
        time.sleep(0.01)
"""


@pytest.fixture(params=["eager"] if GPU else ["eager", "late"])
def environment(request, tmp_path):
    """Of a process in which cuda.core finds a driver; `late` starts its work as late as a card may."""
    if GPU:
        return dict(os.environ)
    library = pathlib.Path(os.environ["MILLPOND_BIN"]).parent / "libcuda.so"
    if not library.exists():
        pytest.skip(f"there is no {library}: build millpond-softgpu-libcuda")
    (tmp_path / "libcuda.so.1").symlink_to(library)
    late = {"MILLPOND_SOFT_ADVERSARIAL": "1"} if request.param == "late" else {}
    return {**os.environ, **late, "MILLPOND_DRIVER": "cuda", "LD_LIBRARY_PATH": str(tmp_path)}


@pytest.fixture(autouse=True)
def the_card_is_empty_afterwards():
    """The pond keeps empty slabs for the next tensor; the next test may want the whole card."""
    yield
    deadline = time.monotonic() + DEADLINE
    while any(one.tensor_bytes for one in millpond.status().devices):
        assert time.monotonic() < deadline, millpond.list()
        time.sleep(0.01)
    millpond.gc()


@pytest.fixture
def run(environment):
    """Runs a script in a process of its own, which may print nothing but what is returned."""

    def run(script, *args):
        command = [sys.executable, "-c", PRELUDE + script, *args]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE, env=environment)
        assert (ended.returncode, ended.stderr) == (0, ""), ended.stderr
        return ended.stdout

    return run


def test_a_buffer_is_memory_of_the_pond_that_goes_when_it_is_closed(name, run):
    run(
        """
mr = millpond.PondMemoryResource(device)
assert (mr.is_device_accessible, mr.is_host_accessible, mr.is_managed, mr.device_id) == (True, False, False, 0)
begun = millpond.live_leases()
b = mr.allocate(4096, stream=stream)
assert (b.size, b.device_id, b.is_device_accessible, b.is_host_accessible) == (4096, 0, True, False)
assert b.memory_resource is mr and millpond.live_leases() == begun + 1
t = mr.tensor(b)
assert (int(b.handle), t.nbytes, t.info.ephemeral, t.name) == (t.ptr, 4096, True, None)
b.fill(7, stream=stream)
stream.sync()
assert t.tobytes() == bytes([7]) * 4096
b.close()
assert t.closed and millpond.live_leases() == begun
gone(t.id)
for wrong in (b, Buffer.from_handle(0, 0)):
    try:
        mr.tensor(wrong)
    except (ValueError, RuntimeError, TypeError):
        pass
    else:
        raise AssertionError(wrong)
assert mr.allocate(0, stream=stream).size == 0
""",
        name,
    )


def test_a_buffer_that_is_closed_under_running_work_stays_until_that_is_done(name, run):
    run(
        """
mr = millpond.PondMemoryResource(device)
kept = mr.allocate(8 << 20, stream=stream)
for value in range(8):
    b = mr.allocate(8 << 20, stream=stream)
    b.fill(value, stream=stream)
    kept.copy_from(b, stream=stream)
    b.close(stream)
stream.sync()
assert mr.tensor(kept).tobytes()[-4:] == bytes([7]) * 4
# One that nobody closes, on a stream of its own.
other = device.create_stream()
b = mr.allocate(8 << 20, stream=other)
b.fill(9, stream=other)
kept.copy_from(b, stream=other)
del b
gc.collect()
other.sync()
assert mr.tensor(kept).tobytes()[:4] == bytes([9]) * 4
""",
        name,
    )


def test_a_device_allocates_from_the_pond_and_copies_go_there(name, run):
    run(
        """
mr = device.memory_resource = millpond.PondMemoryResource(device)
begun = millpond.live_leases()
a = device.allocate(1000, stream=stream)
a.fill(3, stream=stream)
b = a.copy_to(stream=stream)
assert b.memory_resource is mr and millpond.live_leases() == begun + 2
stream.sync()
assert mr.tensor(b).tobytes() == bytes([3]) * 1000
try:
    pickle.dumps(a)
except RuntimeError as error:
    assert "IPC" in str(error), error
else:
    raise AssertionError
try:
    device.allocate(1 << 50, stream=stream)
except millpond.GpuFull as error:
    assert isinstance(error, MemoryError)
else:
    raise AssertionError
del a, b
gc.collect()
assert millpond.live_leases() == begun
# One that is alive when the interpreter ends.
last = device.allocate(8, stream=stream)
""",
        name,
    )


def test_a_name_is_the_same_memory_in_every_process(name, run):
    run(
        """
mr = millpond.PondMemoryResource(device, prefix=name + "/", audience="group")
b = mr.allocate_named("x", 64, stream=stream)
b.fill(5, stream=stream)
assert mr.tensor(b).info.share == "group" and millpond.info(name + "/x").state == "writing"
twice = mr.allocate_named("x", 64, stream=stream)
assert twice.handle == b.handle and mr.tensor(twice).id == mr.tensor(b).id
twice.close()
assert mr.publish(b, stream=stream) == 1
b.close()
""",
        name,
    )
    assert millpond.info(f"{name}/x").state == "ready"
    run(
        """
mr = millpond.PondMemoryResource(device, prefix=name + "/")
b = mr.get("x", wait=5, stream=stream)
assert mr.tensor(b).tobytes() == bytes([5]) * 64
b.fill(6, stream=stream)
stream.sync()
assert millpond.get(name + "/x").tobytes() == bytes([6]) * 64
mr.delete("x")
assert mr.tensor(b).tobytes() == bytes([6]) * 64
""",
        name,
    )
    with pytest.raises(millpond.NotFound):
        millpond.info(f"{name}/x")


def test_what_has_no_name_travels_as_a_reference_and_outlives_its_buffer_where_it_is_mapped(name, run):
    run(
        """
mr = millpond.PondMemoryResource(device)
b = mr.allocate(16, stream=stream)
b.fill(4, stream=stream)
mr.publish(b, stream=stream)
script = '''
import pickle, sys, millpond
t = pickle.loads(sys.stdin.buffer.read(int(sys.stdin.buffer.readline())))
print("mapped", flush=True)
sys.stdin.read()
print(t.tobytes().hex(), flush=True)
'''
other = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
data = pickle.dumps(mr.tensor(b))
other.stdin.write(b"%d\\n" % len(data) + data)
other.stdin.flush()
assert other.stdout.readline() == b"mapped\\n"
b.close()
assert millpond.flush()
assert other.communicate()[0] == b"04" * 16 + b"\\n" and other.returncode == 0
""",
        name,
    )


def test_a_kill_ends_what_has_no_name_and_keeps_what_has_one(name, environment):
    script = """
mr = millpond.PondMemoryResource(device, prefix=name + "/")
named, unnamed = mr.allocate_named("x", 64, stream=stream), mr.allocate(64, stream=stream)
named.fill(5, stream=stream)
mr.publish(named, stream=stream)
print(mr.tensor(unnamed).id, flush=True)
time.sleep(600)
"""
    command = [sys.executable, "-c", PRELUDE + script, name]
    killed = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    try:
        unnamed = killed.stdout.readline().strip()
        assert millpond.info(unnamed).ephemeral
        killed.send_signal(signal.SIGKILL)
        killed.communicate()
    finally:
        killed.kill()
        killed.wait()
    deadline = time.monotonic() + DEADLINE
    while True:
        try:
            millpond.info(unnamed)
        except millpond.NotFound:
            break
        assert time.monotonic() < deadline, "it outlives its process"
        time.sleep(0.01)
    with millpond.get(f"{name}/x") as kept:
        assert kept.tobytes() == bytes([5]) * 64
    millpond.delete(f"{name}/x")


def test_a_tensor_is_a_buffer_that_keeps_the_lease(name, run):
    run(
        """
t = millpond.create(name, (4, 256), "float32", zero=True)
b = t.buffer()
assert (int(b.handle), b.size, b.device_id) == (t.ptr, 4096, 0)
assert b.memory_resource is None and b.is_device_accessible and not b.is_host_accessible
view = seen(b)
assert (view.ptr, view.shape, view.device_id, view.readonly) == (t.ptr, (4096,), 0, False)
assert b.__dlpack_device__() == t.__dlpack_device__() == (2, 0)
view = seen(t)
assert (view.ptr, view.shape, view.dtype.name, view.readonly) == (t.ptr, (4, 256), "float32", False)
del view
b.fill(b"\\0\\0\\x80\\x3f", stream=stream)
t.publish(stream)
id = t.id
t.close()
millpond.delete(name)
assert millpond.live_leases() == 1
target = millpond.create(None, 4096, "uint8")
target.buffer().copy_from(b, stream=stream)
stream.sync()
assert target.tobytes() == b"\\0\\0\\x80\\x3f" * 1024
target.close()
millpond.delete(target)
b.close()
gc.collect()
assert millpond.live_leases() == 0
try:
    t.buffer()
except millpond.ClosedError:
    pass
else:
    raise AssertionError
""",
        name,
    )


def test_what_is_read_only_becomes_a_buffer_only_on_request(name, run):
    run(
        """
millpond.put(name, b"abcd")
t = millpond.get(name)
for refused in (t.buffer, lambda: millpond.cuda_core.buffer(t)):
    try:
        refused()
    except millpond.ReadOnlyError as error:
        assert "allow_readonly" in error.hint and name in error.message, error
    else:
        raise AssertionError
assert seen(t).readonly
b = t.buffer(allow_readonly=True)
assert int(b.handle) == t.ptr
mr = millpond.PondMemoryResource(device)
copy = b.copy_to(mr.allocate(4, stream=stream), stream=stream)
stream.sync()
assert mr.tensor(copy).tobytes() == b"abcd"
millpond.get(name, mode="rw").buffer().fill(1, stream=stream)
stream.sync()
assert t.tobytes() == bytes([1]) * 4
millpond.delete(name)
""",
        name,
    )


PAGE = pathlib.Path(__file__).resolve().parents[3] / "docs" / "python.md"


def test_the_lines_of_the_page_work(run):
    section = PAGE.read_text().split("\n## cuda.core\n")[1].split("\n## ")[0]
    (lines,) = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    run(
        lines
        + """
assert mr.tensor(y).tobytes() == bytes([7]) * (1 << 20) and x.tobytes() == bytes(24)
millpond.delete("acts/x")
mr.delete("y")
""",
        "",
    )
