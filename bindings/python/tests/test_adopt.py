"""Memory that a program has already, under a name of the pond's."""

import os
import pathlib
import signal
import subprocess
import sys
import time
import types

import pytest

import millpond
from conftest import DEADLINE
from millpond import _adopt

MIB = 1 << 20

# ---- what is asked before anybody is: shapes, and who else is in a piece of torch's memory ----


@pytest.mark.parametrize(
    "shape, strides, answer",
    [
        ((), (), True),
        ((2, 3), (3, 1), True),
        ((2, 3), (1, 2), False),
        ((2, 3), (4, 1), False),
        ((1, 3), (77, 1), True),
        ((3, 1), (1, 77), True),
        ((4,), (2,), False),
        ((4,), (0,), False),
    ],
)
def test_memory_is_contiguous_where_its_strides_leave_no_gap(shape, strides, answer):
    assert _adopt.is_contiguous(shape, strides) == answer


def segment(begin, *blocks, places=True):
    """A segment as ``torch.cuda.memory_snapshot()`` has it, of blocks with a size and a state."""
    made, at = [], begin
    for size, state in blocks:
        made.append({"size": size, "state": state, **({"address": at} if places else {})})
        at += size
    return {"address": begin, "total_size": at - begin, "blocks": made, "is_expandable": True}


USED, FREE, PENDING = "active_allocated", "inactive", "active_pending_free"
BASE = 0x7000_0000_0000


@pytest.mark.parametrize("places", [True, False])
def test_a_tensor_that_fills_its_piece_has_no_neighbours(places):
    snapshot = [segment(BASE, (20 * MIB, USED), (4 * MIB, USED), places=places), segment(BASE + (1 << 30), (MIB, USED))]
    assert _adopt.neighbours(snapshot, BASE, BASE, BASE + 20 * MIB) == (0, 0)
    assert _adopt.shared(snapshot, BASE, BASE, 20 * MIB) is None
    assert _adopt.shared(snapshot, BASE + 20 * MIB, BASE + 20 * MIB, 4 * MIB) is None


@pytest.mark.parametrize("places", [True, False])
def test_other_tensors_in_the_same_piece_are_counted_and_named(places):
    snapshot = [segment(BASE, (MIB, USED), (MIB // 2, PENDING), (MIB // 2, FREE), places=places)]
    assert _adopt.neighbours(snapshot, BASE, BASE, BASE + 2 * MIB) == (MIB // 2, MIB // 2)
    assert _adopt.neighbours(snapshot, BASE + MIB, BASE, BASE + 2 * MIB) == (MIB, MIB // 2)
    reason = _adopt.shared(snapshot, BASE, BASE, 2 * MIB)
    assert reason.startswith(f"{MIB // 2} bytes of other tensors are in the piece of {2 * MIB} bytes")


def test_room_for_other_tensors_in_the_same_piece_is_a_reason_too():
    snapshot = [segment(BASE, (19 * MIB, USED), (MIB, FREE))]
    reason = _adopt.shared(snapshot, BASE + 5, BASE, 20 * MIB)
    assert reason.startswith(f"torch may put other tensors into {MIB} bytes")


def test_only_the_part_of_a_neighbour_inside_the_piece_counts():
    snapshot = [segment(BASE, (3 * MIB, USED), (3 * MIB, USED))]
    assert _adopt.neighbours(snapshot, BASE + 4 * MIB, BASE + 2 * MIB, BASE + 4 * MIB) == (MIB, 0)


class Tensor:
    """As much of a torch tensor as is asked for."""

    dtype, shape, layout, device, is_cuda, is_quantized = "torch.bfloat16", (2, 3), "strided", "cuda:0", True, False
    conjugate = negative = False
    strides = (3, 1)

    def __init__(self, **members):
        self.__dict__.update(members)

    def detach(self):
        return Tensor(**self.__dict__, detached=True)

    def data_ptr(self):
        return BASE

    def stride(self):
        return self.strides

    def is_conj(self):
        return self.conjugate

    def is_neg(self):
        return self.negative


@pytest.fixture
def torch(monkeypatch):
    """A torch that has one tensor in a handle, and something else behind it."""
    made = types.SimpleNamespace(Tensor=Tensor, strided="strided")
    made.cuda = types.SimpleNamespace(memory_snapshot=lambda: [segment(BASE, (MIB, USED), (MIB, FREE), (2 * MIB, USED))])
    monkeypatch.setitem(sys.modules, "torch", made)
    return made


def test_a_torch_tensor_is_described_by_itself_and_kept_by_a_part_of_its_own(torch):
    given = Tensor()
    address, dtype, shape, keep, of_torch = _adopt.describe(given)
    assert (address, dtype, shape, of_torch) == (BASE, "torch.bfloat16", (2, 3), True)
    assert keep is not given and keep.detached


@pytest.mark.parametrize(
    "members, reason",
    [
        ({"is_cuda": False, "device": "cpu"}, "on 'cpu' is not on a GPU"),
        ({"strides": (1, 2)}, "not contiguous"),
        ({"layout": "sparse_coo"}, "layout sparse_coo"),
        ({"is_quantized": True}, "not one piece"),
        ({"conjugate": True}, "conjugate"),
        ({"negative": True}, "negative"),
    ],
)
def test_a_torch_tensor_that_is_no_plain_memory_is_refused(torch, members, reason):
    with pytest.raises(millpond.Invalid, match=reason) as error:
        _adopt.describe(Tensor(**members))
    assert error.value.hint and error.value.hint in str(error.value)


def test_torch_is_asked_who_else_is_in_the_handle(torch):
    assert "may put other tensors into 1048576 bytes" in _adopt.torch_refusal(BASE, MIB, BASE, 2 * MIB)
    assert _adopt.torch_refusal(BASE, MIB, BASE, MIB) is None
    assert "several pieces" in _adopt.torch_refusal(BASE, 3 * MIB, BASE, 2 * MIB)


# ---- what is refused because of what it is ----


class Interface:
    """Memory in numba's protocol, wherever it is."""

    def __init__(self, address, nbytes, **members):
        members = {"shape": (nbytes,), "typestr": "|u1", **members}
        self.__cuda_array_interface__ = {"data": (address, False), "version": 3, **members}


def test_what_is_not_on_a_gpu_is_refused_with_the_way_there(name):
    numpy = pytest.importorskip("numpy")
    with pytest.raises(millpond.Invalid, match="ndarray .* not on a GPU") as error:
        millpond.adopt(name, numpy.zeros(4))
    assert "millpond.put" in error.value.hint and "not on a GPU" in error.value.message
    for nothing in (object(), b"abc", None, 7):
        with pytest.raises(TypeError, match="__dlpack__ or __cuda_array_interface__"):
            millpond.adopt(name, nothing)
    assert millpond.list(name) == []


@pytest.mark.parametrize(
    "members, reason",
    [
        ({"shape": (2, 2), "strides": (1, 2)}, "not contiguous"),
        ({"shape": (2,), "typestr": "<f4", "strides": (6,)}, "not contiguous"),
        ({"typestr": ">f4", "shape": (2,)}, "no dtype for '>f4'"),
        ({"typestr": "<M8", "shape": (2,)}, "no dtype for '<M8'"),
        ({"shape": (0,)}, "elements|dimension"),
    ],
)
def test_what_the_pond_cannot_describe_is_refused(name, members, reason):
    with pytest.raises(millpond.Invalid, match=reason) as error:
        millpond.adopt(name, Interface(4096, 8, **members), copy=True)
    assert not isinstance(error.value, millpond.AdoptError)


def test_memory_that_the_driver_does_not_know_cannot_be_adopted(name):
    with pytest.raises(millpond.AdoptError, match="no memory there") as error:
        millpond.adopt(name, Interface(4096, 8))
    assert isinstance(error.value, millpond.Invalid) and "copy=True" in error.value.hint
    assert "copy=True" in str(error.value) and error.value.code == "invalid"
    assert millpond.list(name) == []


# ---- memory of a driver that looks like a GPU's: the software driver behind a real libcuda.so ----

PRELUDE = """
import ctypes, gc, os, sys, time, weakref
import millpond

name, MIB = sys.argv[1], 1 << 20
cuda = ctypes.CDLL(os.environ["MILLPOND_DRIVER"])

def call(function, *args):
    status = getattr(cuda, function)(*args)
    assert status == 0, (function, status)

size = ctypes.c_size_t
call("cuInit", 0)
context = ctypes.c_void_p()
call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
call("cuCtxSetCurrent", context)

class Array:
    def __init__(self, address, nbytes, shape=None):
        self.address, self.nbytes = address, nbytes
        self.__cuda_array_interface__ = {
            "shape": shape or (nbytes,), "typestr": "|u1", "data": (address, False), "version": 3
        }
    def fill(self, data):
        call("cuMemcpyHtoD_v2", ctypes.c_uint64(self.address), data, size(len(data)))
        return self
    def read(self):
        data = ctypes.create_string_buffer(self.nbytes)
        call("cuMemcpyDtoH_v2", data, ctypes.c_uint64(self.address), size(self.nbytes))
        return data.raw

def linear(nbytes):
    address = ctypes.c_uint64()
    call("cuMemAlloc_v2", ctypes.byref(address), size(nbytes))
    return Array(address.value, nbytes)

def pooled(nbytes):
    address = ctypes.c_uint64()
    call("cuMemAllocAsync", ctypes.byref(address), size(nbytes), None)
    call("cuStreamSynchronize", None)
    return Array(address.value, nbytes)

class Location(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int), ("id", ctypes.c_int)]

class Properties(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("handles", ctypes.c_int), ("location", Location),
                ("win32", ctypes.c_void_p), ("flags", ctypes.c_uint64)]

class Access(ctypes.Structure):
    _fields_ = [("location", Location), ("flags", ctypes.c_int)]

def mapped(nbytes, handles=1):
    properties = Properties(1, handles, Location(1, 0), None, 0)
    handle, address = ctypes.c_uint64(), ctypes.c_uint64()
    call("cuMemCreate", ctypes.byref(handle), size(nbytes), ctypes.byref(properties), ctypes.c_uint64(0))
    call("cuMemAddressReserve", ctypes.byref(address), size(nbytes), size(0), ctypes.c_uint64(0), ctypes.c_uint64(0))
    call("cuMemMap", address, size(nbytes), size(0), handle, ctypes.c_uint64(0))
    call("cuMemSetAccess", address, size(nbytes), ctypes.byref(Access(Location(1, 0), 3)), size(1))
    call("cuMemRelease", handle)
    return Array(address.value, nbytes)

def refused(source, reason):
    try:
        millpond.adopt(name, source)
    except millpond.AdoptError as error:
        assert reason in error.message and "copy=True" in error.hint, error
    else:
        raise AssertionError("not refused")
    assert millpond.list(name) == []

def eventually(look):
    deadline = time.monotonic() + 60
    while not look():
        assert time.monotonic() < deadline, "waited in vain"
        gc.collect()
        time.sleep(0.01)
"""

READ = """
import sys, millpond
with millpond.get(sys.argv[1]) as t:
    print(t.transport, t.survives, t.info.adopted, t.tobytes()[:4].hex())
"""


@pytest.fixture
def gpu(monkeypatch, python):
    """Runs a script whose driver is a library, as a GPU's is."""
    library = pathlib.Path(os.environ["MILLPOND_BIN"]).parent / "libcuda.so"
    if not library.exists():
        pytest.skip(f"there is no {library}: build millpond-softgpu-libcuda")
    monkeypatch.setenv("MILLPOND_DRIVER", str(library))
    return lambda script, *args: python(PRELUDE + script, *args)


def test_plain_memory_is_announced_and_kept_as_long_as_the_pond_has_it(name, gpu):
    gpu(
        """
import subprocess
source = linear(4 * MIB).fill(b"abcd" * MIB)
alive = weakref.ref(source)
t = millpond.adopt(name, source)
assert (t.transport, t.survives, t.copied_because, t.readonly) == ("ipc", "owner", None, True)
info = millpond.info(name)
assert (info.adopted, info.home_pid, info.state) == (True, os.getpid(), "ready")
assert (info.dtype, info.shape, info.nbytes) == ("uint8", (4 * MIB,), 4 * MIB)
assert t.tobytes() == b"abcd" * MIB
def other():
    return subprocess.run([sys.executable, "-c", sys.argv[2], name], capture_output=True, text=True, check=True).stdout
assert other() == "ipc owner True 61626364\\n"
source.fill(b"efgh")
assert other() == "ipc owner True 65666768\\n", "it is the same memory"
del source
gc.collect()
assert alive() is not None
t.close()
millpond.delete(name)
eventually(lambda: alive() is None)
""",
        name,
        READ,
    )
    assert [one.state for one in millpond.list(name) if one.state != "deleted"] == []


def test_mapped_memory_moves_into_the_pond_and_outlives_its_maker(name, gpu, python, monkeypatch):
    gpu(
        """
t = millpond.adopt(name, mapped(2 * MIB).fill(b"abcd"), share="group")
assert (t.transport, t.survives, t.copied_because) == ("vmm", "everything", None)
assert (t.info.adopted, t.info.home_pid, t.info.share) == (True, None, "group")
assert t.tobytes()[:4] == b"abcd"
""",
        name,
    )
    assert python(READ, name) == "vmm everything True 61626364\n"
    assert millpond.info(name).state == "ready"
    millpond.delete(name)


def test_what_the_driver_cannot_share_is_refused_or_copied(name, gpu, python):
    gpu(
        """
for source, reason in (
    (pooled(4 * MIB), "default pool"),
    (mapped(2 * MIB, handles=0), "cannot be exported"),
    (Array(mapped(4 * MIB).address, 2 * MIB), "behind it"),
):
    source.fill(b"abcd")
    refused(source, reason)
    t = millpond.adopt(name, source, copy=True)
    assert reason in t.copied_because, t.copied_because
    assert (t.transport, t.survives, t.info.adopted) == ("vmm", "everything", False)
    assert t.tobytes() == source.read()
    source.fill(b"efgh")
    assert t.tobytes()[:4] == b"abcd", "it is a copy"
    t.close()
    millpond.delete(name)
    assert millpond.flush()
millpond.adopt(name, pooled(MIB).fill(b"abcd"), copy=True).close()
""",
        name,
    )
    assert python(READ, name) == "vmm everything False 61626364\n"
    millpond.delete(name)


def test_memory_of_other_kinds_and_of_others_is_refused_or_copied(name, gpu, python):
    other = "other/" + name
    millpond.create(other, 2 * MIB, "uint8", zero=True, transport="ipc").close()
    with millpond.handle(other) as handle:
        gpu(
            """
# One tensor over two handles.
def spanning():
    address = ctypes.c_uint64()
    call("cuMemAddressReserve", ctypes.byref(address), size(4 * MIB), size(0), ctypes.c_uint64(0), ctypes.c_uint64(0))
    for half in (0, 2 * MIB):
        handle = ctypes.c_uint64()
        call("cuMemCreate", ctypes.byref(handle), size(2 * MIB), ctypes.byref(Properties(1, 1, Location(1, 0), None, 0)), ctypes.c_uint64(0))
        call("cuMemMap", ctypes.c_uint64(address.value + half), size(2 * MIB), size(0), handle, ctypes.c_uint64(0))
    call("cuMemSetAccess", address, size(4 * MIB), ctypes.byref(Access(Location(1, 0), 3)), size(1))
    return Array(address.value, 4 * MIB).fill(b"abcd" * MIB)

managed = ctypes.c_uint64()
call("cuMemAllocManaged", ctypes.byref(managed), size(MIB), 1)
host = ctypes.c_void_p()
call("cuMemAllocHost_v2", ctypes.byref(host), size(MIB))

# Mapped so that this process may only read it.
def read_only():
    array = mapped(2 * MIB).fill(b"abcd")
    call("cuMemSetAccess", ctypes.c_uint64(array.address), size(2 * MIB), ctypes.byref(Access(Location(1, 0), 1)), size(1))
    return array

# Opened by hand, from the pond or from anybody.
class Handle(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_ubyte * 64)]

opened = ctypes.c_uint64()
call("cuIpcOpenMemHandle_v2", ctypes.byref(opened), Handle.from_buffer_copy(bytes.fromhex(sys.argv[2])), 1)

# Of a context of its own beside the primary one.
def elsewhere():
    own = ctypes.c_void_p()
    call("cuCtxCreate_v2", ctypes.byref(own), 0, 0)
    array = linear(MIB).fill(b"abcd")
    call("cuCtxSetCurrent", context)
    return array

for source, reason in (
    (Array(managed.value, MIB).fill(b"abcd"), "managed memory"),
    (read_only(), "may not write it"),
    (Array(opened.value, 2 * MIB).fill(b"abcd"), "only the process that made it"),
    (elsewhere(), "another context"),
    (spanning(), "several handles"),
):
    refused(source, reason)
    t = millpond.adopt(name, source, copy=True)
    assert reason in t.copied_because, (reason, t.copied_because)
    assert (t.transport, t.info.adopted) == ("vmm", False)
    assert t.tobytes() == source.read(), reason
    t.close()
    millpond.delete(name)
    assert millpond.flush()
for copy in (False, True):
    try:
        millpond.adopt(name, Array(host.value, MIB), copy=copy)
    except millpond.AdoptError as error:
        assert "memory of the host" in error.message and "millpond.put" in error.hint, error
    else:
        raise AssertionError("not refused")
""",
            name,
            handle.memory.hex(),
        )
    millpond.delete(other)


def test_a_name_that_is_taken_is_refused_and_keeps_its_bytes(name, gpu):
    gpu(
        """
millpond.put(name, b"abcd")
for source, copy in ((linear(4), False), (linear(4), True), (pooled(4), True)):
    try:
        millpond.adopt(name, source.fill(b"efgh"), copy=copy)
    except millpond.Exists as error:
        assert "millpond.delete" in error.hint, error
    else:
        raise AssertionError
assert millpond.get(name).tobytes() == b"abcd"
millpond.delete(name)
""",
        name,
    )


def test_the_same_memory_is_adopted_once_and_the_ponds_own_never(name, gpu):
    gpu(
        """
source = linear(MIB).fill(b"abcd")
t = millpond.adopt(name, source)
try:
    millpond.adopt(name + "/twice", source)
except millpond.AdoptError as error:
    assert "already" in error.message, error
else:
    raise AssertionError
t.close()
millpond.delete(name)
# By DLPack, as CuPy and JAX hand their memory out.
own = millpond.create(name + "/own", (2, 3), "float32", zero=True)
assert own.__dlpack_device__() == (2, 0)
try:
    millpond.adopt(name, own)
except millpond.AdoptError as error:
    assert "of the pond already" in error.message, error
else:
    raise AssertionError
copy = millpond.adopt(name, own, copy=True)
assert (copy.dtype, copy.shape, copy.tobytes()) == ("float32", (2, 3), bytes(24))
assert "of the pond already" in copy.copied_because
for one in (own, copy):
    one.close()
millpond.delete(name)
millpond.delete(name + "/own")
""",
        name,
    )


OWNER = """
t = millpond.adopt(name, linear(MIB).fill(b"abcd"))
print("ready", flush=True)
time.sleep(600)
"""

STAY = """
import sys, millpond
t = millpond.get(sys.argv[1])
print(t.tobytes()[:4].hex(), flush=True)
sys.stdin.read()
print(t.tobytes()[:4].hex(), flush=True)
"""


def test_readers_keep_their_bytes_when_the_owner_is_killed_and_a_new_get_says_orphan(name, gpu):
    run = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    owner = subprocess.Popen([sys.executable, "-c", PRELUDE + OWNER, name], **run)
    reader = None
    try:
        assert owner.stdout.readline() == "ready\n"
        info = millpond.info(name)
        assert info.home_pid == owner.pid
        reader = subprocess.Popen([sys.executable, "-c", STAY, name], **run)
        assert reader.stdout.readline() == "61626364\n"
        owner.send_signal(signal.SIGKILL)
        owner.communicate()
        deadline = time.monotonic() + DEADLINE
        while millpond.info(info).state != "orphan":
            assert time.monotonic() < deadline, millpond.info(info).state
            time.sleep(0.01)
        with pytest.raises(millpond.NotFound, match=f"its owner, .*pid {owner.pid}"):
            millpond.get(name)
        with pytest.raises(millpond.Error, match="gone|not found"):
            millpond.get(info.id)
        assert reader.communicate(timeout=DEADLINE)[0] == "61626364\n"
        assert reader.returncode == 0
    finally:
        for one in filter(None, (owner, reader)):
            one.kill()
            one.wait()
