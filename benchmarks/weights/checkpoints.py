"""Synthetic checkpoints in safetensors' format, made fast and without any library.

Values come from one block of small random numbers; every tensor begins at another place of it, so
no two are equal and a transformer made of them computes finite outputs. Started as a program it
writes one checkpoint, because the bytes it needs meanwhile should not count as the caller's.

    checkpoints.py FOLDER '{"kind": "dense", "hidden": 64, ...}'
"""

import concurrent.futures
import json
import os
import pathlib
import random
import sys

ITEM_BYTES = {"BF16": 2, "F32": 4}
# A larger block takes longer to make, and a smaller one would stay in the processor's cache.
BLOCK_BYTES, SMALL_BLOCK_BYTES = 64 << 20, 4 << 20
SHARD_BYTES = 4 << 30


def product(shape):
    total = 1
    for extent in shape:
        total *= extent
    return total


def dense(hidden, intermediate, layers, vocabulary):
    """Names and shapes of a transformer with 9 tensors for each layer."""
    shapes = {
        "model.embed_tokens.weight": (vocabulary, hidden),
        "model.norm.weight": (hidden,),
        "lm_head.weight": (vocabulary, hidden),
    }
    for layer in range(layers):
        base = f"model.layers.{layer}"
        shapes |= {
            f"{base}.input_layernorm.weight": (hidden,),
            f"{base}.self_attn.q_proj.weight": (hidden, hidden),
            f"{base}.self_attn.k_proj.weight": (hidden // 4, hidden),
            f"{base}.self_attn.v_proj.weight": (hidden // 4, hidden),
            f"{base}.self_attn.o_proj.weight": (hidden, hidden),
            f"{base}.post_attention_layernorm.weight": (hidden,),
            f"{base}.mlp.gate_proj.weight": (intermediate, hidden),
            f"{base}.mlp.up_proj.weight": (intermediate, hidden),
            f"{base}.mlp.down_proj.weight": (hidden, intermediate),
        }
    return shapes


def moe(layers, experts, rows, columns):
    """Names and shapes of many small experts: 3 tensors each, and a router for each layer."""
    shapes = {}
    for layer in range(layers):
        shapes[f"model.layers.{layer}.mlp.gate.weight"] = (experts, columns)
        for expert in range(experts):
            for part in ("gate", "up", "down"):
                shapes[f"model.layers.{layer}.mlp.experts.{expert}.{part}_proj.weight"] = (rows, columns)
    return shapes


def few(count, total_bytes, item_bytes):
    """`count` tensors with so many bytes together."""
    each = total_bytes // count // item_bytes
    return {f"part.{number:04}.weight": (each,) for number in range(count)}


def shapes_of(spec):
    """The names and shapes that a spec describes."""
    sizes = {key: value for key, value in spec.items() if key not in ("kind", "dtype", "shard_bytes", "seed", "differ", "sparse", "base")}
    if spec["kind"] == "dense":
        return dense(**sizes)
    if spec["kind"] == "moe":
        return moe(**sizes)
    return few(item_bytes=ITEM_BYTES[spec["dtype"]], **sizes)


def total_bytes(spec):
    return sum(map(product, shapes_of(spec).values())) * ITEM_BYTES[spec["dtype"]]


def block(dtype, seed, size):
    """Small random numbers of both signs: the top byte holds sign and exponent."""
    numbers = random.Random(seed)
    item = ITEM_BYTES[dtype]
    bytes_ = bytearray(numbers.randbytes(size))
    signs = bytes(0x3C if byte < 128 else 0xBC for byte in range(256))
    bytes_[item - 1::item] = bytes_[item - 1::item].translate(signs)
    return bytes(bytes_)


def write(folder, spec):
    """Writes a checkpoint; one file, or shards with an index. Gives its bytes of tensors."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True)
    dtype, item = spec["dtype"], ITEM_BYTES[spec["dtype"]]
    limit = spec.get("shard_bytes", SHARD_BYTES)
    shards, filled = [[]], 0
    for name, shape in shapes_of(spec).items():
        bytes_ = product(shape) * item
        if filled and filled + bytes_ > limit:
            shards.append([])
            filled = 0
        shards[-1].append((name, shape, bytes_))
        filled += bytes_
    files = [f"model-{at + 1:05}-of-{len(shards):05}.safetensors" for at in range(len(shards))]
    if len(shards) == 1:
        files = ["model.safetensors"]
    size = BLOCK_BYTES if total_bytes(spec) > 1 << 30 else SMALL_BLOCK_BYTES
    source = None if spec.get("sparse") else memoryview(block(dtype, spec.get("seed", 0), size) * 2)
    differ, base = set(spec.get("differ", ())), spec.get("base")
    jobs, index, number = [], {}, 0
    for file, tensors in zip(files, shards):
        header, at = {"__metadata__": {"format": "pt"}}, 0
        places = []
        for name, shape, bytes_ in tensors:
            header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + bytes_]}
            index[name] = file
            # Another place of the block for each, and another one still where it is to differ.
            places.append((at, bytes_, (number * 4099 + (1 if name in differ else 0)) * item % size))
            at += bytes_
            number += 1
        text = json.dumps(header, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 8)
        if base and differ.isdisjoint(name for name, *_ in tensors):
            # The same bytes as there: no second copy of them is written.
            os.link(pathlib.Path(base) / file, folder / file)
            places = None
        jobs.append((folder / file, len(text).to_bytes(8, "little") + text, places, at))
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda job: write_file(source, *job), jobs))
    if len(files) > 1:
        text = json.dumps({"metadata": {"total_size": sum(at for *_, at in jobs)}, "weight_map": index})
        (folder / "model.safetensors.index.json").write_text(text)
    return sum(at for *_, at in jobs)


def write_file(source, path, header, places, end):
    if places is None:
        return
    with open(path, "wb") as file:
        file.write(header)
        file.flush()
        os.ftruncate(file.fileno(), len(header) + end)
        if source is None:
            return
        size = len(source) // 2
        for at, bytes_, place in places:
            done = 0
            while done < bytes_:
                start = (place + done) % size
                part = min(bytes_ - done, size)
                done += os.pwrite(file.fileno(), source[start:start + part], len(header) + at + done)


def read_tensor(folder, name):
    """One tensor's (dtype, shape, bytes) as the file has them: what loaders are checked against."""
    for file in sorted(pathlib.Path(folder).glob("*.safetensors")):
        with open(file, "rb") as opened:
            size = int.from_bytes(opened.read(8), "little")
            header = json.loads(opened.read(size))
            if name in header:
                begin, end = header[name]["data_offsets"]
                opened.seek(8 + size + begin)
                return header[name]["dtype"], header[name]["shape"], opened.read(end - begin)
    raise KeyError(name)


if __name__ == "__main__":
    print(json.dumps({"bytes": write(sys.argv[1], json.loads(sys.argv[2]))}))
