"""What needs torch: models as state dicts, and torch's allocations inside the pond."""

from collections.abc import Mapping
from contextlib import AbstractContextManager

import torch

from . import Audience, Device, Model, ModelTensor, Pond, Tensor, VersionInfo

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
