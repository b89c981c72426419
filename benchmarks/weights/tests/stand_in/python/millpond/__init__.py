"""Stands in for the Python package where the benchmark itself is tested: attach reads the files."""

import contextlib
import json
import os
import pathlib

import checkpoints

_STATE = pathlib.Path(os.environ["MILLPOND_RUNTIME_DIR"]) / "state.json"
_DTYPES = {"F32": "float32"}


class Model:
    def __init__(self, name):
        self.name, _, version = name.partition("@")
        self.refresh(version=version)

    def refresh(self, in_place=False, version=None):
        entry = json.loads(_STATE.read_text())[self.name]
        version = version or entry["current"]
        moved = getattr(self, "version", None) != version
        self.version, self._folder = version, entry["versions"][version]
        return moved

    def paused(self):
        return contextlib.nullcontext(self)

    def numpy(self):
        import numpy

        tensors = {}
        for file in sorted(pathlib.Path(self._folder).glob("*.safetensors")):
            with open(file, "rb") as opened:
                header = json.loads(opened.read(int.from_bytes(opened.read(8), "little")))
            for name in header:
                if name != "__metadata__":
                    dtype, shape, bytes_ = checkpoints.read_tensor(self._folder, name)
                    tensors[name] = numpy.frombuffer(bytes_, _DTYPES[dtype]).reshape(shape)
        return tensors

    def close(self):
        pass


def connect():
    pass


def attach(name):
    return Model(name)


def swap(name, version):
    state = json.loads(_STATE.read_text())
    state[name]["current"] = version
    _STATE.write_text(json.dumps(state))


def flush(timeout=10.0):
    return True
