"""How the memory of tensors is shared: transports, handles, and what is left when a process ends."""

import os
import signal
import subprocess
import sys
import time

import pytest

import millpond
from conftest import DEADLINE, Server

READ = """
import sys, millpond
with millpond.get(sys.argv[1]) as t:
    print(t.transport, t.survives, t.tobytes().hex())
"""

# Reads, says so, and reads again when its input ends.
STAY = """
import sys, millpond
t = millpond.get(sys.argv[1])
print(t.tobytes().hex(), flush=True)
sys.stdin.read()
print(t.tobytes().hex(), flush=True)
"""


def eventually(look):
    """What there is to see, once there is."""
    deadline = time.monotonic() + DEADLINE
    while not (seen := look()):
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)
    return seen


@pytest.mark.parametrize("transport, survives", [("vmm", "everything"), ("mempool", "everything"), ("ipc", "host")])
def test_memory_of_every_transport_is_shared_by_name(name, python, transport, survives):
    with millpond.create(name, (4, 4), "uint8", transport=transport) as t:
        assert (t.transport, t.survives, t.copied_because) == (transport, survives, None)
        t.copy_(bytes(range(16)))
        t.publish()
        info = millpond.info(name)
        assert (info.transport, info.survives, info.adopted) == (transport, survives, False)
        assert (info.home_pid is None) == (survives == "everything")
        assert python(READ, name) == f"{transport} {survives} {bytes(range(16)).hex()}\n"
    millpond.delete(name)


def test_a_transport_that_is_none_is_refused(name):
    with pytest.raises(millpond.Invalid, match="no transport 'usb'") as error:
        millpond.create(name, 4, "uint8", transport="usb")
    assert '"ipc"' in error.value.hint
    with pytest.raises(millpond.Error, match="fabric"):
        millpond.create(name, 4, "uint8", transport="fabric")
    assert millpond.list(name) == []


def test_a_host_is_told_with_what_it_keeps(name):
    with millpond.create(name, 64, "uint8", zero=True, transport="ipc") as t:
        home = millpond.info(name).home_pid
        (host,) = [one for one in millpond.status().hosts if one.pid == home]
        assert (host.user, host.share, host.sealed) == (os.getuid(), "user", False)
        assert host.tensors >= 1 and host.bytes >= 64 and host.device == t.device
        assert f"pid {home}" in repr(host)
    millpond.delete(name)


def test_a_handle_keeps_the_tensor_until_it_is_released(name):
    millpond.create(name, (2, 3), "float32", zero=True, transport="ipc").close()
    assert millpond.flush()
    with millpond.handle(name) as handle:
        assert isinstance(handle.memory, bytes) and len(handle.memory) == 64
        assert handle.event is None or len(handle.event) == 64
        info = millpond.info(name)
        assert (handle.device, handle.offset, handle.nbytes) == (info.device, info.slab_offset_bytes, 24)
        assert (handle.dtype, handle.shape, handle.released) == ("float32", (2, 3), False)
        assert (millpond.live_leases(), millpond.live_bytes(), info.lease_count) == (1, 24, 1)
        assert name in repr(handle) and "b'" not in repr(handle), "whoever has the bytes has the memory"
        millpond.delete(name)
        assert millpond.info(info).state == "deleted"
    assert handle.released and "released" in repr(handle)
    assert (handle.shape, handle.nbytes) == ((2, 3), 24)
    for field in ("memory", "event"):
        with pytest.raises(millpond.ClosedError, match="other memory"):
            getattr(handle, field)
    handle.release()

    def gone():
        try:
            millpond.info(info)
        except millpond.NotFound:
            return True

    eventually(gone)


@pytest.mark.parametrize("transport", ["vmm", "mempool"])
def test_a_tensor_of_another_transport_has_no_handle(name, transport):
    millpond.create(name, 4, "uint8", zero=True, transport=transport).close()
    with pytest.raises(millpond.Invalid, match=f"no handle: its transport is '{transport}'") as error:
        millpond.handle(name)
    assert 'transport="ipc"' in error.value.hint
    millpond.delete(name)


def test_a_handle_of_nothing_and_of_what_is_written_is_refused(name):
    with pytest.raises(millpond.NotFound):
        millpond.handle(name)
    with millpond.create(name, 4, "uint8", transport="ipc"):
        with pytest.raises(millpond.NotReady) as error:
            millpond.handle(name)
        assert error.value.hint == "publish it first"
    millpond.delete(name)


class Stream:
    cuda_stream = 0


def test_streams_of_processes_are_ordered_by_a_tensors_event(name):
    with millpond.create(name, 4, "uint8", zero=True, transport="ipc") as t:
        for stream in (None, 0, Stream()):
            t.wait(stream)
            t.record(stream)
        with pytest.raises(TypeError, match="no stream"):
            t.record("x")
    with pytest.raises(millpond.ClosedError):
        t.wait()
    with millpond.get(name) as reader:
        reader.wait()
        with pytest.raises(millpond.ReadOnlyError):
            reader.record()
    millpond.delete(name)


def test_a_tensor_without_an_event_says_so(name):
    with millpond.create(name, 4, "uint8", zero=True) as t:
        for call in (t.record, t.wait):
            with pytest.raises(millpond.Invalid, match="no event") as error:
                call()
            assert "publish()" in error.value.hint
    millpond.delete(name)


@pytest.fixture
def own(tmp_path):
    """A pond whose processes may die, in a process of its own for whoever uses it."""
    server = Server(tmp_path / "run", MILLPOND_SOFT_DIR=str(tmp_path / "gpu"))
    yield server
    server.pond.close()
    server.stop()


def stayer(own, name):
    reader = subprocess.Popen(
        [sys.executable, "-c", STAY, name],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "MILLPOND_RUNTIME_DIR": str(own.folder), "MILLPOND_SOFT_DIR": str(own.folder.parent / "gpu")},
    )
    return reader, reader.stdout.readline()


def test_readers_keep_their_bytes_when_a_host_dies_and_nobody_else_gets_them(own, tmp_path):
    pond, expected = own.pond, bytes(range(64)).hex() + "\n"
    pond.put("kept", bytes(64))
    script = """
import sys, millpond
t = millpond.create("x", 64, "uint8", transport="ipc")
t.copy_(bytes(range(64)))
t.publish()
"""
    environment = {**os.environ, "MILLPOND_RUNTIME_DIR": str(own.folder), "MILLPOND_SOFT_DIR": str(tmp_path / "gpu")}
    subprocess.run([sys.executable, "-c", script], env=environment, check=True, timeout=DEADLINE)
    reader, seen = stayer(own, "x")
    try:
        assert seen == expected
        info = pond.info("x")
        os.kill(info.home_pid, signal.SIGKILL)
        eventually(lambda: pond.info(info).state == "orphan")
        assert pond.info("kept").state == "ready"
        with pytest.raises(millpond.NotFound, match="its host .* died"):
            pond.get("x")
        with pytest.raises(millpond.Error, match="gone|not found"):
            pond.get(info.id)
        # The name is free again, and the old memory is not the new one's.
        pond.put("x", bytes(64))
        assert reader.communicate(timeout=DEADLINE)[0] == expected
        assert reader.returncode == 0
    finally:
        reader.kill()
        reader.wait()
    kinds = {event.kind for event in pond.events(follow=False)}
    assert {"host_started", "host_lost", "tensor_orphaned"} <= kinds
