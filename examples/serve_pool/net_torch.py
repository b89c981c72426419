"""The transformer of `model.py` in torch, for a GPU.

An ordinary `torch.nn.Module` with an ordinary state dict: its parameters are made without memory,
and `load_state_dict(..., assign=True)` points them at the pond's.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

import make_checkpoint
from model import Shape

import torch
from torch import nn
from torch.nn import functional

torch.use_deterministic_algorithms(True)
torch.backends.cuda.matmul.allow_tf32 = False
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def _empty(*shape: int) -> nn.Parameter:
    return nn.Parameter(torch.empty(shape, device="meta"), requires_grad=False)


def _norm(x: torch.Tensor, gain: torch.Tensor) -> torch.Tensor:
    return x * torch.rsqrt((x * x).mean(dim=-1, keepdim=True) + 1e-5) * gain


class Block(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        width, self.heads = shape.width, shape.heads
        self.norm_1, self.norm_2 = _empty(width), _empty(width)
        self.qkv, self.out = _empty(3 * width, width), _empty(width, width)
        self.up, self.down = _empty(4 * width, width), _empty(width, 4 * width)

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        context, width = x.shape
        q, k, v = (
            part.reshape(context, self.heads, -1).transpose(0, 1)
            for part in functional.linear(_norm(x, self.norm_1), self.qkv).chunk(3, dim=-1)
        )
        scores = q @ k.transpose(1, 2) / q.shape[-1] ** 0.5 + mask
        mixed = (scores.softmax(dim=-1) @ v).transpose(0, 1).reshape(context, width)
        x = x + functional.linear(mixed, self.out)
        up = functional.relu(functional.linear(_norm(x, self.norm_2), self.up))
        return x + functional.linear(up, self.down)


class Transformer(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.wte = _empty(shape.vocabulary, shape.width)
        self.wpe = _empty(shape.context, shape.width)
        self.h = nn.ModuleList(Block(shape) for _ in range(shape.layers))
        self.norm = _empty(shape.width)
        self.lm_head = _empty(shape.vocabulary, shape.width)

    def forward(self, tokens: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        x = self.wte[tokens] + self.wpe
        for block in self.h:
            x = block(x, mask)
        return functional.linear(_norm(x, self.norm), self.lm_head)


class TorchNet:
    shape: Shape

    def load(self, weights: Mapping[str, torch.Tensor]) -> None:
        self.shape = Shape.of(weights)
        self.net = Transformer(self.shape)
        self.net.load_state_dict(weights, assign=True)
        ahead = torch.ones((self.shape.context,) * 2, dtype=torch.bool, device=DEVICE).triu(1)
        self.mask = torch.zeros(ahead.shape, dtype=self.net.wte.dtype, device=DEVICE)
        self.mask.masked_fill_(ahead, float("-inf"))

    @torch.inference_mode()
    def logits(self, tokens: Sequence[int]) -> bytes:
        padded = torch.zeros(self.shape.context, dtype=torch.long)
        padded[: len(tokens)] = torch.tensor(tokens)
        scores = self.net(padded.to(DEVICE), self.mask)[len(tokens) - 1]
        return scores.float().cpu().numpy().tobytes()

    def best(self, logits: bytes) -> int:
        return int(torch.frombuffer(bytearray(logits), dtype=torch.float32).argmax())


def read_weights(checkpoint: str | os.PathLike[str]) -> dict[str, torch.Tensor]:
    """A checkpoint's tensors in memory of this process: a copy on the GPU of its own."""
    dtypes = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}
    return {
        name: torch.frombuffer(bytearray(data), dtype=dtypes[dtype]).reshape(shape).to(DEVICE)
        for name, dtype, shape, data in make_checkpoint.read(checkpoint)
    }
