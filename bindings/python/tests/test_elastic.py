"""Elastic caches in one process: values through the strided view, commits, tables, errors."""

import gc
import os
import pathlib
import pickle
import subprocess
import sys
import threading
import time
import weakref

import pytest

import millpond
from conftest import DEADLINE

numpy = pytest.importorskip("numpy", reason="numpy is not installed")

MIB = 1 << 20
# Two layers, each with keys and values; blocks of 64 KiB; a segment is a page and a half of 2 MiB.
SHAPE = (2, 2, 48, 16, 8, 128)
ROW = 4 * 2 * MIB


@pytest.fixture
def group(request):
    """A group of the test's own, with a limit of 64 MiB."""
    name = "".join(c if c.isalnum() else "-" for c in request.node.name)[:40].strip("-").lower()
    millpond.set_group(name, 64 * MIB)
    yield name
    gc.collect()
    millpond.remove_group(name)


def reserve(group, **changed):
    given = {"shape": SHAPE, "dtype": "float32", "grow_along": 2, **changed}
    return millpond.elastic(group).reserve("kv/test", **given)


def eventually(what):
    deadline = time.monotonic() + DEADLINE
    while not what():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def commits(cache, blocks):
    try:
        cache.commit(blocks)
    except millpond.GpuFull:
        return False
    return True


def test_a_cache_says_what_it_is(group):
    pool = millpond.elastic(group)
    assert (pool.group, pool.is_limited, repr(pool)) == (group, False, f"Elastic('{group}')")
    cache = pool.reserve("kv/test", SHAPE, numpy.float32, 2)
    assert (cache.name, cache.group, cache.dtype, cache.shape) == ("kv/test", group, "float32", SHAPE)
    assert len(cache.id) == 36 and cache.device == millpond.status().devices[0].device
    # 48 blocks of 64 KiB are 3 MiB, and the next segment begins on a page of 2 MiB.
    assert cache.strides == (2 * MIB, MIB, 16384, 1024, 128, 1)
    assert cache.nbytes == 4 * 48 * 65536 and cache.data_ptr() % (2 * MIB) == 0
    assert (cache.committed_bytes, cache.held_bytes, cache.idle_bytes) == (0, 0, 0)
    assert cache.stats().reserved_bytes == 16 * MIB and cache.stats().rows == 2
    assert repr(cache) == f"ElasticCache('kv/test', {SHAPE}, float32)"
    assert repr(cache.stats()) == "ElasticStats(0 B committed, 0 B idle, 0 B held)"


def test_values_stay_where_they_are_while_pages_come_and_go(group):
    cache = reserve(group)
    view = numpy.from_dlpack(cache)
    assert view.shape == SHAPE and view.ctypes.data == cache.data_ptr() and view.flags.writeable
    assert tuple(stride // 4 for stride in view.strides) == cache.strides
    cache.commit(20)
    wanted = numpy.arange(2 * 2 * 20 * 16 * 8 * 128, dtype="float32").reshape(2, 2, 20, 16, 8, 128)
    view[:, :, :20] = wanted
    cache.commit(48)
    assert cache.committed_bytes == 2 * ROW == cache.held_bytes
    view[:, :, 20:48] = 7
    assert (view[:, :, :20] == wanted).all() and (view[:, :, 20:] == 7).all()
    cache.uncommit(range(32, 48))
    assert (cache.committed_bytes, cache.idle_bytes) == (ROW, ROW)
    assert cache.trim(1) == ROW and cache.held_bytes == ROW
    assert (view[:, :, :20] == wanted).all()
    cache.commit(range(40, 48))
    view[:, :, 40:48] = 9
    assert (view[1, 1, 40:48] == 9).all() and (view[:, :, :20] == wanted).all()
    assert view.ctypes.data == cache.data_ptr() == cache.numpy().ctypes.data == numpy.asarray(cache).ctypes.data
    stats = cache.stats()
    assert stats.committed_blocks == 40 and stats.handles == {2 * MIB: 2}
    assert stats.driver_calls["create"] == 12 and stats.driver_calls["release"] == 4
    assert cache.trim() == 0


def test_any_dimension_grows_and_any_dtype_is_seen(group):
    ml_dtypes = pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed")
    for axis in (0, -3):
        cache = reserve(group, shape=(40, 1024, 64), dtype="bfloat16", grow_along=axis)
        assert cache.strides == (65536, 64, 1)
        cache.commit(17)
        view = cache.numpy()
        assert view.dtype == ml_dtypes.bfloat16
        view[:17] = 3
        assert float(view[16].astype("float32").sum()) == 3 * 65536
        with pytest.raises(BufferError, match="would touch what is not committed"):
            numpy.asarray(cache, dtype="float32")
        with pytest.raises((BufferError, RuntimeError)):
            numpy.from_dlpack(cache)  # numpy has no bfloat16
        del view
    last = reserve(group, shape=(3, 4 * MIB), dtype="uint8", grow_along=1)
    assert last.strides == (4 * MIB, 1)
    last.commit(range(3 * MIB, 3 * MIB + 5))
    last.numpy()[:, 3 * MIB : 3 * MIB + 5] = 1
    assert last.committed_bytes == 3 * 2 * MIB


def test_sizes_are_numbers_or_text(group):
    cache = reserve(group, granule="16MiB", largest_handle=64 * MIB, min="2MiB", ahead=("16M", 32 * MIB), wait=float("inf"))
    assert cache.stats().reserved_bytes == 64 * MIB
    small = reserve(group, granule=4 * MIB)
    small.commit(1)
    assert small.held_bytes == 16 * MIB


def test_a_shape_that_cannot_be_is_told_before_anything_happens(group):
    for changed, wanted in (
        ({"grow_along": 6}, "grow_along=6 is no dimension of a shape of 6"),
        ({"grow_along": -7}, "grow_along=-7 is no dimension"),
        ({"shape": (2, 0, 5)}, "dimension 1 of the shape is 0"),
        ({"dtype": "F4"}, "cannot hold packed"),
        ({"shape": (1 << 40, 1 << 40, 2, 1)}, "larger than any address"),
        ({"shape": (1 << 40, 2, 1 << 10, 1)}, "address space"),
        ({"granule": 3 * MIB}, "cache 'kv/test': a granule of 3145728 bytes is not a power of two"),
        ({"granule": "much"}, "granule: 'much' is"),
        ({"granule": 1.5}, "granule cannot be 1.5"),
        ({"ahead": "64M"}, "ahead cannot be 64M"),
        ({"ahead": (1, 2, 3)}, "ahead cannot be"),
        ({"dtype": "float"}, "float"),
    ):
        with pytest.raises(millpond.Invalid, match=wanted):
            reserve(group, **changed)
    with pytest.raises(ValueError, match="wait cannot be"):
        reserve(group, wait=-1)
    with pytest.raises(millpond.Error):
        millpond.elastic(group).reserve("a b", (4, 4), "uint8")
    with pytest.raises(millpond.NotFound) as caught:
        millpond.elastic("nobody-made-this")
    assert caught.value.hint == 'millpond.set_group("nobody-made-this", limit="10G") makes it'


def test_blocks_that_are_not_there_are_told_in_pythons_words(group):
    cache = reserve(group)
    cache.commit(8)
    for call, wanted in (
        (lambda: cache.uncommit(range(4, 49)), r"cache 'kv/test': range\(4, 49\) is outside of its 48 blocks"),
        (lambda: cache.commit(49), r"range\(0, 49\) is outside"),
        (lambda: cache.uncommit(range(7, 9)), "block 8 is not committed"),
        (lambda: cache.commit(range(6, 9)), "block 6 is committed already"),
        (lambda: cache.prepare(range(0, 9)), "block 0 is committed already"),
        (lambda: cache.uncommit(range(0, 8, 2)), "has gaps"),
        (lambda: cache.uncommit(range(-1, 3)), "begins before block 0"),
        (lambda: cache.uncommit(4), "4 is no range of blocks"),
        (lambda: cache.commit(-1), "-1 is no range of blocks"),
        (lambda: cache.uncommit(range(2), at_step=True, stream=0), "wait for the stream of step"),
    ):
        with pytest.raises(millpond.Invalid, match=wanted):
            call()
    assert cache.stats().committed_blocks == 8
    cache.uncommit(range(5, 5))
    cache.commit(range(9, 2))
    cache.commit(0)
    assert cache.stats().committed_blocks == 8


def test_blocks_of_a_step_go_with_the_step(group):
    cache = reserve(group)
    cache.commit(48)
    cache.uncommit(range(0, 16), at_step=True)
    cache.uncommit(range(40, 48), at_step=True)
    assert cache.stats().committed_blocks == 48
    cache.step()
    assert cache.stats().committed_blocks == 24
    cache.step()
    cache.uncommit(range(16, 20), at_step=True)
    cache.uncommit(range(17, 18), at_step=True)
    with pytest.raises(millpond.Invalid, match="block 17 is not committed"):
        cache.step(stream=0)
    assert cache.stats().committed_blocks == 20


class Stream:
    cuda_stream = 0


def test_work_of_a_stream_is_waited_for(group):
    cache = reserve(group)

    def goes(held):
        # A trim does not wait for a stream: what it needs comes with a later one.
        eventually(lambda: cache.trim() or cache.held_bytes == held)
        assert cache.held_bytes == held and cache.stats().driver_calls["settle"] == 0

    cache.commit(48)
    cache.uncommit(range(32, 48), stream=Stream())
    goes(ROW)
    cache.uncommit(range(0, 32), stream=0)
    goes(0)
    with cache.blocks() as table:
        blocks = table.take(4)
        table.give(blocks[:2], stream=Stream())
        table.give(blocks[2:], stream=0)
        goes(0)
        with pytest.raises(TypeError, match="is no stream"):
            table.give(table.take(1), stream="x")
    # Without a stream the whole device is waited for, and then they go at once.
    assert cache.trim() == ROW and cache.stats().driver_calls["settle"] == 1


def test_a_prepared_range_is_committed_by_its_block_or_not_at_all(group):
    cache = reserve(group)
    with cache.prepare(range(0, 32)) as ready:
        assert ready.blocks == range(0, 32) and repr(ready) == "Prepared('kv/test', range(0, 32))"
        stats = cache.stats()
        assert (stats.prepared_bytes, stats.committed_blocks) == (ROW, 0)
        with pytest.raises(millpond.InUse, match="prepared and not committed yet") as caught:
            cache.commit(1)
        assert "abort()" in caught.value.hint
    assert cache.stats().committed_blocks == 32
    with pytest.raises(millpond.Invalid, match="was committed already"):
        ready.commit()
    with pytest.raises(millpond.Invalid, match="was committed already"):
        ready.abort()
    with pytest.raises(ZeroDivisionError):
        with cache.prepare(range(32, 48)):
            1 / 0
    assert (cache.stats().committed_blocks, cache.idle_bytes) == (32, ROW)
    with cache.prepare(range(32, 48)) as ready:
        ready.abort()
        ready.abort()
    with pytest.raises(millpond.Invalid, match="was given up already"):
        ready.commit()
    cache.prepare(range(32, 48)).commit()
    assert cache.stats().committed_blocks == 48
    cache.uncommit(range(0, 48))
    cache.prepare(range(0, 48))  # gone at once
    assert cache.stats().prepared_bytes == 0


def test_a_table_hands_out_blocks(group):
    cache = reserve(group)
    view = cache.numpy()
    with cache.blocks() as table:
        assert repr(table) == "BlockTable('kv/test')" and table.free_blocks == 48
        blocks = table.take(4)
        assert blocks == [0, 1, 2, 3] and table.free_blocks == 44
        # Blocks 28 to 31 of 64 KiB are in the first page as well.
        assert table.ready_blocks == 28 and cache.held_bytes == ROW
        view[:, :, blocks] = 5
        assert (view[1, 0, 3] == 5).all()
        table.give(blocks[1:3])
        assert table.take(2) == [1, 2]
        for wrong in ([0, 0], [47], [48], 47):
            with pytest.raises(millpond.Invalid):
                table.give(wrong)
        for wrong in ([-1], "x", [1.5]):
            with pytest.raises(millpond.Invalid, match="is no number of a block"):
                table.give(wrong)
        table.give(numpy.array([0, 1], dtype="int64"))
        table.give(3)
        table.give(iter([2]))
        table.give([])
        for use in (lambda: cache.commit(1), cache.blocks, lambda: cache.prepare(range(3)), lambda: cache.uncommit(range(1))):
            with pytest.raises(millpond.InUse, match="its table of blocks") as caught:
                use()
            assert caught.value.hint == "leave the `with` of its blocks() first"
        assert table.take(48) and table.free_blocks == 0
        with pytest.raises(millpond.GpuFull) as caught:
            table.take(1)
        assert caught.value.verdict == "after_freeing" and caught.value.holders[0].cache == "this table"
        with pytest.raises(millpond.GpuFull, match="never fit") as caught:
            table.take(49)
        assert caught.value.verdict == "never"
    assert table.closed and cache.stats().committed_blocks == 0
    with pytest.raises(millpond.ClosedError, match="the table of cache 'kv/test' was closed"):
        table.take(1)
    cache.commit(1)
    with pytest.raises(millpond.InUse, match="ranges of blocks"):
        cache.blocks()


def test_what_does_not_fit_says_what_would_help(group):
    cache = reserve(group, shape=(1, 256, 512, 1024), dtype="uint8", grow_along=1, wait=0.05)
    with pytest.raises(millpond.GpuFull, match="cache 'kv/test': 128 MiB never fit into a limit of 64 MiB") as caught:
        cache.commit(256)
    error = caught.value
    assert isinstance(error, MemoryError) and "millpond.set_group" in error.hint
    assert (error.verdict, error.asked_bytes, error.limit_bytes, error.used_bytes) == ("never", 128 * MIB, 64 * MIB, None)
    assert (error.requested, error.capacity, error.free, error.holders) == (128 * MIB, 64 * MIB, None, ())
    assert cache.held_bytes == 0
    other = reserve(group, shape=(48, MIB), dtype="uint8", grow_along=0)
    other.commit(48)
    with pytest.raises(millpond.GpuFull, match="32 MiB more do not fit: 48 MiB of 64 MiB are in use") as caught:
        cache.commit(64)
    error = caught.value
    assert (error.verdict, error.asked_bytes, error.limit_bytes, error.used_bytes) == (
        "after_freeing",
        32 * MIB,
        64 * MIB,
        48 * MIB,
    )
    assert "error.holders" in error.hint and "wait=" in error.hint and "--" not in error.hint
    (holder,) = error.holders
    assert holder.bytes == 48 * MIB and "kv/test" in holder.cache and holder.user == os.geteuid()
    assert "cache=" in repr(holder)
    again = pickle.loads(pickle.dumps(error))
    assert (again.verdict, again.asked_bytes, again.holders[0].cache) == ("after_freeing", 32 * MIB, holder.cache)
    assert millpond.GpuFull("x").verdict is None and millpond.GpuFull("x").asked_bytes is None
    millpond.set_group(group, 32 * MIB)
    with pytest.raises(millpond.GpuFull, match="only 32 MiB are allowed") as caught:
        cache.commit(1)
    assert caught.value.verdict == "over_budget" and "trim()" in caught.value.hint
    other.uncommit(range(16, 48))
    # A cache that has refused is not asked again for a moment.
    eventually(lambda: commits(cache, 1))
    assert cache.held_bytes == 2 * MIB and other.held_bytes <= 30 * MIB


def test_a_cap_shrinks_a_cache_as_its_blocks_become_free(group):
    cache = reserve(group, largest_handle="2MiB")
    with cache.blocks() as table:
        assert table.occupancy() == []
        blocks = table.take(48)
        assert [(one.blocks, one.taken, one.bytes) for one in table.occupancy()] == [
            (range(32, 48), 16, ROW),
            (range(0, 32), 32, ROW),
        ]
        change = cache.set_cap(ROW, revision=2)
        assert (change.state, change.above_bytes, change.revision) == ("deferred", ROW, 2)
        stale = cache.set_cap("1GiB", revision=1)
        assert (stale.state, stale.revision, cache.stats().cap_bytes) == ("stale", 2, ROW)
        # What is evicted from the emptiest page frees it.
        emptiest = table.occupancy()[0]
        table.give([block for block in blocks if block in emptiest.blocks])
        assert cache.set_cap(ROW, revision=2).state == "applied" and cache.held_bytes == ROW
        with pytest.raises(millpond.GpuFull, match="under the cap of 8 MiB") as caught:
            table.take(1)
        assert caught.value.verdict == "over_cap" and "set_cap()" in caught.value.hint
        assert cache.set_cap(None, revision=3).state == "applied" and cache.stats().cap_bytes is None
        table.take(1)


# Four pages of 128 blocks in each of two segments.
NULL_PAGE = """
import sys
import millpond

cache = millpond.elastic(sys.argv[1]).reserve("kv/null", (2, 512, 4096), "float32", 1, null_page=sys.argv[2] == "with")
cache.commit(range(0, 128))
values = cache.numpy()
values[:, :128] = 1
values[:, 128:] = 2
cache.commit(range(128, 256))
values[:, 128:256] = 3
assert (values[:, :128] == 1).all() and (values[:, 256:] == 2).all() and (values[:, 128:256] == 3).all()
cache.uncommit(range(0, 128))
cache.trim()
assert (values[:, :128] == 2).all() and (values[:, 128:256] == 3).all()
"""


@pytest.mark.parametrize("how, statuses", [("with", (0,)), ("without", (-11, -7))])
def test_blocks_that_are_not_committed_may_be_touched_where_there_is_a_null_page(group, how, statuses):
    ran = subprocess.run([sys.executable, "-c", NULL_PAGE, group, how], capture_output=True, text=True, timeout=DEADLINE)
    assert ran.returncode in statuses, ran.stderr


OUTSIDER = """
import ctypes, sys
cuda, context, pointer = ctypes.CDLL(sys.argv[1]), ctypes.c_void_p(), ctypes.c_uint64()
assert cuda.cuInit(0) == 0 and cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
assert cuda.cuCtxSetCurrent(context) == 0
assert cuda.cuMemAlloc_v2(ctypes.byref(pointer), ctypes.c_size_t(300 << 20)) == 0
print("there", flush=True)
sys.stdin.readline()
"""


def test_a_full_card_is_not_a_full_group(group):
    library = pathlib.Path(os.environ["MILLPOND_BIN"]).parent / "libcuda.so"
    if not library.exists():
        pytest.skip(f"there is no {library}: build millpond-softgpu-libcuda")
    millpond.set_group(group, "400M")
    cache = reserve(group, shape=(320, MIB), dtype="uint8", grow_along=0)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", OUTSIDER, str(library)], **pipes) as outsider:
        assert outsider.stdout.readline() == "there\n"
        with pytest.raises(millpond.GpuFull, match="the card has no room") as caught:
            cache.commit(320)
        outsider.communicate("\n")
    error = caught.value
    assert (error.verdict, error.asked_bytes > 0, error.limit_bytes, error.free) == ("card_full", True, None, None)
    assert "millpond.status()" in error.hint and cache.stats().committed_blocks == 0
    cache.commit(320)


def test_views_keep_the_memory_and_the_last_one_gives_it_back(group):
    def used():
        return millpond.group(group).group.devices[0].process_bytes if millpond.group(group).group.devices else 0

    cache = reserve(group)
    cache.commit(48)
    view, capsule = cache.numpy(), cache.__dlpack__(max_version=(1, 0))
    view[:, :, :48] = 2
    cache.close()
    assert cache.closed and repr(cache).endswith("closed)")
    for use in (cache.numpy, cache.data_ptr, cache.__dlpack__, cache.blocks, cache.stats, lambda: cache.commit(1)):
        with pytest.raises(millpond.ClosedError, match="cache 'kv/test' was closed"):
            use()
    assert cache.shape == SHAPE and cache.name == "kv/test"
    assert (view[:, :, :48] == 2).all() and used() == 2 * ROW
    del view
    gc.collect()
    assert used() == 2 * ROW
    del capsule
    assert used() == 0
    with reserve(group) as cache:
        cache.commit(1)
    assert used() == 0
    cache = reserve(group)
    table = cache.blocks()
    assert table.take(33)
    part = numpy.from_dlpack(cache)[1:, :, 4]
    del cache
    part[:] = 4
    assert used() == 2 * ROW and (part == 4).all()
    del table
    assert used() == 2 * ROW
    del part
    assert used() == 0
    ready = reserve(group).prepare(range(0, 3))
    assert used() == ROW
    ready.commit()
    del ready
    assert used() == 0


def test_a_callback_that_holds_its_cache_is_collected_with_it(group):
    cache = reserve(group)
    cache.commit(1)
    cache.on_pressure(lambda ask: cache.uncommit(range(0, 1)))
    alive = weakref.ref(cache)
    names = [one.name for one in threading.enumerate()]
    assert names.count("millpond-pressure") == 1
    # The name of the enclosing function is part of the cycle.
    cell = (lambda: cache).__closure__[0]
    del cell.cell_contents
    gc.collect()
    assert alive() is None
    for thread in threading.enumerate():
        if thread.name == "millpond-pressure":
            thread.join(60)
            assert not thread.is_alive()


def test_what_is_no_callback_is_refused(group):
    cache = reserve(group)
    with pytest.raises(TypeError, match="cannot be called"):
        cache.on_pressure(5)
    cache.on_pressure(None)
    cache.on_pressure(print)
    cache.on_pressure(None)
    with pytest.raises(TypeError):
        pickle.dumps(cache)


def test_threads_share_a_cache(group):
    cache = reserve(group, shape=(4, 64, 16384), dtype="float32", grow_along=1)
    view, failed = cache.numpy(), []

    def work(number):
        try:
            mine = range(number * 8, number * 8 + 8)
            for turn in range(40):
                cache.commit(mine)
                view[:, mine.start : mine.stop] = number * 100 + turn
                assert (view[:, mine.start : mine.stop] == number * 100 + turn).all()
                cache.uncommit(mine)
                if turn % 5 == number % 5:
                    cache.trim()
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == [] and cache.stats().committed_blocks == 0
    cache.trim()
    assert cache.held_bytes == 0

    taken, seen = set(), threading.Lock()

    def serve(table):
        try:
            for turn in range(60):
                blocks = table.take(3)
                with seen:
                    assert not taken & set(blocks)
                    taken.update(blocks)
                view[:, blocks] = turn
                with seen:
                    taken.difference_update(blocks)
                table.give(blocks)
        except BaseException as error:
            failed.append(error)

    with cache.blocks() as table:
        threads = [threading.Thread(target=serve, args=(table,)) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failed == [] and table.free_blocks == 64
