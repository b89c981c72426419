"""Torch, on the CPU: the software driver's memory is the host's."""

import signal

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

import millpond  # noqa: E402
import millpond.torch  # noqa: E402


def test_the_lines_of_the_readme(name):
    t = millpond.create(name, shape=(2, 3), dtype=torch.bfloat16)
    torch.from_dlpack(t)[:] = 1
    t.publish()
    u = millpond.get(name, wait=5).torch()
    assert u.dtype == torch.bfloat16 and u.sum() == 6
    assert u.data_ptr() == millpond.get(name).ptr
    millpond.delete(name)


@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "float8_e5m2", "bfloat16", "bool", "complex64"])
def test_dtypes_arrive(dtype):
    t = millpond.create(None, (4,), dtype, zero=True)
    assert t.torch().dtype == millpond.torch.dtype(dtype)
    millpond.delete(t)


def test_copies_from_torch(name):
    source = torch.arange(6, dtype=torch.float32).reshape(2, 3)
    t = millpond.create(name, (2, 3), "bfloat16").copy_(source)
    assert (t.torch().float() == source).all()
    with pytest.raises(ValueError, match="takes shape"):
        t.copy_(source[0])
    info = millpond.put(name, source.T.to(torch.bfloat16), replace=True)
    assert (info.dtype, info.shape) == ("bfloat16", (3, 2))
    assert (millpond.get(name).torch().float() == source.T).all()
    millpond.delete(name)


def test_a_state_dict_is_lazy_and_zero_copy():
    parts = {
        "weight": millpond.create(None, (3, 2), "float32", zero=True),
        "bias": millpond.create(None, (3,), "float32", zero=True),
    }
    state = millpond.torch.state_dict(parts)
    net = torch.nn.Linear(2, 3, device="meta")
    net.load_state_dict(state, assign=True)
    assert net.weight.data_ptr() == parts["weight"].ptr
    parts["bias"].numpy()[:] = 4
    assert net(torch.ones(1, 2)).tolist() == [[4, 4, 4]]
    for one in parts.values():
        millpond.delete(one)


def test_a_write_to_read_only_memory_ends_the_writer_and_changes_nothing(name, python):
    millpond.create(name, (4,), "float32", zero=True).close()
    script = "import sys, millpond; millpond.get(sys.argv[1]).torch().add_(1)"
    python(script, name, status=-signal.SIGSEGV)
    copy = millpond.get(name).torch().clone()
    copy += 1
    assert copy.sum() == 4 and millpond.get(name).torch().sum() == 0
    millpond.delete(name)


def test_torch_has_no_gpu_to_allocate_on():
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    with pytest.raises(millpond.DriverError, match="torch has no GPU here") as caught:
        with millpond.torch.use_pond():
            pass
    assert caught.value.code == "driver" and caught.value.hint
