"""Transports and adopted memory under torch on a GPU: handles that CUDA and torch open, and the memory of each of torch's
allocators."""

import os
import signal
import subprocess
import sys
import time

import pytest

import millpond
from conftest import DEADLINE

pytest.importorskip("torch", reason="torch is not installed")

# Bytes that no fill makes by accident.
PATTERN = """
def pattern(torch, count):
    return (torch.arange(count, device="cuda", dtype=torch.int64) * 2654435761 % 251).to(torch.uint8)
"""

WRITE = (
    PATTERN
    + """
import sys, torch, millpond
with millpond.create(sys.argv[1], int(sys.argv[2]), "uint8", transport=sys.argv[3]) as t:
    t.torch().copy_(pattern(torch, int(sys.argv[2])))
    t.publish()
"""
)

READ = (
    PATTERN
    + """
import sys, torch, millpond
with millpond.get(sys.argv[1]) as t:
    seen = t.torch()
    assert torch.equal(seen, pattern(torch, seen.numel())), seen[:16]
    print(t.transport, t.survives, t.info.adopted)
    del seen
"""
)

COUNT = str(3 << 20)


@pytest.mark.parametrize("transport, survives", [("vmm", "everything"), ("mempool", "everything"), ("ipc", "host")])
def test_torch_writes_and_reads_memory_of_every_transport(name, python, transport, survives):
    python(WRITE, name, COUNT, transport)
    assert python(READ, name) == f"{transport} {survives} False\n"
    millpond.delete(name)


# A program without Millpond: it has the bytes of the handle, and torch for its CUDA runtime alone.
BY_CUDA = (
    PATTERN
    + """
import ctypes, sys, torch
torch.cuda.init()
torch.ones(1, device="cuda")
path = next(line.split()[-1] for line in open("/proc/self/maps") if "libcudart" in line)
runtime = ctypes.CDLL(path)

class Handle(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_char * 64)]

def call(function, *args):
    status = getattr(runtime, function)(*args)
    assert status == 0, (function, status)

memory, offset, count = bytes.fromhex(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
address = ctypes.c_void_p()
call("cudaIpcOpenMemHandle", ctypes.byref(address), Handle.from_buffer_copy(memory), 1)
data = ctypes.create_string_buffer(count)
call("cudaMemcpy", data, ctypes.c_void_p(address.value + offset), ctypes.c_size_t(count), 2)
assert data.raw == bytes(pattern(torch, count).cpu().numpy()), data.raw[:16]
call("cudaIpcCloseMemHandle", address)
print("fine")
"""
)

BY_TORCH = (
    PATTERN
    + """
import sys, torch
memory, offset, count = bytes.fromhex(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
event = bytes.fromhex(sys.argv[4])
# Torch puts two bytes before the driver's: the version and the kind of a handle. Its own say which.
probe = torch.ones(1024, device="cuda").untyped_storage()._share_cuda_()
prefix = probe[1][:-64]
storage = torch.UntypedStorage._new_shared_cuda(
    torch.cuda.current_device(), prefix + memory, count, offset, probe[4], probe[5], event or probe[6], bool(event)
)
seen = torch.empty(0, dtype=torch.uint8, device="cuda").set_(storage, 0, (count,))
assert torch.equal(seen, pattern(torch, count)), seen[:16]
print("fine", len(prefix))
"""
)


@pytest.fixture
def handle(name, python):
    python(WRITE, name, COUNT, "ipc")
    with millpond.handle(name) as handle:
        yield handle
    millpond.delete(name)


def test_a_program_that_knows_only_cuda_opens_a_handle(handle, python):
    assert python(BY_CUDA, handle.memory.hex(), str(handle.offset), str(handle.nbytes)) == "fine\n"
    # As often as it likes.
    assert python(BY_CUDA, handle.memory.hex(), str(handle.offset), str(handle.nbytes)) == "fine\n"


def test_torch_rebuilds_shared_storage_from_a_handle(handle, python):
    event = handle.event.hex() if handle.event else ""
    said = python(BY_TORCH, handle.memory.hex(), str(handle.offset), str(handle.nbytes), event)
    assert said.startswith("fine")


def test_streams_of_two_processes_are_ordered_by_a_tensors_event(name, python):
    millpond.create(name, 64 << 20, "uint8", zero=True, transport="ipc").close()
    python(
        """
import sys, subprocess, torch, millpond
name = sys.argv[1]
t = millpond.get(name, mode="rw")
stream = torch.cuda.Stream()
memory = t.torch()
reader = '''
import sys, torch, millpond
t = millpond.get(sys.argv[1])
memory, stream = t.torch(), torch.cuda.Stream()
print("ready", flush=True)
sys.stdin.readline()
t.wait(stream)
with torch.cuda.stream(stream):
    seen = memory.min()
stream.synchronize()
print(int(seen), flush=True)
del memory
'''
other = subprocess.Popen([sys.executable, "-c", reader, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
assert other.stdout.readline() == "ready\\n"
with torch.cuda.stream(stream):
    # Long enough that the other process asks before it is done.
    for value in range(1, 201):
        memory.fill_(value)
        torch.cuda._sleep(2_000_000)
t.record(stream)
said, _ = other.communicate("go\\n", timeout=60)
assert said == "200\\n", said
del memory
""",
        name,
    )
    millpond.delete(name)


# ---- memory of torch's ----

ADOPT = (
    PATTERN
    + """
import subprocess, sys, time, torch, millpond
name = sys.argv[1]

def read():
    return subprocess.run([sys.executable, "-c", sys.argv[2], name], capture_output=True, text=True, check=True).stdout

def refused(tensor, *reasons):
    try:
        millpond.adopt(name, tensor).close()
    except millpond.AdoptError as error:
        assert any(reason in error.message for reason in reasons), error
        assert "copy=True" in error.hint, error
    else:
        raise AssertionError("it was adopted")

def copied(tensor):
    with millpond.adopt(name, tensor, copy=True) as t:
        assert t.copied_because and not t.info.adopted, t.copied_because
        assert torch.equal(t.torch(), tensor)
        assert read() == "vmm everything False\\n"
    millpond.delete(name)
"""
)


@pytest.fixture
def torch_with(python, monkeypatch):
    def run(settings, script, *args):
        for variable in ("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"):
            monkeypatch.delenv(variable, raising=False)
        if settings:
            monkeypatch.setenv("PYTORCH_CUDA_ALLOC_CONF", settings)
        return python(ADOPT + script, *args)

    return run


def test_torchs_usual_memory_is_adopted_and_lives_with_its_owner(name, torch_with):
    torch_with(
        None,
        """
for count in (1000, 3 << 20, 64 << 20):
    tensor = pattern(torch, count)
    with millpond.adopt(name, tensor) as t:
        assert (t.transport, t.survives, t.copied_because) == ("ipc", "owner", None)
        assert torch.equal(t.torch(), tensor)
        assert read() == "ipc owner True\\n"
    millpond.delete(name)
    assert millpond.flush()
part = pattern(torch, 8 << 20)[4 << 20:]
with millpond.adopt(name, part) as t:
    assert torch.equal(t.torch(), part), "also a part of a tensor"
millpond.delete(name)
for wrong in (pattern(torch, 64).view(8, 8).t(), pattern(torch, 64)[::2]):
    try:
        millpond.adopt(name, wrong)
    except millpond.Invalid as error:
        assert "not contiguous" in error.message
    else:
        raise AssertionError
try:
    millpond.adopt(name, torch.ones(4))
except millpond.Invalid as error:
    assert "not on a GPU" in error.message
else:
    raise AssertionError
weight = torch.nn.Linear(64, 64, device="cuda").weight
with millpond.adopt(name, weight) as t:
    assert (t.dtype, t.shape) == ("float32", (64, 64))
    assert torch.equal(t.torch(), weight.detach())
millpond.delete(name)
""",
        name,
        READ,
    )


def test_what_torch_keeps_for_the_pond_is_its_own_again_afterwards(name, torch_with):
    torch_with(
        None,
        """
import gc
tensor = pattern(torch, 64 << 20)
millpond.adopt(name, tensor).close()
del tensor
gc.collect()
assert torch.cuda.memory_allocated() >= 64 << 20
assert read() == "ipc owner True\\n"
millpond.delete(name)
deadline = time.monotonic() + 60
while torch.cuda.memory_allocated() >= 64 << 20:
    assert time.monotonic() < deadline
    gc.collect()
    time.sleep(0.01)
""",
        name,
        READ,
    )


def test_expandable_segments_are_adopted_only_where_a_tensor_fills_its_handle(name, torch_with):
    torch_with(
        "expandable_segments:True",
        """
# The first of all: it begins where a handle does, and a handle of large tensors has 20 MiB.
whole = torch.empty(20 << 20, dtype=torch.uint8, device="cuda")
whole.copy_(pattern(torch, 20 << 20))
with millpond.adopt(name, whole) as t:
    assert (t.transport, t.survives, t.copied_because) == ("vmm", "everything", None)
    assert torch.equal(t.torch(), whole)
    assert read() == "vmm everything True\\n"
millpond.delete(name)
small = pattern(torch, 1000)
refused(small, "piece of", "handle of")
copied(small)
# Over several handles.
large = pattern(torch, 64 << 20)
refused(large, "several")
copied(large)
""",
        name,
        READ,
    )


def test_memory_of_the_drivers_default_pool_is_refused_or_copied(name, torch_with):
    torch_with(
        "backend:cudaMallocAsync",
        """
for count in (1000, 64 << 20):
    tensor = pattern(torch, count)
    refused(tensor, "default pool")
    copied(tensor)
""",
        name,
        READ,
    )


OWNER = """
t = millpond.adopt(name, pattern(torch, 3 << 20))
print("ready", flush=True)
time.sleep(600)
"""

STAY = (
    PATTERN
    + """
import sys, torch, millpond
t = millpond.get(sys.argv[1])
seen = t.torch()
assert torch.equal(seen, pattern(torch, seen.numel()))
print("seen", flush=True)
sys.stdin.read()
assert torch.equal(seen, pattern(torch, seen.numel()))
print("seen", flush=True)
del seen
"""
)


def test_readers_keep_their_bytes_when_the_owner_is_killed_and_nobody_else_gets_them(name):
    run = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    owner = subprocess.Popen([sys.executable, "-c", ADOPT + OWNER, name, READ], **run)
    reader = None
    try:
        assert owner.stdout.readline() == "ready\n"
        info = millpond.info(name)
        assert (info.home_pid, info.survives) == (owner.pid, "owner")
        reader = subprocess.Popen([sys.executable, "-c", STAY, name], **run)
        assert reader.stdout.readline() == "seen\n"
        os.kill(owner.pid, signal.SIGKILL)
        owner.communicate()
        deadline = time.monotonic() + DEADLINE
        while millpond.info(info).state != "orphan":
            assert time.monotonic() < deadline, millpond.info(info).state
            time.sleep(0.01)
        with pytest.raises(millpond.NotFound, match="its owner"):
            millpond.get(name)
        assert reader.communicate(timeout=DEADLINE)[0] == "seen\n"
        assert reader.returncode == 0
    finally:
        for one in filter(None, (owner, reader)):
            one.kill()
            one.wait()
