"""The bare driver through ctypes: a context, and slabs as descriptors, imported and mapped.

This is the floor of an attach: nothing but the driver's own calls, in the process that attaches.
"""

import contextlib
import ctypes
import os
import socket
import sys

PINNED = 1
DEVICE = 1
POSIX_FD = 1
READ = 1


class Location(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int), ("id", ctypes.c_int)]


class AllocationFlags(ctypes.Structure):
    _fields_ = [("compression", ctypes.c_ubyte), ("rdma", ctypes.c_ubyte),
                ("usage", ctypes.c_ushort), ("reserved", ctypes.c_ubyte * 4)]


class Allocation(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int), ("handles", ctypes.c_int), ("location", Location),
                ("windows", ctypes.c_void_p), ("flags", AllocationFlags)]


class Access(ctypes.Structure):
    _fields_ = [("location", Location), ("flags", ctypes.c_int)]


class DriverError(Exception):
    """A call of the driver that did not answer success."""


class Driver:
    """libcuda, after cuInit."""

    def __init__(self, device=0):
        try:
            self.library = ctypes.CDLL("libcuda.so.1")
        except OSError as error:
            raise DriverError(f"no driver: {error}") from error
        self.call("cuInit", ctypes.c_uint(0))
        handle = ctypes.c_int()
        self.call("cuDeviceGet", ctypes.byref(handle), ctypes.c_int(device))
        self.device = handle.value

    def call(self, name, *arguments):
        status = getattr(self.library, name)(*arguments)
        if status != 0:
            text = ctypes.c_char_p()
            self.library.cuGetErrorName(status, ctypes.byref(text))
            raise DriverError(f"{name}: {(text.value or str(status).encode()).decode()}")

    def context(self):
        """Makes the primary context and makes it current."""
        context = ctypes.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), self.device)
        self.call("cuCtxSetCurrent", context)

    def create(self, size):
        """One slab; its descriptor."""
        properties = Allocation(kind=PINNED, handles=POSIX_FD, location=Location(DEVICE, self.device))
        handle, descriptor = ctypes.c_ulonglong(), ctypes.c_int()
        self.call("cuMemCreate", ctypes.byref(handle), ctypes.c_size_t(size), ctypes.byref(properties), ctypes.c_ulonglong(0))
        self.call("cuMemExportToShareableHandle", ctypes.byref(descriptor), handle, POSIX_FD, ctypes.c_ulonglong(0))
        self.call("cuMemRelease", handle)
        return descriptor.value

    def attach(self, descriptors, sizes):
        """Imports all, one after the other in one reservation, readable: what attach cannot beat."""
        total = sum(sizes)
        start = ctypes.c_ulonglong()
        handles = []
        self.call("cuMemAddressReserve", ctypes.byref(start), ctypes.c_size_t(total), ctypes.c_size_t(0), ctypes.c_ulonglong(0), ctypes.c_ulonglong(0))
        at = start.value
        for descriptor, size in zip(descriptors, sizes):
            handle = ctypes.c_ulonglong()
            self.call("cuMemImportFromShareableHandle", ctypes.byref(handle), ctypes.c_void_p(descriptor), POSIX_FD)
            self.call("cuMemMap", ctypes.c_ulonglong(at), ctypes.c_size_t(size), ctypes.c_size_t(0), handle, ctypes.c_ulonglong(0))
            handles.append(handle)
            at += size
        access = Access(Location(DEVICE, self.device), READ)
        self.call("cuMemSetAccess", start, ctypes.c_size_t(total), ctypes.byref(access), ctypes.c_size_t(1))
        return start, total, handles

    def detach(self, mapped):
        start, total, handles = mapped
        self.call("cuMemUnmap", start, ctypes.c_size_t(total))
        for handle in handles:
            self.call("cuMemRelease", handle)
        self.call("cuMemAddressFree", start, ctypes.c_size_t(total))


def serve_slabs(path, sizes):
    """Makes slabs without a context and hands their descriptors to everyone who connects."""
    driver = Driver()
    descriptors = [driver.create(size) for size in sizes]
    with contextlib.closing(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)) as listener:
        listener.bind(path)
        listener.listen(64)
        print("ready", flush=True)
        while True:
            peer, _ = listener.accept()
            with peer, contextlib.suppress(OSError):
                socket.send_fds(peer, [b"slabs"], descriptors)


def take_slabs(path):
    """The descriptors of such slabs."""
    with contextlib.closing(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)) as peer:
        peer.connect(path)
        _, descriptors, _, _ = socket.recv_fds(peer, 16, 253)
        return list(descriptors)


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


if __name__ == "__main__":
    serve_slabs(sys.argv[1], [int(size) for size in sys.argv[2:]])
