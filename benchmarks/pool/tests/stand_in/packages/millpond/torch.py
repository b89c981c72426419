"""Pools, likewise."""

import ctypes
import os
import pathlib

_library = ctypes.CDLL(os.environ["STAND_IN_LIBRARY"])
_library.stand_in_allocations.restype = _library.stand_in_most.restype = ctypes.c_uint64


class _Pool:
    def stats(self):
        return {"allocations": _library.stand_in_allocations(), "peak_held_bytes": _library.stand_in_most()}

    def trim(self, nbytes=None, *, wait=False):
        return 0

    def reset_peaks(self):
        _library.cuMemPoolSetAttribute(None, 0, None)

    def snapshot_svg(self, path):
        pathlib.Path(path).write_text("<svg/>")


def pool(_group):
    return _Pool()
