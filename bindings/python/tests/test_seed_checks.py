"""What sharing one copy of a model must show, on both drivers: one copy for N workers, no copy in
between, workers that come and go, equal outputs, no growth, and kill -9.

`python test_seed_checks.py` runs it without pytest.
"""

import hashlib
import os
import subprocess
import sys
import tempfile

from models_side import (
    DEADLINE,
    HOLD,
    Holder,
    account,
    end_movers,
    framework,
    holders,
    host,
    main,
    new_name,
    on_gpu,
    physical,
    settle,
    steady,
    views,
)

import millpond
import make_checkpoint
from model import Shape, generate, new_net, private_weights

MIB = 1 << 20
SMALL = Shape(layers=1, width=64, context=16)


def large():
    """Large enough that a second copy could not hide among contexts."""
    return Shape(layers=8, width=2048, context=16) if on_gpu() else Shape(layers=2, width=512, context=16)


def tolerance():
    """The software driver counts to the byte; a card has driver state that comes and goes."""
    return 64 * MIB if on_gpu() else 0


def load(name, shape=SMALL, seed=1, tune=None, version=None, shards=1, activate=True):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "checkpoint" if shards > 1 else "checkpoint.safetensors")
        make_checkpoint.write(path, shape, seed, tune=tune, shards=shards)
        return millpond.load(name, path, version=version, activate=activate, slab_bytes=2 * MIB)


def private_output(shape, seed, tune=None, prompt=b"pond"):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "checkpoint.safetensors")
        make_checkpoint.write(path, shape, seed, tune=tune)
        net = new_net(framework())
        net.load(private_weights(framework(), path))
        return generate(net, list(prompt), 4)


def output(model, prompt=b"pond"):
    net = new_net(framework())
    net.load(views(model))
    return generate(net, list(prompt), 4)


def test_n_workers_use_one_copy():
    tiny, big = new_name("one_copy/tiny"), new_name("one_copy/big")
    load(tiny)
    nbytes = load(big, large()).nbytes
    assert nbytes > (256 if on_gpu() else 16) * MIB
    workers = 4

    def cost(name):
        """What a number of workers cost on the card, beside what is there without them."""
        end_movers()
        before, alone = account(), steady(physical)
        with holders(workers, HOLD, name) as held:
            assert [holder.first for holder in held] == ["v1"] * workers
            during = account()
            assert (during["tensors"], during["slabs"]) == (before["tensors"], before["slabs"])
            assert during["leases"] >= before["leases"] + workers
            grown = steady(physical) - alone
            assert [holder.end() for holder in held] == [0] * workers
        assert settle(account, lambda now: now == before) == before
        return grown

    # Workers have contexts, whatever they map. The model's size must not be in the difference.
    assert abs(cost(big) - cost(tiny)) <= tolerance() * workers < nbytes


def test_a_write_by_one_process_is_seen_by_another_that_has_mapped_before():
    name = new_name("mutation")
    written = millpond.create(name, (4096,), "uint8", zero=True)
    written.publish()
    # Each line that it is told, it says what it reads: always the same view of the same mapping.
    reader = Holder(
        """
import sys, millpond
tensor = millpond.get(sys.argv[1])
view = tensor.torch() if sys.argv[2] == "torch" else tensor.numpy()
print("ready", tensor.readonly, flush=True)
for line in sys.stdin:
    print(int(view[0]), int(view[4095]), flush=True)
""",
        name,
        framework(),
    )
    try:
        assert reader.says() == "ready True"
        view = written.torch() if on_gpu() else written.numpy()
        for value in (7, 200, 0, 255):
            view[0] = value
            view[4095] = 255 - value
            written.publish()
            reader.tell("read")
            assert reader.says() == f"{value} {255 - value}"
        assert reader.end() == 0
    finally:
        reader.kill()
    del view
    written.close()
    millpond.delete(name)


def test_a_refresh_in_place_shows_the_new_bytes_at_the_same_address():
    name = new_name("in_place")
    load(name, seed=1)
    load(name, seed=1, tune=2, version="v2", activate=False)
    with millpond.attach(name) as model, millpond.attach(name, version="v2") as other:
        addresses = {key: tensor.ptr for key, tensor in model.items()}
        before = {key: tensor.tobytes() for key, tensor in model.items()}
        after = {key: tensor.tobytes() for key, tensor in other.items()}
        assert {key for key in before if before[key] != after[key]} == set(make_checkpoint.TUNED)
        view = views(model)["lm_head"]
        assert host(view) == before["lm_head"]
        millpond.swap(name, "v2")
        with model.paused():
            assert model.refresh(in_place=True)
        assert model.version == "v2"
        assert {key: tensor.ptr for key, tensor in model.items()} == addresses
        assert {key: tensor.tobytes() for key, tensor in model.items()} == after
        # A view taken before, as those in a CUDA graph, reads the new bytes too.
        assert host(view) == after["lm_head"]
        del view


CHURN = """
import hashlib, os, sys, millpond
model = millpond.attach(sys.argv[1])
print(model.version, hashlib.sha256(model["lm_head"].tobytes()).hexdigest(), flush=True)
if sys.argv[2] == "kill":
    os.kill(os.getpid(), 9)
"""


def test_two_hundred_workers_come_and_go_and_nothing_grows():
    name = new_name("churn")
    load(name)
    with millpond.attach(name) as model:
        right = f"v1 {hashlib.sha256(model['lm_head'].tobytes()).hexdigest()}\n"
    assert millpond.flush()
    end_movers()
    before, used = account(), steady(physical)
    status = millpond.status()
    together = 8 if on_gpu() else 4
    for start in range(0, 200, together):
        ends = ["kill" if (start + number) % 2 else "exit" for number in range(together)]
        workers = [
            subprocess.Popen([sys.executable, "-c", CHURN, name, end], stdout=subprocess.PIPE, text=True)
            for end in ends
        ]
        for worker, end in zip(workers, ends):
            said, _ = worker.communicate(timeout=DEADLINE)
            assert said == right
            assert worker.returncode == (-9 if end == "kill" else 0)
    assert settle(account, lambda now: now == before) == before
    now = settle(physical, lambda now: abs(now - used) <= tolerance())
    assert abs(now - used) <= tolerance(), (now, used)
    after = millpond.status()
    assert (after.daemon_pid, after.epoch) == (status.daemon_pid, status.epoch)


def test_outputs_equal_those_of_private_weights_to_the_last_bit():
    name = new_name("equal")
    shape = Shape(layers=2, width=128, context=32)
    load(name, shape, seed=1)
    load(name, shape, seed=1, tune=2, version="v2", shards=3, activate=False)
    first, second = private_output(shape, 1), private_output(shape, 1, tune=2)
    assert first.digest != second.digest
    with millpond.attach(name) as model:
        assert output(model) == first
        millpond.swap(name, "v2")
        assert output(model) == first, "a swap changes nothing for who has not refreshed"
        assert model.refresh()
        assert output(model) == second
        millpond.rollback(name)
        assert model.refresh()
        assert output(model) == first


def test_loads_and_retirements_leave_no_bytes():
    name = new_name("no_growth")
    load(name, version="keep")
    end_movers()
    before, used = account(), steady(physical)
    for number in range(10):
        load(name, seed=10 + number, version=f"n{number}", activate=False)
        with millpond.attach(name, version=f"n{number}") as model:
            assert model.version == f"n{number}"
        assert millpond.flush()
        millpond.retire(name, f"n{number}", wait=DEADLINE)
    end_movers()
    assert settle(account, lambda now: now == before) == before
    now = settle(physical, lambda now: abs(now - used) <= tolerance())
    assert abs(now - used) <= tolerance(), (now, used)


def test_memory_of_killed_holders_comes_back_when_the_version_is_retired():
    name = new_name("killed")
    load(name, SMALL, version="next")
    end_movers()
    before, used = account(), steady(physical)
    nbytes = load(name, large(), version="old").nbytes
    grown = account()
    assert grown["slabs"] >= before["slabs"] + nbytes
    with holders(3, HOLD, name) as held:
        assert [holder.first for holder in held] == ["old"] * 3
        millpond.swap(name, "next")
        millpond.retire(name, "old")
        # It is nobody's to attach any more, and yet the holders' memory is not taken.
        assert account()["slabs"] == grown["slabs"]
        for holder in held[:2]:
            holder.kill()
        assert account()["slabs"] == grown["slabs"]
        held[2].kill()
    assert settle(account, lambda now: now == before) == before
    end_movers()
    now = settle(physical, lambda now: abs(now - used) <= tolerance())
    assert abs(now - used) <= tolerance() < nbytes, (now, used)


if __name__ == "__main__":
    main(globals())
