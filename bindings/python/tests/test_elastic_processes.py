"""Elastic caches of several processes: memory that moves, callbacks, forks, the end of the interpreter."""

import gc
import multiprocessing
import os
import queue
import signal
import subprocess
import sys
import time

import pytest

import millpond
from conftest import DEADLINE
from elastic_side import MIB, neighbour, reserve

numpy = pytest.importorskip("numpy", reason="numpy is not installed")


@pytest.fixture
def group(request):
    """A group of the test's own, whose limit is one cache."""
    name = "".join(c if c.isalnum() else "-" for c in request.node.name)[:40].strip("-").lower()
    millpond.set_group(name, 64 * MIB)
    yield name
    gc.collect()
    deadline = time.monotonic() + DEADLINE
    while True:
        try:
            return millpond.remove_group(name)
        except millpond.InUse:
            # A process that was killed is noticed in a moment.
            assert time.monotonic() < deadline
            time.sleep(0.02)


def eventually(what):
    deadline = time.monotonic() + DEADLINE
    while not what():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def hear(says, process):
    """What the process says next."""
    deadline = time.monotonic() + DEADLINE
    while True:
        try:
            return says.get(timeout=0.1)
        except queue.Empty:
            assert process.is_alive() and time.monotonic() < deadline


@pytest.fixture
def spawn():
    """Starts a neighbour; returns what hears it, and what ends it."""
    context, started = multiprocessing.get_context("spawn"), []

    def start(group, answer):
        says, hears = context.Queue(), context.Queue()
        process = context.Process(target=neighbour, args=(group, says, hears, answer))
        process.start()
        started.append(process)
        assert hear(says, process) == "there"

        def end():
            hears.put("end")
            told = hear(says, process)
            process.join(DEADLINE)
            assert process.exitcode == 0
            return told

        return end

    yield start
    for process in started:
        process.kill()
        process.join()


@pytest.mark.parametrize("answer", ["idle", "yes", "now"])
def test_memory_moves_from_one_process_to_another(group, spawn, answer):
    end = spawn(group, answer)
    cache = reserve(group, "mine", wait=30)
    cache.commit(32)
    view = cache.numpy()
    view[:, :32] = 2
    assert (view[:, :32] == 2).all()
    asks, unraisable, committed, right = end()
    assert committed == 32 and right and unraisable == []
    if answer == "idle":
        assert asks == []
    else:
        (asked,) = asks
        assert asked[:3] == (32 * MIB, 32, True)
        assert "'mine' of" in asked[3] and "falls short" in asked[3] and isinstance(asked[4], int)
    # It came back when the other one ended.
    eventually(lambda: commits(cache, 64))


def commits(cache, blocks):
    try:
        cache.commit(blocks)
    except millpond.GpuFull:
        return False
    return True


@pytest.mark.parametrize("answer", ["no", "none", "raises", "wrong"])
def test_a_neighbour_that_gives_nothing_is_named(group, spawn, answer):
    end = spawn(group, answer)
    cache = reserve(group, "mine", wait=5)
    with pytest.raises(millpond.GpuFull) as caught:
        cache.commit(1)
    error = caught.value
    assert error.verdict == "after_freeing" and error.used_bytes == 64 * MIB
    (holder,) = error.holders
    assert holder.bytes == 64 * MIB and "'neighbour' of" in holder.cache
    asks, unraisable, committed, right = end()
    assert len(asks) == 1 and committed == 64 and right
    wanted = {"raises": [("RuntimeError", True)], "wrong": [("TypeError", True)]}
    assert unraisable == wanted.get(answer, [])


def test_what_is_promised_soon_comes_later(group, python):
    script = """
import sys, threading, millpond
cache = millpond.elastic(sys.argv[1]).reserve("later", (2, 64, 1 << 17), "float32", 1)
cache.commit(64)
asked = threading.Event()
def pressed(ask):
    asked.set()
    return "soon"
cache.on_pressure(pressed)
print("there", flush=True)
assert asked.wait(60)
cache.uncommit(range(0, 64))
sys.stdin.readline()
print(cache.held_bytes < 64 << 20)
"""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", script, group], **pipes) as other:
        assert other.stdout.readline() == "there\n"
        cache = reserve(group, "mine", wait=30)
        eventually(lambda: commits(cache, 8))
        out, _ = other.communicate("\n", timeout=DEADLINE)
        assert (out, other.returncode) == ("True\n", 0)


def test_others_run_while_a_commit_waits(group):
    import threading

    other, asked, failed = reserve(group, "other", wait=30), threading.Event(), []

    def soon(ask):
        asked.set()
        return "soon"

    other.on_pressure(soon)
    other.commit(64)
    cache = reserve(group, "mine", wait=30)

    def wait():
        try:
            cache.commit(32)
        except millpond.GpuFull as error:
            failed.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    # Neither the callback nor this thread would run while a commit kept the interpreter.
    assert asked.wait(DEADLINE)
    other.uncommit(range(32, 64))
    thread.join(DEADLINE)
    assert not failed and cache.committed_bytes >= 32 * MIB


def test_a_killed_process_gives_everything_back(group):
    script = """
import sys, time, millpond
cache = millpond.elastic(sys.argv[1]).reserve("gone", (2, 64, 1 << 17), "float32", 1)
cache.commit(64)
cache.numpy()[:, :64] = 1
print("there", flush=True)
time.sleep(600)
"""
    with subprocess.Popen([sys.executable, "-c", script, group], stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "there\n"
        cache = reserve(group, "mine", wait=0)
        with pytest.raises(millpond.GpuFull):
            cache.commit(64)
        other.send_signal(signal.SIGKILL)
    eventually(lambda: commits(cache, 64))


FORK = """
import os, sys, millpond
cache = millpond.elastic(sys.argv[1]).reserve("forked", (2, 64, 1 << 17), "float32", 1)
other = millpond.elastic(sys.argv[1]).reserve("table", (2, 64, 1 << 17), "float32", 1)
cache.commit(4)
view = cache.numpy()
view[:, :4] = 1
capsule, ready, table = cache.__dlpack__(), cache.prepare(range(8, 12)), other.blocks()
taken = table.take(3)
cache.on_pressure(lambda ask: False)
uses = {
    "commit": lambda: cache.commit(8),
    "uncommit": lambda: cache.uncommit(range(0, 4)),
    "trim": cache.trim,
    "prepare": lambda: cache.prepare(range(20, 24)),
    "numpy": cache.numpy,
    "dlpack": cache.__dlpack__,
    "pointer": cache.data_ptr,
    "stats": cache.stats,
    "held": lambda: cache.held_bytes,
    "blocks": cache.blocks,
    "step": cache.step,
    "on_pressure": lambda: cache.on_pressure(print),
    "take": lambda: table.take(1),
    "give": lambda: table.give(taken),
    "ready": ready.commit,
    "abort": ready.abort,
}
pid = os.fork()
if pid == 0:
    for name, use in uses.items():
        try:
            use()
        except millpond.ForkError as error:
            assert "forked" in str(error) and error.hint == "reserve a cache in this process", error
        else:
            print(name, flush=True)
            os._exit(3)
    assert cache.shape == (2, 64, 1 << 17) and repr(cache)
    table.close()
    cache.close()
    del view, capsule, ready, table, cache, other, uses
    sys.exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
assert (view[:, :4] == 1).all() and cache.stats().committed_blocks == 4
ready.commit()
table.give(taken)
cache.commit(20)
view[:, :20] = 2
print("fine", cache.held_bytes >> 20)
"""


def test_a_forked_child_is_told_and_gives_nothing_back(group, python):
    assert python(FORK, group) == "fine 20\n"


END = """
import sys, threading, time, millpond
pool = millpond.elastic(sys.argv[1])
cache = pool.reserve("ends", (2, 64, 1 << 17), "float32", 1)
cache.commit(32)
view = cache.numpy()
other = pool.reserve("table", (2, 64, 1 << 17), "float32", 1)
table = other.blocks()
begun = threading.Event()
def pressed(ask):
    begun.set()
    if sys.argv[2] == "hangs":
        threading.Event().wait()
    time.sleep(0.05)
    return False
cache.on_pressure(pressed)
def busy():
    while True:
        blocks = table.take(4)
        table.give(blocks)
def wants():
    # More than there is: its neighbour in this very process is asked, again and again.
    third = pool.reserve("third", (2, 64, 1 << 17), "float32", 1, wait=10)
    while True:
        try:
            third.commit(48)
        except millpond.GpuFull:
            pass
for work in (busy, wants):
    threading.Thread(target=work, daemon=True).start()
if sys.argv[2] != "table":
    assert begun.wait(60)
time.sleep(float(sys.argv[3]))
print("fine")
"""


@pytest.mark.parametrize("use", ["table", "asked", "hangs"])
def test_the_interpreter_ends_with_caches_and_callbacks_in_use(group, python, use):
    for pause in ("0",) if use == "hangs" else ("0", "0.01", "0.1"):
        assert python(END, group, use, pause) == "fine\n"


def test_ctrl_c_ends_a_commit_that_waits(group):
    script = """
import sys, threading, millpond
pool = millpond.elastic(sys.argv[1])
full, mine = (pool.reserve(name, (2, 64, 1 << 17), "float32", 1, wait=60) for name in ("full", "mine"))
full.commit(64)
# It promises, and never gives: the commit waits.
full.on_pressure(lambda ask: (print("asked", flush=True), "soon")[1])
try:
    while True:
        try:
            mine.commit(1)
        except millpond.GpuFull:
            pass
except KeyboardInterrupt:
    print("interrupted", mine.held_bytes)
"""
    with subprocess.Popen([sys.executable, "-c", script, group], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout.readline() == "asked\n"
        child.send_signal(signal.SIGINT)
        out, _ = child.communicate(timeout=DEADLINE)
        assert out.endswith("interrupted 0\n") and child.returncode == 0


def test_caches_outlive_the_daemon(group):
    cache = reserve(group, "stays")
    cache.commit(8)
    view = cache.numpy()
    view[:, :8] = 3
    os.kill(millpond.status().daemon_pid, signal.SIGKILL)
    cache.commit(16)
    view[:, 8:16] = 4
    millpond.status()
    cache.commit(32)
    assert (view[:, :8] == 3).all() and (view[:, 8:16] == 4).all()
    cache.uncommit(range(0, 32))
    assert cache.trim() == cache.stats().reserved_bytes // 2


def test_a_limited_program_has_caches_in_its_own_group(group, limited):
    program, environment = limited
    script = """
import sys, millpond
pool = millpond.elastic(sys.argv[1])
assert pool.is_limited and pool.group == sys.argv[1]
cache = pool.reserve("own", (64, 1 << 20), "uint8", wait=0.1)
cache.commit(32)
try:
    cache.commit(64)
except millpond.GpuFull as error:
    assert error.verdict == "card_full", error
else:
    raise AssertionError
try:
    millpond.elastic("another-one")
except millpond.Denied as error:
    assert "millpond run --group another-one" in error.hint
print("fine")
"""
    millpond.set_group(group, 48 * MIB)
    millpond.set_group("another-one", 48 * MIB)
    command = [program, "run", "--group", group, "--", sys.executable, "-c", script, group]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=DEADLINE)
    millpond.remove_group("another-one")
    assert (ended.stdout, ended.returncode) == ("fine\n", 0), ended.stderr
