"""A small transformer, whose weights are somebody else's memory.

The same network is there twice: `net_numpy.py` for the software driver, `net_torch.py` for a GPU.
Both take their weights by name, keep views of them and never a copy, and read the network's shape
from the tensors' shapes, so that a worker needs nothing but the name of a model.

Outputs are reproducible to the last bit: every forward pass has the same shape (a prompt is padded
to the context, and nothing looks ahead), and one thread adds up. That is what lets the tests say
"this answer came from exactly that version".
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

# The order of a sum decides its last bit, and the number of threads decides the order. They are
# read once, when numpy or torch is imported; both are imported after this.
for variable in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")

HEAD_WIDTH = 32
"""Columns of one attention head: the one number that no tensor's shape tells."""


@dataclass(frozen=True)
class Shape:
    """The sizes of a network. Tokens are bytes unless the vocabulary is larger."""

    layers: int = 4
    width: int = 128
    vocabulary: int = 256
    context: int = 64

    @property
    def heads(self) -> int:
        return self.width // HEAD_WIDTH

    def tensors(self) -> dict[str, tuple[int, ...]]:
        """Every tensor of such a network."""
        width = self.width
        shapes: dict[str, tuple[int, ...]] = {
            "wte": (self.vocabulary, width),
            "wpe": (self.context, width),
            "norm": (width,),
            "lm_head": (self.vocabulary, width),
        }
        for layer in range(self.layers):
            shapes |= {
                f"h.{layer}.norm_1": (width,),
                f"h.{layer}.qkv": (3 * width, width),
                f"h.{layer}.out": (width, width),
                f"h.{layer}.norm_2": (width,),
                f"h.{layer}.up": (4 * width, width),
                f"h.{layer}.down": (width, 4 * width),
            }
        return shapes

    @staticmethod
    def of(weights: Mapping[str, Any]) -> Shape:
        """The shape of the network that these weights are for."""
        vocabulary, width = weights["wte"].shape
        shape = Shape(
            layers=sum(name.endswith(".qkv") for name in weights),
            width=int(width),
            vocabulary=int(vocabulary),
            context=int(weights["wpe"].shape[0]),
        )
        for name, expected in shape.tensors().items():
            if tuple(weights[name].shape) != expected:
                raise ValueError(f"{name} has shape {tuple(weights[name].shape)}, not {expected}")
        return shape


class Net(Protocol):
    """What both networks can do."""

    shape: Shape

    def load(self, weights: Mapping[str, Any]) -> None:
        """Goes on with these weights. No view of the former ones is kept."""

    def logits(self, tokens: Sequence[int]) -> bytes:
        """One forward pass: the scores of the next token, as float32 in bytes."""

    def best(self, logits: bytes) -> int:
        """The token with the highest score; the first of them, if there are several."""


@dataclass(frozen=True)
class Output:
    """What a network says to a prompt."""

    tokens: list[int]
    digest: str
    """A hash over the scores of every step, so that two outputs can be compared to the last bit."""


def generate(net: Net, prompt: Sequence[int], count: int) -> Output:
    """Greedy decoding: `count` times the most likely next token."""
    if not prompt or count < 1 or len(prompt) + count > net.shape.context + 1:
        raise ValueError(f"prompt and answer must have 2 to {net.shape.context + 1} tokens together")
    if not all(isinstance(token, int) and 0 <= token < net.shape.vocabulary for token in prompt):
        raise ValueError(f"tokens are numbers from 0 to {net.shape.vocabulary - 1}")
    tokens, digest = list(prompt), hashlib.sha256()
    for _ in range(count):
        logits = net.logits(tokens)
        digest.update(logits)
        tokens.append(net.best(logits))
    return Output(tokens[len(prompt) :], digest.hexdigest()[:16])


def new_net(framework: str) -> Net:
    """An empty network of that framework, `numpy` or `torch`."""
    if framework == "torch":
        from net_torch import TorchNet

        return TorchNet()
    from net_numpy import NumpyNet

    return NumpyNet()


def private_weights(framework: str, checkpoint: str | os.PathLike[str]) -> Mapping[str, Any]:
    """A checkpoint's weights in memory of this process alone: what everybody does without a pond."""
    if framework == "torch":
        import net_torch

        return net_torch.read_weights(checkpoint)
    import net_numpy

    return net_numpy.read_weights(checkpoint)
