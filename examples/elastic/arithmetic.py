"""Attention over a cache of keys and values: torch on a GPU, numpy on the software driver.

Both take any array of the cache's shape, so the same function reads an elastic cache and plain memory.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple

# One thread adds in one order, so outputs can be compared to the last bit.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")


class Shape(NamedTuple):
    """Keys and values of a model: layers, keys and values, blocks, tokens of a block, heads, numbers of a head."""

    layers: int
    blocks: int
    tokens: int
    heads: int
    dim: int

    @property
    def extents(self) -> tuple[int, ...]:
        return (self.layers, 2, self.blocks, self.tokens, self.heads, self.dim)

    def block_bytes(self, item_bytes: int) -> int:
        """What one block takes in all layers."""
        return self.layers * 2 * self.tokens * self.heads * self.dim * item_bytes


GROW_ALONG = 2
"""The dimension of blocks; those before it are segments."""


class Numpy:
    """The software driver's memory is the host's."""

    dtype, item_bytes = "float32", 4

    def __init__(self, seed: int) -> None:
        import numpy

        self.numpy, self.random = numpy, numpy.random.default_rng(seed)

    def view(self, cache: Any) -> Any:
        return self.numpy.from_dlpack(cache)

    def plain(self, shape: Shape) -> Any:
        return self.numpy.zeros(shape.extents, self.dtype)

    def fill(self, arrays: list[Any], first: int, end: int) -> None:
        """The same new numbers in these blocks of all arrays."""
        part = arrays[0][:, :, first:end]
        numbers = self.random.standard_normal(part.shape, dtype=self.dtype)
        for array in arrays:
            array[:, :, first:end] = numbers

    def question(self, shape: Shape, blocks: int) -> tuple[Any, Any]:
        query = self.random.standard_normal((shape.heads, 1, shape.dim), dtype=self.dtype)
        return query, self.random.permutation(blocks)

    def attend(self, array: Any, blocks: int, question: tuple[Any, Any]) -> list[Any]:
        """Attention in each layer: over the blocks in a row, and over the same blocks as a table lists them."""
        query, table = question
        found = []
        for layer in array:
            keys, values = layer[0, :blocks], layer[1, :blocks]
            found += [self._attention(query, keys, values), self._attention(query, keys[table], values[table])]
        return found

    def _attention(self, query: Any, keys: Any, values: Any) -> Any:
        numpy, dim = self.numpy, query.shape[-1]
        keys, values = (numpy.ascontiguousarray(part.reshape(-1, *part.shape[2:]).swapaxes(0, 1)) for part in (keys, values))
        scores = query @ keys.swapaxes(1, 2) / numpy.float32(dim**0.5)
        weights = numpy.exp(scores - scores.max(-1, keepdims=True))
        return weights / weights.sum(-1, keepdims=True) @ values

    def same(self, ours: list[Any], theirs: list[Any]) -> bool:
        return all(self.numpy.array_equal(one, other) for one, other in zip(ours, theirs, strict=True))

    def stream(self) -> dict[str, Any]:
        """What `uncommit` wants to know of the work that was submitted."""
        return {}


class Torch:
    """`scaled_dot_product_attention` on the GPU."""

    dtype, item_bytes = "bfloat16", 2

    def __init__(self, seed: int) -> None:
        import torch
        from torch.nn import attention

        self.torch, self.attention = torch, attention
        self.kernels = [attention.SDPBackend.FLASH_ATTENTION, attention.SDPBackend.MATH]
        self.random = torch.Generator("cuda").manual_seed(seed)

    def view(self, cache: Any) -> Any:
        return self.torch.from_dlpack(cache)

    def plain(self, shape: Shape) -> Any:
        return self.torch.zeros(shape.extents, dtype=self.torch.bfloat16, device="cuda")

    def _normal(self, *shape: int) -> Any:
        return self.torch.randn(shape, dtype=self.torch.bfloat16, device="cuda", generator=self.random)

    def fill(self, arrays: list[Any], first: int, end: int) -> None:
        for layer in range(arrays[0].shape[0]):
            numbers = self._normal(*arrays[0][layer, :, first:end].shape)
            for array in arrays:
                array[layer, :, first:end] = numbers

    def question(self, shape: Shape, blocks: int) -> tuple[Any, Any]:
        table = self.torch.randperm(blocks, device="cuda", generator=self.random)
        return self._normal(1, shape.heads, 1, shape.dim), table

    def attend(self, array: Any, blocks: int, question: tuple[Any, Any]) -> list[Any]:
        query, table = question
        found = []
        for layer in array:
            keys, values = layer[0, :blocks], layer[1, :blocks]
            found += [self._attention(query, keys, values),
                      self._attention(query, keys.index_select(0, table), values.index_select(0, table))]
        return found

    def _attention(self, query: Any, keys: Any, values: Any) -> Any:
        # Blocks of a segment lie side by side: a sequence is a view of them, not a copy.
        keys, values = (part.flatten(0, 1).transpose(0, 1).unsqueeze(0) for part in (keys, values))
        # cuDNN's kernel, which torch prefers on some cards, adds in an order that changes from call to call.
        with self.attention.sdpa_kernel(self.kernels):
            return self.torch.nn.functional.scaled_dot_product_attention(query, keys, values)

    def same(self, ours: list[Any], theirs: list[Any]) -> bool:
        return all(self.torch.equal(one, other) for one, other in zip(ours, theirs, strict=True))

    def stream(self) -> dict[str, Any]:
        return {"stream": self.torch.cuda.current_stream()}


def of_this_machine(seed: int) -> Numpy | Torch:
    """numpy on the software driver, torch otherwise."""
    return Numpy(seed) if os.environ.get("MILLPOND_DRIVER") == "soft" else Torch(seed)
