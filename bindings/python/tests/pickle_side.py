"""The other process of test_pickle.py: in a file of its own, because conftest.py begins a pond."""

import numpy


def work(things, results):
    """In another process: what came, and whether it is the same memory."""
    try:
        tensor, unnamed, model = things
        unnamed.copy_(numpy.full(4, 9, "uint8"))
        results.put((tensor.numpy().tolist(), tensor.readonly, model.version, model["same"].shape))
        tensor.close(), unnamed.close(), model.close()
    except BaseException as error:
        results.put(repr(error))
