"""The symbols that torch calls, called as torch does."""

import ctypes

import millpond
from millpond import _millpond

_library = ctypes.CDLL(_millpond.__file__)
_malloc = _library.millpond_torch_malloc
_malloc.restype = ctypes.c_void_p
_malloc.argtypes = [ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p]
_free = _library.millpond_torch_free
_free.restype = None
_free.argtypes = [ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p]


def test_a_segment_is_a_tensor_of_the_pond_and_a_free_gives_it_back(pond):
    _millpond._allocate_from(pond)
    before = {one.id for one in pond.list()}
    size = 2 << 20
    address = _malloc(size, 0, None)
    assert address and _millpond._allocated() == (1, size)
    ctypes.memset(address, 7, size)
    [made] = [one for one in pond.list() if one.id not in before]
    assert (made.name, made.nbytes, made.ephemeral) == (None, size, True)
    _free(address, size, 0, None)
    assert _millpond._allocated() == (0, 0)
    assert pond.flush()
    assert {one.id for one in pond.list()} == before


def test_what_cannot_be_had_is_null():
    assert _malloc(1 << 40, 0, None) is None
    assert _malloc(1 << 20, 99, None) is None
    assert _malloc(0, 0, None) is None
    assert _malloc(-1, 0, None) is None
    _free(None, 0, 0, None)
    _free(4096, 1, 0, None)
