"""What a program can do wrong with a model, and what it is told.

`python test_model_faults.py` runs it without pytest.
"""

import os
import queue
import signal
import sys
import tempfile
import threading
import traceback

from models_side import DEADLINE, HOLD, Holder, account, holders, host, main, new_name, on_gpu, settle, skip, views

import millpond
import make_checkpoint
from model import Shape

SMALL = Shape(layers=1, width=64, context=16)


def load(name, shape=SMALL, seed=1, version=None, activate=True):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "checkpoint.safetensors")
        make_checkpoint.write(path, shape, seed)
        return millpond.load(name, path, version=version, activate=activate)


def refused(kind, call):
    """The error that a call raises; it must be of that kind."""
    try:
        call()
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


def test_a_callback_that_refreshes_moves_no_view_and_in_place_is_refused_there():
    name = new_name("callback")
    load(name, seed=1, version="v1")
    load(name, seed=2, version="v2", activate=False)
    with millpond.attach(name) as model, millpond.attach(name, version="v2") as other:
        old, new = model["lm_head"].tobytes(), other["lm_head"].tobytes()
        weights = views(model)
        view = weights["lm_head"]
        told, called = [], threading.Event()

        def callback(version):
            try:
                told.append(refused(millpond.Invalid, lambda: model.refresh(in_place=True)))
                told.append(model.refresh())
                told.append((version, threading.current_thread() is threading.main_thread()))
            finally:
                called.set()

        model.on_swap(callback)
        millpond.swap(name, "v2")
        assert called.wait(DEADLINE)
        error, moved, (version, in_main_thread) = told
        assert "paused" in f"{error} {error.hint}", (error, error.hint)
        assert moved and version == "v2" and not in_main_thread
        # Whoever took views before is not moved: neither they nor later ones of the same dict.
        assert host(view) == old and host(weights["lm_head"]) == old
        assert (model.version, model["lm_head"].tobytes()) == ("v2", new)
        del view, weights, error, told[:]


def test_a_callback_that_raises_stops_nothing():
    name = new_name("callback_raises")
    load(name, seed=1, version="v1")
    load(name, seed=2, version="v2", activate=False)
    with millpond.attach(name) as model:
        printed = queue.SimpleQueue()

        def callback(version):
            raise RuntimeError(version)

        before, sys.unraisablehook = sys.unraisablehook, lambda about: printed.put(str(about.exc_value))
        try:
            model.on_swap(callback)
            for version in ("v2", "v1"):
                millpond.swap(name, version)
                assert printed.get(timeout=DEADLINE) == version
        finally:
            sys.unraisablehook = before
        assert not model.stale


def test_read_only_memory_says_so_wherever_it_can():
    name = new_name("read_only")
    load(name)
    with millpond.attach(name) as model:
        tensor = model["lm_head"]
        before = tensor.tobytes()
        assert tensor.readonly
        error = refused(millpond.ReadOnlyError, lambda: tensor.copy_(bytes(tensor.nbytes)))
        assert error.hint, "the way out is said"
        if on_gpu():
            assert tensor.__cuda_array_interface__["data"][1] is True
        else:
            array = tensor.numpy()
            assert not array.flags.writeable

            def write():
                array[0, 0] = 1

            refused(ValueError, write)
            refused(ValueError, lambda: array.setflags(write=True))
            del array, write
        assert tensor.tobytes() == before
        del tensor


# Torch does not know read-only memory: a write there is the documented end of the writer.
WRITE = """
import sys, torch, millpond
view = millpond.attach(sys.argv[1])["lm_head"].torch()
print("mapped", flush=True)
view.fill_(1)
if view.is_cuda:
    torch.cuda.synchronize()
print("written", flush=True)
"""


def test_a_write_through_torch_ends_the_writer_and_harms_nobody_else():
    try:
        import torch  # noqa: F401
    except ImportError:
        skip("torch is not installed")
    name = new_name("torch_write")
    load(name)
    with millpond.attach(name) as model:
        before = model["lm_head"].tobytes()
        writer = Holder(WRITE, name)
        try:
            assert writer.says() == "mapped"
            assert writer.says() == "", "the write went through"
            code = writer.process.wait(DEADLINE)
            assert code != 0 if on_gpu() else code in (-signal.SIGSEGV, -signal.SIGBUS)
        finally:
            writer.kill()
        assert model["lm_head"].tobytes() == before
    assert millpond.verify(name).ok


def test_a_refresh_in_place_to_another_layout_is_refused_and_changes_nothing():
    name = new_name("other_layout")
    load(name, SMALL, version="v1")
    load(name, Shape(layers=2, width=64, context=16), version="v2", activate=False)
    with millpond.attach(name) as model:
        view, address = views(model)["lm_head"], model["lm_head"].ptr
        before = host(view)
        millpond.swap(name, "v2")

        def refresh():
            with model.paused():
                model.refresh(in_place=True)

        error = refused(millpond.Invalid, refresh)
        assert "layout" in str(error) and error.hint, error
        assert (model.version, model["lm_head"].ptr, host(view)) == ("v1", address, before)
        assert model.refresh() and model.version == "v2", "a plain refresh is the way out"
        assert host(view) == before, "a view keeps the version that it is of"
        del view, refresh


def test_a_refresh_in_place_outside_of_paused_is_refused():
    name = new_name("not_paused")
    load(name, seed=1, version="v1")
    load(name, seed=2, version="v2")
    with millpond.attach(name, version="v1") as model:
        error = refused(millpond.Invalid, lambda: model.refresh(in_place=True))
        assert "paused" in f"{error} {error.hint}", error
        assert model.version == "v1"


def test_a_version_that_drains_takes_no_new_readers_and_keeps_the_old_ones():
    name = new_name("draining")
    load(name, seed=1, version="v1")
    with holders(1, HOLD, name) as (holder,):
        assert holder.first == "v1"
        load(name, seed=2, version="v2")
        millpond.retire(name, "v1")
        error = refused(millpond.Error, lambda: millpond.attach(name, version="v1"))
        assert error.code == "retired", error
        assert "v1" in str(error) and error.hint, error
        with millpond.attach(name) as model:
            assert model.version == "v2"
            refused(millpond.Error, lambda: model.refresh(version="v1"))
            assert model.version == "v2"
        assert holder.end() == 0
    # Its last reader has gone, and so has the version.
    tags = lambda: {version.version for version in millpond.inspect(name).versions}  # noqa: E731
    assert settle(tags, lambda tags: tags == {"v2"}) == {"v2"}


def test_a_close_invalidates_no_view():
    name = new_name("close")
    load(name, seed=1, version="v1")
    load(name, seed=2, version="v2", activate=False)
    model = millpond.attach(name)
    view, right = views(model)["lm_head"], model["lm_head"].tobytes()
    model.close()
    model.close()
    assert model.closed
    refused(millpond.ClosedError, lambda: model["lm_head"].tobytes())
    refused(millpond.ClosedError, model.refresh)
    millpond.swap(name, "v2")
    millpond.retire(name, "v1")
    assert host(view) == right, "the view keeps lease and mapping"
    assert millpond.live_leases() == 1
    refused(millpond.Timeout, lambda: millpond.retire(name, "v1", wait=0.2))
    before = account()["slabs"]
    del view, model
    assert millpond.flush()
    assert millpond.live_leases() == 0
    assert settle(lambda: account()["slabs"], lambda slabs: slabs < before) < before


def test_the_current_version_is_not_retired():
    name = new_name("current")
    load(name, seed=1, version="v1")
    load(name, seed=2, version="v2")
    error = refused(millpond.Error, lambda: millpond.retire(name, "v2"))
    assert "current" in str(error) and "swap" in (error.hint or ""), (error, error.hint)
    assert millpond.inspect(name).current == "v2"


def test_a_swap_to_a_version_that_is_not_ready_changes_nothing():
    name = new_name("not_ready")
    load(name, seed=1, version="v1")
    error = refused(millpond.NotFound, lambda: millpond.swap(name, "v9"))
    assert "v9" in str(error) and error.similar == ("v1",), (error, error.similar)
    staging = millpond.stage(name, version="v2", like="v1")
    try:
        error = refused(millpond.Error, lambda: millpond.swap(name, "v2"))
        assert error.code == "not_ready", error
        assert millpond.inspect(name).current == "v1"
    finally:
        staging.abort()
    tags = lambda: {version.version for version in millpond.inspect(name).versions}  # noqa: E731
    assert settle(tags, lambda tags: tags == {"v1"}) == {"v1"}


def test_an_exception_while_staging_leaves_nothing():
    name = new_name("staging")
    load(name, seed=1, version="v1")
    before = account()

    def stage():
        with millpond.stage(name, version="v2", like="v1") as staging:
            staging["lm_head"].copy_(bytes(staging["lm_head"].nbytes))
            raise KeyError("on purpose")

    try:
        stage()
    except KeyError:
        traceback.clear_frames(sys.exc_info()[2])
    assert settle(account, lambda now: now == before) == before
    assert {version.version for version in millpond.inspect(name).versions} == {"v1"}


if __name__ == "__main__":
    main(globals())
