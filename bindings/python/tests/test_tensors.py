"""Tensors by name: made, filled, published, got, closed."""

import math
import os
import threading
import time

import ml_dtypes
import numpy
import pytest

import millpond
from conftest import DEADLINE


def test_what_one_makes_another_process_reads_without_a_copy(name, python):
    with millpond.create(name, shape=(2, 3), dtype="float32") as t:
        numpy.from_dlpack(t)[:] = [[1, 2, 3], [4, 5, 6]]
        assert t.publish() == 1
        script = "import sys, millpond; print(millpond.get(sys.argv[1], wait=5).numpy().tolist())"
        assert python(script, name) == "[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]\n"
        # The same memory: a write shows in a mapping that is there already.
        u = millpond.get(name)
        t.numpy()[0, 0] = 7
        assert u.numpy()[0, 0] == 7
    millpond.delete(name)


def test_a_tensor_says_what_it_is(name):
    t = millpond.create(name, (2, 3, 4), "bfloat16")
    assert (t.shape, t.strides, t.dtype, t.nbytes) == ((2, 3, 4), (12, 4, 1), "bfloat16", 48)
    assert (t.name, t.readonly, t.generation, t.is_lost, t.closed) == (name, False, 0, False, False)
    assert t.device == millpond.status().devices[0].device
    assert t.ptr % 256 == 0 and len(t.id) == 36
    assert repr(t) == f"Tensor('{name}', (2, 3, 4), bfloat16, rw)"
    info = t.info
    assert (info.name, info.dtype, info.shape, info.state) == (name, "bfloat16", (2, 3, 4), "writing")
    t.publish()
    u = millpond.get(t.id)
    assert (u.readonly, u.id, u.generation) == (True, t.id, 1)
    assert millpond.info(name).state == "ready"
    assert [one.name for one in millpond.list(name)] == [name]
    millpond.delete(t)
    with pytest.raises(millpond.NotFound):
        millpond.get(name)


def test_one_extent_and_none_are_shapes(name):
    t = millpond.create(name, 5, "uint8", zero=True)
    assert t.shape == (5,) and t.numpy().tolist() == [0] * 5
    s = millpond.create(None, (), "f64")
    s.numpy()[...] = 2.5
    assert (s.shape, s.strides, s.name, float(s.numpy())) == ((), (), None, 2.5)
    assert millpond.create(None, numpy.int64(3), "uint8").shape == (3,)
    for wrong in [(0,), (-1,), (1 << 63, 1 << 63), (1,) * 17]:
        with pytest.raises(millpond.Invalid):
            millpond.create(None, wrong, "uint8")
    with pytest.raises(TypeError):
        millpond.create(None, (1.5,), "uint8")
    millpond.delete(name)
    millpond.delete(s)


def test_close_lets_go_of_ones_own_part_only(name, pond):
    t = millpond.create(name, (4,), "int32", zero=True)
    array = t.numpy()
    t.close()
    t.close()
    assert t.closed and t.shape == (4,) and "closed" in repr(t)
    millpond.delete(name)
    array[:] = 3
    assert array.sum() == 12 and millpond.live_leases() == 1 and millpond.live_bytes() == 16
    for use in (t.publish, t.numpy, t.tobytes, t.__dlpack__, lambda: t.ptr, lambda: t.view("uint8")):
        with pytest.raises(millpond.ClosedError, match="was closed"):
            use()
    del array
    assert millpond.live_leases() == 0
    assert millpond.flush()
    assert all(one.id != t.id for one in pond.list())


def test_a_view_is_the_same_bytes(name):
    t = millpond.create(name, (2, 3), "int32", zero=True)
    assert t.view("uint8").shape == (2, 12)
    assert t.view("f64").shape == (3,)
    assert t.view(numpy.uint16).numpy().shape == (2, 6)
    t.view("uint8").numpy()[:] = 1
    assert t.numpy()[0, 0] == 0x01010101
    scalar = millpond.create(None, (), "float32", zero=True)
    assert scalar.view("int32").shape == () and scalar.view("uint8").shape == (4,)
    odd = millpond.create(None, (3,), "uint8", zero=True)
    with pytest.raises(millpond.Invalid, match="no whole number of F32"):
        odd.view("f32")
    for one in (t, scalar, odd):
        millpond.delete(one)


def test_numpy_takes_a_tensor_where_it_takes_an_array(name):
    t = millpond.create(name, (2, 2), "bfloat16").copy_(numpy.eye(2))
    assert numpy.asarray(t).ctypes.data == t.ptr
    assert numpy.array(t).ctypes.data != t.ptr
    assert numpy.asarray(t, dtype="float64").tolist() == [[1, 0], [0, 1]]
    assert numpy.allclose(t, numpy.eye(2))
    millpond.delete(name)


def test_the_same_name_is_the_same_memory(name):
    a = millpond.create(name, (4,), "uint8", zero=True)
    b = millpond.create(name, (4,), "uint8")
    assert a.id == b.id
    with pytest.raises(millpond.Exists):
        millpond.create(name, (4,), "int8")
    millpond.delete(name)


def test_get_waits_for_the_publish(name):
    def later():
        with millpond.create(name, (1,), "uint8") as t:
            t.numpy()[0] = 9
            t.publish()

    thread = threading.Timer(0.5, later)
    thread.start()
    # The interpreter is free meanwhile, or the other thread would never come to it.
    assert millpond.get(name, wait=math.inf).numpy()[0] == 9
    thread.join()
    millpond.delete(name)


def test_a_wait_that_is_over_says_how_long_and_for_what(name):
    with pytest.raises(millpond.Timeout, match=f"waited 450 ms, but .*'{name}' not found"):
        millpond.get(name, wait=0.45)
    with pytest.raises(TimeoutError):
        millpond.get(name, wait=0.01)
    with pytest.raises(millpond.NotFound):
        millpond.get(name, wait=0)
    with pytest.raises(ValueError):
        millpond.get(name, wait=-1)
    t = millpond.create(name, (1,), "uint8")
    with pytest.raises(millpond.NotReady):
        millpond.get(name)
    millpond.delete(t)


def test_writing_needs_a_writable_lease(name):
    millpond.create(name, (4,), "uint8", zero=True).close()
    u = millpond.get(name)
    with pytest.raises(ValueError):
        u.numpy()[0] = 1
    with pytest.raises(millpond.ReadOnlyError, match='mode="rw"'):
        u.copy_(b"1234")
    with pytest.raises(millpond.ReadOnlyError):
        u.publish()
    w = millpond.get(name, mode="rw")
    w.copy_(b"1234")
    assert w.publish() == 2 and u.tobytes() == b"1234"
    with pytest.raises(millpond.Invalid, match="no mode"):
        millpond.get(name, mode="wo")
    millpond.delete(name)


@pytest.mark.parametrize("source", [b"abcdef", bytearray(b"abcdef"), memoryview(b"abcdef")])
def test_copy_takes_bytes(source):
    t = millpond.create(None, (6,), "uint8")
    assert t.copy_(source) is t
    assert t.tobytes() == b"abcdef"
    with pytest.raises(millpond.Invalid, match="takes 6 bytes, and these are 5"):
        t.copy_(source[:5])
    millpond.delete(t)


def test_copy_takes_arrays_and_converts():
    t = millpond.create(None, (2, 2), "bfloat16")
    t.copy_(numpy.array([[1, 2], [3, 4]]).T)
    assert t.numpy().dtype == ml_dtypes.bfloat16
    assert t.numpy().astype(int).tolist() == [[1, 3], [2, 4]]
    with pytest.raises(ValueError, match="takes shape"):
        t.copy_(numpy.zeros(4))
    u = millpond.create(None, (2, 2), "float32").copy_(numpy.ones((2, 2)))
    assert u.numpy().sum() == 4
    v = millpond.create(None, (2, 2), "float32").copy_(u)
    assert v.numpy().sum() == 4
    with pytest.raises(ValueError, match="takes bfloat16, not float32"):
        t.copy_(u)
    for one in (t, u, v):
        millpond.delete(one)


def test_a_tensor_can_be_put_under_another_name(name):
    t = millpond.create(None, (2, 4), "F4").copy_(b"1234")
    info = millpond.put(name, t)
    assert (info.dtype, info.shape) == (t.dtype, (2, 4))
    assert millpond.download(name) == b"1234"
    millpond.delete(t)
    millpond.delete(name)


def test_lives_end(name):
    a = millpond.create(name, (1,), "uint8", zero=True, max_accesses=1)
    millpond.get(name).close()
    with pytest.raises(millpond.NotFound):
        millpond.get(name)
    a.close()
    b = millpond.create(None, (1,), "uint8", linger=0, ttl=3600)
    identity = b.id
    b.close()
    assert millpond.flush()
    with pytest.raises(millpond.NotFound):
        millpond.info(identity)


def test_ephemeral_ends_with_its_process(name, python):
    python("import sys, millpond; millpond.create(sys.argv[1], 1, 'uint8', ephemeral=True)", name)
    deadline = time.monotonic() + DEADLINE
    while millpond.list(name) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert millpond.list(name) == []


def test_put_download_upload(name, tmp_path):
    array = numpy.arange(12, dtype="int16").reshape(3, 4)
    info = millpond.put(name, array)
    assert (info.dtype, info.shape, info.state) == ("int16", (3, 4), "ready")
    assert millpond.download(name) == array.tobytes()
    with pytest.raises(millpond.Exists):
        millpond.put(name, array)
    seen = []
    millpond.put(name, array.T, replace=True, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (24, 24)
    with millpond.get(name) as t:
        assert (t.numpy() == array.T).all()
    path = tmp_path / "x.npy"
    assert millpond.download(name, path) == 24
    assert (numpy.load(path) == array.T).all()
    assert os.listdir(tmp_path) == ["x.npy"]
    assert millpond.put(name, path, replace=True).shape == (4, 3)
    raw = tmp_path / "x.bin"
    assert millpond.download(name, str(raw)) == 24
    assert raw.read_bytes() == array.T.tobytes()
    assert millpond.upload(name, b"\1" * 24) == 24
    assert millpond.download(name) == b"\1" * 24
    assert millpond.put(name, raw, shape=(2, 6), dtype="i16", replace=True).shape == (2, 6)
    assert millpond.put(name, raw, dtype="f32", replace=True).shape == (6,)
    with pytest.raises(millpond.FileError, match="only 24"):
        millpond.put(name, raw, shape=(7,), dtype="f32", replace=True)
    with pytest.raises(millpond.FileError):
        millpond.put(name, tmp_path / "missing", replace=True)
    millpond.delete(name)


def test_an_exception_in_a_progress_callback_comes_out(name):
    def broken(done, total):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        millpond.put(name, bytes(40 << 20), progress=broken)
    # The rest is not carried any more, and nothing is left.
    assert millpond.list(name) == []


def test_a_device_is_a_number_a_uuid_or_ones_own_number():
    uuid = millpond.status().devices[0].device
    for device in (0, uuid, "cuda:0", "cuda"):
        t = millpond.create(None, 1, "uint8", device)
        assert t.device == uuid
        millpond.delete(t)
    for device in (9, "cuda:9"):
        with pytest.raises(millpond.NoDevice):
            millpond.create(None, 1, "uint8", device)
    with pytest.raises(millpond.Invalid, match="no GPU 'tpu'"):
        millpond.create(None, 1, "uint8", "tpu")


def test_status_is_the_ponds(pond):
    status = pond.status()
    assert status.runtime_dir == str(pond.runtime_dir) == os.environ["MILLPOND_RUNTIME_DIR"]
    assert status.devices[0].index == 0 and status.devices[0].capacity_bytes > 0
    assert "GPU-" in repr(status.devices[0]) and "Status(" in repr(status)


def test_numbers_and_lists_of_them_are_taken_with_a_dtype(name):
    info = millpond.put(name, [[1, 2], [3, 4]], dtype="float32")
    assert (info.shape, info.dtype) == ((2, 2), "float32")
    # What the pond said about a tensor names it.
    with millpond.get(info, mode="rw") as t:
        assert t.numpy().tolist() == [[1, 2], [3, 4]]
        t.copy_([[5, 6], [7, 8.5]])
        assert t.numpy().tolist() == [[5, 6], [7, 8.5]]
        t.copy_(3.0)
        assert t.numpy().tolist() == [[3, 3], [3, 3]]
        with pytest.raises(ValueError, match="takes shape"):
            t.copy_([1, 2])
        with pytest.raises(TypeError, match="a dict has no bytes"):
            t.copy_({})
    for bad in ([[1, 2], [3, 4]], 3.0):
        with pytest.raises(TypeError, match=r'has no dtype of its own: pass dtype="float32"'):
            millpond.put(name + "/other", bad)
    millpond.delete(info)


def test_a_file_that_does_not_say_what_it_holds_needs_a_dtype(name, tmp_path):
    path = tmp_path / "raw.bin"
    path.write_bytes(bytes(8))
    for given in (path, str(path)):
        with pytest.raises(millpond.Invalid, match="does not say what it holds") as caught:
            millpond.put(name, given)
        assert "dtype= and shape=" in caught.value.hint
    assert millpond.put(name, path, dtype="float32").shape == (2,)
    millpond.delete(name)


def test_jax_takes_it_as_an_array(name):
    jnp = pytest.importorskip("jax.numpy", reason="jax is not installed")
    millpond.put(name, [1, 2, 3], dtype="float32")
    with millpond.get(name) as t:
        array = jnp.asarray(t)
        assert array.tolist() == [1, 2, 3] and array.unsafe_buffer_pointer() == t.ptr
        del array
    millpond.delete(name)
