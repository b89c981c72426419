"""Elastic caches on a GPU: torch and CuPy over memory that comes and goes, and CUDA graphs."""

import gc
import subprocess
import sys

import pytest

import millpond

torch = pytest.importorskip("torch", reason="torch is not installed")

MIB = 1 << 20
# Two layers, keys and values; a block is 16 tokens of 8 heads of 64 numbers: 16 KiB.
LAYERS, BLOCKS, TOKENS, HEADS, WIDTH = 2, 1024, 16, 8, 64
SHAPE = (LAYERS, 2, BLOCKS, TOKENS, HEADS, WIDTH)


@pytest.fixture
def group(request):
    name = "".join(c if c.isalnum() else "-" for c in request.node.name)[:40].strip("-").lower()
    millpond.set_group(name, 512 * MIB)
    yield name
    gc.collect()
    millpond.remove_group(name)


def reserve(group, **changed):
    given = {"shape": SHAPE, "dtype": torch.bfloat16, "grow_along": 2, "device": "cuda:0", **changed}
    return millpond.elastic(group).reserve("kv/gpu", **given)


def attend(kv, plain, blocks, query):
    """Attention over some blocks of each layer, in the cache and in torch's own memory."""
    answers = []
    for memory in (kv, plain):
        for layer in range(LAYERS):
            keys, values = (memory[layer, which].index_select(0, blocks).flatten(0, 1) for which in (0, 1))
            keys, values = (part.transpose(0, 1).unsqueeze(0) for part in (keys, values))
            answers.append(torch.nn.functional.scaled_dot_product_attention(query, keys, values))
    return answers[:LAYERS], answers[LAYERS:]


def test_attention_over_a_cache_is_that_over_torchs_memory(group):
    cache = reserve(group)
    kv = torch.from_dlpack(cache)
    assert kv.is_cuda and kv.data_ptr() == cache.data_ptr() and kv.shape == SHAPE
    assert kv.stride() == cache.strides and kv.dtype == torch.bfloat16
    plain = torch.zeros(SHAPE, dtype=torch.bfloat16, device="cuda")
    query = torch.randn(1, HEADS, 4, WIDTH, dtype=torch.bfloat16, device="cuda")
    with cache.blocks() as table:
        taken = table.take(300)
        for turn in range(6):
            blocks = torch.tensor(taken, device="cuda")
            fresh = torch.randn(LAYERS, 2, len(taken), *SHAPE[3:], dtype=torch.bfloat16, device="cuda")
            kv[:, :, blocks] = fresh
            plain[:, :, blocks] = fresh
            for ours, theirs in zip(*attend(kv, plain, blocks, query)):
                assert torch.equal(ours, theirs)
            # Some go while their work may still run, and others come.
            table.give(taken[turn::3], stream=torch.cuda.current_stream())
            given = set(taken[turn::3])
            taken = [block for block in taken if block not in given]
            cache.trim()
            taken += table.take(120)
        assert kv.data_ptr() == cache.data_ptr()


def test_a_graph_replays_over_pages_that_were_exchanged(group):
    cache = reserve(group, largest_handle="2MiB")
    kv = torch.from_dlpack(cache)
    cache.commit(256)
    kv[:, :, :256] = 1
    total = torch.zeros((), dtype=torch.float32, device="cuda")

    def work():
        kv[:, :, 64:128].mul_(2)
        total.copy_(kv[:, :, 64:128].float().sum())

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        work()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        work()
    numbers = LAYERS * 2 * 64 * TOKENS * HEADS * WIDTH
    kv[:, :, 64:128] = 1
    graph.replay()
    assert total.item() == 2 * numbers
    address = cache.data_ptr()
    for turn in range(4):
        cache.uncommit(range(0, 256), stream=torch.cuda.current_stream())
        torch.cuda.synchronize()
        assert cache.trim() >= 16 * MIB and cache.held_bytes == 0
        # Others take pages before the graph's come again, so that those are other pages.
        cache.commit(range(512 + 128 * turn, 640 + 128 * turn))
        cache.commit(range(0, 256))
        assert cache.data_ptr() == address
        kv[:, :, 64:128] = 3 + turn
        graph.replay()
        assert total.item() == 2 * (3 + turn) * numbers
        cache.uncommit(range(512 + 128 * turn, 640 + 128 * turn), stream=torch.cuda.current_stream())


CAPTURED = """
import sys, millpond, torch
cache = millpond.elastic(sys.argv[1]).reserve("kv/captured", (64, 1 << 20), "uint8", device="cuda:0")
cache.commit(8)
kv, graph = torch.from_dlpack(cache), torch.cuda.CUDAGraph()
kv[:8] = 1
refused = None
try:
    with torch.cuda.graph(graph):
        try:
            cache.uncommit(range(0, 8), stream=torch.cuda.current_stream())
        except millpond.DriverError as error:
            refused = error
except RuntimeError:
    pass  # the capture is lost with it
assert refused is not None and cache.stats().committed_blocks == 8
torch.cuda.synchronize()
assert int(kv[:8].sum()) == 8 << 20
cache.uncommit(range(0, 8))
print(cache.trim() >> 20)
"""


def test_a_stream_that_is_being_captured_is_refused(group, python):
    assert python(CAPTURED, group) == "8\n"


def test_work_that_runs_keeps_its_pages(group):
    cache = reserve(group)
    kv = torch.from_dlpack(cache)
    cache.commit(128)
    kv[:, :, :128] = 1
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(200_000_000)
        total = kv[:, :, :128].float().sum()
        cache.uncommit(range(0, 128), stream=stream)
        assert cache.trim() == 0 or stream.query()
    stream.synchronize()
    assert total.item() == LAYERS * 2 * 128 * TOKENS * HEADS * WIDTH
    cache.trim()
    assert cache.held_bytes == 0


def test_views_keep_the_cache(group):
    cache = reserve(group)
    cache.commit(64)
    kv = cache.torch()
    kv[:, :, :64] = 2
    cache.close()
    assert kv[1, 1, 63].float().sum().item() == 2 * TOKENS * HEADS * WIDTH
    (device,) = millpond.group(group).group.devices
    assert device.process_bytes >= 8 * MIB
    del kv
    gc.collect()
    (device,) = millpond.group(group).group.devices
    assert device.process_bytes < 8 * MIB


@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "float16", "float32", "int64", "bool"])
def test_dtypes_arrive(group, dtype):
    cache = reserve(group, dtype=dtype, shape=(2, 64, 4096), grow_along=1)
    assert cache.torch().dtype == getattr(torch, dtype)
    cache.commit(8)
    cache.torch()[:, :8].zero_()
    torch.cuda.synchronize()


def test_cupy_writes_what_torch_reads(group):
    cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
    cache = reserve(group, dtype="float32", shape=(2, 512, 4096), grow_along=1)
    cache.commit(64)
    array, tensor = cupy.from_dlpack(cache), torch.from_dlpack(cache)
    assert array.data.ptr == cache.data_ptr() == tensor.data_ptr()
    assert tuple(stride // 4 for stride in array.strides) == cache.strides
    array[:, :64] = cupy.arange(4096, dtype=cupy.float32)
    cupy.cuda.get_current_stream().synchronize()
    assert tensor[1, 63].sum().item() == 4095 * 2048
    cache.uncommit(range(0, 64), stream=cupy.cuda.get_current_stream())
    torch.cuda.synchronize()


NEIGHBOUR = """
import sys, millpond, torch
cache = millpond.elastic(sys.argv[1]).reserve("kv/other", (8, 1 << 26), "uint8", device="cuda:0")
cache.commit(8)
kv = torch.from_dlpack(cache)
kv[:8] = 7
stream = torch.cuda.current_stream()
def give_way(ask):
    cache.uncommit(range(8 - ask.blocks, 8), stream=stream)
    return True
cache.on_pressure(give_way)
print("there", flush=True)
sys.stdin.readline()
left = cache.stats().committed_blocks
print(left, int(kv[:left, ::4096].float().mean()))
"""


def test_memory_moves_between_processes(group):
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", NEIGHBOUR, group], **pipes) as other:
        assert other.stdout.readline() == "there\n"
        cache = reserve(group, wait=30)
        cache.commit(1024)
        kv = torch.from_dlpack(cache)
        kv[:] = 1
        assert kv[1, 1, 1023].float().sum().item() == TOKENS * HEADS * WIDTH
        out, _ = other.communicate("\n", timeout=60)
        assert (out, other.returncode) == ("7 7\n", 0)


def test_the_array_interface_of_numpy_says_where_it_is(group):
    cache = reserve(group)
    with pytest.raises(BufferError, match="on a GPU"):
        cache.numpy()
