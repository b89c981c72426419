"""cuda.core where there is no driver for it, and programs that do not have it."""

import ast
import inspect
import pathlib

import pytest

import millpond


@pytest.fixture
def resource(pond):
    pytest.importorskip("cuda.core", reason="cuda-core is not installed")
    return millpond.PondMemoryResource(pond=pond)


def test_memory_of_the_software_driver_is_the_hosts_and_needs_no_driver(resource, pond):
    import numpy

    mr = resource
    assert (mr.is_device_accessible, mr.is_host_accessible, mr.device_id) == (False, True, -1)
    b = mr.allocate(16)
    mr.tensor(b).copy_(bytes(range(16)))
    assert numpy.from_dlpack(b).view("uint8").tobytes() == bytes(range(16))
    b.close()
    assert pond.live_leases() == 0


WITHOUT = """
import sys, millpond
assert not any(one.split(".")[0] in ("cuda", "numpy") for one in sys.modules), "imported too early"
sys.modules["cuda.core"] = None
for ask in (lambda: millpond.PondMemoryResource, lambda: millpond.create(None, 4, "uint8").buffer()):
    try:
        ask()
    except ImportError as error:
        assert 'pip install "cuda-core>=1,<2" cuda-bindings' in str(error), error
    else:
        raise AssertionError
[millpond.delete(one) for one in millpond.list() if one.name is None]
"""


def test_without_cuda_core_the_error_says_what_to_install(python):
    python(WITHOUT)


def test_the_stubs_of_cuda_core_say_what_is_there():
    pytest.importorskip("cuda.core", reason="cuda-core is not installed")
    import millpond.cuda_core as there

    stubs = {one.name: one for one in ast.parse(pathlib.Path(there.__file__).with_suffix(".pyi").read_text()).body if hasattr(one, "name")}
    assert set(stubs) == set(there.__all__)
    assert millpond.PondMemoryResource is there.PondMemoryResource and "PondMemoryResource" in dir(millpond)
    functions = {"buffer": (stubs["buffer"], there.buffer)}
    for one in stubs["PondMemoryResource"].body[1:]:
        functions[one.name] = one, vars(there.PondMemoryResource)[one.name]
    public = {one for one in vars(there.PondMemoryResource) if not one.startswith("_")}
    assert public | {"buffer", "__init__"} == set(functions)
    for name, (stub, thing) in functions.items():
        args = [one.arg for one in (*stub.args.args, *stub.args.kwonlyargs)]
        thing = thing.fget if isinstance(thing, property) else thing
        assert args == list(inspect.signature(thing).parameters), name
