"""Calls that wait, as coroutines."""

import ast
import asyncio
import inspect
import math
import pathlib
import threading
import time

import pytest

import millpond
import millpond.aio
from conftest import DEADLINE


def run(coroutine):
    return asyncio.run(asyncio.wait_for(coroutine, DEADLINE))


def threads():
    return [one for one in threading.enumerate() if one.name == "millpond-call"]


def wait_until(what):
    deadline = time.monotonic() + DEADLINE
    while not what():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_every_call_of_the_module_has_a_twin_with_its_stub():
    assert set(millpond._FUNCTIONS) < set(millpond.aio.__all__)
    tree = ast.parse((pathlib.Path(millpond.__file__).parent / "aio.pyi").read_text())
    stubs = {one.name: one for one in tree.body if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef))}
    assert set(stubs) == set(millpond.aio.__all__)
    for name in millpond._FUNCTIONS:
        args = stubs[name].args
        written = [one.arg for one in (*args.args, *args.kwonlyargs) if one.arg != "pond"]
        assert written == list(inspect.signature(getattr(millpond, name)).parameters), name
        assert inspect.iscoroutinefunction(getattr(millpond.aio, name)) or name == "events"


def test_calls_wait_beside_each_other(name):
    async def main():
        first = asyncio.ensure_future(millpond.aio.get(name, wait=DEADLINE))
        second = asyncio.ensure_future(millpond.aio.get(name, wait=math.inf))
        await asyncio.sleep(0.05)
        assert not first.done() and not second.done()
        info = await millpond.aio.put(name, b"abcd")
        for one in await asyncio.gather(first, second):
            assert one.id == info.id and one.tobytes() == b"abcd"
            one.close()
        pond = await millpond.aio.connect()
        assert (await millpond.aio.call(pond.info, name)).id == info.id
        with pytest.raises(millpond.NotFound):
            await millpond.aio.info(name + "x")
        await millpond.aio.delete(name)

    run(main())
    wait_until(lambda: not threads())


def test_a_task_that_is_cancelled_ends_its_wait_and_its_thread_and_leaves_no_lease(name):
    async def main():
        tasks = [asyncio.ensure_future(millpond.aio.get(name, wait=math.inf)) for _ in range(8)]
        await asyncio.sleep(0.2)
        assert len(threads()) == 8
        for task in tasks:
            task.cancel()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(isinstance(one, asyncio.CancelledError) for one in ended)
        # Also by a time that is over.
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(millpond.aio.attach(name, wait=math.inf), 0.05)
        deadline = time.monotonic() + DEADLINE
        while threads():
            assert time.monotonic() < deadline
            await asyncio.sleep(0.01)

    run(main())
    # What the waits that were given up are granted by now goes back.
    millpond.put(name, b"abcd")
    wait_until(lambda: millpond.info(name).leases == 0)
    millpond.delete(name)


def test_events_and_swaps_are_followed(model):
    async def main():
        seen = []

        async def follow():
            async for event in millpond.aio.events(model=model, kind="model_swapped"):
                seen.append(event.kind)

        attached = await millpond.aio.attach(model)
        tags = millpond.aio.swaps(attached)
        following, first = asyncio.ensure_future(follow()), asyncio.ensure_future(tags.__anext__())
        while not (first.done() and seen):
            # Until both are connected.
            await millpond.aio.swap(model, "v2")
            await millpond.aio.swap(model, "v1")
            await asyncio.sleep(0.05)
        assert first.result() in ("v1", "v2")
        await tags.aclose()
        following.cancel()
        kept = [one.name async for one in millpond.aio.events(model=model, follow=False)]
        assert kept and set(kept) <= {model, None}
        attached.close()

    run(main())
    wait_until(lambda: not threads())


def test_a_loop_that_ends_takes_its_calls_along(name):
    async def main():
        asyncio.ensure_future(millpond.aio.get(name, wait=math.inf))
        await asyncio.sleep(0.05)

    asyncio.run(main())
    wait_until(lambda: not threads())
