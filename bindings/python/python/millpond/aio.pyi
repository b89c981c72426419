"""Millpond for asyncio: every call of the module that waits, as a coroutine.

Each call runs in a thread of its own; when its task is cancelled, the call ends within about a tenth of
a second, and its thread with it. A ``progress`` function is called in that thread.
"""

import os
from builtins import bytes as _bytes, list as _list
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any, Literal, TypeVar

from . import (
    Audience,
    CacheInfo,
    ClientInfo,
    Collected,
    Device,
    Dtype,
    Elastic,
    Event,
    EventKind,
    Framework,
    GroupDetails,
    GroupInfo,
    LoadReport,
    Mode,
    Model,
    ModelInfo,
    Plan,
    Pond,
    Progress,
    SafeOpen,
    Staging,
    Status,
    SupportsDLPack,
    Tensor,
    TensorHandle,
    TensorInfo,
    Transport,
    VerifyReport,
    VersionInfo,
)

_T = TypeVar("_T")

_Path = str | os.PathLike[str]

async def call(function: Callable[..., _T], /, *args: Any, **kwargs: Any) -> _T:
    """Calls a method that waits, ``call(pond.get, "x", wait=5)`` or ``call(model.refresh)``, in a thread
    of its own. Its waits for the pond end when this task is cancelled."""

async def connect(runtime_dir: _Path | None = None) -> Pond: ...
def events(
    since: int | None = None,
    *,
    kind: EventKind | Sequence[EventKind] | None = None,
    prefix: str = "",
    model: str | None = None,
    follow: bool = True,
    pond: Pond | None = None,
) -> AsyncIterator[Event]:
    """What happens in the pond, as it happens: ``async for event in millpond.aio.events():``."""

def swaps(model: Model) -> AsyncIterator[str]:
    """The tag of the model's current version, whenever that changes. Call ``refresh`` at a step boundary
    of your own."""

async def create(
    name: str | None,
    shape: Sequence[int] | int,
    dtype: Dtype,
    device: Device | None = None,
    *,
    audience: Audience = "user",
    ephemeral: bool = False,
    zero: bool = False,
    ttl: float | None = None,
    linger: float | None = None,
    max_accesses: int | None = None,
    transport: Transport = "vmm",
) -> Tensor: ...
async def get(name: str | TensorInfo, wait: float | None = None, mode: Mode = "ro") -> Tensor: ...
async def handle(name: str | Tensor | TensorInfo) -> TensorHandle: ...
async def adopt(
    name: str,
    tensor: SupportsDLPack | Any,
    *,
    share: Audience = "user",
    copy: bool = False,
) -> Tensor: ...
async def delete(name: str | Tensor | TensorInfo, *, unused: bool = False) -> None: ...
async def list(prefix: str = "") -> _list[TensorInfo]: ...
async def info(name: str | Tensor | TensorInfo) -> TensorInfo: ...
async def status() -> Status: ...
async def put(
    name: str,
    source: _Path | _bytes | bytearray | memoryview | Any,
    shape: Sequence[int] | int | None = None,
    dtype: Dtype | None = None,
    device: Device | None = None,
    *,
    audience: Audience = "user",
    replace: bool = False,
    ttl: float | None = None,
    linger: float | None = None,
    max_accesses: int | None = None,
    progress: Progress | None = None,
) -> TensorInfo: ...
async def copy(
    source: str | Tensor | TensorInfo,
    name: str,
    device: Device | None = None,
    *,
    audience: Audience = "user",
    replace: bool = False,
    ttl: float | None = None,
    linger: float | None = None,
    max_accesses: int | None = None,
    progress: Progress | None = None,
) -> TensorInfo: ...
async def zero(name: str | Tensor | TensorInfo, *, progress: Progress | None = None) -> TensorInfo: ...
async def gc(unleased_for: float | None = None, *, dry_run: bool = False) -> Collected: ...
async def clients() -> _list[ClientInfo]: ...
async def groups() -> _list[GroupInfo]: ...
async def group(name: str) -> GroupDetails: ...
async def set_group(
    name: str,
    limit: int | float | str | None = None,
    *,
    min_bytes: int | None = None,
    weight: int | None = None,
    users: Sequence[int] | None = None,
    device: Device | None = None,
    create: bool = True,
    ends_silent: bool | None = None,
) -> GroupDetails: ...
async def remove_group(name: str) -> None: ...
async def caches(group: str | None = None) -> _list[CacheInfo]: ...
async def upload(
    name: str | Tensor | TensorInfo,
    source: _Path | _bytes | bytearray | memoryview | Any,
    *,
    progress: Progress | None = None,
) -> int: ...
async def download(
    name: str | Tensor | TensorInfo,
    path: _Path | None = None,
    *,
    force: bool = False,
    progress: Progress | None = None,
) -> _bytes | int: ...
async def attach(name: str, version: str | None = None, *, wait: float | None = None) -> Model: ...
async def safe_open(
    name: str, framework: Framework = "pt", device: Device | None = None
) -> SafeOpen[Any]: ...
async def load(
    name: str,
    source: _Path | Sequence[_Path],
    version: str | None = None,
    device: Device | None = None,
    *,
    activate: bool = False,
    like: str | Literal[False] | None = None,
    plan: Plan | None = None,
    audience: Audience = "user",
    slab_bytes: int | None = None,
    progress: Progress | None = None,
) -> LoadReport: ...
async def stage(
    name: str,
    version: str | None = None,
    *,
    like: str | None = None,
    tensors: Mapping[str, tuple[Dtype, Sequence[int]] | str] | None = None,
    device: Device | None = None,
    activate: bool = False,
    audience: Audience | None = None,
    metadata: Mapping[str, str] | None = None,
) -> Staging: ...
async def models(prefix: str = "") -> _list[ModelInfo]: ...
async def inspect(name: str) -> ModelInfo | VersionInfo: ...
async def swap(name: str, version: str) -> VersionInfo: ...
async def rollback(name: str) -> VersionInfo: ...
async def retire(name: str, version: str, *, wait: float | None = None) -> None: ...
async def verify(name: str, *, progress: Progress | None = None) -> VerifyReport: ...
async def save(
    name: str,
    path: _Path,
    *,
    shard_bytes: int | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> _list[str]: ...
async def flush(timeout: float = 10.0) -> bool: ...
async def elastic(group: str) -> Elastic: ...
