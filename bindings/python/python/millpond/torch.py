"""What needs torch: the pond's memory as torch tensors, and torch's allocations in the pond."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Mapping

import torch

from . import DriverError, _millpond, _views, connect

__all__ = ["dtype", "state_dict", "tensor", "use_pond"]


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


class _StateDict(Mapping):
    """Tensors made when they are asked for, and then kept: two names for one tensor stay one."""

    def __init__(self, source):
        self._source = source
        self._made = {}

    def __getitem__(self, name):
        made = self._made.get(name)
        if made is None:
            made = self._made[name] = _views.as_torch(self._source[name])
        return made

    def __iter__(self):
        return iter(self._source)

    def __len__(self):
        return len(self._source)

    def __contains__(self, name):
        return name in self._source

    def copy(self):
        """What ``load_state_dict`` works on: a dict of its own, with the same tensors."""
        return dict(self)


def state_dict(model):
    """A lazy dict of zero-copy tensors, for ``net.load_state_dict(..., assign=True)``."""
    return _StateDict(model)


@contextlib.contextmanager
def use_pond(pond=None, device=None):
    """Inside, what torch allocates on the GPU comes from the pond.

    Each of torch's segments is a tensor without a name that ends with this process. Memory that is
    still in use when the block ends stays valid, and goes back when torch frees it.
    """
    pond = connect() if pond is None else pond
    if not torch.cuda.is_available():
        driver = pond.status().driver
        error = DriverError(
            f"torch has no GPU here, so it cannot allocate from the pond (driver: {driver})"
        )
        error.message = str(error)
        error.hint = "millpond.create and millpond.put work without one"
        raise error
    _millpond._allocate_from(pond)
    pool = torch.cuda.MemPool(_allocator().allocator())
    with torch.cuda.use_mem_pool(pool, device=device):
        yield pool


@functools.cache
def _allocator():
    """Kept for ever: pools have only a pointer to it, and tensors outlive their pool."""
    return torch.cuda.memory.CUDAPluggableAllocator(
        _millpond.__file__, "millpond_torch_malloc", "millpond_torch_free"
    )
