"""A model in the manner of safetensors' `safe_open`."""

import numpy
import pytest

import checkpoints
import millpond


@pytest.mark.parametrize("framework", ["np", "numpy"])
def test_a_model_is_opened(model, framework):
    arrays = checkpoints.arrays()
    with millpond.safe_open(model, framework=framework) as f:
        assert isinstance(f, millpond.SafeOpen)
        assert f.keys() == f.offset_keys() == list(millpond.attach(model))
        assert f.metadata() == {"seed": "0"}
        found = f.get_tensor("wte")
        assert found.tobytes() == arrays["wte"].tobytes() and not found.flags.writeable
        assert found.ctypes.data == f.get_tensor("wte").ctypes.data
        part = f.get_slice("wte")
        assert isinstance(part, millpond.Slice)
        assert (part.get_shape(), part.get_dtype()) == ([64, 16], "F32")
        assert (f.get_shape("layers.0.w"), f.get_dtype("layers.0.w")) == ([16, 16], "BF16")
        for index in (slice(0, 10), (slice(None), slice(2, 4)), (..., 3), 5, slice(None, None, 7)):
            assert (part[index] == arrays["wte"][index]).all()
        # A part is a view too.
        assert part[3:5].ctypes.data == found.ctypes.data + 3 * 16 * 4
        assert f.get_slice("scale")[()] == arrays["scale"]
        assert list(f.get_tensors()) == f.keys() and list(f.get_tensors(["mask"])) == ["mask"]
        with pytest.raises(KeyError):
            f.get_tensor("no")
        with pytest.raises(KeyError):
            f.get_slice("no")
    with pytest.raises(millpond.ClosedError):
        f.keys()
    # What was got stays.
    assert found.tobytes() == arrays["wte"].tobytes() and millpond.live_leases() == 1


def test_a_version_by_its_tag(model):
    with millpond.safe_open(f"{model}@v2", framework="np") as f:
        assert f.get_tensor("wte").tobytes() == checkpoints.arrays(1)["wte"].tobytes()


def test_a_framework_that_is_none_maps_nothing(model):
    with pytest.raises(millpond.Invalid, match="no framework 'tf'"):
        millpond.safe_open(model, framework="tf")
    assert millpond.live_leases() == 0


def test_torch(model):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    with millpond.safe_open(model, framework="pt", device="cpu") as f:
        assert f.get_slice("wte")[:10].shape == (10, 16)
        assert f.get_tensor("layers.0.w").dtype == torch.bfloat16
        found = f.get_tensor("wte")
        assert found.data_ptr() == f.get_tensor("wte").data_ptr() and not found.is_cuda
        assert found.numpy().tobytes() == checkpoints.arrays()["wte"].tobytes()
        assert f.get_tensor("empty").shape == (0, 4)


def test_jax(model):
    jax = pytest.importorskip("jax", reason="jax is not installed")
    with millpond.safe_open(model, framework="jax", device="cpu") as f:
        found = f.get_tensor("wte")
        assert isinstance(found, jax.Array)
        assert (numpy.asarray(found) == checkpoints.arrays()["wte"]).all()
        del found
