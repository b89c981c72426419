"""Tensors and models in other processes: as references."""

import multiprocessing
import pickle

import pytest

import millpond
import pickle_side
from conftest import DEADLINE

numpy = pytest.importorskip("numpy")


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_a_process_gets_tensors_and_models_as_arguments(name, model, method):
    context = multiprocessing.get_context(method)
    millpond.put(name, numpy.arange(3, dtype="float32"))
    # The second one has no name and is not published; the third is a version that is not current.
    things = millpond.get(name), millpond.create(None, 4, "uint8"), millpond.attach(model, "v2")
    results = context.Queue()
    process = context.Process(target=pickle_side.work, args=(things, results))
    process.start()
    assert results.get(timeout=DEADLINE) == ([0.0, 1.0, 2.0], True, "v2", things[2]["same"].shape)
    process.join(DEADLINE)
    assert process.exitcode == 0
    # What the other one wrote is here: it is the same memory.
    assert things[1].numpy().tolist() == [9, 9, 9, 9]
    millpond.delete(things[1])
    for one in things:
        one.close()
    millpond.delete(name)


def test_a_forked_process_is_told_how_to_get_its_own(name):
    millpond.put(name, b"abcd")
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    with millpond.get(name) as tensor:
        process = context.Process(target=lambda: results.put(refusal(tensor)))
        process.start()
        assert results.get(timeout=DEADLINE) == ("ForkError", "get it again in this process")
        process.join(DEADLINE)
    millpond.delete(name)


def refusal(tensor):
    try:
        tensor.numpy()
    except millpond.Error as error:
        return type(error).__name__, error.hint


def test_what_is_gone_says_so(name, model):
    tensor = millpond.create(None, 4, "uint8")
    version = millpond.attach(model, "v2")
    pickled = pickle.dumps((tensor,)), pickle.dumps(version)
    same = pickle.loads(pickled[0])[0]
    assert same.id == tensor.id and not same.readonly
    same.close()
    again = pickle.loads(pickled[1])
    assert (again.id, again.version) == (version.id, "v2")
    again.close(), version.close()
    millpond.retire(model, "v2", wait=DEADLINE)
    millpond.delete(tensor)
    tensor.close()
    assert millpond.flush()
    for one in pickled:
        with pytest.raises(millpond.NotFound, match="was pickled as a reference, and is gone") as caught:
            pickle.loads(one)
        assert caught.value.hint and caught.value.code == "not_found"
    with pytest.raises(millpond.ClosedError):
        pickle.dumps(tensor)


def test_a_pond_and_what_belongs_to_something_else(name, model, pond):
    assert pickle.loads(pickle.dumps(pond)).runtime_dir == pond.runtime_dir
    with millpond.attach(model) as attached:
        with pytest.raises(TypeError, match="pickle the Tensor or the Model that it belongs to"):
            pickle.dumps(attached["same"])
