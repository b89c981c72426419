#!/usr/bin/env python3
"""Trains a small transformer with one allocator, in blocks of steps, when it is told to.

    train.py --allocator torch|pool|replaced [--group NAME]

`torch` is torch's own allocator; `pool` is `millpond.torch.use_pool`, where torch's allocator asks the pool for segments;
`replaced` is `millpond.torch.replace_allocator`, where every tensor is a block of the pool. side_by_side.py starts one process for
each and tells them in turns: a line `block N` is N steps, `end` is the end. Each answer is a line of JSON. Seeds and settings
are such that the same steps give the same bits.
"""

import argparse
import contextlib
import hashlib
import json
import os
import sys
import time

# Before torch is loaded: cuBLAS takes the same workspaces each time.
os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")

SIZES = {"layers": 8, "width": 1024, "heads": 16, "sequence": 1024, "batch": 16, "words": 8192}


def model_of(torch, sizes):
    """A transformer that guesses the next word."""
    nn, functional = torch.nn, torch.nn.functional

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            width = sizes["width"]
            self.before_attention, self.before_wide = nn.LayerNorm(width), nn.LayerNorm(width)
            self.into, self.back = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x):
            batch, sequence, width = x.shape
            parts = self.into(self.before_attention(x)).view(batch, sequence, 3, sizes["heads"], -1).permute(2, 0, 3, 1, 4)
            seen = functional.scaled_dot_product_attention(*parts, is_causal=True)
            x = x + self.back(seen.transpose(1, 2).reshape(batch, sequence, width))
            return x + self.narrow(functional.gelu(self.wide(self.before_wide(x))))

    class Transformer(nn.Module):
        def __init__(self):
            super().__init__()
            self.words = nn.Embedding(sizes["words"], sizes["width"])
            self.places = nn.Embedding(sizes["sequence"], sizes["width"])
            self.layers = nn.ModuleList(Layer() for _ in range(sizes["layers"]))
            self.last = nn.LayerNorm(sizes["width"])
            self.head = nn.Linear(sizes["width"], sizes["words"], bias=False)

        def forward(self, tokens):
            x = self.words(tokens) + self.places(torch.arange(tokens.shape[1], device=tokens.device))
            for layer in self.layers:
                x = layer(x)
            return self.head(self.last(x))

    return Transformer()


class Training:
    """A model, its optimizer and its data."""

    def __init__(self, torch):
        from torch.nn.attention import SDPBackend, sdpa_kernel

        self.torch = torch
        torch.manual_seed(0)
        # Made on the host, so that the numbers are the same wherever the memory is.
        self.model = model_of(torch, SIZES).cuda()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=3e-4)
        self.random = torch.Generator().manual_seed(1)
        # cuDNN's attention changes its last bits from call to call.
        self.one_order = lambda: sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.MATH])

    def step(self):
        torch = self.torch
        tokens = torch.randint(SIZES["words"], (SIZES["batch"], SIZES["sequence"] + 1), generator=self.random).cuda()
        with torch.autocast("cuda", dtype=torch.bfloat16), self.one_order():
            guessed = self.model(tokens[:, :-1])
            loss = torch.nn.functional.cross_entropy(guessed.float().flatten(0, 1), tokens[:, 1:].flatten())
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return loss.detach()

    def block(self, steps):
        """So many steps: seconds between two moments at which the device was idle, and the losses."""
        self.torch.cuda.synchronize()
        begun = time.perf_counter()
        losses = [self.step() for _ in range(steps)]
        self.torch.cuda.synchronize()
        took = time.perf_counter() - begun
        return {"seconds": took, "losses": [float(loss) for loss in losses]}

    def hash(self):
        """Of every bit of every parameter."""
        found = hashlib.sha256()
        for name, value in sorted(self.model.state_dict().items()):
            found.update(name.encode())
            found.update(value.detach().contiguous().view(self.torch.uint8).cpu().numpy().tobytes())
        return found.hexdigest()


def memory_of(torch, pool):
    """The most that was held, by torch's books and by the pool's; None where there are none."""
    found = {}
    for name in ("max_memory_reserved", "max_memory_allocated"):
        # Torch has no books of an allocator that is not its own.
        try:
            found[name] = getattr(torch.cuda, name)()
        except Exception:  # noqa: BLE001 - each torch says it in another way
            found[name] = None
    if pool is not None:
        stats = pool.stats()
        names = ("peak_in_use_bytes", "peak_held_bytes", "held_bytes", "allocations", "reused", "taken_over", "growths", "waits", "refused")
        found["pool"] = {name: stats.get(name) for name in names}
    return found


def say(**answer):
    print(json.dumps(answer), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--allocator", choices=("torch", "pool", "replaced"), required=True)
    parser.add_argument("--group", default="pool")
    options = parser.parse_args()
    import torch

    pool = None
    with contextlib.ExitStack() as until:
        if options.allocator != "torch":
            import millpond.torch

            if options.allocator == "replaced":
                millpond.torch.replace_allocator(options.group)
            else:
                until.enter_context(millpond.torch.use_pool(options.group))
            pool = millpond.torch.pool(options.group)
        # With `warn_only` attention would take the other way, whose last bits change from call to call.
        torch.use_deterministic_algorithms(True)
        # What reads memory that nobody wrote is to be seen.
        torch.utils.deterministic.fill_uninitialized_memory = False
        training = Training(torch)
        say(ready=True, torch=torch.__version__, parameters=sum(value.numel() for value in training.model.parameters()))
        for line in sys.stdin:
            words = line.split()
            if words[0] == "end":
                break
            say(**training.block(int(words[1])))
        say(hash=training.hash(), memory=memory_of(torch, pool))
        del training
        torch.cuda.synchronize()
    return 0


if __name__ == "__main__":
    sys.exit(main())
