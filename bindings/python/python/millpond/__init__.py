"""GPU memory that belongs to no process: Millpond for Python.

See ``help(millpond.Pond)`` and docs/python.md. Neither numpy nor torch is imported before it is
used.
"""

import atexit as _atexit
import collections.abc as _abc
import os as _os
import threading as _threading
import types as _types

from . import _millpond
from ._millpond import *  # noqa: F403 - its own list has every public name
from ._millpond import Model, Pond, Staging, __version__
from ._models import Plan, SafeOpen, Slice

_lock = _threading.Lock()
_default = None


def _new_lock():
    """Of a forked process: another thread may have held the parent's."""
    global _lock
    _lock = _threading.Lock()


_os.register_at_fork(after_in_child=_new_lock)
_os.register_at_fork(after_in_child=_millpond._after_fork)
_atexit.register(_millpond._end)
_abc.Mapping.register(Model)
_abc.Mapping.register(Staging)


def connect(runtime_dir=None):
    """The pond in that folder, or the default one, which is connected once."""
    global _default
    if runtime_dir is not None:
        return Pond(runtime_dir)
    pond = _default
    if pond is None or pond.closed:
        with _lock:
            if _default is None or _default.closed:
                _default = Pond()
            pond = _default
    return pond


def _of_default(name):
    """A method of the default pond, as a function."""
    method = getattr(Pond, name)

    def call(*args, **kwargs):
        return getattr(connect(), name)(*args, **kwargs)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = method.__doc__
    # Bound to anything: a signature is read from it, and has no `self` then.
    call.__wrapped__ = _types.MethodType(method, Pond)
    return call


_FUNCTIONS = (
    "create",
    "get",
    "handle",
    "adopt",
    "delete",
    "list",
    "info",
    "status",
    "put",
    "upload",
    "copy",
    "zero",
    "gc",
    "clients",
    "events",
    "groups",
    "group",
    "set_group",
    "remove_group",
    "caches",
    "elastic",
    "download",
    "attach",
    "safe_open",
    "load",
    "stage",
    "models",
    "inspect",
    "swap",
    "rollback",
    "retire",
    "verify",
    "save",
    "flush",
)
for _name in _FUNCTIONS:
    globals()[_name] = _of_default(_name)

__all__ = sorted(
    {*_FUNCTIONS, "connect", "Plan", "SafeOpen", "Slice", *(name for name in _millpond.__all__ if not name.startswith("_"))}
)
del _name

# What annotations are written with, imported when it is asked for.
_TYPES = (
    "Audience",
    "EventKind",
    "Device",
    "Dtype",
    "Framework",
    "Mode",
    "Progress",
    "Split",
    "SupportsDLPack",
    "Survives",
    "Transport",
)

# What is made of cuda.core's own classes.
_OF_CUDA_CORE = ("PondMemoryResource",)


def __getattr__(name):
    if name == "aio":
        # Imported when it is asked for: asyncio takes longer than everything here.
        import importlib

        return importlib.import_module("millpond.aio")
    if name in _OF_CUDA_CORE:
        # It needs a package that is not there everywhere, and says which.
        from . import cuda_core

        return getattr(cuda_core, name)
    if name in _TYPES:
        from . import _annotations

        return getattr(_annotations, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *_TYPES, *_OF_CUDA_CORE})
