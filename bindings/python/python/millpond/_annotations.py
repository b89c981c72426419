"""What annotations of a program that uses the package are written with, as the stubs have it."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Literal, Protocol, Union

Audience = Literal["user", "group", "everybody"]
Mode = Literal["ro", "rw"]
Dtype = Union[str, Any]
Device = Union[int, str, Any]
Path = Union[str, "os.PathLike[str]"]
Progress = Callable[[int, int], object]
Framework = Literal["pt", "np", "jax", "torch", "pytorch", "numpy", "flax"]
Split = Literal["column", "row", "replicate", "skip"]


class SupportsDLPack(Protocol):
    """Whatever another library can take over without a copy."""

    def __dlpack__(self, *, stream: Any = None) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...


SupportsDLPack.__module__ = "millpond"
