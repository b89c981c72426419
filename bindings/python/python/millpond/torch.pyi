"""What needs torch: models as state dicts, and torch's allocations inside the pond."""

from collections.abc import Mapping
from contextlib import AbstractContextManager

import torch

from . import Audience, Device, Model, ModelTensor, Pond, StreamPool, Tensor, VersionInfo

def tensor(source: Tensor | ModelTensor) -> torch.Tensor:
    """A torch tensor of the same memory, which keeps the lease. Where this torch cannot take the
    dtype by DLPack (float8 in older ones), it goes through uint8 and a view."""

def state_dict(model: Model) -> Mapping[str, torch.Tensor]:
    """A lazy dict of zero-copy tensors, for ``net.load_state_dict(..., assign=True)``. A tensor is
    made when it is asked for, and then kept. The same as ``model.torch()``."""

def dtype(name: str) -> torch.dtype:
    """Torch's dtype of that name, in any spelling that ``millpond.create`` takes."""

def use_pond(
    pond: Pond | None = None, device: Device | None = None
) -> AbstractContextManager[torch.cuda.MemPool]:
    """Inside, what torch allocates on the GPU comes from the pond: each of its segments is a tensor
    without a name that ends with this process. No Python runs on the allocation path.

    Raises ``DriverError`` on the software driver, where torch has no GPU to allocate on.
    """

def pool(group: str, *, pond: Pond | None = None, device: object = None) -> StreamPool:
    """The stream-ordered pool of a group on one of torch's GPUs (the current one unless said), made if
    there is none yet. It stays until the process ends."""

def use_pool(
    group: str, *, pond: Pond | None = None, device: object = None
) -> AbstractContextManager[StreamPool]:
    """Inside, what torch allocates on the GPU comes from a stream-ordered pool on the group's budget, on
    every thread. Torch's caching allocator asks the pool for segments; no Python runs on that path. What
    is still in use when the block ends stays valid.

    Raises ``DriverError`` on the software driver, where torch has no GPU to allocate on.
    """

def graph_pool(
    group: str, *, pond: Pond | None = None, device: object = None
) -> torch.cuda.MemPool:
    """Memory of a CUDA graph on the group's budget, for ``torch.cuda.graph(graph, pool=memory.id)``. Keep it
    as long as the graph, and capture outside of ``use_pool``: there torch would use what is freed in the
    capture for other tensors."""

def replace_allocator(
    group: str, *, pond: Pond | None = None, device: object = None
) -> StreamPool:
    """Has every allocation of torch in this process come from such a pool, without a cache of torch's own
    in between. Call it before torch has allocated anything on a GPU. What cannot be had is a
    ``RuntimeError`` that begins with "CUDA out of memory"; ``torch.cuda.memory_allocated`` and its like
    know nothing of such an allocator, and ``StreamPool.stats`` has the numbers instead."""

def commit(
    net: torch.nn.Module,
    name: str,
    version: str | None = None,
    *,
    pond: Pond | None = None,
    like: str | None = None,
    activate: bool = False,
    audience: Audience = "user",
    rebind: bool = True,
) -> VersionInfo:
    """Makes a version of a model from a module's parameters and buffers: copies them from device to
    device into a fresh arena and commits it. ``rebind`` then points the module at the committed
    version, so that its own copy can go."""
