"""The capsules themselves, seen with ctypes, and what takes them over."""

import ctypes
import gc
import threading

import ml_dtypes
import numpy
import pytest

import millpond

_api = ctypes.pythonapi
_api.PyCapsule_GetPointer.restype = ctypes.c_void_p
_api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_api.PyCapsule_IsValid.argtypes = [ctypes.py_object, ctypes.c_char_p]
_api.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]

DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class Legacy(ctypes.Structure):
    _fields_ = [("tensor", DLTensor), ("manager", ctypes.c_void_p), ("deleter", DELETER)]


class Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager", ctypes.c_void_p),
        ("deleter", DELETER),
        ("flags", ctypes.c_uint64),
        ("tensor", DLTensor),
    ]


def managed(capsule):
    """The structure, which keeps its capsule."""
    if _api.PyCapsule_IsValid(capsule, b"dltensor"):
        seen = Legacy.from_address(_api.PyCapsule_GetPointer(capsule, b"dltensor"))
    else:
        pointer = _api.PyCapsule_GetPointer(capsule, b"dltensor_versioned")
        seen = Versioned.from_address(pointer)
    seen.capsule = capsule
    return seen


@pytest.fixture
def t(name):
    made = millpond.create(name, (2, 3), "float32", zero=True)
    yield made
    made.close()
    millpond.delete(name)


# Named as torch and numpy name them, with DLPack's code and bits.
CODES = {
    "bool": (6, 8),
    "uint8": (1, 8),
    "int8": (0, 8),
    "float8_e5m2": (12, 8),
    "float8_e4m3fn": (10, 8),
    "float8_e8m0fnu": (14, 8),
    "float8_e4m3fnuz": (11, 8),
    "float8_e5m2fnuz": (13, 8),
    "int16": (0, 16),
    "uint16": (1, 16),
    "float16": (2, 16),
    "bfloat16": (4, 16),
    "int32": (0, 32),
    "uint32": (1, 32),
    "float32": (2, 32),
    "complex64": (5, 64),
    "float64": (2, 64),
    "int64": (0, 64),
    "uint64": (1, 64),
}


@pytest.mark.parametrize("dtype", CODES)
def test_every_dtype_has_its_code_and_is_an_array(dtype):
    t = millpond.create(None, (4, 2), dtype, zero=True)
    assert t.dtype == dtype
    for version in (None, (1, 0)):
        capsule = managed(t.__dlpack__(max_version=version))
        seen = capsule.tensor
        assert (seen.code, seen.bits, seen.lanes) == (*CODES[dtype], 1)
    array = t.numpy()
    wanted = getattr(ml_dtypes, dtype, None) or dtype
    assert array.dtype == numpy.dtype(wanted) and array.shape == (4, 2)
    assert array.nbytes == t.nbytes and array.ctypes.data == t.ptr
    # And back: the array's own dtype is a spelling of the same.
    again = millpond.create(None, (4, 2), array.dtype)
    assert again.dtype == dtype
    millpond.delete(t)
    millpond.delete(again)


@pytest.mark.parametrize("dtype", ["F4", "F6_E2M3", "F6_E3M2"])
def test_packed_dtypes_say_the_way_out(dtype):
    t = millpond.create(None, (4, 8), dtype, zero=True)
    for use in (t.__dlpack__, t.numpy):
        with pytest.raises(BufferError, match="uint8"):
            use()
    bits = 4 if dtype == "F4" else 6
    assert t.view("uint8").numpy().shape == (4, bits)
    millpond.delete(t)


def test_the_versioned_capsule_says_read_only(t, name):
    seen = managed(t.__dlpack__(max_version=(1, 0)))
    assert (seen.major, seen.minor, seen.flags) == (1, 0, 0)
    assert managed(t.__dlpack__(max_version=(2, 7))).major == 1
    u = millpond.get(name)
    assert managed(u.__dlpack__(max_version=(1, 3))).flags == 1
    assert not numpy.from_dlpack(u).flags.writeable
    assert numpy.from_dlpack(t).flags.writeable
    # Without a version it is the old kind, also for what is read-only.
    for version in (None, (0, 8)):
        assert _api.PyCapsule_IsValid(u.__dlpack__(max_version=version), b"dltensor")


def test_shape_strides_and_place_are_always_there(t):
    capsule = managed(t.__dlpack__(max_version=(1, 0)))
    seen = capsule.tensor
    assert (seen.device_type, seen.device_id, seen.ndim, seen.byte_offset) == (1, 0, 2, 0)
    assert seen.shape[:2] == [2, 3] and seen.strides[:2] == [3, 1]
    assert seen.data == t.ptr
    assert t.__dlpack_device__() == (1, 0)


def test_an_unused_capsule_frees(t):
    before = millpond.live_leases()
    for version in (None, (1, 0)):
        capsule = t.__dlpack__(max_version=version)
        del capsule
    t.close()
    assert millpond.live_leases() == before - 1


@pytest.mark.parametrize("version", [None, (1, 0)])
def test_the_deleter_may_run_on_a_thread_that_python_does_not_know(t, version):
    capsule = t.__dlpack__(max_version=version)
    owned = managed(capsule)
    renamed = b"used_dltensor" if version is None else b"used_dltensor_versioned"
    _api.PyCapsule_SetName(capsule, renamed)
    deleter = ctypes.cast(owned.deleter, ctypes.c_void_p).value
    del owned.capsule, capsule
    t.close()
    assert millpond.live_leases() == 1
    # A plain thread of the C library, in which there is no interpreter.
    libc = ctypes.CDLL(None)
    thread = ctypes.c_ulong()
    assert libc.pthread_create(ctypes.byref(thread), None, ctypes.c_void_p(deleter), ctypes.byref(owned)) == 0
    libc.pthread_join(thread, None)
    assert millpond.live_leases() == 0


def test_another_device_and_a_copy_are_refused(t):
    with pytest.raises(BufferError, match="not on"):
        t.__dlpack__(dl_device=(2, 0))
    with pytest.raises(BufferError, match="never a copy"):
        t.__dlpack__(copy=True)
    assert t.__dlpack__(dl_device=(1, 0), copy=False, stream=None) is not None
    with pytest.raises(TypeError):
        t.__dlpack__(None)


def test_there_is_no_cuda_array_interface_on_the_software_driver(t):
    assert not hasattr(t, "__cuda_array_interface__")


def test_views_keep_the_lease_from_many_threads(name):
    millpond.create(name, (1000,), "int64", zero=True).close()
    failures = []

    def work():
        try:
            for _ in range(50):
                array = millpond.get(name).numpy()
                part = array[10:20]
                del array
                assert part.sum() == 0
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    gc.collect()
    assert millpond.live_leases() == 0
    millpond.delete(name)


def test_live_capsules_at_the_end_of_the_interpreter_are_no_trouble(name, python):
    script = """
import sys, millpond, numpy
t = millpond.create(sys.argv[1], (1000,), "f32", zero=True)
keep = [t.__dlpack__(), t.__dlpack__(max_version=(1, 0)), numpy.from_dlpack(t), t.numpy()]
class Late:
    def __del__(self, keep=keep):
        keep.clear()
sys.late = Late()
print(millpond.live_leases())
"""
    assert python(script, name) == "1\n"
    millpond.delete(name)


def test_strict_addresses_are_not_handed_out(name, python):
    script = """
import os, sys
os.environ["MILLPOND_SOFT_STRICT"] = "1"
import millpond
t = millpond.create(sys.argv[1], (4,), "uint8", zero=True)
for use in (t.__dlpack_device__, t.__dlpack__, t.numpy):
    try:
        use()
    except BufferError as error:
        assert "MILLPOND_SOFT_STRICT" in str(error)
    else:
        raise AssertionError(use)
t.copy_(b"1234")
print(t.tobytes())
"""
    assert python(script, name) == "b'1234'\n"
    millpond.delete(name)
