"""The transformer of `model.py` in numpy, for the software driver."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence

import make_checkpoint
from model import Shape

import numpy as np


class NumpyNet:
    shape: Shape

    def load(self, weights: Mapping[str, np.ndarray]) -> None:
        self.shape = Shape.of(weights)
        self.weights = {name: weights[name] for name in self.shape.tensors()}
        ahead = np.triu(np.ones((self.shape.context,) * 2, bool), k=1)
        self.mask = np.where(ahead, np.float32(-np.inf), np.float32(0))

    def logits(self, tokens: Sequence[int]) -> bytes:
        weights = self.weights
        padded = np.zeros(self.shape.context, np.int64)
        padded[: len(tokens)] = tokens
        x = weights["wte"][padded] + weights["wpe"]
        for layer in range(self.shape.layers):
            block = f"h.{layer}."
            x = x + self._attention(_norm(x, weights[block + "norm_1"]), block)
            up = np.maximum(_norm(x, weights[block + "norm_2"]) @ weights[block + "up"].T, 0)
            x = x + up @ weights[block + "down"].T
        last = _norm(x, weights["norm"])[len(tokens) - 1]
        return (weights["lm_head"] @ last).astype(np.float32).tobytes()

    def best(self, logits: bytes) -> int:
        return int(np.frombuffer(logits, np.float32).argmax())

    def _attention(self, x: np.ndarray, block: str) -> np.ndarray:
        context, width = x.shape
        q, k, v = (
            part.reshape(context, self.shape.heads, -1).transpose(1, 0, 2)
            for part in np.split(x @ self.weights[block + "qkv"].T, 3, axis=1)
        )
        scores = q @ k.transpose(0, 2, 1) / np.float32(math.sqrt(q.shape[-1])) + self.mask
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        mixed = scores / scores.sum(axis=-1, keepdims=True) @ v
        return mixed.transpose(1, 0, 2).reshape(context, width) @ self.weights[block + "out"].T


def _norm(x: np.ndarray, gain: np.ndarray) -> np.ndarray:
    return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + np.float32(1e-5)) * gain


def read_weights(checkpoint: str | os.PathLike[str]) -> dict[str, np.ndarray]:
    """A checkpoint's tensors in memory of this process."""
    return {
        name: np.frombuffer(data, np.dtype(make_checkpoint.NUMPY[dtype])).reshape(shape)
        for name, dtype, shape, data in make_checkpoint.read(checkpoint)
    }
