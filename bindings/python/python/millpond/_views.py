"""Views in other libraries' types: what the native half leaves to Python.

numpy and torch are imported here, when a view is asked for, and nowhere before.
"""

from __future__ import annotations

import contextlib
import functools
import sys

from . import _millpond

_HOST = 1
# What numpy has itself; everything else comes from ml_dtypes.
_NUMPY = frozenset(
    "bool uint8 int8 uint16 int16 uint32 int32 uint64 int64 float16 float32 float64 complex64".split()
)
_PACKED = ("float4", "float6")


def _plain(view):
    """The view as whole unsigned numbers of the same size, which every library takes."""
    return view.view("uint16" if view.dtype == "bfloat16" else "uint8")


def as_numpy(view):
    import numpy

    if view.__dlpack_device__()[0] != _HOST:
        raise BufferError(
            f"{view!r} is on a GPU, where numpy cannot reach it: "
            "use torch() or DLPack there, or numpy.frombuffer(view.tobytes(), ...) for a copy"
        )
    name = view.dtype
    if name in _NUMPY:
        return _array(numpy, view)
    if name.startswith(_PACKED):
        raise BufferError(f"numpy has no packed {name}: take view('uint8').numpy()")
    try:
        import ml_dtypes
    except ImportError as error:
        raise BufferError(
            f"numpy has no {name}: install ml_dtypes, or take view('uint8').numpy()"
        ) from error
    return _array(numpy, _plain(view)).view(getattr(ml_dtypes, name))


def as_array(view, dtype, copy):
    """What ``numpy.asarray(view)`` and the like get."""
    array = as_numpy(view)
    if dtype is not None and array.dtype != dtype:
        if copy is False:
            raise ValueError(f"{view!r} cannot be {dtype} without a copy")
        return array.astype(dtype)
    return array.copy() if copy else array


class _Interface:
    """Memory in numpy's own protocol, which every version of it takes as it is."""

    def __init__(self, view, dtype):
        self.view = view.view(view.dtype)
        self.__array_interface__ = {
            "shape": view.shape,
            "typestr": dtype.str,
            "data": (view.ptr, view.readonly),
            "version": 3,
        }


def _array(numpy, view):
    array = numpy.from_dlpack(view)
    if array.flags.writeable or view.readonly:
        return array
    # Before 2.1 numpy knows only capsules that do not say whether one may write.
    return numpy.asarray(_Interface(view, array.dtype))


class _Question:
    """Asks a library which DLPack it takes: it is told when the library asks for memory."""

    version = None

    def __dlpack_device__(self):
        return _HOST, 0

    def __dlpack__(self, *, max_version=None, **_rest):
        self.version = max_version
        raise BufferError("this was only a question")


@functools.cache
def torch_taker():
    """What makes a torch tensor of a capsule, and the version of the capsules that it takes.

    ``torch.from_dlpack`` of an object asks for its device, looks up the current stream and passes it
    on. Complete bytes need no stream, and a capsule takes none of these steps.
    """
    import torch

    question = _Question()
    with contextlib.suppress(Exception):
        torch.from_dlpack(question)
    return getattr(torch._C, "_from_dlpack", torch.from_dlpack), question.version


def as_torch(view):
    take, version = torch_taker()
    name = view.dtype
    if name.startswith(_PACKED):
        raise BufferError(f"torch has no packed {name}: take view('uint8').torch()")
    try:
        return take(view.__dlpack__(max_version=version))
    except (BufferError, RuntimeError, TypeError, ValueError):
        import torch

        dtype = getattr(torch, name, None)
        if dtype is None or not name.startswith("float8"):
            raise
    # Older ones do not take float8 by DLPack, though they have it.
    return take(view.view("uint8").__dlpack__(max_version=version)).view(dtype)


def _torch_of(source):
    """torch, if this is a tensor of its: whoever has one has imported it."""
    torch = sys.modules.get("torch")
    return torch if torch is not None and isinstance(source, torch.Tensor) else None


def _known(source):
    """What only DLPack tells about, or is on a GPU, as an array of a library that is known here."""
    if isinstance(source, _millpond.View) or _torch_of(source) or not hasattr(source, "__dlpack_device__"):
        return source
    if source.__dlpack_device__()[0] != _HOST:
        import torch

        return torch.from_dlpack(source)
    if not hasattr(source, "dtype"):
        import numpy

        return numpy.from_dlpack(source)
    return source


def as_jax(view):
    import jax.numpy

    return jax.numpy.from_dlpack(view)


def as_buffer(view, allow_readonly):
    from . import cuda_core

    return cuda_core.buffer(view, allow_readonly=allow_readonly)


def _is_numbers(source):
    """Whether it has values but no bytes: a number, or a list of numbers or of lists."""
    return isinstance(source, (bool, int, float, complex, list, tuple))


def _numpy_dtype(name):
    import numpy

    if name in _NUMPY:
        return numpy.dtype(name)
    if name.startswith(_PACKED):
        raise BufferError(f"numpy has no packed {name}: pass its bytes instead")
    try:
        import ml_dtypes
    except ImportError as error:
        raise BufferError(f"numpy has no {name}: install ml_dtypes, or pass its bytes") from error
    return numpy.dtype(getattr(ml_dtypes, name))


def host_bytes(source, dtype=None):
    """A memoryview of the bytes of an array or buffer, with its dtype and shape if it has them.

    Numbers and lists of them have neither: they become an array of ``dtype``.
    """
    if _is_numbers(source):
        if dtype is None:
            raise TypeError(
                f"a {type(source).__name__} has no dtype of its own: "
                'pass dtype="float32" or the like, or numpy.asarray(source, dtype) instead of it'
            )
        import numpy

        source = numpy.asarray(source, _numpy_dtype(dtype))
    source = _known(source)
    torch = _torch_of(source)
    if torch is not None:
        dtype, shape = str(source.dtype), tuple(source.shape)
        flat = source.detach().cpu().contiguous().reshape(-1)
        # numpy lacks some of torch's dtypes, but not bytes.
        return memoryview(flat.view(torch.uint8).numpy()).cast("B"), dtype, shape
    if isinstance(source, _millpond.View):
        return memoryview(source.tobytes()), source.dtype, source.shape
    if hasattr(source, "dtype") and hasattr(source, "shape"):
        import numpy

        array = numpy.asarray(source)
        shape = array.shape
        flat = numpy.ascontiguousarray(array).reshape(-1).view(numpy.uint8)
        return memoryview(flat).cast("B"), array.dtype, shape
    try:
        view = memoryview(source)
    except TypeError as error:
        raise TypeError(
            f"a {type(source).__name__} has no bytes: pass an array, bytes, or numpy.asarray(source)"
        ) from error
    if not view.c_contiguous:
        view = memoryview(view.tobytes())
    return view.cast("B"), None, None


def copy_into(view, source):
    if _is_numbers(source):
        import numpy

        source = numpy.asarray(source, _numpy_dtype(view.dtype))
        if source.ndim == 0:
            # A number fills it.
            source = numpy.full(view.shape, source)
    source = _known(source)
    torch = _torch_of(source)
    if torch is not None:
        target = as_torch(view)
        if tuple(target.shape) != tuple(source.shape):
            raise ValueError(f"{view!r} takes shape {tuple(target.shape)}, not {tuple(source.shape)}")
        target.copy_(source.detach())
        if target.is_cuda:
            torch.cuda.current_stream(target.device).synchronize()
        return
    if hasattr(source, "dtype") and hasattr(source, "shape"):
        if tuple(view.shape) != tuple(source.shape):
            raise ValueError(f"{view!r} takes shape {tuple(view.shape)}, not {tuple(source.shape)}")
        if isinstance(source, _millpond.View):
            if source.dtype != view.dtype:
                raise ValueError(f"{view!r} takes {view.dtype}, not {source.dtype}")
        else:
            source = _converted(source, view.dtype)
    view._write(host_bytes(source)[0])


def _converted(source, name):
    """The array with another dtype, where it has another."""
    import numpy

    return numpy.asarray(source).astype(_numpy_dtype(name), copy=False)
