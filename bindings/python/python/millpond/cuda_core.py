"""What needs cuda.core: the pond as a memory resource, and tensors of the pond as buffers."""

from __future__ import annotations

try:
    from cuda.core import Buffer, MemoryResource
except ImportError as error:
    raise ImportError(
        f'cuda.core 1.0 or later cannot be imported ({error}): pip install "cuda-core>=1,<2" cuda-bindings'
    ) from error

from . import ReadOnlyError, connect

__all__ = ["PondMemoryResource", "buffer"]

_CUDA = 2


def _special(kind, message, hint):
    error = kind(f"{message}\nhint: {hint}")
    error.message, error.hint = message, hint
    return error


def buffer(tensor, *, allow_readonly=False):
    """A buffer of the same memory, which keeps the lease."""
    if tensor.readonly and not allow_readonly:
        raise _special(
            ReadOnlyError,
            f"{tensor!r} is mapped read-only, and a cuda.core Buffer cannot say so",
            'get it with mode="rw", or pass allow_readonly=True for a buffer that nobody writes to',
        )
    # A part of its own in the lease, which stays when the tensor is closed.
    return Buffer.from_handle(tensor.ptr, tensor.nbytes, owner=tensor.view(tensor.dtype))


class PondMemoryResource(MemoryResource):
    """Memory of the pond for cuda.core: see cuda_core.pyi."""

    def __init__(self, device=None, *, pond=None, prefix="", transport="vmm", audience="user"):
        self._pond = connect() if pond is None else pond
        ordinal = getattr(device, "device_id", None)
        self._device = device if ordinal is None else f"cuda:{ordinal}"
        self._prefix, self._transport, self._audience = prefix, transport, audience
        # By address: one name may be allocated twice in a process, and is the same memory then.
        self._live = {}
        # Which GPU is meant, and whether it is one, is known of memory only.
        with self._create(None, 1) as probe:
            kind, number = probe.__dlpack_device__()
            self._on_gpu, self._ordinal = kind == _CUDA, number
            self._device = probe.device

    @property
    def is_device_accessible(self):
        return self._on_gpu

    @property
    def is_host_accessible(self):
        return not self._on_gpu

    @property
    def is_managed(self):
        return False

    @property
    def is_ipc_enabled(self):
        return False

    @property
    def device_id(self):
        return self._ordinal if self._on_gpu else -1

    @property
    def pond(self):
        return self._pond

    @property
    def prefix(self):
        return self._prefix

    def allocate(self, size, *, stream=None):
        if size == 0:
            return Buffer.from_handle(0, 0)
        return self._buffer(self._create(None, size), stream)

    def allocate_named(self, name, size, *, stream=None):
        return self._buffer(self._create(self._prefix + name, size), stream)

    def get(self, name, *, wait=None, stream=None):
        return self._buffer(self._pond.get(self._prefix + name, wait, "rw"), stream)

    def tensor(self, buffer):
        tensors = self._live.get(int(buffer.handle)) if buffer.memory_resource is self else None
        if not tensors:
            raise ValueError(f"{buffer!r} is no open buffer of this resource")
        return tensors[-1]

    def publish(self, buffer, *, stream=None):
        return self.tensor(buffer).publish(stream)

    def delete(self, name):
        self._pond.delete(self._prefix + name)

    def deallocate(self, ptr, size, *, stream=None):
        # The client lets go of memory when the whole device has done what was submitted to it, this
        # stream's work included.
        tensors = self._live.get(int(ptr))
        if tensors:
            tensors.pop().close()
            if not tensors:
                self._live.pop(int(ptr), None)

    def _create(self, name, size):
        # Without a name nobody can find it again: it goes with its last lease, or with this process.
        life = {"ephemeral": True, "linger": 0} if name is None else {}
        return self._pond.create(
            name, (size,), "uint8", self._device, audience=self._audience, transport=self._transport, **life
        )

    def _buffer(self, tensor, stream):
        self._live.setdefault(tensor.ptr, []).append(tensor)
        try:
            return Buffer.from_handle(tensor.ptr, tensor.nbytes, mr=self, stream=stream)
        except BaseException:
            self.deallocate(tensor.ptr, tensor.nbytes)
            raise

    def __repr__(self):
        return f"PondMemoryResource({self._pond!r}, device_id={self.device_id}, prefix={self._prefix!r})"
