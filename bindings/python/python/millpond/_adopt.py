"""Memory of other libraries, as the pond takes it over: what it is, and whether others have a part in it."""

from __future__ import annotations

import sys

from . import _millpond

_CUDA, _MANAGED = 2, 13
# The default stream that every thread shares, in DLPack's words.
_LEGACY_STREAM = 1
# The array interface's spelling without the order of bytes.
_TYPES = {
    "b1": "bool",
    "u1": "uint8",
    "i1": "int8",
    "u2": "uint16",
    "i2": "int16",
    "f2": "float16",
    "u4": "uint32",
    "i4": "int32",
    "f4": "float32",
    "u8": "uint64",
    "i8": "int64",
    "f8": "float64",
    "c8": "complex64",
}


def _refused(message, hint):
    error = _millpond.Invalid(f"{message}\nhint: {hint}")
    error.message, error.hint = message, hint
    return error


def _not_on_a_gpu(source, where):
    message = f"a {type(source).__name__} {where} is not on a GPU"
    return _refused(message, "millpond.put(NAME, tensor) carries it there; or move it to a GPU first")


def is_contiguous(shape, strides):
    """Whether these strides, in elements, are those of row-major memory without gaps."""
    expected = 1
    for extent, stride in zip(reversed(shape), reversed(strides)):
        if extent != 1 and stride != expected:
            return False
        expected *= extent
    return True


def _checked(source, address, dtype, shape, strides, keep, of_torch=False):
    if strides is not None and not is_contiguous(shape, strides):
        message = f"a {type(source).__name__} of shape {tuple(shape)} and strides {tuple(strides)} is not contiguous"
        raise _refused(message, "make it so first: tensor.contiguous(), cupy.ascontiguousarray(tensor)")
    return address, dtype, tuple(shape), keep, of_torch


def describe(source):
    """Address, dtype and shape of memory on a GPU, what keeps it, and whether it is torch's."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(source, torch.Tensor):
        return _of_torch(torch, source)
    if hasattr(source, "__dlpack__") and hasattr(source, "__dlpack_device__"):
        return _of_dlpack(source)
    if hasattr(source, "__cuda_array_interface__"):
        return _of_interface(source)
    raise TypeError(
        f"a {type(source).__name__} is no memory of a GPU: pass what has __dlpack__ or __cuda_array_interface__"
    )


def _of_torch(torch, source):
    # By its own words: DLPack lacks some of its dtypes in some of its versions.
    if source.layout != torch.strided or source.is_quantized:
        raise _refused(f"a tensor of layout {source.layout} is not one piece of memory", "adopt its parts one by one")
    if not source.is_cuda:
        raise _not_on_a_gpu(source, f"on '{source.device}'")
    if source.is_conj() or source.is_neg():
        raise _refused("the tensor is a conjugate or negative view", "resolve_conj() or resolve_neg() first")
    # Its own part in the memory, which stays when the other one is given other memory.
    keep = source.detach()
    return _checked(source, keep.data_ptr(), keep.dtype, keep.shape, keep.stride(), keep, True)


def _of_dlpack(source):
    kind, _ = source.__dlpack_device__()
    if kind not in (_CUDA, _MANAGED):
        raise _not_on_a_gpu(source, f"on DLPack device {kind}")
    if hasattr(source, "block_until_ready"):
        source.block_until_ready()
    try:
        capsule = source.__dlpack__(stream=_LEGACY_STREAM, max_version=(1, 0))
    except TypeError:
        # Of before DLPack had versions.
        capsule = source.__dlpack__(stream=_LEGACY_STREAM)
    _, address, dtype, shape, strides = _millpond._capsule(capsule)
    # A capsule that nobody takes over keeps the memory until it goes.
    return _checked(source, address, dtype, shape, strides, (source, capsule))


def _of_interface(source):
    members = source.__cuda_array_interface__
    typestr, shape = members["typestr"], tuple(members["shape"])
    dtype = _TYPES.get(typestr[1:])
    if dtype is None or typestr[0] == ">":
        raise _refused(f"the pond has no dtype for '{typestr}'", "adopt a view of its bytes")
    strides, size = members.get("strides"), int(typestr[2:])
    if strides is not None:
        # In bytes here; what is no whole number of elements is not contiguous either.
        strides = tuple(stride // size if stride % size == 0 else -1 for stride in strides)
    return _checked(source, members["data"][0], dtype, shape, strides, source)


def neighbours(snapshot, address, begin, end):
    """What else torch has, or may put, between two addresses: bytes in use and bytes that are free.

    ``snapshot`` is what ``torch.cuda.memory_snapshot()`` returns; the block that ``address`` lies in does not
    count.
    """
    used = free = 0
    for segment in snapshot:
        if segment["address"] >= end or segment["address"] + segment["total_size"] <= begin:
            continue
        at = segment["address"]
        for block in segment["blocks"]:
            # Blocks lie one behind the other; older versions do not say where.
            at = block.get("address", at)
            inside = min(at + block["size"], end) - max(at, begin)
            if inside > 0 and not at <= address < at + block["size"]:
                if block["state"] == "inactive":
                    free += inside
                else:
                    used += inside
            at += block["size"]
    return used, free


def torch_refusal(address, nbytes, begin, size):
    """Why memory of torch's should not be shared: whoever gets it gets the whole piece that it lies in."""
    torch = sys.modules["torch"]
    if address + nbytes > begin + size:
        return (
            f"the tensor lies in several pieces of memory (expandable segments), of which the first has {size} bytes"
        )
    return shared(torch.cuda.memory_snapshot(), address, begin, size)


def shared(snapshot, address, begin, size):
    """Why a piece of torch's memory is not this tensor's alone; ``None`` if it is."""
    used, free = neighbours(snapshot, address, begin, begin + size)
    whole = f"the piece of {size} bytes that the tensor lies in (expandable segments)"
    if used:
        return f"{used} bytes of other tensors are in {whole}, and readers would get them too"
    if free:
        return f"torch may put other tensors into {free} bytes of {whole}, and readers would get them too"
    return None
