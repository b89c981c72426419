"""One model: a process with an elastic cache, whose requests come and go.

The process that started it says how many blocks its requests need (`Model.grow`, `Model.shrink`), and has it attend
over them. Every output is compared with the same attention over plain memory.
"""

from __future__ import annotations

import threading
import time
from multiprocessing.connection import Connection
from typing import Any

import arithmetic
from arithmetic import GROW_ALONG, Shape


class Model:
    """A cache, its mirror in plain memory, and how much of both is in use."""

    def __init__(self, group: str, name: str, shape: Shape, seed: int) -> None:
        import millpond

        self.shape, self.used = shape, 0
        self.compute = arithmetic.of_this_machine(seed)
        pool = millpond.elastic(group)
        self.cache = pool.reserve(name, shape=shape.extents, dtype=self.compute.dtype, grow_along=GROW_ALONG,
                                  largest_handle="16MiB", wait=5.0)
        self.view = self.compute.view(self.cache)
        self.mirror = self.compute.plain(shape)
        self.address = self.cache.data_ptr()
        self.lock = threading.Lock()
        # Blocks that are kept whoever asks, and whether a commit is under way.
        self.kept, self.growing, self.given = shape.blocks, False, 0
        self.cache.on_pressure(self.pressed)

    def grow(self, blocks: int) -> dict[str, Any]:
        """New requests: blocks up to this count have memory, and new contents."""
        with self.lock:
            self.growing, before = True, self.used
        begun = time.monotonic()
        try:
            self.cache.commit(blocks)
        except BaseException:
            with self.lock:
                self.growing = False
            raise
        took = time.monotonic() - begun
        with self.lock:
            self.compute.fill([self.view, self.mirror], before, blocks)
            self.used, self.growing = blocks, False
        return {"seconds": took, "blocks": blocks - before}

    def shrink(self, blocks: int) -> None:
        """Requests have ended. Their pages stay for the next ones, until somebody needs them."""
        with self.lock:
            self.cache.uncommit(range(blocks, self.used), **self.compute.stream())
            self.used = blocks

    def pressed(self, ask: Any) -> bool:
        """Another model needs pages beyond the idle ones: the newest requests are dropped, in whole pages of all layers."""
        with self.lock:
            spare = 0 if self.growing else max(self.used - self.kept, 0)
            given = min(ask.blocks, spare)
            if given == 0:
                return False
            self.cache.uncommit(range(self.used - given, self.used), **self.compute.stream())
            self.used -= given
            self.given += given
            return True

    def attend(self) -> dict[str, Any]:
        """Attention over all blocks in use, in the cache and in plain memory."""
        with self.lock:
            if self.used == 0:
                return {"same": True, "outputs": 0, "blocks": 0}
            question = self.compute.question(self.shape, self.used)
            ours = self.compute.attend(self.view, self.used, question)
            theirs = self.compute.attend(self.mirror, self.used, question)
            same = self.compute.same(ours, theirs) and self.cache.data_ptr() == self.address
            return {"same": same, "outputs": len(ours), "blocks": self.used}


def serve(orders: Connection, group: str, name: str, shape: Shape, seed: int) -> None:
    """The process: one order after the other, until the other side ends."""
    try:
        model = Model(group, name, shape, seed)
        orders.send(("ready", None))
    except Exception as error:
        orders.send(("failed", f"{type(error).__name__}: {error}"))
        return
    while True:
        try:
            what, *arguments = orders.recv()
        except EOFError:
            return
        try:
            if what == "end":
                orders.send(("done", {"given_blocks": model.given}))
                return
            if what == "keep":
                model.kept = arguments[0]
                answer = None
            else:
                answer = getattr(model, what)(*arguments)
            orders.send(("done", answer))
        except Exception as error:
            orders.send(("failed", f"{type(error).__name__}: {error}"))
