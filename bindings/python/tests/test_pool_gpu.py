"""Pools under torch on a GPU: the group's budget, streams, graphs, gradients, and errors."""

import pytest

import millpond

pytest.importorskip("torch", reason="torch is not installed")

MIB = 1 << 20

# Pools stay until their process ends, so each test has a process of its own.
PRELUDE = """
import gc, sys
import torch
import millpond, millpond.torch

MIB = 1 << 20
group = sys.argv[1]

def held():
    return millpond.group(group).group.devices[0].process_bytes
"""


@pytest.fixture
def group(request):
    name = "".join(c if c.isalnum() else "-" for c in request.node.name)[:40].strip("-").lower()
    millpond.set_group(name, 2048 * MIB)
    yield name
    millpond.remove_group(name)


def test_what_torch_allocates_inside_is_on_the_groups_budget(python, group):
    python(
        PRELUDE
        + """
outside = torch.ones(1000, device="cuda")
with millpond.torch.use_pool(group) as pool:
    inside = torch.arange(64 * MIB, device="cuda", dtype=torch.int32)
    net = torch.nn.Linear(1024, 1024, device="cuda")
    net(torch.ones(8, 1024, device="cuda")).sum().backward()
assert held() >= 256 * MIB, held()
stats = pool.stats()
assert stats["in_use_bytes"] >= 256 * MIB and stats["blocks"] > 0
base = pool.snapshot()["base"]
first = int(base, 16)
in_pool = lambda tensor: first <= tensor.data_ptr() < first + (1 << 45)
assert in_pool(inside) and in_pool(net.weight)
assert in_pool(net.weight.grad), "gradients are made on another thread"
assert int(inside[-1]) == 64 * MIB - 1
after = torch.ones(64 * MIB, device="cuda")
assert held() < 512 * MIB, "what is allocated outside is not"
del inside
gc.collect()
torch.cuda.empty_cache()
""",
        group,
    )


def test_out_of_memory_is_torchs_own_error_and_passes(python, group):
    python(
        PRELUDE
        + """
with millpond.torch.use_pool(group) as pool:
    kept = torch.ones(256 * MIB, device="cuda")
    try:
        torch.empty(2048 * MIB, dtype=torch.uint8, device="cuda")
    except torch.OutOfMemoryError as error:
        print(error)
    else:
        raise SystemExit("more than the limit")
    assert held() <= 2048 * MIB
    small = torch.ones(64 * MIB, device="cuda")
    assert float(kept.sum()) == 256 * MIB and float(small.sum()) == 64 * MIB
assert pool.stats()["refused"] >= 1
""",
        group,
    )


REPLACED = """
pool = millpond.torch.replace_allocator(group)
"""

TRAIN = """
def train(steps=5):
    torch.manual_seed(3)
    net = torch.nn.Sequential(*(torch.nn.Sequential(torch.nn.Linear(512, 512), torch.nn.GELU()) for _ in range(6))).cuda()
    optimiser = torch.optim.AdamW(net.parameters())
    for _ in range(steps):
        loss = net(torch.randn(256, 512, device="cuda")).square().mean()
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()
    torch.cuda.synchronize()
    return [float(value.double().sum()) for value in net.parameters()] + [float(loss)]
"""


def test_a_replaced_allocator_trains_to_the_same_numbers(python, group):
    own = python(PRELUDE + TRAIN + "print(train())", group)
    inside = python(PRELUDE + TRAIN + "with millpond.torch.use_pool(group):\n    print(train())", group)
    replaced = python(PRELUDE + REPLACED + TRAIN + "print(train())\nassert pool.stats()['allocations'] > 100", group)
    assert own == inside == replaced


def test_a_replaced_allocator_says_what_is_missing(python, group):
    python(
        PRELUDE
        + REPLACED
        + """
kept = torch.ones(64 * MIB, device="cuda")
try:
    torch.empty(4096 * MIB, dtype=torch.uint8, device="cuda")
except RuntimeError as error:
    text = str(error)
    assert "CUDA out of memory. Tried to allocate" in text and "256 MiB in use" in text, text
else:
    raise SystemExit("more than the limit")
assert float(kept.sum()) == 64 * MIB
# What is free is the group's at once, without torch's cache in between.
del kept
torch.cuda.synchronize()
pool.trim(wait=True)
assert held() < 64 * MIB, held()
""",
        group,
    )


def test_a_block_of_another_stream_is_used_again_after_its_work(python, group):
    python(
        PRELUDE
        + REPLACED
        + """
side = torch.cuda.Stream()
for turn in range(200):
    source = torch.full((4 * MIB,), float(turn), device="cuda")
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(4):
            copy = source * 1.0
    source.record_stream(side)
    del source
    # The next one may get the same memory, but not before the side stream is done with it.
    other = torch.full((4 * MIB,), -1.0, device="cuda")
    side.synchronize()
    assert float(copy[0]) == turn and float(copy[-1]) == turn, turn
    assert float(other[0]) == -1.0
assert pool.stats()["streams"] == 2
""",
        group,
    )


def test_graphs_replay_over_memory_of_the_pool(python, group):
    python(
        PRELUDE
        + """
with millpond.torch.use_pool(group):
    net = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 256)).cuda()
    given = torch.zeros(64, 256, device="cuda")
    for _ in range(3):
        net(given)
before = held()
memory = millpond.torch.graph_pool(group)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph, pool=memory.id):
    answer = net(given)
assert held() > before, "the graph's memory is on the budget"
with millpond.torch.use_pool(group):
    for turn in range(5):
        given.copy_(torch.randn(64, 256, device="cuda"))
        graph.replay()
        waste = [torch.randn(64, 256, device="cuda") for _ in range(200)]
        torch.cuda.synchronize()
        assert torch.equal(answer, net(given)), turn
""",
        group,
    )
