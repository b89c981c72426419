"""GPU memory that belongs to no process: Millpond for Python.

A pond keeps tensors and models outside the programs that use them. One program makes a tensor and
gives it a name, others map the same bytes by that name; a model is loaded once, and every worker
maps it in about a millisecond. All of them may come, go and crash without memory being lost or
leaked.

Nothing here needs torch or numpy: tensors travel by DLPack. What needs torch is in
``millpond.torch``. The functions of this module use the pond that a client finds by itself
(``MILLPOND_RUNTIME_DIR``, then the user's own, then the machine's); ``Pond`` names another one.
"""

import os
from builtins import bytes as _bytes, list as _list
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import EllipsisType, TracebackType
from typing import IO, Any, Generic, Literal, Protocol, TypeVar, final

import numpy as _numpy
import torch as _torch
from cuda.core import Buffer as _Buffer
from typing_extensions import CapsuleType, Self

from .cuda_core import PondMemoryResource as PondMemoryResource

__version__: str

_T = TypeVar("_T")

Audience = Literal["user", "group", "everybody"]
"""The audience of an object: its owner, the owner's UNIX group, everybody."""

Mode = Literal["ro", "rw"]
"""How memory is mapped: read-only, or readable and writable."""

Transport = Literal["vmm", "mempool", "ipc", "fabric"]
"""How memory is shared: a descriptor of its own, a pool of the driver, a legacy handle of 64 bytes, a handle
for the GPUs of other nodes (which the driver refuses on most machines)."""

Survives = Literal["everything", "host", "owner"]
"""What memory survives: everything, everything but the end of the process that hosts it, everything but
the end of the program that made it."""

Dtype = str | Any
"""A dtype: safetensors' word (``"BF16"``), numpy's name or type (``"bfloat16"``, ``numpy.float32``),
torch's (``torch.bfloat16``), a short word (``"f32"``). Words that numpy or torch read differently
(``"f4"``, ``"i8"``, ``"float"``) are refused."""

Device = int | str | Any
"""A GPU: its place in the pond's list (``0``, as ``millpond status`` shows it), its UUID
(``"GPU-..."``), or this process's own ordinal (``"cuda:0"``, ``torch.device("cuda", 0)``)."""

_Path = str | os.PathLike[str]

Progress = Callable[[int, int], object]
"""Called with the bytes that have landed and the bytes in all. An exception in it, and Ctrl-C, ends
the call."""

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
"""What happened."""

class SupportsDLPack(Protocol):
    """Whatever another library can take over without a copy."""

    def __dlpack__(self, *, stream: Any = None) -> CapsuleType: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...

# ---- errors: one family, one class per kind of `millpond help exit-codes` ----

class Error(Exception):
    """Every error of a pond. Catch this one, or the class that you can do something about."""

    code: str
    """The kind's stable name, the same in every language: ``"not_found"``."""
    message: str
    """What happened to what, in one sentence."""
    hint: str | None
    """The way out: the next command to type, or what to change."""
    remedy: Literal["change", "retry", "free", "operator"]
    """What the caller can do: ask for something else, repeat, free something, tell the operator."""
    similar: tuple[str, ...]
    """Names close to one that was not found."""

class InternalError(Error):
    """Something that should not happen; the daemon's log says more."""

class Invalid(Error, ValueError):
    """The request itself is not possible: bad name, shape or combination."""

class ForkError(Invalid):
    """The object belongs to the process that forked this one. Get it again in the child."""

class ReadOnlyError(Invalid):
    """The memory is mapped read-only."""

class ClosedError(Invalid):
    """The object was closed by this program."""

class AdoptError(Invalid):
    """The memory cannot be shared as it is: ``message`` says why. ``copy=True`` makes a copy instead."""

class NotFound(Error, LookupError):
    """No such object, or none that is shared with the caller; see ``similar``."""

    ended_ago_ms: int | None
    """The time since an object of that name ended, where that is why it is not found."""

class NoTensor(NotFound, KeyError):
    """The model has no tensor of this name."""

class Exists(Error):
    """The name is taken by an object of another dtype, shape, GPU or audience."""

class Denied(Error, PermissionError):
    """The object exists but is not the caller's to change."""

class NotReady(Error):
    """The tensor is still being written; wait for its publish."""

class GpuFull(Error, MemoryError):
    """The GPU, the pond's capacity on it, or the owner's group is full."""

    requested: int | None
    """Bytes asked for."""
    free: int | None
    """Bytes free."""
    capacity: int | None
    """Bytes that the pond may take on that GPU."""
    holders: tuple[Holder, ...]
    """Who holds the rest, largest first."""
    verdict: Literal["never", "after_freeing", "over_budget", "over_cap", "card_full"] | None
    """What would help an elastic cache: less, or a larger limit; memory that a holder gives back; to come
    down to the limit first; blocks of the cache itself, or a higher cap; memory of the card that is outside of every budget. ``None`` elsewhere."""
    asked_bytes: int | None
    """What an elastic cache asked for."""
    limit_bytes: int | None
    """What its group may hold."""
    used_bytes: int | None
    """What its group holds; on a full card, what the cache itself holds."""

class TooMany(Error):
    """A limit on objects, leases or connections is reached."""

class Later(Error):
    """The pond is busy with this very thing; repeat."""

class Draining(Error):
    """The pond is shutting down."""

class Lost(Error):
    """The record survived but its memory did not."""

class Retired(Error):
    """The version takes no new readers; another one is current."""

class InUse(Error):
    """Processes use it; end them and repeat."""

    holders: tuple[Holder, ...]
    """Who uses the tensor that was not deleted for that, each with its ``pid``."""

class DriverError(Error):
    """The GPU driver is missing, or refused."""

class ProtocolError(Error):
    """A message was malformed, or of an unsupported version."""

class UnknownKind(Error):
    """The daemon is older than this request."""

class NoPond(Error, ConnectionError):
    """No pond answers on the socket."""

class Untrusted(Error):
    """A file or socket belongs to an unexpected user."""

class Timeout(Error, TimeoutError):
    """No answer, or no publish, within the time given."""

class NoDevice(Error):
    """No such GPU."""

class FileError(Error):
    """A file could not be read or written, or does not hold what it should."""

class Unsupported(Error):
    """Memory of a kind, or a node, that this program cannot use."""

class MoverError(Error):
    """The process that moves the bytes died or hung; nothing was published."""

# ---- what the pond says about things; all of these are read-only values ----

@final
class Holder:
    """Who holds memory of a full GPU, or uses a tensor."""

    user: int
    bytes: int
    tensors: int
    cache: str | None
    pid: int | None

@final
class TensorInfo:
    """What the pond knows about a tensor."""

    id: str
    name: str | None
    user: int
    dtype: str
    """In numpy's and torch's spelling: ``"bfloat16"``."""
    shape: tuple[int, ...]
    bytes: int
    nbytes: int
    """The same as ``bytes``."""
    device: str
    state: Literal["writing", "ready", "deleted", "orphan"]
    """``orphan``: the process that kept its memory is gone, and only who has it mapped still has it."""
    generation: int
    """Counts publishes."""
    share: Audience
    audience: Audience
    """The same as ``share``."""
    ephemeral: bool
    """It ends with its creator's process."""
    created_unix_ms: int
    slab: str
    """The slab it lies in."""
    slab_bytes: int
    slab_offset_bytes: int
    """Where in the slab it begins."""
    lease_count: int
    leases: int
    """The same as ``lease_count``."""
    life: Life
    transport: Transport
    """How its memory is shared."""
    adopted: bool
    """Another program made the memory, and the pond took it in."""
    survives: Survives
    """What its memory survives."""
    home_pid: int | None
    """The process that keeps its memory; ``None`` where descriptors do."""
    holds: int | None
    """How many holds keep it; ``None`` where it was not made to be held."""

@final
class Life:
    """What ends a tensor beside being deleted; ``None`` where no end was set."""

    ttl_left_ms: int | None
    """Until its time is over."""
    linger_left_ms: int | None
    """Without a lease."""
    accesses_left: int | None
    """Gets that will be answered."""

@final
class DeviceInfo:
    """A GPU of the pond, and the account of it."""

    device: str
    index: int
    name: str
    total_bytes: int
    capacity_bytes: int
    slab_bytes: int
    tensor_bytes: int
    recycled_bytes: int
    physical_used_bytes: int | None
    charged_bytes: int | None
    """Bytes charged to the processes of groups."""
    drift_bytes: int | None
    """Bytes that those processes have on the card beyond what is charged."""
    other_bytes: int | None
    """Bytes of programs that the pond does not know."""
    slabs: int
    tensors: int

@final
class Status:
    """The pond, its GPUs and accounts."""

    pond: str
    epoch: int
    version: str
    """Of the daemon's program; ``daemon_version`` is the same."""
    daemon_version: str
    daemon_pid: int
    keeper_pid: int
    driver: str
    software: bool
    """Whether this is the software driver: host memory, no GPU."""
    driver_ready: bool
    started_unix_ms: int
    runtime_dir: str
    preload_library: str | None
    """The library that ``millpond run`` preloads."""
    clients: int
    silent_clients: int
    leases: int
    journal_bytes: int
    lost_tensors: int
    movers: _list[MoverInfo]
    hosts: _list[HostInfo]
    program: str
    service: str | None
    """The systemd unit that runs the pond; ``user_service`` if it is one of the user's own manager."""
    user_service: bool
    log_file: str | None
    loading: str | None
    """The model of the configuration that is being loaded."""
    devices: _list[DeviceInfo]
    counters: Counters
    """What has happened since the daemon's start."""
    daemon_resident_bytes: int
    """Memory that the daemon itself takes of the machine."""

@final
class MoverInfo:
    """A process of the pond that moves bytes."""

    device: str
    pid: int
    moves: int
    moved_bytes: int
    context_bytes: int
    """What its CUDA context takes of the GPU; 0 while that is not known."""

@final
class HostInfo:
    """A process of the pond that owns the memory of ``ipc`` tensors."""

    id: str
    device: str
    user: int
    """Whose tensors it owns."""
    share: Audience
    """Whom those tensors are shared with."""
    pid: int
    tensors: int
    bytes: int
    """Bytes of those tensors."""
    context_bytes: int
    """What its CUDA context takes of the GPU beside them."""
    sealed: bool
    """It has freed memory, and makes no more."""

@final
class Counters:
    """What a daemon has counted since its start; the next one, with another epoch, begins with zero."""

    leases_granted: int
    leases_claimed: int
    leases_released: int
    leases_died: int
    tensors_created: int
    tensors_adopted: int
    tensors_published: int
    tensors_deleted: int
    tensors_expired: int
    tensors_lingered_out: int
    tensors_used_up: int
    tensors_orphaned: int
    tensors_freed: int
    versions_staged: int
    versions_committed: int
    versions_retired: int
    swaps: int
    rollbacks: int
    moves: int
    moves_failed: int
    loads: int
    slabs_made: int
    slabs_reused: int
    slabs_given_back: int
    gpu_full_refusals: int
    clients_came: int
    clients_left: int
    clients_died: int
    connections_accepted: int
    connections_refused: int
    pressure_requests: int
    silent_caches_ended: int
    recoveries: int
    movers_started: int
    movers_lost: int
    hosts_started: int
    hosts_lost: int
    moved_bytes: int
    loaded_bytes: int
    slabs_made_bytes: int
    slabs_reused_bytes: int
    slabs_given_back_bytes: int
    pressure_asked_bytes: int
    pressure_given_bytes: int
    move_seconds: float
    load_seconds: float
    daemon_cpu_seconds: float
    requests: _list[RequestCount]
    """Kinds of requests that have come."""
    refusals: _list[RefusalCount]
    lengths_seconds: _list[float]
    """The longest times of all classes of ``by_length`` but the last, which has no end."""

@final
class RequestCount:
    """What one kind of request has come to."""

    kind: str
    answered: int
    refused: int
    seconds: float
    """From the reading of a request until its answer was on its way, all of them together."""
    by_length: _list[int]
    """How many took up to each of ``lengths_seconds``, and how many took longer."""

@final
class RefusalCount:
    """How often requests were refused for one reason."""

    kind: str
    count: int

@final
class Collected:
    """What ``gc`` gave back, or would give back."""

    dry_run: bool
    tensors: _list[TensorInfo]
    tensor_bytes: int
    slabs: int
    slab_bytes: int

@final
class LeaseInfo:
    """A lease that a process has on a tensor or on a version of a model."""

    tensor: str
    name: str | None
    version: str | None
    """The tag of the version, where the lease is on one."""
    mode: Mode
    bytes: int
    since_unix_ms: int
    client: str
    pid: int | None
    program: str

@final
class ClientInfo:
    """A process that is connected to the pond, or holds something of it."""

    id: str
    pid: int | None
    """As the daemon sees it; ``None`` for a process outside the daemon's pid namespace."""
    user: int
    program: str
    since_unix_ms: int
    silent: bool
    """It lives, but has no connection: it keeps what it holds."""
    mover: bool
    """It is the pond's own."""
    held_bytes: int
    """Bytes of what it holds, each thing counted once."""
    leases: _list[LeaseInfo]

@final
class Event:
    """Something that happened in the pond."""

    sequence: int
    """Rises from one event to the next, also across restarts."""
    unix_ms: int
    kind: EventKind
    tensor: str | None
    """The tensor's identity, or that of the version of a model."""
    name: str | None
    """The name of the tensor, the model or the group."""
    user: int | None
    text: str

@final
class Events:
    """What ``events`` returns: an iterator that waits for the next event. It survives restarts of the
    daemon; an event of kind ``gap`` says that some may be missing. It is a context manager; leaving
    it closes it."""

    def next(self, timeout: float | None = None) -> Event | None:
        """The next event; ``None`` if none came within ``timeout`` seconds, or if there are no more to
        come (``follow=False``)."""
    def __iter__(self) -> Self: ...
    def __next__(self) -> Event: ...
    def close(self) -> None:
        """Ends it, also for a thread that waits for the next event."""
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

@final
class GroupDevice:
    """What a group holds on one GPU."""

    device: str
    limit_bytes: int | None
    """What was asked for; ``None`` is no limit."""
    effective_bytes: int | None
    """What its members obey now; ``None`` is no limit."""
    min_bytes: int
    weight: int
    used_bytes: int
    """What counts against the limit: its processes and its users' memory in the pond."""
    process_bytes: int
    pond_bytes: int
    context_bytes: int
    folded_bytes: int
    shared_bytes: int
    process_count: int

@final
class GroupInfo:
    """A group: programs and users that share a limit."""

    name: str
    folder: str
    anonymous: bool
    owner: int | None
    users: _list[int]
    process_count: int
    lying: bool
    stuck: bool
    broken: bool
    ends_silent: bool
    """A process that does not answer when pages are asked of it is ended."""
    devices: _list[GroupDevice]

@final
class MemberDevice:
    """A process of a group on one GPU."""

    device: str
    charged_bytes: int
    credit_bytes: int
    context_bytes: int
    shared_bytes: int
    folded_bytes: int
    idle_bytes: int
    """What a cache can give back at once, a part of ``charged_bytes``."""
    physical_bytes: int | None
    drift_bytes: int | None

@final
class MemberInfo:
    """A process of a group."""

    pid: int | None
    own_pid: int
    slot: int
    program: str
    started_unix_ms: int | None
    alive: bool
    cache: str | None
    """The cache whose pages its slot counts, empty if the name is not known; ``None`` where the slot
    counts the whole process."""
    devices: _list[MemberDevice]

@final
class GroupDetails:
    """Everything about one group."""

    group: GroupInfo
    processes: _list[MemberInfo]

@final
class CacheInfo:
    """An elastic cache of a process."""

    cache: str
    """Its identity."""
    name: str
    """Its name; caches of two processes may have the same."""
    group: str
    """The group that pays for its pages."""
    device: str
    pid: int | None
    program: str
    user: int
    reserved_bytes: int
    """Addresses that it has reserved, whether there are pages behind them or not."""
    held_bytes: int
    """What its pages take: ``committed_bytes`` and ``idle_bytes``."""
    committed_bytes: int
    idle_bytes: int
    """What it can give back at once."""
    granule_bytes: int
    """The size of a page."""
    segments: int
    min_bytes: int
    """What other caches leave it."""
    weight: int
    wanted_bytes: int
    """What a commit waits for; 0 if none waits."""
    asked_bytes: int
    """What it was asked to give back and has not given yet."""
    given_bytes: int
    """What it has given to others since it was opened."""
    got_bytes: int
    """What others have given to it since then."""

@final
class VersionInfo:
    """What the pond knows about one version of a model."""

    id: str
    model: str
    version: str
    user: int
    state: Literal["staging", "ready", "draining"]
    current: bool
    """Whether ``attach`` without a version gets this one."""
    previous: bool
    """Whether ``rollback`` would make it current."""
    lost: bool
    """Its record survived but not its memory."""
    device: str
    share: Audience
    audience: Audience
    """The same as ``share``."""
    bytes: int
    """Bytes of its tensors; zero while it is staged."""
    slab_bytes: int
    """Bytes of its slabs."""
    nbytes: int
    """The same as ``slab_bytes``."""
    own_bytes: int
    """Bytes of slabs that no other version shares."""
    shared_bytes: int
    """Bytes of slabs that it shares with other versions."""
    slab_count: int
    slabs: int
    """The same as ``slab_count``."""
    tensor_count: int
    tensors: int
    """The same as ``tensor_count``."""
    readers: int
    layout_hash: str
    """Empty until it is ready."""
    content_hash: str
    """Empty until it is ready."""
    created_unix_ms: int
    ready_unix_ms: int | None
    source: str
    """Where it came from."""
    stager_pid: int | None
    """The process that stages it, while one does."""

@final
class ModelInfo:
    """What the pond knows about a model: its versions, the newest first."""

    name: str
    user: int
    current: str | None
    previous: str | None
    versions: _list[VersionInfo]

@final
class LoadReport:
    """A load that has ended well."""

    version: VersionInfo
    nbytes: int
    """Bytes of the version's tensors."""
    copied_bytes: int
    """Bytes that were copied to the GPU."""
    shared_tensor_bytes: int
    """Bytes that were found in ``like`` and are shared with it."""
    shared_bytes: int
    """The same as ``shared_tensor_bytes``."""
    tied_bytes: int
    """Bytes that the files have twice and that are stored once, because they say that the tensors are tied."""
    tied: _list[_list[str]]
    """The names of each tensor that has several because of that."""
    read_bytes: int
    """Bytes read from files, those that were only compared included."""
    cold: bool
    """Some files were not in the page cache and were read past it."""
    unshared: Unshared | None
    """Why no slab is shared with ``like``, if there is such a version."""
    elapsed_ms: float
    seconds: float

@final
class Unshared:
    """Why a version shares no slab with the one that it is like."""

    version: str
    """That version's tag."""
    why: Literal["device", "audience", "slab_bytes", "tensors", "ties"]
    """What differs."""
    reason: str
    """The same in words."""

@final
class VerifyReport:
    """What a check of a version's bytes against its hashes has found."""

    ok: bool
    nbytes: int
    elapsed_ms: float
    seconds: float
    differing: _list[str]
    """Names of tensors whose bytes are not what was committed."""
    bad: _list[str]
    """The same as ``differing``."""

# ---- tensors ----

class View:
    """Memory that other libraries take over without a copy: what a tensor of the pond and a tensor of
    a model have in common. Every view taken through one of these keeps the lease: memory goes when
    the last view goes, whatever is closed before."""

    @property
    def name(self) -> str | None:
        """Its name; none for a tensor found by its identity only."""
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> str:
        """In numpy's and torch's spelling: ``"bfloat16"``."""
    @property
    def strides(self) -> tuple[int, ...]:
        """In elements; always row-major."""
    @property
    def nbytes(self) -> int: ...
    @property
    def ptr(self) -> int:
        """Where it begins in the GPU's address space, for this process."""
    @property
    def device(self) -> str:
        """The UUID of its GPU."""
    @property
    def readonly(self) -> bool: ...
    def view(self, dtype: Dtype) -> View:
        """The same bytes as another dtype, for what another library cannot take as it is. Where the
        last extent cannot change for it, there is one dimension."""
    def numpy(self) -> _numpy.ndarray[Any, Any]:
        """A numpy array of the same memory, on the software driver; read-only where this is.
        A dtype that numpy lacks comes as ``ml_dtypes``' (which must be installed).

        Raises ``BufferError`` on a GPU, where the host cannot reach the memory.
        """
    def __array__(
        self, dtype: Any = None, copy: bool | None = None
    ) -> _numpy.ndarray[Any, Any]: ...
    def torch(self) -> _torch.Tensor:
        """A torch tensor of the same memory. Torch does not keep read-only apart: in-place writes
        to read-only memory fault on the GPU (and end the process on the software driver);
        ``clone()`` first."""
    def buffer(self, *, allow_readonly: bool = False) -> _Buffer:
        """A cuda.core ``Buffer`` of the same memory: the same as ``millpond.cuda_core.buffer(self)``. It cannot
        say that memory is read-only: a read-only tensor raises ``ReadOnlyError`` unless ``allow_readonly``."""
    def tobytes(self) -> _bytes:
        """A copy of its bytes."""
    def copy_(self, source: Any) -> Self:
        """Copies from ``source`` (a tensor, an array, bytes, lists of numbers) of the same size, and
        waits; a single number fills it. Raises ``ReadOnlyError`` where this is read-only."""
    def __dlpack__(
        self,
        *,
        stream: int | Any | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> CapsuleType:
        """The DLPack capsule: versioned, with the read-only flag, if ``max_version`` is at least
        (1, 0), else the legacy one. Published bytes need no synchronisation, so ``stream`` is only
        checked. Raises ``BufferError`` for another device, for a copy, and for a dtype that DLPack
        cannot express."""
    def __dlpack_device__(self) -> tuple[int, int]:
        """(2, this process's ordinal) on a GPU, (1, 0) on the software driver."""
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """Version 3; there is none on the software driver and for dtypes that numpy lacks."""

@final
class Tensor(View):
    """A tensor that this process has a lease on, mapped into its address space.

    It is a context manager; leaving it closes it. Pickled, it travels as a reference: the other process
    maps the same tensor.
    """

    @property
    def id(self) -> str: ...
    @property
    def generation(self) -> int:
        """How often it was published, as far as this value knows."""
    @property
    def is_lost(self) -> bool:
        """Whether another pond has taken the place of this one: the memory is whole as long as it
        is held, but nobody else can find it."""
    @property
    def info(self) -> TensorInfo:
        """All that the pond said about it when it was got."""
    def publish(self, stream: int | Any | None = None) -> int:
        """Waits for the work of ``stream`` (a handle, or an object with ``cuda_stream``; all work
        unless said), then tells everybody that the bytes are complete. Returns the generation."""
    def record(self, stream: int | Any | None = None) -> None:
        """Marks the work that ``stream`` has queued so far (a handle, or a torch or CuPy stream; the default
        stream unless said) in the tensor's event, which is one for all processes. Only tensors of the
        transport ``"ipc"`` have one."""
    def wait(self, stream: int | Any | None = None) -> None:
        """Lets later work of ``stream`` wait for what was recorded last, in whatever process. If that process was
        killed before the work was done, the stream waits for ever."""
    @property
    def transport(self) -> Transport:
        """How its memory is shared."""
    @property
    def survives(self) -> Survives:
        """What its memory survives."""
    @property
    def copied_because(self) -> str | None:
        """Why this is a copy of what ``adopt`` was to take over; ``None`` if it is none."""
    @property
    def closed(self) -> bool: ...
    def close(self) -> None:
        """Lets go of it. Views that were taken stay valid, and keep the lease."""
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

@final
class TensorHandle:
    """The handle of an ``ipc`` tensor, and the lease that keeps its memory. Whoever has the bytes has the
    memory, whatever user that is. It is a context manager; leaving it releases it."""

    @property
    def memory(self) -> _bytes:
        """The 64 bytes that ``cudaIpcOpenMemHandle`` takes. Raises ``ClosedError`` once it is released: old
        bytes may open other memory."""
    @property
    def event(self) -> _bytes | None:
        """The 64 bytes that ``cudaIpcOpenEventHandle`` takes; ``None`` where there is no event."""
    @property
    def device(self) -> str:
        """The UUID of its GPU."""
    @property
    def offset(self) -> int:
        """Where in the opened memory the tensor begins."""
    @property
    def nbytes(self) -> int: ...
    @property
    def dtype(self) -> str:
        """In numpy's and torch's spelling: ``"bfloat16"``."""
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def released(self) -> bool: ...
    def release(self) -> None:
        """Ends the lease: the memory goes when nobody else has it."""
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

# ---- models ----

@final
class ModelTensor(View):
    """One tensor of a mapped model, or of a version that is being staged (then writable)."""

    @property
    def name(self) -> str: ...
    @property
    def offset(self) -> int:
        """Where in the arena it begins."""
    @property
    def hash(self) -> str | None:
        """The hash of its bytes as committed; none while it is staged."""

@final
class Model(Mapping[str, ModelTensor]):
    """A version of a model, mapped read-only.

    Its tensors by name, in the manifest's order (sorted by name). It is a context manager; leaving
    it closes it.
    """

    @property
    def name(self) -> str: ...
    @property
    def version(self) -> str: ...
    @property
    def id(self) -> str:
        """The version's identity."""
    @property
    def device(self) -> str: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def layout_hash(self) -> str: ...
    @property
    def content_hash(self) -> str: ...
    @property
    def metadata(self) -> dict[str, str]:
        """What the checkpoint said about itself."""
    @property
    def stale(self) -> bool:
        """Whether the model's current version is another one. Costs no message."""
    @property
    def is_lost(self) -> bool: ...
    def __getitem__(self, name: str) -> ModelTensor: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[str]: ...
    def torch(self) -> Mapping[str, _torch.Tensor]:
        """A lazy dict of torch tensors of the same memory, for
        ``net.load_state_dict(model.torch(), assign=True)``."""
    def numpy(self) -> Mapping[str, _numpy.ndarray[Any, Any]]:
        """A lazy dict of numpy arrays of the same memory, on the software driver."""
    def on_swap(self, callback: Callable[[str], object]) -> Callable[[], None]:
        """Has ``callback`` called with the tag of the new current version whenever that changes.
        It runs in a thread of the client: take note there, and call ``refresh`` at a step boundary
        of your own thread. An exception in it goes to ``sys.unraisablehook`` and no further.
        Returns a function that ends this; ``close`` and the model's end do so too."""
    def refresh(self, in_place: bool = False, version: str | None = None) -> bool:
        """Moves to the current version, or the one that is named; false if it is the one that is
        mapped already. Views taken before stay with the old version and keep it.

        ``in_place`` keeps every address and only remaps slabs that differ, so CUDA graphs stay
        valid, and tensors from before see the new bytes. It leads to the current version only, the
        layouts must be equal and no work may run, see ``paused``. On failure the old mapping is
        back.
        """
    def paused(self) -> Paused:
        """Waits for all work of the context, and lets ``refresh(in_place=True)`` pass inside.
        Meanwhile other threads wait when they ask for tensors; that none of them submits work on
        tensors it has is up to the program."""
    @property
    def closed(self) -> bool: ...
    def close(self) -> None:
        """Lets go of it. Views that were taken stay valid, and keep the lease."""
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

@final
class Paused:
    """What ``Model.paused`` returns: a context manager."""

    def __enter__(self) -> Model: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

@final
class Staging(Mapping[str, ModelTensor]):
    """A version that this process writes. Leaving the ``with`` block commits it; an exception in
    the block leaves nothing behind. With ``like``, a tensor that is not written keeps the bytes of
    that version, and slabs that nothing was written to are shared with it."""

    @property
    def name(self) -> str: ...
    @property
    def version(self) -> str: ...
    def __getitem__(self, name: str) -> ModelTensor:
        """The tensor, writable. To ask for it is to say that it is written."""
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[str]: ...
    def commit(self, activate: bool | None = None) -> VersionInfo:
        """Waits for all work, hashes, and makes the version ready; ``activate`` makes it current
        as well (as said to ``stage`` unless said here). A model's first version becomes current
        unless this is false."""
    def abort(self) -> None:
        """Gives everything back."""
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

@final
class Slice(Generic[_T]):
    """What ``SafeOpen.get_slice`` returns: indexing it gives a view of that part."""

    def get_shape(self) -> _list[int]: ...
    def get_dtype(self) -> str: ...
    def __getitem__(
        self, index: int | slice | EllipsisType | tuple[int | slice | EllipsisType, ...]
    ) -> _T: ...

@final
class SafeOpen(Generic[_T]):
    """A model in the manner of safetensors' ``safe_open``."""

    def keys(self) -> _list[str]: ...
    def offset_keys(self) -> _list[str]:
        """In the order of their place in the arena, which is the order of names."""
    def metadata(self) -> dict[str, str]: ...
    def get_tensor(self, name: str) -> _T: ...
    def get_tensors(self, names: Sequence[str] | None = None) -> dict[str, _T]:
        """Several at once, all of them unless said."""
    def get_slice(self, name: str) -> Slice[_T]: ...
    def get_shape(self, name: str) -> _list[int]: ...
    def get_dtype(self, name: str) -> str: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

Framework = Literal["pt", "np", "jax", "torch", "pytorch", "numpy", "flax"]

Split = Literal["column", "row", "replicate", "skip"]

@final
class Plan:
    """Which part of a checkpoint is loaded, for tensor-parallel ranks. The first rule whose glob
    fits a name decides; a name that no rule fits is left out unless ``rest`` says otherwise."""

    def __init__(
        self,
        rules: Mapping[str, Split] | Sequence[tuple[str, Split]] = (),
        *,
        rank: int = 0,
        world: int = 1,
        rest: Split | None = "replicate",
    ) -> None: ...

# ---- the pond ----

# ---- elastic caches: tensors whose memory comes and goes while their addresses stay ----

@final
class Elastic:
    """What ``elastic`` returns: the caches of one group, in this process."""

    @property
    def group(self) -> str: ...
    @property
    def is_limited(self) -> bool:
        """Whether this program runs in the group (``millpond run``), so that its own limit pays."""
    def reserve(
        self,
        name: str,
        shape: Sequence[int] | int,
        dtype: Dtype,
        grow_along: int = 0,
        *,
        granule: int | str = "2MiB",
        min: int | str = 0,
        weight: int = 1,
        wait: float = 1.0,
        ahead: tuple[int | str, int | str] | None = None,
        largest_handle: int | str | None = None,
        null_page: bool = False,
        device: Device | None = None,
    ) -> ElasticCache:
        """Reserves addresses for a tensor whose memory comes and goes. It costs no memory of the GPU;
        the process gets a CUDA context, if it has none.

        Parameters
        ----------
        name
            How people and the pond call it.
        shape
            The most that there can ever be.
        dtype
            As for ``create``, but no packed one.
        grow_along
            The dimension of the blocks; negative numbers count from the end. The dimensions before it
            are segments, each of which begins on a granule; those after it are one block.
        granule
            The size of a page: a number of bytes, or text as in ``"16MiB"``. A commit grows by a page
            of every segment.
        min
            What other caches of the group leave this one.
        weight
            Its part of the rest, when caches compete.
        wait
            How many seconds a commit waits for others to give way, at most 60; 0 asks nobody.
        ahead
            Pages are made ahead: with fewer idle bytes than the first number, until there are as many
            as the second.
        largest_handle
            Growth uses handles of up to this size, 64 MiB unless said. A handle is given back whole.
        null_page
            One page, which costs a granule of the budget, is under everything that is not committed: it may
            be read and written, and what is read there is undefined.
        device
            The GPU; the pond's first unless said.

        Returns
        -------
        ElasticCache

        Raises
        ------
        Invalid
            A shape or a size that cannot be.
        DriverError
            The GPU driver refused.
        """

@final
class ElasticCache:
    """A tensor of which only the committed blocks have memory. Its address never changes, so tensors
    that other libraries make of it, and CUDA graphs over them, stay valid while blocks are committed
    and uncommitted. What is not committed must not be touched: on a GPU a kernel that does so faults and
    the process's CUDA context is lost, on the software driver the process ends.

    ``torch.from_dlpack(cache)``, CuPy and (on the software driver) numpy take all of it as one strided,
    writable tensor, which keeps the memory. All threads may use one cache."""

    @property
    def name(self) -> str: ...
    @property
    def id(self) -> str:
        """How the pond knows it."""
    @property
    def group(self) -> str:
        """The group that pays."""
    @property
    def device(self) -> str:
        """The UUID of its GPU."""
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def strides(self) -> tuple[int, ...]:
        """In elements. Segments begin on a granule, so the dimensions before the one that grows may have
        gaps between them."""
    @property
    def dtype(self) -> str:
        """In numpy's and torch's spelling: ``"bfloat16"``."""
    @property
    def nbytes(self) -> int:
        """What all of its elements take, committed or not."""
    def data_ptr(self) -> int:
        """The first address. It never changes."""
    @property
    def committed_bytes(self) -> int:
        """What pages with committed blocks take."""
    @property
    def held_bytes(self) -> int:
        """What the cache takes of the GPU, idle pages included."""
    @property
    def idle_bytes(self) -> int:
        """What it could give back."""
    def stats(self) -> ElasticStats:
        """Everything that can be counted, at one moment."""
    def commit(self, blocks: int | range) -> None:
        """Makes blocks usable; their contents are undefined. Waits, without the interpreter, while the
        pond has others give way.

        Parameters
        ----------
        blocks
            A number commits the first blocks, and leaves those alone that are committed already. A
            range commits its blocks, none of which may be committed.

        Raises
        ------
        GpuFull
            There is no memory: ``verdict`` says what would help, ``holders`` who has the rest. Nothing
            has changed then.
        Invalid
            Blocks that do not exist, or are committed already.
        InUse
            A table or a prepared range has them.
        """
    def uncommit(
        self, blocks: range, *, stream: int | Any | None = None, at_step: bool = False
    ) -> None:
        """Ends the use of blocks. Their pages stay for the next commit, and are given back when somebody
        needs them.

        Parameters
        ----------
        blocks
            Blocks that are committed.
        stream
            The work that uses the blocks is on this stream already (a torch or CuPy stream, or its
            handle): no page goes before that is done. Without it, the whole GPU is waited for before a
            page goes. A stream that is being captured is refused.
        at_step
            The blocks stay committed until ``step``.

        Raises
        ------
        Invalid
            Blocks that do not exist or are not committed; then none is uncommitted.
        """
    def step(self, stream: int | Any | None = None) -> None:
        """All work of a step is submitted: blocks that were uncommitted with ``at_step=True`` go.

        Parameters
        ----------
        stream
            The stream that the work is on; see ``uncommit``.

        Raises
        ------
        Invalid
            Some of the blocks were not committed; the others are uncommitted.
        """
    def prepare(self, blocks: range) -> Prepared:
        """Makes pages for blocks, so that their commit cannot fail: for ranks that commit together or not
        at all.

        Parameters
        ----------
        blocks
            Blocks that are not committed.

        Returns
        -------
        Prepared
            The end of its ``with`` block commits, an exception in it gives the blocks up.

        Raises
        ------
        GpuFull, Invalid, InUse
            As for ``commit``.
        """
    def trim(self, bytes: int | str | None = None) -> int:
        """Gives idle pages back to the group.

        Parameters
        ----------
        bytes
            At least so much, if there is so much; all of it unless said.

        Returns
        -------
        int
            The bytes that were given back.
        """
    def set_cap(self, bytes: int | str | None, *, revision: int) -> CapChange:
        """Sets what the cache may hold of the group's budget. Idle pages above the cap go back at once,
        others when no block uses them. Growth above it raises ``GpuFull``.

        Parameters
        ----------
        bytes
            The cap; ``None`` for none.
        revision
            1 or more, and larger with each change: an older cap changes nothing.

        Returns
        -------
        CapChange
            A repeat of the cap in force says what is still to go.
        """
    def on_pressure(self, callback: Callable[[PressureAsk], bool | str | None] | None) -> None:
        """Has a function called when pages are wanted back beyond the idle ones.

        Parameters
        ----------
        callback
            Called from a thread of its own, one at a time. It uncommits what it can do without and
            returns ``True`` or ``"now"``; ``"soon"`` if it will do so before the time is over; ``False``
            or ``None`` for nothing. What it raises goes to ``sys.unraisablehook`` and counts as nothing.
            It takes the place of the last one, and is called as long as this object exists.
        """
    def blocks(self) -> BlockTable:
        """The table that hands out blocks one by one, whose pages follow them.

        Returns
        -------
        BlockTable
            The end of its ``with`` block gives all blocks back.

        Raises
        ------
        InUse
            There is one already, or blocks are committed by their numbers.
        """
    def numpy(self) -> _numpy.ndarray[Any, Any]:
        """A numpy array of all of it, on the software driver. Raises ``BufferError`` on a GPU."""
    def torch(self) -> _torch.Tensor:
        """A torch tensor of all of it."""
    def __array__(
        self, dtype: Any = None, copy: bool | None = None
    ) -> _numpy.ndarray[Any, Any]: ...
    def __dlpack__(
        self,
        *,
        stream: int | Any | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> CapsuleType:
        """The DLPack capsule of all of it, with strides. The capsule keeps the cache."""
    def __dlpack_device__(self) -> tuple[int, int]:
        """(2, this process's ordinal) on a GPU, (1, 0) on the software driver."""
    @property
    def closed(self) -> bool: ...
    def close(self) -> None:
        """Lets go of it. Views, tables and prepared blocks keep the memory; with the last of them all of
        it is given back."""
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

@final
class BlockTable:
    """Hands out the blocks of a cache one by one. It fills pages that are in use before idle ones, and
    low ones before high ones, so that high pages drain and can be given back."""

    def take(self, count: int) -> _list[int]:
        """Takes blocks: so many, or none.

        Parameters
        ----------
        count
            How many.

        Returns
        -------
        list of int
            Their numbers along ``grow_along``. Their contents are undefined.

        Raises
        ------
        GpuFull
            There is no memory, or fewer blocks are free; see ``ElasticCache.commit``.
        """
    def give(self, blocks: Sequence[int] | int | Any, *, stream: int | Any | None = None) -> None:
        """Gives blocks back.

        Parameters
        ----------
        blocks
            What ``take`` returned, or a part of it.
        stream
            As for ``ElasticCache.uncommit``. It keeps pages, and does not keep the next user of a block
            from writing to it.

        Raises
        ------
        Invalid
            A block that is not taken, or is named twice; then none is given back.
        """
    @property
    def free_blocks(self) -> int:
        """How many blocks nobody has taken."""
    @property
    def ready_blocks(self) -> int:
        """How many blocks can be taken without a new page."""
    def occupancy(self) -> _list[Occupancy]:
        """How full the pages are, the emptiest first: what an engine evicts to free a page."""
    @property
    def closed(self) -> bool: ...
    def close(self) -> None:
        """Ends it: all blocks are given back, after all work of the GPU."""
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

@final
class Prepared:
    """Blocks whose pages are there, and which are not committed yet. The end of the ``with`` block
    commits them, an exception in it gives them up."""

    @property
    def blocks(self) -> range: ...
    def commit(self) -> None:
        """Commits them, which cannot fail for lack of memory. Raises ``Invalid`` if they were committed or
        given up already."""
    def abort(self) -> None:
        """Gives them up; their pages are idle then. Raises ``Invalid`` if they were committed already."""
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

@final
class PressureAsk:
    """What a cache is asked for."""

    bytes: int
    """What is wanted beyond the pages that were idle."""
    blocks: int
    """The same in blocks."""
    until: float
    """How many seconds are left in which it helps, at the moment of asking."""
    reason: str
    """For whom, and why."""
    revision: int
    """Counts changes of the group's limits."""

@final
class StreamPool:
    """Blocks of device memory in the order of streams, on the budget of a group: ``millpond.torch.pool``."""

    @property
    def group(self) -> str:
        """The group that pays."""
    @property
    def device(self) -> str:
        """The GPU."""
    def stats(self) -> dict[str, int | float]:
        """What the pool counts, by name: bytes in use, free and held with their peaks, counts of blocks
        and gaps, how requests were served, and ``fragmentation``, the part of the free bytes outside of
        the largest gap."""
    def reset_peaks(self) -> None:
        """Has the peaks of the statistics begin anew."""
    def trim(self, nbytes: int | str | None = None, *, wait: bool = False) -> int:
        """Gives memory that no block uses back to the group, everything unless said. Returns how many
        bytes are back. ``wait`` waits for the whole device where that helps, which breaks graphs that are
        being captured."""
    def snapshot(self) -> dict[str, Any]:
        """All blocks and gaps at this moment, by address."""
    def snapshot_svg(self, path: str | os.PathLike[str]) -> None:
        """Draws all blocks and gaps to scale, as an SVG file."""
    def snapshot_json(self, path: str | os.PathLike[str]) -> None:
        """Writes all blocks and gaps to a JSON file."""

@final
class CapChange:
    """What a new cap has done."""

    state: Literal["applied", "deferred", "stale"]
    """``"stale"``: another cap is in force, and nothing has changed."""
    above_bytes: int
    """What the cache still holds above the cap."""
    revision: int
    """The revision in force."""

@final
class Occupancy:
    """Pages that are given back together."""

    @property
    def blocks(self) -> range:
        """The blocks with a byte in these pages."""
    @property
    def taken(self) -> int:
        """How many of them are taken."""
    @property
    def bytes(self) -> int:
        """What is given back when none is taken."""

@final
class ElasticStats:
    """A cache at one moment. What is held is committed, prepared, wasted, idle or quarantined."""

    reserved_bytes: int
    """Addresses; they cost no memory."""
    committed_bytes: int
    """Pages with a committed block."""
    prepared_bytes: int
    """Pages without one that somebody has prepared."""
    wasted_bytes: int
    """Pages that nobody uses, in handles in which somebody uses others."""
    idle_bytes: int
    """Handles that nobody uses: they can be given back."""
    quarantined_bytes: int
    """What the driver refused to take back."""
    held_bytes: int
    """All that the driver has given."""
    cap_bytes: int | None
    """What the cache may hold; ``None`` without a cap."""
    rows: int
    """Rows in all; a row is one page of each segment."""
    mapped_rows: int
    """Rows with memory."""
    committed_rows: int
    """Rows with a committed block."""
    committed_blocks: int
    """Blocks that are committed or taken."""
    handles: dict[int, int]
    """How many handles each segment has, by their bytes."""
    driver_calls: dict[str, int]
    """How often the driver was called, by kind of call."""
    book_bytes: int
    """What the book-keeping takes of the host's memory."""

@final
class Pond:
    """A connection to a pond. All threads may use it at once; a process has one connection per
    pond, and a forked child gets its own with its first call."""

    def __init__(
        self,
        runtime_dir: _Path | None = None,
        *,
        program: str | None = None,
        request_timeout: float | None = None,
        reconnect_timeout: float | None = None,
    ) -> None:
        """Connects to the pond in ``runtime_dir``, or to the one that a client finds by itself.
        ``program`` is what ``millpond ps`` calls this process; times are in seconds."""
    @property
    def runtime_dir(self) -> str: ...
    def create(
        self,
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
    ) -> Tensor:
        """Makes a tensor and maps it writable; others see it after ``publish``. If one of that
        name, dtype and shape is there already, that is the one: the same name is the same memory.

        It lives until it is deleted; ``ephemeral`` ends it with this process, ``ttl`` that many
        seconds after its creation, ``linger`` that many after its last lease, ``max_accesses``
        after that many gets. Every end only stops new leases.

        ``transport`` is how its memory is shared: ``"vmm"`` survives everything; ``"ipc"`` has a handle for
        programs that know only CUDA IPC, and survives everything but the end of its host; ``"mempool"`` is a
        memory pool of the driver, and survives everything.
        """
    def get(self, name: str | TensorInfo, wait: float | None = None, mode: Mode = "ro") -> Tensor:
        """Maps a tensor by name (``"acts/x"``, ``"~user/acts/x"``) or identity. ``wait`` is how
        many seconds to wait until it is published: not at all unless said, ``math.inf`` for ever.
        """
    def handle(self, name: str | Tensor | TensorInfo) -> TensorHandle:
        """The handle of a published ``ipc`` tensor, for programs that know only CUDA IPC. It keeps a lease, so
        that the memory stays, until it is released or gone.

        Raises
        ------
        Invalid
            The tensor has another transport.
        """
    def adopt(
        self,
        name: str,
        tensor: SupportsDLPack | Any,
        *,
        share: Audience = "user",
        copy: bool = False,
    ) -> Tensor:
        """Gives memory that this program has a name, without a copy. It is published at once, and returned
        mapped read-only, as ``get`` does it.

        Parameters
        ----------
        name
            The name of the tensor.
        tensor
            Anything on a GPU with ``__dlpack__`` (torch, CuPy, JAX) or ``__cuda_array_interface__``, contiguous.
            It is kept as long as the pond has the tensor.
        share
            The audience.
        copy
            Where the driver cannot share the memory, a copy of it becomes the tensor, and ``copied_because``
            of the result says why.

        Returns
        -------
        Tensor

        Raises
        ------
        AdoptError
            The memory cannot be shared as it is, and ``copy`` is false.
        Invalid
            It is not on a GPU, or not contiguous.
        Exists
            The name is taken.
        """
    def delete(self, name: str | Tensor | TensorInfo, *, unused: bool = False) -> None:
        """Deletes a tensor: no new leases, and the memory goes when the last one has ended. With ``unused``
        nothing happens and `InUse` is raised while anybody has one, this process included."""
    def list(self, prefix: str = "") -> _list[TensorInfo]:
        """Every tensor shared with the caller whose name begins so."""
    def info(self, name: str | Tensor | TensorInfo) -> TensorInfo:
        """What the pond knows about one tensor."""
    def status(self) -> Status: ...
    def put(
        self,
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
    ) -> TensorInfo:
        """Puts a tensor into the pond whole: nobody sees it before all of its bytes are there.
        ``source`` is a file (a path), bytes, an array that says its own shape and dtype, or numbers
        and lists of them with a ``dtype``. A file that is no ``.npy`` needs a ``dtype`` too. Maps
        nothing and needs no driver: the pond's mover carries the bytes, and ``get`` takes what this
        returns."""
    def copy(
        self,
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
    ) -> TensorInfo:
        """Copies a published tensor to a new name, on the same GPU or on another one. Nobody sees the
        copy before it is complete."""
    def zero(self, name: str | Tensor | TensorInfo, *, progress: Progress | None = None) -> TensorInfo:
        """Fills a tensor with zeroes and publishes it. Whoever has it mapped sees the zeroes come."""
    def gc(self, unleased_for: float | None = None, *, dry_run: bool = False) -> Collected:
        """Gives back one's empty slabs, and with ``unleased_for`` deletes one's tensors without a
        lease for that many seconds. ``dry_run`` only says what would be given back."""
    def clients(self) -> _list[ClientInfo]:
        """Everybody who is connected, or silent and alive, with what they hold."""
    def events(
        self,
        since: int | None = None,
        *,
        kind: EventKind | Sequence[EventKind] | None = None,
        prefix: str = "",
        model: str | None = None,
        follow: bool = True,
    ) -> Events:
        """What happens in the pond, from now on or from the sequence number ``since`` on: an iterator.
        ``follow=False`` ends after what the pond has kept (all of that unless ``since`` is said).
        ``kind``, ``prefix`` (of the name) and ``model`` leave out everything else but ``gap``."""
    def groups(self) -> _list[GroupInfo]:
        """Every group, with what it holds on each GPU."""
    def group(self, name: str) -> GroupDetails:
        """Everything about one group, its processes as well."""
    def set_group(
        self,
        name: str,
        limit: int | float | str | None = None,
        *,
        min_bytes: int | None = None,
        weight: int | None = None,
        users: Sequence[int] | None = None,
        device: Device | None = None,
        create: bool = True,
        ends_silent: bool | None = None,
    ) -> GroupDetails:
        """Makes or changes a group: what is not named stays as it is. ``limit`` is a number of bytes,
        a size (``"10G"``), a part of the card (``"25%"``) or ``math.inf``. With ``ends_silent``, a process
        that does not answer when pages are asked of it is ended. For the operator."""
    def remove_group(self, name: str) -> None:
        """Removes a group that has no processes. For the operator."""
    def caches(self, group: str | None = None) -> _list[CacheInfo]:
        """Every elastic cache of groups that you may use, or those of one group."""
    def upload(
        self,
        name: str | Tensor | TensorInfo,
        source: _Path | _bytes | bytearray | memoryview | Any,
        *,
        progress: Progress | None = None,
    ) -> int:
        """Fills a whole tensor that is there, from a file or bytes of exactly its size. Does not
        publish it. Returns the bytes."""
    def download(
        self,
        name: str | Tensor | TensorInfo,
        path: _Path | None = None,
        *,
        force: bool = False,
        progress: Progress | None = None,
    ) -> _bytes | int:
        """A published tensor's bytes: into a file (then their number is returned), or as bytes. A file
        that already exists is written over only with ``force``."""
    def attach(
        self, name: str, version: str | None = None, *, wait: float | None = None
    ) -> Model:
        """Maps a model read-only: its current version unless one is named (also as
        ``"llama@v1"``). No copy, no load. ``wait`` is how long to wait for a first version."""
    def safe_open(
        self, name: str, framework: Framework = "pt", device: Device | None = None
    ) -> SafeOpen[Any]:
        """A model, or a version of it (``"llama@v1"``), in the manner of safetensors' ``safe_open``:
        framework ``"pt"`` gives torch tensors, ``"np"`` numpy arrays, ``"jax"`` JAX's. All of them
        are views of the one copy, unless ``device`` asks for another place than where it is."""
    def load(
        self,
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
    ) -> LoadReport:
        """Loads a checkpoint into a new version: a safetensors file, a folder with an index, or
        several files. Slabs whose bytes equal those of version ``like`` (the current one unless
        said, none if ``False``) are shared with it. ``activate`` makes the version current."""
    def stage(
        self,
        name: str,
        version: str | None = None,
        *,
        like: str | None = None,
        tensors: Mapping[str, tuple[Dtype, Sequence[int]] | str] | None = None,
        device: Device | None = None,
        activate: bool = False,
        audience: Audience | None = None,
        metadata: Mapping[str, str] | None = None,
    ) -> Staging:
        """A new version that this process writes itself: with the tensors of version ``like`` (a
        tag of this model, or ``"other@v1"``), or with those that are given, by name with their
        dtype and shape. Another tensor's name instead of these ties the two: they are stored
        once. ``audience`` is that of ``like`` unless said, or else one's own user."""
    def models(self, prefix: str = "") -> _list[ModelInfo]:
        """Every model shared with the caller whose name begins so."""
    def inspect(self, name: str) -> ModelInfo | VersionInfo:
        """What the pond knows about a model, or about a version of it (``"llama@v1"``)."""
    def swap(self, name: str, version: str) -> VersionInfo:
        """Makes a ready version the current one, in one step. Readers of the old one keep it."""
    def rollback(self, name: str) -> VersionInfo:
        """Makes the previous version the current one again."""
    def retire(
        self, name: str, version: str, *, wait: float | None = None
    ) -> None:
        """Stops new leases on a version; its memory goes when the last reader leaves. ``wait`` is
        how many seconds to wait for that (``math.inf`` for ever), then ``Timeout``."""
    def verify(self, name: str, *, progress: Progress | None = None) -> VerifyReport:
        """Hashes a version's bytes on the GPU and compares them with what was committed."""
    def save(
        self,
        name: str,
        path: _Path,
        *,
        shard_bytes: int | None = None,
        force: bool = False,
        progress: Progress | None = None,
    ) -> _list[str]:
        """Writes a version out as safetensors: one file, or a folder with shards and an index.
        What already exists is written over only with ``force``. Returns the files."""
    def elastic(self, group: str) -> Elastic:
        """The elastic caches of a group, in this process. A program that runs under ``millpond run`` has
        caches in its own group only.

        Parameters
        ----------
        group
            The group that pays; ``set_group`` makes one.

        Returns
        -------
        Elastic

        Raises
        ------
        NotFound
            There is no such group.
        Denied
            The group is not the caller's to use.
        """
    def live_leases(self) -> int:
        """How many leases this process holds here, those of views included."""
    def live_bytes(self) -> int:
        """The bytes under those leases."""
    def flush(self, timeout: float = 10.0) -> bool:
        """Waits until everything that was let go of is unmapped and the pond knows; false if the
        time was over before."""
    @property
    def closed(self) -> bool: ...
    def close(self) -> None:
        """Waits for what was let go of and says goodbye. Raises ``Invalid`` while anything is in
        use."""
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

def connect(runtime_dir: _Path | None = None) -> Pond:
    """The pond in that folder, or the default one. The default one is connected once, at the first
    call that needs it."""

# ---- the default pond's methods, as functions; see ``Pond`` ----

def create(
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
def get(name: str | TensorInfo, wait: float | None = None, mode: Mode = "ro") -> Tensor: ...
def handle(name: str | Tensor | TensorInfo) -> TensorHandle: ...
def adopt(
    name: str,
    tensor: SupportsDLPack | Any,
    *,
    share: Audience = "user",
    copy: bool = False,
) -> Tensor: ...
def delete(name: str | Tensor | TensorInfo, *, unused: bool = False) -> None: ...
def list(prefix: str = "") -> _list[TensorInfo]: ...
def info(name: str | Tensor | TensorInfo) -> TensorInfo: ...
def status() -> Status: ...
def put(
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
def copy(
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
def zero(name: str | Tensor | TensorInfo, *, progress: Progress | None = None) -> TensorInfo: ...
def gc(unleased_for: float | None = None, *, dry_run: bool = False) -> Collected: ...
def clients() -> _list[ClientInfo]: ...
def events(
    since: int | None = None,
    *,
    kind: EventKind | Sequence[EventKind] | None = None,
    prefix: str = "",
    model: str | None = None,
    follow: bool = True,
) -> Events: ...
def groups() -> _list[GroupInfo]: ...
def group(name: str) -> GroupDetails: ...
def set_group(
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
def remove_group(name: str) -> None: ...
def caches(group: str | None = None) -> _list[CacheInfo]: ...
def upload(
    name: str | Tensor | TensorInfo,
    source: _Path | _bytes | bytearray | memoryview | Any,
    *,
    progress: Progress | None = None,
) -> int: ...
def download(
    name: str | Tensor | TensorInfo,
    path: _Path | None = None,
    *,
    force: bool = False,
    progress: Progress | None = None,
) -> _bytes | int: ...
def attach(name: str, version: str | None = None, *, wait: float | None = None) -> Model: ...
def safe_open(
    name: str, framework: Framework = "pt", device: Device | None = None
) -> SafeOpen[Any]: ...
def load(
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
def stage(
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
def models(prefix: str = "") -> _list[ModelInfo]: ...
def inspect(name: str) -> ModelInfo | VersionInfo: ...
def swap(name: str, version: str) -> VersionInfo: ...
def rollback(name: str) -> VersionInfo: ...
def retire(name: str, version: str, *, wait: float | None = None) -> None: ...
def verify(name: str, *, progress: Progress | None = None) -> VerifyReport: ...
def save(
    name: str,
    path: _Path,
    *,
    shard_bytes: int | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> _list[str]: ...
def elastic(group: str) -> Elastic: ...
def live_leases() -> int:
    """How many leases this process holds, in all its ponds, those of views included."""

def live_bytes() -> int:
    """The bytes under those leases."""

def flush(timeout: float = 10.0) -> bool: ...
