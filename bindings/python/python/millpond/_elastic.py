"""Elastic caches: views in other libraries' types, and the loop of the thread that calls callbacks.

numpy and torch are imported here, when a view is asked for, and nowhere before.
"""

from __future__ import annotations

from . import _views


def watch(asks):
    """Calls whoever is asked to give memory back, until the cache is gone."""
    while _ask(asks, asks.next()):
        pass


def _ask(asks, asked):
    # Nothing of this may stay while the next question is waited for: callbacks may hold their cache.
    if asked is None:
        return False
    ask, callback = asked
    try:
        asks.answer(callback(ask))
    except BaseException as error:
        asks.raised(error, callback)
    return True


class _Plain:
    """A cache as whole unsigned numbers."""

    def __init__(self, cache):
        self._cache = cache

    def __dlpack_device__(self):
        return self._cache.__dlpack_device__()

    def __dlpack__(self, *, max_version=None, **_rest):
        return self._cache._plain(max_version)


class _Interface:
    """A cache in numpy's own protocol, which every version of it takes as writable."""

    def __init__(self, cache, dtype):
        # It keeps the memory, also when the cache is closed.
        self.capsule = cache.__dlpack__()
        self.__array_interface__ = {
            "shape": cache.shape,
            "strides": tuple(stride * dtype.itemsize for stride in cache.strides),
            "typestr": dtype.str,
            "data": (cache.data_ptr(), False),
            "version": 3,
        }


def as_numpy(cache):
    import numpy

    if cache.__dlpack_device__()[0] != _views._HOST:
        raise BufferError(f"{cache!r} is on a GPU, where numpy cannot reach it: use torch() or DLPack there")
    name = cache.dtype
    is_own = name in _views._NUMPY
    dtype = None if is_own else _views._numpy_dtype(name)
    array = numpy.from_dlpack(cache if is_own else _Plain(cache))
    if not array.flags.writeable:
        # Before 2.1 numpy knows only capsules that do not say whether one may write.
        array = numpy.asarray(_Interface(cache, array.dtype))
    return array if is_own else array.view(dtype)


def as_array(cache, dtype, copy):
    """What ``numpy.asarray(cache)`` gets."""
    array = as_numpy(cache)
    if copy or (dtype is not None and array.dtype != dtype):
        raise BufferError(f"a copy of {cache!r} would touch what is not committed: copy a part of cache.numpy()")
    return array


def as_torch(cache):
    take, version = _views.torch_taker()
    name = cache.dtype
    try:
        return take(cache.__dlpack__(max_version=version))
    except (BufferError, RuntimeError, TypeError, ValueError):
        import torch

        dtype = getattr(torch, name, None)
        if dtype is None or not name.startswith("float8"):
            raise
    # Older ones do not take float8 by DLPack, though they have it.
    return take(cache._plain(version)).view(dtype)
