#!/usr/bin/env python3
"""Writes a checkpoint with random weights, as safetensors.

A tensor's bytes depend on the seed, its name and its shape only. `--tune SEED` plays a fine-tuned
successor: it changes the output layers and leaves the rest, byte for byte, as it was.

    python make_checkpoint.py v1.safetensors --seed 1
    python make_checkpoint.py v2.safetensors --seed 1 --tune 2
    python make_checkpoint.py v3/ --seed 3 --shards 4           # a folder with an index
"""

from __future__ import annotations

import argparse
import json
import math
import os
import pathlib
import struct
import zlib
from collections.abc import Iterator

from model import Shape

import numpy as np

NUMPY = {"F32": "<f4", "F16": "<f2"}
ITEM_BYTES = {"F32": 4, "F16": 2, "BF16": 2}
TUNED = ("norm", "lm_head")


def values(name: str, shape: tuple[int, ...], dtype: str, seed: int) -> np.ndarray:
    """A tensor's random values. Gains are about one, the rest keeps activations in bounds."""
    random = np.random.default_rng([seed, zlib.crc32(name.encode())])
    array = random.standard_normal(shape, np.float32) / np.float32(math.sqrt(shape[-1]))
    if len(shape) == 1:
        array = array + np.float32(1)
    if dtype == "BF16":  # numpy has none: the upper half of a float32 is one
        return (array.view("<u4") >> 16).astype("<u2")
    return array.astype(NUMPY[dtype])


def write_file(
    path: str | os.PathLike[str], tensors: dict[str, tuple[int, ...]], dtype: str, seeds: dict[str, int]
) -> int:
    """Writes one safetensors file; returns the bytes of its tensors."""
    header: dict[str, object] = {"__metadata__": {"made_by": "serve_pool"}}
    end = 0
    for name, shape in tensors.items():
        begin, end = end, end + math.prod(shape) * ITEM_BYTES[dtype]
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for name, shape in tensors.items():
            file.write(values(name, shape, dtype, seeds[name]).tobytes())
    return end


def write(
    path: str | os.PathLike[str],
    shape: Shape,
    seed: int,
    *,
    tune: int | None = None,
    dtype: str = "F32",
    shards: int = 1,
) -> int:
    """Writes a checkpoint: one file, or a folder of `shards` files and an index. Returns the bytes
    of its tensors."""
    tensors = shape.tensors()
    seeds = {name: tune if tune is not None and name in TUNED else seed for name in tensors}
    if shards == 1:
        return write_file(path, tensors, dtype, seeds)
    folder = pathlib.Path(path)
    folder.mkdir(parents=True, exist_ok=True)
    place, total = {}, 0
    for shard in range(shards):
        file = f"model-{shard + 1:05}-of-{shards:05}.safetensors"
        names = list(tensors)[shard::shards]
        total += write_file(folder / file, {name: tensors[name] for name in names}, dtype, seeds)
        place |= {name: file for name in names}
    index = {"metadata": {"total_size": total}, "weight_map": place}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index, indent=1) + "\n")
    return total


def read(path: str | os.PathLike[str]) -> Iterator[tuple[str, str, tuple[int, ...], bytes]]:
    """Every tensor of a checkpoint that `write` wrote: name, dtype, shape and bytes."""
    path = pathlib.Path(path)
    for file_path in sorted(path.glob("*.safetensors")) if path.is_dir() else [path]:
        with open(file_path, "rb") as file:
            (length,) = struct.unpack("<Q", file.read(8))
            header = json.loads(file.read(length))
            for name, entry in header.items():
                if name != "__metadata__":
                    begin, end = entry["data_offsets"]
                    file.seek(8 + length + begin)
                    yield name, entry["dtype"], tuple(entry["shape"]), file.read(end - begin)


def main() -> None:
    parser = argparse.ArgumentParser(description="Writes a checkpoint with random weights.")
    parser.add_argument("path", help="a file, or with --shards a folder")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tune", type=int, metavar="SEED", help=f"another seed for {', '.join(TUNED)}")
    parser.add_argument("--shards", type=int, default=1)
    parser.add_argument("--dtype", choices=ITEM_BYTES, default="F32", help="BF16 needs torch to be read")
    for name, default in vars(Shape()).items():
        parser.add_argument(f"--{name}", type=int, default=default)
    args = parser.parse_args()
    shape = Shape(args.layers, args.width, args.vocabulary, args.context)
    total = write(args.path, shape, args.seed, tune=args.tune, dtype=args.dtype, shards=args.shards)
    print(f"{args.path}: {len(shape.tensors())} tensors, {total / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
