"""What annotations of a program that uses the package are written with, as the stubs have it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Protocol, Union

Audience = Literal["user", "group", "everybody"]
Mode = Literal["ro", "rw"]
Transport = Literal["vmm", "mempool", "ipc", "fabric"]
Survives = Literal["everything", "host", "owner"]
Dtype = Union[str, Any]
Device = Union[int, str, Any]
Progress = Callable[[int, int], object]
Framework = Literal["pt", "np", "jax", "torch", "pytorch", "numpy", "flax"]
Split = Literal["column", "row", "replicate", "skip"]

EventKind = Literal[
    "tensor_created",
    "tensor_published",
    "tensor_deleted",
    "tensor_freed",
    "client_connected",
    "client_silent",
    "client_gone",
    "recovered",
    "draining",
    "keeper_replaced",
    "gap",
    "mover_started",
    "mover_stopped",
    "mover_lost",
    "limit_reached",
    "upgrading",
    "collected",
    "version_staged",
    "version_ready",
    "model_swapped",
    "version_draining",
    "version_gone",
    "group_set",
    "group_over",
    "group_lying",
    "group_stuck",
    "group_gone",
    "renamed",
    "start_failed",
    "cache_opened",
    "cache_closed",
    "cache_pressed",
    "cache_gave",
    "cache_got",
    "cache_ended",
    "host_started",
    "host_stopped",
    "host_lost",
    "tensor_adopted",
    "tensor_orphaned",
    "hold_ended",
]


class SupportsDLPack(Protocol):
    """Whatever another library can take over without a copy."""

    def __dlpack__(self, *, stream: Any = None) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...


SupportsDLPack.__module__ = "millpond"
