"""Millpond for asyncio: every call of the module that waits, as a coroutine.

``await millpond.aio.get("acts/x", wait=5)`` is ``millpond.get("acts/x", wait=5)`` without holding up
the loop. Each call runs in a thread of its own; when its task is cancelled, the call ends within
about a tenth of a second, and its thread with it. ``call`` does the same with any method::

    await millpond.aio.call(pond.get, "acts/x", wait=5)
    await millpond.aio.call(model.refresh)
"""

import asyncio as _asyncio
import contextvars as _contextvars
import functools as _functools
import threading as _threading

import millpond as _package

from . import _millpond

_NAMES = _package._FUNCTIONS


async def call(function, /, *args, **kwargs):
    """Calls a blocking function in a thread of its own, and ends its waits for the pond when this
    task is cancelled."""
    loop = _asyncio.get_running_loop()
    done, cancel = loop.create_future(), _millpond._Cancel()
    work = _functools.partial(_contextvars.copy_context().run, cancel.run, function, *args, **kwargs)

    def tell(result, error):
        # Whoever was cancelled wants neither; a tensor that comes too late goes back by itself.
        if done.done():
            return
        if error is None:
            done.set_result(result)
        elif isinstance(error, StopIteration):
            # A future does not take it.
            done.set_exception(RuntimeError("the function raised StopIteration"))
        else:
            done.set_exception(error)

    def run():
        result = error = None
        try:
            result = work()
        except BaseException as raised:
            error = raised
        try:
            loop.call_soon_threadsafe(tell, result, error)
        except RuntimeError:
            pass  # the loop is closed, and nobody waits any more

    _threading.Thread(target=run, name="millpond-call", daemon=True).start()
    try:
        return await done
    except _asyncio.CancelledError:
        cancel.cancel()
        raise


def _twin(name):
    """A function of the module, as a coroutine function."""
    function = getattr(_package, name)

    async def twin(*args, **kwargs):
        return await call(function, *args, **kwargs)

    twin.__name__ = twin.__qualname__ = name
    twin.__doc__ = function.__doc__
    twin.__wrapped__ = function
    return twin


for _name in _NAMES:
    if _name != "events":
        globals()[_name] = _twin(_name)
del _name


async def connect(runtime_dir=None):
    """As ``millpond.connect``."""
    return await call(_package.connect, runtime_dir)


async def events(since=None, *, kind=None, prefix="", model=None, follow=True, pond=None):
    """What happens in the pond, as it happens: ``async for event in millpond.aio.events():``."""
    pond = await connect() if pond is None else pond
    source = await call(pond.events, since, kind=kind, prefix=prefix, model=model, follow=follow)
    with source:
        while True:
            event = await call(source.next)
            if event is None:
                return
            yield event


async def swaps(model):
    """The tag of the current version, whenever that changes: ``async for tag in swaps(model):``."""
    loop, tags = _asyncio.get_running_loop(), _asyncio.Queue()

    def told(tag):
        if not loop.is_closed():
            loop.call_soon_threadsafe(tags.put_nowait, tag)

    end = await call(model.on_swap, told)
    try:
        while True:
            yield await tags.get()
    finally:
        end()


__all__ = sorted({*_NAMES, "call", "connect", "swaps"})
