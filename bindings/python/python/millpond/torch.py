"""What needs torch: the pond's memory as torch tensors, and torch's allocations in the pond."""

from __future__ import annotations

import contextlib
import ctypes
import functools

import torch

from . import DriverError, _millpond, _models, _views, connect

__all__ = [
    "commit",
    "dtype",
    "graph_pool",
    "pool",
    "replace_allocator",
    "state_dict",
    "tensor",
    "use_pond",
    "use_pool",
]

_pools: list[torch.cuda.MemPool] = []


def tensor(source):
    """A torch tensor of the same memory, which keeps the lease."""
    return _views.as_torch(source)


def dtype(name):
    """Torch's dtype of that name, in any spelling that ``millpond.create`` takes."""
    spelling = _millpond._dtype_name(name)
    found = getattr(torch, spelling, None)
    if not isinstance(found, torch.dtype):
        raise TypeError(f"this torch has no {spelling}")
    return found


def state_dict(model):
    """A lazy dict of zero-copy tensors, for ``net.load_state_dict(..., assign=True)``."""
    if isinstance(model, _millpond.Model):
        return model.torch()
    return _models.Lazy(model, _models.Converted(model, _views.as_torch))


@contextlib.contextmanager
def use_pond(pond=None, device=None):
    """Inside, what torch allocates on the GPU comes from the pond.

    Each of torch's segments is a tensor without a name that ends with this process. Memory that is
    still in use when the block ends stays valid, and goes back when torch frees it: at the latest
    with the ``commit`` of what was built here.
    """
    pond = connect() if pond is None else pond
    _check_gpu(pond)
    _millpond._allocate_from(pond)
    pool = torch.cuda.MemPool(_allocator().allocator())
    # Torch gives segments back when their pool goes and nothing in them is in use: not before commit.
    _pools.append(pool)
    with torch.cuda.use_mem_pool(pool, device=device):
        yield pool


@functools.cache
def _allocator():
    """Kept for ever: pools have only a pointer to it, and tensors outlive their pool."""
    return torch.cuda.memory.CUDAPluggableAllocator(
        _millpond.__file__, "millpond_torch_malloc", "millpond_torch_free"
    )


def _check_gpu(pond):
    if not torch.cuda.is_available():
        driver = pond.status().driver
        error = DriverError(
            f"torch has no GPU here, so it cannot allocate from the pond (driver: {driver})"
        )
        error.message = str(error)
        error.hint = "millpond.create and millpond.put work without one"
        raise error


def pool(group, *, pond=None, device=None):
    """The stream-ordered pool of a group on one of torch's GPUs, made if there is none yet."""
    pond = connect() if pond is None else pond
    _check_gpu(pond)
    return _millpond._pool(pond, group, _index(device))


def _index(device):
    """To ask torch for its current device makes torch choose its allocator, which cannot be replaced then."""
    if device is not None:
        return torch.device(device).index or 0
    return torch.cuda.current_device() if torch.cuda.is_initialized() else 0


@contextlib.contextmanager
def use_pool(group, *, pond=None, device=None):
    """Inside, what torch allocates on the GPU comes from a pool on the group's budget.

    Torch's own caching allocator asks the pool for segments, on every thread: also for gradients. What is
    still in use when the block ends stays valid. A pool that has no more is torch's
    ``OutOfMemoryError``.
    """
    found = pool(group, pond=pond, device=device)
    index = _index(device)
    mem_pool = _mem_pool(found._slot, index)
    begin = getattr(torch._C, "_cuda_beginAllocateToPool", None)
    end = getattr(torch._C, "_cuda_endAllocateToPool", None)
    if begin is None or end is None:
        # An older torch: this thread's allocations only.
        with torch.cuda.use_mem_pool(mem_pool, device=index):
            yield found
        return
    begin(index, mem_pool.id)
    try:
        yield found
    finally:
        end(index, mem_pool.id)
        torch._C._cuda_releasePool(index, mem_pool.id)


def graph_pool(group, *, pond=None, device=None):
    """Memory of a CUDA graph on the group's budget: ``torch.cuda.graph(graph, pool=graph_pool(...).id)``.

    Keep it as long as the graph, and capture outside of ``use_pool``: what is freed in a capture must not be
    used by anything but the graph.
    """
    found = pool(group, pond=pond, device=device)
    return torch.cuda.MemPool(_pool_allocator(found._slot, "malloc").allocator())


def replace_allocator(group, *, pond=None, device=None):
    """Has every allocation of torch in this process come from a pool on the group's budget.

    Torch asks the pool for each tensor, without a cache of its own in between, so that all free memory
    is the group's to have. Call it before torch has allocated anything on a GPU. What cannot be had is a
    ``RuntimeError`` that begins with "CUDA out of memory".
    """
    found = pool(group, pond=pond, device=device)
    torch.cuda.memory.change_current_allocator(_pool_allocator(found._slot, "malloc_or_throw"))
    return found


@functools.cache
def _mem_pool(slot, _device):
    """Kept for ever, so that the next use finds what torch has cached there."""
    return torch.cuda.MemPool(_pool_allocator(slot, "malloc").allocator())


@functools.cache
def _pool_allocator(slot, malloc):
    """Kept for ever: torch has only a pointer to it, and tensors outlive everything here."""
    suffix = f"_{slot}" if slot else ""
    made = torch.cuda.memory.CUDAPluggableAllocator(
        _millpond.__file__, f"millpond_pool_{malloc}{suffix}", f"millpond_pool_free{suffix}"
    )
    record = getattr(ctypes.CDLL(_millpond.__file__), f"millpond_pool_record_stream{suffix}")
    made.allocator().set_record_stream_fn(ctypes.cast(record, ctypes.c_void_p).value)
    return made


def commit(
    net,
    name,
    version=None,
    *,
    pond=None,
    like=None,
    activate=False,
    audience="user",
    rebind=True,
):
    """Makes a version of a model from a module's parameters and buffers.

    They are copied from device to device into a fresh arena, which is then committed. ``rebind``
    points them at the committed version, which is mapped read-only: the module's own copy goes, and
    training goes on only with ``rebind=False``. Parameters stay the same objects, so that those
    which are shared stay shared.
    """
    pond = connect() if pond is None else pond
    # The very parameters and buffers, not copies of them.
    state = net.state_dict(keep_vars=True)
    for key, value in state.items():
        if not isinstance(value, torch.Tensor) or value.is_meta or value.layout != torch.strided:
            kind = type(value).__name__ if not isinstance(value, torch.Tensor) else str(value.layout)
            raise TypeError(f"'{key}' has no bytes that a version could hold ({kind})")
    ties = _ties(state)
    if like is None:
        tensors = {
            key: ties.get(key) or (value.dtype, tuple(value.shape)) for key, value in state.items()
        }
        device = next((value.device for value in state.values() if value.is_cuda), None)
        origin = {"tensors": tensors, "device": device, "audience": audience}
    else:
        origin = {"like": like, "audience": audience}
    with pond.stage(name, version, activate=activate, **origin) as staging:
        if like is not None:
            _check_like(state, staging, like, ties)
        for key, value in state.items():
            if key not in ties or like is not None:
                staging[key].torch().copy_(value.detach())
        # It waits for the copies.
        info = staging.commit()
    if rebind:
        mapped = pond.attach(info.id).torch()
        seen = set()
        for key, value in state.items():
            if id(value) not in seen:
                seen.add(id(value))
                value.data = mapped[key]
        _pools.clear()
    return info


def _ties(state):
    """Names whose tensors are those of an earlier name, with that name: they are stored once."""
    seen, ties = {}, {}
    for key, value in state.items():
        if not value.numel():
            continue
        place = (value.device, value.data_ptr(), value.dtype, tuple(value.shape), value.stride())
        first = seen.setdefault(place, key)
        if first != key:
            ties[key] = first
    return ties


def _check_like(state, staging, like, ties):
    """What is missing would silently keep the bytes of the other version."""
    here, there = set(state), set(staging)
    if here != there:
        names = ", ".join(sorted(here ^ there)[:3])
        raise ValueError(f"the module has not the tensors of '{like}': {names}")
    places = {}
    for key, value in state.items():
        if not value.numel():
            continue
        first = places.setdefault(staging[key].ptr, key)
        if ties.get(key, key) != ties.get(first, first):
            raise ValueError(f"'{first}' and '{key}' are one tensor in '{like}' and two in the module: commit it without like")
