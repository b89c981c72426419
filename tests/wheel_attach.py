"""Attaches a model and compares every tensor with the safetensors file that it was loaded from.

    python wheel_attach.py MODEL FILE

On a GPU the bytes are compared there, by torch; else by numpy.
"""

import json
import os
import struct
import sys

import millpond


def tensors(path):
    """Each tensor's name and bytes."""
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
        header.pop("__metadata__", None)
        for name, entry in header.items():
            begin, end = entry["data_offsets"]
            file.seek(8 + length + begin)
            yield name, bytearray(file.read(end - begin))


def on_gpu(model):
    """Whether a tensor of the model has these bytes, seen from the GPU."""
    import torch

    views = model.torch()

    def same(name, content):
        view = views[name].contiguous().view(-1).view(torch.uint8)
        return torch.equal(view, torch.frombuffer(content, dtype=torch.uint8).to(view.device))

    return same


def on_host(model):
    """The same without a GPU."""
    views = model.numpy()
    return lambda name, content: views[name].tobytes() == content


def main():
    name, path = sys.argv[1:]
    with millpond.attach(name) as model:
        same = on_gpu(model) if os.environ.get("MILLPOND_DRIVER") == "cuda" else on_host(model)
        expected = dict(tensors(path))
        assert sorted(model) == sorted(expected), "the names differ"
        wrong = [name for name, content in expected.items() if not same(name, content)]
        assert not wrong, f"wrong bytes: {wrong}"
        print(f"{len(expected)} tensors of {name}@{model.version} are equal, by {same.__qualname__.split('.')[0]}")


if __name__ == "__main__":
    main()
