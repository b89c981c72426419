"""Blocks of pools, asked for as torch asks: by symbols of the library, without Python."""

import json
import pathlib
import subprocess

import pytest

import millpond

MIB = 1 << 20

# Pools stay until their process ends, so each test has a process of its own.
PRELUDE = """
import ctypes, json, sys
import millpond
from millpond import _millpond

library = ctypes.CDLL(_millpond.__file__)

def symbols(slot=0):
    suffix = f"_{slot}" if slot else ""
    malloc = getattr(library, "millpond_pool_malloc" + suffix)
    malloc.restype, malloc.argtypes = ctypes.c_void_p, [ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p]
    free = getattr(library, "millpond_pool_free" + suffix)
    free.restype, free.argtypes = None, [ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p]
    record = getattr(library, "millpond_pool_record_stream" + suffix)
    record.restype, record.argtypes = None, [ctypes.c_void_p, ctypes.c_void_p]
    return malloc, free, record

MIB = 1 << 20
pond = millpond.connect()
"""


@pytest.fixture
def group(name):
    """A group with a limit of 64 MiB."""
    made = "".join(c if c.isalnum() else "-" for c in name)[-40:].strip("-").lower()
    millpond.set_group(made, 64 * MIB)
    yield made
    millpond.remove_group(made)


def test_blocks_are_on_the_groups_budget_and_used_again(python, group):
    python(
        PRELUDE
        + """
pool = _millpond._pool(pond, sys.argv[1], 0)
assert (pool.group, pool._slot) == (sys.argv[1], 0) and pool.device.startswith("GPU-")
malloc, free, record = symbols()
first = malloc(40 * MIB, 0, None)
assert first % 512 == 0
ctypes.memset(first, 7, 40 * MIB)
[device] = millpond.group(sys.argv[1]).group.devices
assert device.process_bytes == 40 * MIB
assert malloc(40 * MIB, 0, None) is None, "beyond the limit"
small = malloc(1, 0, None)
stats = pool.stats()
assert (stats["blocks"], stats["refused"], stats["asked_bytes"]) == (2, 1, 40 * MIB + 1)
assert ctypes.string_at(first, 4) == bytes([7] * 4)
free(first, 40 * MIB, 0, None)
again = malloc(40 * MIB, 0, None)
assert again == first, "the same stream has it again at once"
record(again, None)
record(again, 4096 * 0)
free(again, 40 * MIB, 0, None)
free(small, 1, 0, None)
free(None, 0, 0, None)
free(4096, 1, 0, None)
free(first, 1, 99, None)
held = pool.stats()["held_bytes"]
assert pool.trim(wait=True) == held > 40 * MIB
assert pool.stats()["held_bytes"] == 0
assert repr(pool).startswith(f"StreamPool('{sys.argv[1]}', 0 B of ")
""",
        group,
    )


def test_what_cannot_be_had_is_null(python, group):
    python(
        PRELUDE
        + """
malloc, free, record = symbols()
assert malloc(512, 0, None) is None, "no pool yet"
record(4096, None)
_millpond._pool(pond, sys.argv[1], 0)
assert malloc(0, 0, None) is None
assert malloc(-1, 0, None) is None
assert malloc(1 << 60, 0, None) is None
assert malloc(512, 99, None) is None
assert malloc(512, -1, None) is None
try:
    _millpond._pool(pond, "nobody-has-this", 0)
except millpond.NotFound as error:
    assert "nobody-has-this" in str(error)
else:
    raise SystemExit("a pool without a group")
""",
        group,
    )


def test_each_group_has_its_own_symbols(python, group):
    other = group[:30] + "-other"
    millpond.set_group(other, 16 * MIB)
    python(
        PRELUDE
        + """
one, two = (_millpond._pool(pond, group, 0) for group in sys.argv[1:])
assert (one._slot, two._slot) == (0, 1)
assert _millpond._pool(pond, sys.argv[2], 0)._slot == 1, "the same pool again"
assert symbols(0)[0](32 * MIB, 0, None) and symbols(1)[0](32 * MIB, 0, None) is None
block = symbols(1)[0](8 * MIB, 0, None)
assert (one.stats()["in_use_bytes"], two.stats()["in_use_bytes"]) == (32 * MIB, 8 * MIB)
# A block of one is nothing to the other.
symbols(0)[1](block, 8 * MIB, 0, None)
assert two.stats()["in_use_bytes"] == 8 * MIB
""",
        group,
        other,
    )
    millpond.remove_group(other)


def test_a_pool_draws_and_writes_itself(python, group, tmp_path):
    python(
        PRELUDE
        + """
pool = _millpond._pool(pond, sys.argv[1], 0)
malloc, free, record = symbols()
blocks = [malloc(size, 0, None) for size in (3 * MIB, 5 * MIB, 1000)]
free(blocks[0], 3 * MIB, 0, None)
pool.snapshot_svg(sys.argv[2] + "/pool.svg")
pool.snapshot_json(sys.argv[2] + "/pool.json")
parts = pool.snapshot()["parts"]
assert [part["kind"] for part in parts].count("block") == 2
assert sum(part["bytes"] for part in parts) == pool.stats()["held_bytes"]
assert 0 <= pool.stats()["fragmentation"] <= 1
try:
    pool.snapshot_svg("/nowhere/pool.svg")
except millpond.FileError as error:
    assert "/nowhere/pool.svg" in str(error)
else:
    raise SystemExit("written to nowhere")
""",
        group,
        tmp_path,
    )
    assert (tmp_path / "pool.svg").read_text().startswith("<svg ")
    assert json.loads((tmp_path / "pool.json").read_text())["stats"]["blocks"] == 2


CATCH = """
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <sys/types.h>
extern "C" int caught(void* (*malloc)(ssize_t, int, void*), ssize_t size, char* text, size_t room) {
  try {
    return malloc(size, 0, nullptr) != nullptr;
  } catch (const std::runtime_error& error) {
    std::strncpy(text, error.what(), room - 1);
    return 2;
  }
}
"""


def test_where_torch_does_not_look_a_refusal_is_an_exception_of_cxx(python, group, tmp_path):
    source = tmp_path / "catch.cpp"
    source.write_text(CATCH)
    library = tmp_path / "catch.so"
    subprocess.run(["c++", "-shared", "-fPIC", "-o", library, source], check=True)
    python(
        PRELUDE
        + """
pool = _millpond._pool(pond, sys.argv[1], 0)
caught = ctypes.CDLL(sys.argv[2]).caught
text = ctypes.create_string_buffer(2000)
def ask(size):
    return caught(library.millpond_pool_malloc_or_throw, ctypes.c_ssize_t(size), text, ctypes.c_size_t(2000))
assert ask(8 * MIB) == 1
assert ask(200 * MIB) == 2
said = text.value.decode()
assert said.startswith("CUDA out of memory. Tried to allocate 209715200 bytes: no memory for a block of 200 MiB"), said
assert "millpond" in said, "the way out: " + said
assert ask(8 * MIB) == 1, "it goes on"
assert pool.stats()["refused"] == 1
""",
        group,
        library,
    )


def test_the_symbols_are_exported():
    from millpond import _millpond

    names = subprocess.run(
        ["nm", "-D", "--defined-only", _millpond.__file__], capture_output=True, text=True, check=True
    ).stdout
    for slot in ["", *(f"_{number}" for number in range(1, 8))]:
        for symbol in ["malloc", "malloc_or_throw", "free", "record_stream"]:
            assert f" T millpond_pool_{symbol}{slot}\n" in names
    assert pathlib.Path(_millpond.__file__).exists()
