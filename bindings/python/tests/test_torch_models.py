"""Models and torch: on the CPU with the software driver, and on a GPU."""

import gc

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

import millpond  # noqa: E402
import millpond.torch  # noqa: E402
from conftest import GPU, retire_all  # noqa: E402

DEVICE = "cuda" if GPU else "cpu"


class Net(torch.nn.Module):
    """Two layers that share a weight, a buffer, and one that is not saved."""

    def __init__(self, device=DEVICE):
        super().__init__()
        self.embed = torch.nn.Embedding(32, 16, device=device)
        self.inner = torch.nn.Linear(16, 16, device=device, dtype=torch.float32)
        self.head = torch.nn.Linear(16, 32, bias=False, device=device)
        self.head.weight = self.embed.weight
        self.register_buffer("scale", torch.tensor(2.0, device=device))
        self.register_buffer("scratch", torch.zeros(4, device=device), persistent=False)

    def forward(self, tokens):
        return self.head(torch.tanh(self.inner(self.embed(tokens)) * self.scale))


@pytest.fixture
def tokens():
    return torch.arange(8, device=DEVICE)


@torch.no_grad()
def test_a_module_is_committed_and_mapped_by_another(name, tokens):
    torch.manual_seed(0)
    net = Net()
    wanted = net(tokens)
    before = {key: value.data_ptr() for key, value in net.state_dict().items()}
    weight = net.inner.weight
    info = millpond.torch.commit(net, name, version="v1")
    assert (info.model, info.version, info.current, info.tensors) == (name, "v1", True, 5)
    # The module lies in the pond now, its parameters are the same objects, and shared ones are so.
    assert net.inner.weight is weight and net.head.weight is net.embed.weight
    assert all(value.data_ptr() != before[key] for key, value in net.state_dict().items())
    assert millpond.live_leases() == 1
    assert torch.equal(net(tokens), wanted)

    model = millpond.attach(name)
    other = Net("meta")
    other.scratch = torch.zeros(4)
    other.load_state_dict(model.torch(), assign=True)
    assert other.inner.weight.data_ptr() == model["inner.weight"].ptr
    assert other.inner.weight.is_cuda == GPU
    assert torch.equal(other(tokens), wanted)
    assert millpond.torch.state_dict(model).keys() == other.state_dict().keys()
    model.close()
    assert torch.equal(other(tokens), wanted)
    del net, other, weight, model
    retire_all(name)


@torch.no_grad()
def test_the_next_version_without_rebinding(name, tokens):
    net = Net()
    millpond.torch.commit(net, name, rebind=False)
    assert millpond.live_leases() == 0
    first = net(tokens)
    # What was not rebound can still be written.
    net.inner.bias += 1
    info = millpond.torch.commit(net, name, like="v1", activate=True, rebind=False)
    assert info.current and info.version == "v2"
    outputs = []
    for version in ("v1", "v2"):
        other = Net("meta")
        other.load_state_dict(millpond.attach(name, version).torch(), assign=True)
        outputs.append(other(tokens))
    assert torch.equal(outputs[0], first) and torch.equal(outputs[1], net(tokens))
    assert not torch.equal(*outputs)
    with pytest.raises(ValueError, match="has not the tensors of 'v1'"):
        millpond.torch.commit(net.inner, name, like="v1")
    assert millpond.flush() and len(millpond.inspect(name).versions) == 2
    del other
    retire_all(name)


@torch.no_grad()
def test_tied_weights_are_committed_once(name, tokens):
    net = Net()
    millpond.torch.commit(net, name, rebind=False)
    model = millpond.attach(name)
    assert model["embed.weight"].ptr == model["head.weight"].ptr
    assert model.nbytes == 4 * (32 * 16 + 16 * 16 + 16 + 1)
    state = model.torch()
    assert torch.equal(state["head.weight"], net.head.weight)
    # What were one tensor and are two now would overwrite each other.
    net.head.weight = torch.nn.Parameter(net.head.weight + 1)
    with pytest.raises(ValueError, match="one tensor in 'v1' and two in the module"):
        millpond.torch.commit(net, name, like="v1", rebind=False)
    info = millpond.torch.commit(net, name, rebind=False)
    wanted, other = net(tokens), Net("meta")
    other.scratch = torch.zeros(4, device=DEVICE)
    other.load_state_dict(millpond.attach(name, info.version).torch(), assign=True)
    assert torch.equal(other(tokens), wanted)
    del other, state, model
    retire_all(name)


def test_every_tensor_of_a_model_is_taken_over_and_keeps_the_lease(name):
    tensors = {f"t{number}": ("float32", (2, 3)) for number in range(40)}
    tensors |= {"scalar": ("int64", ()), "empty": ("float32", (0, 4)), "half": ("bfloat16", (4,))}
    tensors["deep"] = ("uint8", (1, 2, 1, 2, 1, 2))
    with millpond.stage(name, tensors=tensors) as w:
        for number, key in enumerate(sorted(tensors)):
            w[key].torch().fill_(number)
    model = millpond.attach(name)
    state = model.torch()
    assert list(state) == sorted(tensors) and len(state) == len(tensors)
    # In order, from behind, and again.
    for key in [*state, *reversed(sorted(tensors)), *state]:
        made, number = state[key], sorted(tensors).index(key)
        assert made.shape == tensors[key][1] and made.is_contiguous() and state[key] is made
        assert made.numel() == 0 or made.data_ptr() == model[key].ptr
        assert bool((made == number).all())
    for wrong in ("t", "t400", 7):
        with pytest.raises(KeyError):
            state[wrong]
    assert "t" not in state and len(state) == len(tensors)
    state["own"] = made
    del state["t0"]
    assert list(state) == [key for key in sorted(tensors) if key != "t0"] + ["own"]
    assert len(state) == len(tensors) and "t0" not in state
    with pytest.raises(KeyError):
        state["t0"]
    last = state["t7"]
    model.close()
    del state, model, made
    gc.collect()
    assert millpond.live_leases() == 1 and last.sum().item() == 6 * sorted(tensors).index("t7")
    del last
    gc.collect()
    assert millpond.live_leases() == 0
    retire_all(name)


@torch.no_grad()
def test_addresses_stay_when_a_module_follows_in_place(name, tokens):
    torch.manual_seed(1)
    net = Net()
    millpond.torch.commit(net, name, rebind=False)
    net.inner.weight.mul_(-1)
    millpond.torch.commit(net, name, rebind=False)
    wanted = net(tokens)
    model = millpond.attach(name)
    other = Net("meta")
    other.load_state_dict(model.torch(), assign=True)
    address = other.inner.weight.data_ptr()
    assert not torch.equal(other(tokens), wanted)
    millpond.swap(name, "v2")
    with model.paused():
        assert model.refresh(in_place=True)
    assert other.inner.weight.data_ptr() == address
    assert torch.equal(other(tokens), wanted)
    del other, model
    retire_all(name)


def test_a_trainer_stages_with_torch(name):
    tensors = {"w": (torch.bfloat16, (4, 4)), "f8": (torch.float8_e4m3fn, (4,))}
    with millpond.stage(name, tensors=tensors) as w:
        w["w"].copy_(torch.ones(4, 4, device=DEVICE))
        torch.from_dlpack(w["w"])[0] = 2
        w["f8"].copy_(torch.ones(4, device=DEVICE).to(torch.float8_e4m3fn))
    state = millpond.attach(name).torch()
    assert state["w"].float().sum().item() == 20 and state["w"] is state["w"]
    assert state["f8"].dtype == torch.float8_e4m3fn and state["f8"].float().sum().item() == 4
    assert state["w"].is_cuda == GPU
    del state
    retire_all(name)


def test_what_has_no_bytes_is_refused(name):
    with pytest.raises(TypeError, match="'weight' has no bytes"):
        millpond.torch.commit(torch.nn.Linear(2, 2, device="meta"), name)

    class Extra(torch.nn.Linear):
        def get_extra_state(self):
            return {"x": 1}

    with pytest.raises(TypeError, match="'_extra_state' has no bytes"):
        millpond.torch.commit(Extra(2, 2), name)
    assert millpond.models(name) == []


@pytest.mark.skipif(not GPU, reason="torch has no GPU to allocate on")
@torch.no_grad()
def test_what_was_built_in_the_pond_is_committed(name, tokens):
    with millpond.torch.use_pond():
        net = Net()
    # What is not saved stays where it is, and would keep its segment.
    net.scratch = torch.zeros(4, device=DEVICE)
    wanted = net(tokens)
    held = millpond._millpond._allocated()[1]
    assert held > 0
    millpond.torch.commit(net, name)
    gc.collect()
    torch.cuda.empty_cache()
    # Its own copy has gone with the segments that it lay in.
    assert millpond._millpond._allocated()[1] < held
    assert torch.equal(net(tokens), wanted)
    del net
    retire_all(name)
