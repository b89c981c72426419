"""What a GPU's memory looks like, without one: the software driver behind a real libcuda.so."""

import os
import pathlib

import pytest

import millpond

SCRIPT = """
import sys, millpond
millpond_driver = millpond.status().driver
t = millpond.create(sys.argv[1], (2, 3), "float32", zero=True)
assert t.__dlpack_device__() == (2, 0)
members = t.__cuda_array_interface__
assert members == {
    "shape": (2, 3), "typestr": "<f4", "data": (t.ptr, False), "strides": None, "stream": None, "version": 3
}, members
assert millpond.get(sys.argv[1]).__cuda_array_interface__["data"] == (millpond.get(sys.argv[1]).ptr, True)
b = millpond.create(None, 4, "bfloat16")
assert not hasattr(b, "__cuda_array_interface__") and hasattr(b.view("uint16"), "__cuda_array_interface__")
try:
    t.numpy()
except BufferError as error:
    assert "on a GPU" in str(error), error
else:
    raise AssertionError
for stream in (None, -1, 1, 2, 1 << 40):
    assert t.__dlpack__(stream=stream, max_version=(1, 0)) is not None
for wrong in ({"stream": 0}, {"dl_device": (1, 0)}, {"dl_device": (2, 1)}):
    try:
        t.__dlpack__(**wrong)
    except BufferError:
        pass
    else:
        raise AssertionError(wrong)
t.copy_(bytes(24))
class Stream:
    cuda_stream = 0
class Protocol:
    def __cuda_stream__(self):
        return (0, 0)
assert [t.publish(one) for one in (0, Stream(), Protocol(), None)] == [2, 3, 4, 5]
try:
    t.publish("x")
except TypeError as error:
    assert "no stream" in str(error)
else:
    raise AssertionError
millpond.delete(b)
print("fine")
"""


def test_memory_of_a_gpu_is_handed_out_as_such(name, python, monkeypatch):
    library = pathlib.Path(os.environ["MILLPOND_BIN"]).parent / "libcuda.so"
    if not library.exists():
        pytest.skip(f"there is no {library}: build millpond-softgpu-libcuda")
    monkeypatch.setenv("MILLPOND_DRIVER", str(library))
    assert python(SCRIPT, name) == "fine\n"
    millpond.delete(name)
