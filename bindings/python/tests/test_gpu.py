"""Torch on a GPU: memory of the pond in kernels, and torch's own memory in the pond."""

import gc

import pytest

import millpond

torch = pytest.importorskip("torch", reason="torch is not installed")

import millpond.torch  # noqa: E402
from millpond import _millpond  # noqa: E402


def test_torch_writes_and_another_process_reads(name, python):
    t = millpond.create(name, (4, 256), torch.bfloat16)
    view = t.torch()
    assert view.is_cuda and view.data_ptr() == t.ptr
    view.copy_(torch.arange(1024, device=view.device).reshape(4, 256))
    t.publish(torch.cuda.current_stream())
    script = """
import sys, torch, millpond
u = millpond.get(sys.argv[1], wait=5).torch()
print(int(u.float().sum()))
"""
    wanted = int(view.float().sum())
    assert python(script, name) == f"{wanted}\n"
    del view
    millpond.delete(name)


@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "float8_e5m2", "float16", "bool", "int64"])
def test_dtypes_arrive(dtype):
    t = millpond.create(None, (4,), dtype, zero=True)
    assert t.torch().dtype == millpond.torch.dtype(dtype)
    millpond.delete(t)


def test_views_outlive_the_tensor(name):
    t = millpond.create(name, (1024,), "float32", zero=True)
    view = t.torch()
    t.close()
    millpond.delete(name)
    view += 1
    assert view.sum().item() == 1024 and millpond.live_leases() == 1


def test_the_array_interface_is_taken(name):
    t = millpond.create(name, (8,), "float32", zero=True)
    view = torch.as_tensor(t, device="cuda")
    assert view.data_ptr() == t.ptr
    with pytest.raises(BufferError, match="on a GPU"):
        t.numpy()
    del view
    millpond.delete(name)


def test_copies_go_to_the_gpu():
    t = millpond.create(None, (2, 2), "bfloat16").copy_(torch.ones(2, 2, device="cuda"))
    assert t.torch().float().sum().item() == 4
    t.copy_(b"\0" * 8)
    assert t.torch().float().sum().item() == 0
    millpond.delete(t)


def test_torch_allocates_from_the_pond(pond):
    before = _millpond._allocated()
    with millpond.torch.use_pond(pond) as pool:
        net = torch.nn.Linear(1024, 1024, device="cuda")
    segments, size = _millpond._allocated()
    assert segments > before[0] and size - before[1] >= 4 << 20
    assert net(torch.ones(1, 1024, device="cuda")).shape == (1, 1024)
    outside = torch.empty(64 << 20, dtype=torch.uint8, device="cuda")
    assert _millpond._allocated() == (segments, size)
    del net, outside, pool
    millpond.torch._pools.clear()
    gc.collect()
    torch.cuda.empty_cache()
    assert _millpond._allocated() == before


def test_cupy_writes_what_torch_reads(name, python):
    pytest.importorskip("cupy", reason="CuPy is not installed")
    script = """
import sys, cupy, millpond
t = millpond.create(sys.argv[1], (4, 8), "float32", zero=True)
a = cupy.from_dlpack(t)
assert a.data.ptr == t.ptr, "this is a copy"
a += cupy.arange(32, dtype=cupy.float32).reshape(4, 8)
b = cupy.asarray(t)
assert b.data.ptr == t.ptr and float(b.sum()) == 496
t.publish(cupy.cuda.get_current_stream().ptr)
"""
    python(script, name)
    assert millpond.get(name, wait=5).torch().sum().item() == 496
    gc.collect()
    millpond.delete(name)


def test_jax_reads_a_model(model, python):
    pytest.importorskip("jax", reason="JAX is not installed")
    script = """
import os, sys
os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
import jax, millpond
# Without it every number of 64 bits becomes one of 32, by a copy.
jax.config.update("jax_enable_x64", True)
m = millpond.attach(sys.argv[1])
for name in m:
    a = jax.dlpack.from_dlpack(m[name])
    assert a.unsafe_buffer_pointer() == m[name].ptr, "this is a copy"
    assert a.shape == m[name].shape
    assert jax.device_get(a).tobytes() == m[name].tobytes(), name
print(len(m))
"""
    attached = millpond.attach(model)
    assert python(script, model) == f"{len(attached)}\n"
    attached.close()
