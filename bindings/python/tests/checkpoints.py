"""Safetensors files for the tests, written without the package of that name."""

import json
import struct

import ml_dtypes
import numpy

_CODES = {
    "float32": "F32",
    "float64": "F64",
    "float16": "F16",
    "bfloat16": "BF16",
    "float8_e4m3fn": "F8_E4M3",
    "int64": "I64",
    "int32": "I32",
    "uint8": "U8",
    "bool": "BOOL",
}


def write(path, tensors, metadata=None):
    """One file with these arrays."""
    header, at = {}, 0
    if metadata is not None:
        header["__metadata__"] = metadata
    for name, array in tensors.items():
        end = at + array.nbytes
        header[name] = {
            "dtype": _CODES[array.dtype.name],
            "shape": list(array.shape),
            "data_offsets": [at, end],
        }
        at = end
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for array in tensors.values():
            file.write(numpy.ascontiguousarray(array).tobytes())
    return path


def read(path):
    """What such a file holds, and its metadata."""
    data = open(path, "rb").read()
    (length,) = struct.unpack("<Q", data[:8])
    header, begin = json.loads(data[8 : 8 + length]), 8 + length
    metadata = header.pop("__metadata__", None)
    names = {code: name for name, code in _CODES.items()}
    arrays = {}
    for name, one in header.items():
        dtype = names[one["dtype"]]
        dtype = numpy.dtype(getattr(ml_dtypes, dtype, None) or dtype)
        low, high = one["data_offsets"]
        arrays[name] = numpy.frombuffer(data[begin + low : begin + high], dtype).reshape(one["shape"])
    return arrays, metadata


def shard(folder, *files):
    """A folder with an index."""
    folder.mkdir()
    weights = {}
    for number, tensors in enumerate(files):
        name = f"model-{number + 1:05}-of-{len(files):05}.safetensors"
        write(folder / name, tensors)
        weights.update(dict.fromkeys(tensors, name))
    index = {"metadata": {}, "weight_map": weights}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    return folder


def arrays(seed=0, scale=1):
    """A few tensors of several dtypes."""
    random = numpy.random.default_rng(seed)
    return {
        "wte": random.standard_normal((64, 16)).astype("float32") * scale,
        "layers.0.w": random.standard_normal((16, 16)).astype(ml_dtypes.bfloat16),
        "layers.0.b": random.integers(0, 100, 16).astype("int64"),
        "mask": random.integers(0, 2, (3, 5)).astype(bool),
        "scale": numpy.array(2.5 * scale, "float64"),
        "empty": numpy.zeros((0, 4), "float32"),
    }
