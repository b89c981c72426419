"""Versions that a program writes itself."""

import collections.abc
import gc

import ml_dtypes
import numpy
import pytest
import safetensors.numpy

import checkpoints
import millpond
from conftest import Server, retire_all


def test_the_next_version_of_a_model(model):
    old = millpond.attach(model).numpy().copy()
    new = numpy.arange(64 * 16, dtype="float32").reshape(64, 16)
    with millpond.stage(model, version="v3", like="v1") as w:
        assert isinstance(w, collections.abc.Mapping) and (w.name, w.version) == (model, "v3")
        assert list(w) == list(old) and len(w) == 7 and "wte" in w and "no" not in w
        w["wte"].copy_(new)
        assert not w["wte"].readonly and w["wte"].hash is None
        # What is not asked for keeps its bytes, and what is asked for begins with them.
        assert w["mask"].numpy().tobytes() == old["mask"].tobytes()
        with pytest.raises(millpond.NotReady):
            millpond.attach(model, "v3")
    info = millpond.inspect(f"{model}@v3")
    assert info.state == "ready" and not info.current
    found = millpond.attach(model, "v3")
    assert found["wte"].numpy().tobytes() == new.tobytes()
    assert all(found[key].tobytes() == old[key].tobytes() for key in old if key != "wte")
    assert found.metadata == {"seed": "0"} and millpond.verify(f"{model}@v3").ok
    assert old["wte"].tobytes() != new.tobytes()


def test_tied_tensors_are_stored_once_and_follow_every_way(name, tmp_path):
    values = numpy.arange(64 * 8, dtype="float32").reshape(64, 8)
    tensors = {"embed": ("float32", (64, 8)), "head": "embed", "norm": ("float32", (8,))}
    with millpond.stage(name, "v1", tensors=tensors) as w:
        assert list(w) == ["embed", "head", "norm"]
        w["head"].copy_(values)
        w["norm"].copy_(numpy.ones(8, dtype="float32"))
    first = millpond.attach(name)
    assert first["embed"].ptr == first["head"].ptr != first["norm"].ptr
    assert first["embed"].hash == first["head"].hash
    assert first.nbytes == values.nbytes + 32 and millpond.inspect(f"{name}@v1").tensors == 3
    assert first["embed"].tobytes() == values.tobytes()
    assert millpond.verify(f"{name}@v1").ok

    # What is like it is tied as it is; the one that it is like keeps its bytes.
    with millpond.stage(name, "v2", like="v1") as w:
        w["embed"].copy_(values + 1)
    millpond.swap(name, "v2")
    second = millpond.attach(name)
    assert second["head"].tobytes() == (values + 1).tobytes()
    assert first["head"].tobytes() == values.tobytes() and millpond.verify(f"{name}@v2").ok

    # A file has both names, each with its bytes: safetensors knows no ties.
    path = tmp_path / "saved.safetensors"
    millpond.save(f"{name}@v1", path)
    report = millpond.load(name, path, "v3", like="v1")
    third = millpond.attach(name, "v3")
    assert third["head"].ptr != third["embed"].ptr and report.shared_bytes == 0
    assert third.nbytes == first.nbytes + values.nbytes
    assert all(third[key].tobytes() == first[key].tobytes() for key in first)

    for wrong in ({"a": ("int8", (1,)), "b": "c"}, {"a": ("int8", (1,)), "b": "a", "c": "b"}):
        with pytest.raises(millpond.Invalid, match="is tied to"):
            millpond.stage(name, tensors=wrong)
    del first, second, third
    retire_all(name)


def test_tied_weights_of_a_checkpoint_are_stored_once(name, tmp_path):
    values = numpy.arange(1024 * 64, dtype="float32").reshape(1024, 64)
    weights = {"lm_head.weight": values, "model.embed_tokens.weight": values, "norm": values[0]}
    safetensors.numpy.save_file(weights, tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text('{"tie_word_embeddings": true}')
    report = millpond.load(name, tmp_path, "v1")
    assert report.tied == [["lm_head.weight", "model.embed_tokens.weight"]]
    assert report.tied_bytes == values.nbytes and report.nbytes == values.nbytes + values[0].nbytes
    first = millpond.attach(name)
    assert first["lm_head.weight"].ptr == first["model.embed_tokens.weight"].ptr
    assert all(first[key].tobytes() == weights[key].tobytes() for key in weights)

    # What is staged like it is tied as it is.
    with millpond.stage(name, "v2", like="v1") as w:
        w["lm_head.weight"].copy_(values + 1)
    second = millpond.attach(name, "v2")
    assert second["model.embed_tokens.weight"].tobytes() == (values + 1).tobytes()

    # A head of its own shares nothing with it.
    weights["lm_head.weight"] = values + 2
    safetensors.numpy.save_file(weights, tmp_path / "model.safetensors")
    report = millpond.load(name, tmp_path, "v3", like="v1")
    assert report.tied == [] and report.tied_bytes == 0 and report.unshared.why == "ties"
    third = millpond.attach(name, "v3")
    assert all(third[key].tobytes() == weights[key].tobytes() for key in weights)
    del first, second, third
    retire_all(name)


def test_nothing_is_left_after_an_error(model):
    view = None
    with pytest.raises(RuntimeError, match="mine"):
        with millpond.stage(model, "v3", like="v1") as w:
            view = w["wte"].numpy()
            view[:] = 5
            raise RuntimeError("mine")
    # The view keeps its memory, but nobody can get at it.
    assert view.sum() == 5 * 64 * 16 and millpond.live_leases() == 1
    assert millpond.inspect(f"{model}@v3").state == "draining"
    with pytest.raises(millpond.Retired):
        millpond.attach(model, "v3")
    del view
    assert millpond.flush()
    w = millpond.stage(model, "v3", like="v1")
    w.abort()
    w.abort()
    assert millpond.flush()
    w = millpond.stage(model, "v3", like="v1")
    del w
    gc.collect()
    assert millpond.flush()
    assert [one.version for one in millpond.inspect(model).versions] == ["v2", "v1"]


def test_commit_says_what_it_made_and_is_the_end(model):
    w = millpond.stage(model, like="v1", activate=True)
    tensor = w["wte"]
    info = w.commit()
    assert info.current and info.state == "ready" and info.version == w.version == "v3"
    for use in (w.commit, lambda: w["mask"]):
        with pytest.raises(millpond.Invalid, match="was committed already"):
            use()
    with pytest.raises(millpond.ReadOnlyError, match=r"never changes: write the next one with millpond\.stage"):
        tensor.copy_(numpy.zeros((64, 16), "float32"))
    w = millpond.stage(model, like=f"{model}@v1", activate=True)
    assert not w.commit(activate=False).current
    with millpond.stage(model, like="v1") as w:
        w.abort()
    with pytest.raises(millpond.Invalid, match="was given up already"):
        w.commit()


def test_slabs_that_nothing_was_written_to_are_shared(name, tmp_path):
    arrays = {"a": numpy.zeros(2 << 20, "uint8"), "b": numpy.ones(2 << 20, "uint8")}
    millpond.load(name, checkpoints.write(tmp_path / "x.safetensors", arrays), slab_bytes=2 << 20)
    with millpond.stage(name, like="v1") as w:
        w["b"].copy_(bytes(range(256)) * 8192)
    info = millpond.inspect(f"{name}@v2")
    assert info.slabs == 2 and info.shared_bytes == info.own_bytes == info.nbytes // 2
    with millpond.attach(name, "v2") as m:
        assert m["b"].tobytes() == bytes(range(256)) * 8192 and m["a"].tobytes() == bytes(2 << 20)
    retire_all(name)


def test_a_first_version_from_nothing_and_every_kind_of_source(name):
    tensors = {"f": ("float32", (2, 3)), "b": (ml_dtypes.bfloat16, [4]), "raw": ("U8", 8), "cap": ("i32", (3,))}
    f = numpy.arange(6, dtype="float32").reshape(2, 3)
    other = millpond.create(None, 8, "uint8").copy_(b"abcdefgh")

    class Foreign:
        """Knows DLPack and nothing else."""

        array = numpy.arange(3, dtype="int32")

        def __dlpack__(self, **how):
            return self.array.__dlpack__(**how)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    with millpond.stage(name, "first", tensors=tensors, metadata={"a": "b"}) as w:
        w["f"].copy_(f.astype("float64"))
        w["b"].numpy()[:] = [1, 2, 3, 4]
        w["raw"].copy_(other)
        w["cap"].copy_(Foreign())
        with pytest.raises(ValueError, match="takes shape"):
            w["f"].copy_(f[0])
        with pytest.raises(ValueError, match="bytes"):
            w["raw"].copy_(b"short")
        with pytest.raises(KeyError, match="has no tensor"):
            w["no"]
        numpy.from_dlpack(w["raw"])[0] = ord("A")
    with millpond.attach(name) as m:
        assert m.version == "first" and m.metadata == {"a": "b"}
        assert (m["f"].numpy() == f).all() and m["raw"].tobytes() == b"Abcdefgh"
        assert m["b"].numpy().astype("float32").tolist() == [1, 2, 3, 4]
        assert m["cap"].numpy().tolist() == [0, 1, 2]
    millpond.delete(other)
    other.close()
    retire_all(name)


def test_what_cannot_be_staged(model):
    for wrong in ({}, {"like": "v1", "tensors": {}}):
        with pytest.raises(millpond.Invalid, match="`like` or `tensors`"):
            millpond.stage(model, **wrong)
    with pytest.raises(millpond.NotFound):
        millpond.stage(model, like="v9")
    with pytest.raises(millpond.Exists):
        millpond.stage(model, "v2", like="v1")
    with pytest.raises(millpond.Invalid, match="unknown dtype"):
        millpond.stage(model, tensors={"x": ("float7", 3)})
    with pytest.raises(millpond.GpuFull, match="never fits") as caught:
        millpond.stage(model, tensors={"x": ("uint8", 1 << 40)})
    assert caught.value.requested >= 1 << 40


def test_a_killed_stager_leaves_nothing(model, python):
    script = """
import os, signal, sys, millpond
w = millpond.stage(sys.argv[1], "v3", like="v1")
w["wte"].numpy()[:] = 1
os.kill(os.getpid(), signal.SIGKILL)
"""
    python(script, model, status=-9)
    # Whoever comes next may take the tag.
    with millpond.stage(model, "v3", like="v1"):
        pass
    assert millpond.attach(model, "v3")["wte"].tobytes() == checkpoints.arrays()["wte"].tobytes()


def test_a_commit_that_cannot_tell_whether_there_is_a_current_version_changes_nothing(tmp_path, python):
    gpus = str(tmp_path / "gpus")
    server = Server(tmp_path / "pond", MILLPOND_SOFT_DIR=gpus)
    script = """
import os, signal, sys
os.environ["MILLPOND_SOFT_DIR"] = sys.argv[2]
import millpond
pond = millpond.Pond(sys.argv[1])
w = pond.stage("own", "v1", tensors={"x": ("F32", (4,))})
status = pond.status()
os.kill(status.daemon_pid, signal.SIGSTOP)  # or it would start another keeper
for pid in status.keeper_pid, status.daemon_pid:
    os.kill(pid, signal.SIGKILL)
# A pond that does not answer has not said that there is none: the staging is not over.
try:
    w.commit()
except millpond.NoPond:
    print(w, flush=True)
os._exit(0)
"""
    try:
        assert python(script, str(tmp_path / "pond"), gpus) == "Staging('own@v1', 1 tensors, open)\n"
    finally:
        server.stop()
