"""What needs cuda.core: the pond as a memory resource, and tensors of the pond as buffers."""

from typing import Any

from cuda.core import Buffer, MemoryResource

from . import Audience, Device, Pond, Tensor, Transport, View

def buffer(tensor: View, *, allow_readonly: bool = False) -> Buffer:
    """A buffer of the same memory, which keeps the lease: closing it, or its end, lets go of its part.

    A Buffer, and the DLPack capsules that it makes, cannot say that memory is read-only. So a tensor that
    is mapped read-only raises ``ReadOnlyError`` unless ``allow_readonly`` is set; whoever writes to such a
    buffer then has a fault of the GPU, after which the process's CUDA context is lost. ``StridedMemoryView``
    of the tensor itself says it is read-only.
    """

class PondMemoryResource(MemoryResource):  # type: ignore[misc, unused-ignore]
    """Memory of the pond for cuda.core, also as ``Device.memory_resource``.

    What has no name goes back when its buffer is closed, and ends with this process however that ends. What
    has a name lives until it is deleted, whoever dies. A closed buffer only lets go: nothing is unmapped
    before the device has done the work that was submitted to it, on any stream. A graph that was captured
    with such memory needs its buffer for as long as the graph is replayed.
    """

    def __init__(
        self,
        device: Device | None = None,
        *,
        pond: Pond | None = None,
        prefix: str = "",
        transport: Transport = "vmm",
        audience: Audience = "user",
    ) -> None:
        """``device`` is a cuda.core ``Device``, or what ``millpond.create`` takes. ``prefix`` begins every name."""
    @property
    def is_device_accessible(self) -> bool:
        """Whether it is a GPU's memory: not on the software driver, whose memory is the host's."""
    @property
    def is_host_accessible(self) -> bool: ...
    @property
    def is_managed(self) -> bool: ...
    @property
    def is_ipc_enabled(self) -> bool:
        """False: cuda.core's own descriptors are those of pools. Pickle ``tensor(buffer)`` instead."""
    @property
    def device_id(self) -> int:
        """This process's ordinal of the GPU; -1 on the software driver."""
    @property
    def pond(self) -> Pond: ...
    @property
    def prefix(self) -> str: ...
    def allocate(self, size: int, *, stream: Any = None) -> Buffer:
        """Memory without a name. It can be used at once, on any stream; ``stream`` only becomes the buffer's
        stream of deallocation. Without one there must be a current context. Raises ``GpuFull``."""
    def allocate_named(self, name: str, size: int, *, stream: Any = None) -> Buffer:
        """Memory that others find by its name, in state ``writing`` until it is published. One of the same
        name and size is the same memory."""
    def get(self, name: str, *, wait: float | None = None, stream: Any = None) -> Buffer:
        """Memory that somebody has named and published, mapped writable. ``wait`` is how many seconds to
        wait for that."""
    def tensor(self, buffer: Buffer) -> Tensor:
        """The tensor under an open buffer of this resource: its ``id``, its ``publish``, and a reference by
        pickle for other processes. It is closed with the buffer."""
    def publish(self, buffer: Buffer, *, stream: Any = None) -> int:
        """Waits for the stream's work (all work unless said), then tells everybody that the bytes are
        complete. Returns the generation."""
    def delete(self, name: str) -> None:
        """No new leases; the memory goes when the last one has ended."""
    def deallocate(self, ptr: Any, size: int, *, stream: Any = None) -> None:
        """What cuda.core calls when a buffer ends. It never waits."""
