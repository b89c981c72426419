"""Models that change under their readers: swaps, callbacks, refreshes."""

import gc
import sys
import threading
import time
import weakref

import pytest

import checkpoints
import millpond
from conftest import DEADLINE


def until(condition):
    deadline = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < deadline, "it does not happen"
        time.sleep(0.005)


def bytes_of(seed):
    return checkpoints.arrays(seed)["wte"].tobytes()


def test_swap_rollback_and_refresh(model):
    m = millpond.attach(model)
    old = m["wte"].numpy()
    assert not m.stale and not m.refresh()
    info = millpond.swap(model, "v2")
    assert info.current and info.version == "v2"
    assert millpond.inspect(model).previous == "v1"
    assert m.stale and m["wte"].tobytes() == bytes_of(0)
    lazy = m.numpy()
    assert m.refresh() and not m.refresh() and not m.stale
    assert m.version == "v2" and m["wte"].tobytes() == bytes_of(1) and m.metadata == {"seed": "1"}
    # Views and dicts from before stay with the old version, and keep it.
    assert old.tobytes() == bytes_of(0) and lazy["wte"].tobytes() == bytes_of(0)
    assert millpond.live_leases() == 2
    del old, lazy
    assert millpond.live_leases() == 1
    assert millpond.rollback(model).version == "v1"
    assert m.stale and m.refresh() and m.version == "v1"
    with pytest.raises(millpond.NotFound):
        millpond.swap(model, "v9")


def test_refresh_to_a_named_version(model):
    m = millpond.attach(model)
    assert m.refresh(version="v2") and m.version == "v2" and m.stale
    assert not m.refresh(version="v2")
    assert m.refresh() and m.version == "v1"
    with pytest.raises(millpond.NotFound):
        m.refresh(version="v9")
    assert m.version == "v1"
    with m.paused():
        with pytest.raises(millpond.Invalid, match="leads to the current version"):
            m.refresh(in_place=True, version="v2")


def test_refresh_in_place_keeps_every_address(model):
    m = millpond.attach(model)
    tensor, array = m["wte"], m["wte"].numpy()
    addresses = {name: view.ptr for name, view in m.items()}
    millpond.swap(model, "v2")
    with pytest.raises(millpond.Invalid, match="needs a pause") as caught:
        m.refresh(in_place=True)
    assert "with model.paused()" in caught.value.hint
    with m.paused() as inside:
        assert inside is m
        assert m.refresh(in_place=True)
        assert not m.refresh(in_place=True)
        assert m["wte"].tobytes() == bytes_of(1)
    assert m.version == "v2" and {name: view.ptr for name, view in m.items()} == addresses
    # What was got before sees the new bytes.
    assert array.tobytes() == tensor.tobytes() == bytes_of(1)
    assert millpond.live_leases() == 1
    millpond.flush()
    assert millpond.inspect(f"{model}@v1").readers == 0
    assert millpond.inspect(f"{model}@v2").readers == 1


def test_another_layout_does_not_take_the_same_place(model):
    m = millpond.attach(model)
    with millpond.stage(model, "v3", tensors={"other": ("uint8", 3)}, activate=True) as w:
        w["other"].copy_(b"abc")
    with m.paused(), pytest.raises(millpond.Invalid, match="another layout"):
        m.refresh(in_place=True)
    assert m.version == "v1" and m["wte"].tobytes() == bytes_of(0)
    assert m.refresh() and list(m) == ["other"]


def test_a_pause_holds_others_back(model):
    m = millpond.attach(model)
    got = []

    def reader():
        got.append(m["wte"].tobytes())

    with m.paused():
        with m.paused():
            pass
        thread = threading.Thread(target=reader)
        thread.start()
        time.sleep(0.3)
        assert got == [] and m["mask"].shape == (3, 5)
        millpond.swap(model, "v2")
        m.refresh(in_place=True)
        assert got == []
    thread.join(DEADLINE)
    assert got == [bytes_of(1)]


def test_callbacks_are_told(model):
    m = millpond.attach(model)
    told, others = [], []
    stop = m.on_swap(told.append)
    m.on_swap(lambda tag: others.append((tag, threading.current_thread() is threading.main_thread())))
    millpond.swap(model, "v2")
    until(lambda: told == ["v2"] and others == [("v2", False)])
    stop()
    stop()
    millpond.rollback(model)
    until(lambda: len(others) == 2)
    assert told == ["v2"] and others[1] == ("v1", False)
    # A swap to what is current already is none, and neither is one of another model.
    with pytest.raises(TypeError, match="cannot be called"):
        m.on_swap(3)


def test_a_callback_may_refresh(model):
    m = millpond.attach(model)
    done = threading.Event()

    def follow(tag):
        assert m.refresh() and m.version == tag
        done.set()

    m.on_swap(follow)
    millpond.swap(model, "v2")
    assert done.wait(DEADLINE) and m.version == "v2" and m["wte"].tobytes() == bytes_of(1)
    done.clear()
    m.on_swap(lambda tag: m.close())
    millpond.swap(model, "v1")
    assert done.wait(DEADLINE)
    until(lambda: m.closed)


def test_a_callback_may_refresh_in_place(model):
    m = millpond.attach(model)
    array, done = m["wte"].numpy(), threading.Event()

    def follow(_tag):
        with m.paused():
            m.refresh(in_place=True)
        done.set()

    m.on_swap(follow)
    millpond.swap(model, "v2")
    assert done.wait(DEADLINE) and array.tobytes() == bytes_of(1)
    m.close()


def test_an_exception_in_a_callback_goes_no_further(model, monkeypatch):
    m = millpond.attach(model)
    caught, told = [], []
    monkeypatch.setattr(sys, "unraisablehook", lambda args: caught.append(str(args.exc_value)))

    def bad(tag):
        raise RuntimeError(f"not {tag}")

    m.on_swap(bad)
    m.on_swap(told.append)
    millpond.swap(model, "v2")
    until(lambda: told == ["v2"])
    millpond.swap(model, "v1")
    until(lambda: told == ["v2", "v1"])
    assert caught == ["not v2", "not v1"]
    m.close()


def test_a_model_with_callbacks_goes_like_any_other(model):
    m = millpond.attach(model)
    m.on_swap(lambda tag: m.refresh())
    gone = weakref.ref(m)
    del m
    gc.collect()
    assert gone() is None and millpond.live_leases() == 0


def test_the_interpreter_ends_while_callbacks_wait_and_run(model, python):
    script = """
import sys, time, millpond
m = millpond.attach(sys.argv[1])
def slow(tag):
    print("told", tag, flush=True)
    time.sleep(0.5)
    print("done", flush=True)
m.on_swap(slow)
millpond.swap(sys.argv[1], "v2")
while not m.stale:
    pass
time.sleep(0.2)
"""
    assert python(script, model) == "told v2\ndone\n"


def test_a_callback_that_goes_on_past_the_end_of_the_interpreter_does_no_harm(model, python):
    script = """
import sys, threading, time, millpond
m = millpond.attach(sys.argv[1])
told = threading.Event()
def endless(tag):
    assert threading.current_thread() in threading.enumerate() and threading.current_thread().daemon
    told.set()
    while True:
        time.sleep(0.01)
m.on_swap(endless)
millpond.swap(sys.argv[1], "v2")
assert told.wait(60)
print("over", flush=True)
"""
    assert python(script, model) == "over\n"


def test_callbacks_survive_the_daemon(model):
    import os
    import signal

    m = millpond.attach(model)
    told = []
    m.on_swap(told.append)
    os.kill(millpond.status().daemon_pid, signal.SIGKILL)
    millpond.swap(model, "v2")
    until(lambda: told[-1:] == ["v2"])
    m.close()


def test_readers_see_one_version_while_it_is_swapped(model):
    wanted = {bytes_of(0): "v1", bytes_of(1): "v2"}
    over, seen, wrong = threading.Event(), set(), []

    def work():
        with millpond.attach(model) as m:
            while not over.is_set():
                m.refresh()
                arrays = m.numpy()
                version = wanted.get(arrays["wte"].tobytes())
                seen.add(version)
                seeds = checkpoints.arrays(0 if version == "v1" else 1)
                if arrays["mask"].tobytes() != seeds["mask"].tobytes():
                    wrong.append(version)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for number in range(50):
        millpond.swap(model, "v2" if number % 2 == 0 else "v1")
    until(lambda: seen >= {"v1", "v2"} or not any(thread.is_alive() for thread in threads))
    over.set()
    for thread in threads:
        thread.join(DEADLINE)
    assert wrong == [] and None not in seen
