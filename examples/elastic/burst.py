#!/usr/bin/env python3
"""Two models under one limit: one idles with a large cache while the other bursts, then the reverse.

    burst.py [--limit SIZE] [--pause SECONDS] [--out FILE.json] [--svg FILE.svg]

Starts a pond of its own, a group with a limit, and two processes with an elastic cache each. Memory moves to whoever needs
it, and back. At every step both models attend over all of their blocks, with torch on a GPU and with numpy on the software
driver (MILLPOND_DRIVER=soft), and every output is compared to the last bit with the same attention over plain memory.
Writes samples of both caches as JSON and as a picture. Exits with 1 if an output differs or a step fails.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import multiprocessing
import os
import pathlib
import sys
import threading
import time
from typing import Any

import picture
from arithmetic import Shape
from own_pond import OwnPond

GROUP = "serving"
NAMES = ("model-a", "model-b")
MIB = 1 << 20
PAGE = 2 * MIB
# What a step grows by, as a part of the limit; what an idle model uses, and a busy one.
STEPS, SMALL, HALF, BIG = 16, 2, 8, 14
GPU = {"layers": 16, "tokens": 16, "heads": 8, "dim": 128, "item_bytes": 2, "limit": 16 << 30}
SOFT = {"layers": 1, "tokens": 16, "heads": 4, "dim": 32, "item_bytes": 4, "limit": 128 * MIB}
SAMPLE_SECONDS = 0.005
COLUMNS = ["at", "committed_bytes", "idle_bytes", "held_bytes"]
SECONDS = 60
"""No order takes so long unless it hangs."""


class Failed(Exception):
    """An order failed, or a process ended."""


class Process:
    """A model in a process of its own, which does what it is told."""

    def __init__(self, name: str, shape: Shape, seed: int) -> None:
        import model

        self.name = name
        spawn = multiprocessing.get_context("spawn")
        self.orders, theirs = spawn.Pipe()
        self.process = spawn.Process(target=model.serve, args=(theirs, GROUP, name, shape, seed), daemon=True)
        self.process.start()
        theirs.close()

    def hear(self) -> Any:
        if not self.orders.poll(SECONDS):
            raise Failed(f"{self.name} does not answer")
        try:
            how, answer = self.orders.recv()
        except EOFError:
            raise Failed(f"{self.name} ended") from None
        if how == "failed":
            raise Failed(f"{self.name}: {answer}")
        return answer

    def ask(self, *order: Any) -> Any:
        self.orders.send(order)
        return self.hear()

    def stop(self) -> None:
        self.orders.close()
        self.process.join(10)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()


class Sampler(threading.Thread):
    """Asks the pond again and again what both caches hold: one answer has both, at one moment."""

    def __init__(self, begun: float) -> None:
        super().__init__(daemon=True)
        self.begun, self.over = begun, threading.Event()
        self.samples: dict[str, list[list[float]]] = {name: [] for name in NAMES}
        self.start()

    def run(self) -> None:
        while not self.over.wait(SAMPLE_SECONDS):
            self.look()

    def look(self) -> list[Any]:
        import millpond

        caches = millpond.caches(GROUP)
        at = time.monotonic() - self.begun
        for cache in caches:
            used = cache.held_bytes - cache.idle_bytes
            self.samples[cache.name].append([at, used, cache.idle_bytes, cache.held_bytes])
        return caches

    def end(self) -> list[Any]:
        self.over.set()
        self.join()
        return self.look()


class Story:
    """What happens, and what is noted of it."""

    def __init__(self, models: list[Process], step_blocks: int, pause: float) -> None:
        self.models, self.step_blocks, self.pause = models, step_blocks, pause
        self.level = dict.fromkeys(NAMES, 0)
        self.begun = time.monotonic()
        self.phases: list[dict[str, Any]] = []
        self.grown: list[dict[str, Any]] = []
        self.checks = self.wrong = 0

    def phase(self, name: str) -> None:
        self.phases.append({"name": name, "at": time.monotonic() - self.begun})

    def grow(self, model: Process, level: int) -> None:
        """One step after the other, and attention after each."""
        while self.level[model.name] < level:
            self.level[model.name] += 1
            grown = model.ask("grow", self.level[model.name] * self.step_blocks)
            at = time.monotonic() - self.begun
            self.grown.append({"name": model.name, "at": at, "phase": self.phases[-1]["name"], **grown})
            self.attend()

    def shrink(self, model: Process, level: int) -> None:
        model.ask("shrink", level * self.step_blocks)
        self.level[model.name] = level
        self.attend()

    def attend(self) -> None:
        """Both at the same time, so that pages come and go beside running work."""
        for model in self.models:
            model.orders.send(("attend",))
        for model in self.models:
            found = model.hear()
            self.checks += found["outputs"]
            self.wrong += 0 if found["same"] else found["outputs"]
            # What its handler has given is not there any more.
            self.level[model.name] = found["blocks"] // self.step_blocks
        time.sleep(self.pause)

    def tell(self) -> None:
        one, other = self.models
        self.phase("both start")
        for model in self.models:
            self.grow(model, SMALL)
        self.phase("A bursts")
        self.grow(one, BIG)
        self.phase("A idles, B bursts")
        self.shrink(one, SMALL)
        self.grow(other, BIG)
        self.phase("B idles, A bursts")
        self.shrink(other, SMALL)
        self.grow(one, BIG)
        # Nobody idles: the handler of the first one drops its newest requests. What a cache got from others stays with
        # it for half a second.
        one.ask("keep", SMALL * self.step_blocks)
        time.sleep(max(0.6, self.pause))
        self.phase("A gives way to B")
        self.grow(other, HALF)
        self.phase("B ends, A is back")
        self.shrink(other, SMALL)
        self.grow(one, BIG)


def moved(caches: list[Any]) -> list[dict[str, Any]]:
    """What the pond says of both: who gave how much, and who got it."""
    return [{"name": cache.name, "given_bytes": cache.given_bytes, "got_bytes": cache.got_bytes} for cache in caches]


def sizes(limit: int | None) -> tuple[Shape, int, int]:
    """The shape of a cache that could take all of the limit, the limit, and the blocks of a step."""
    numbers = SOFT if os.environ.get("MILLPOND_DRIVER") == "soft" else GPU
    shape = Shape(numbers["layers"], 1, numbers["tokens"], numbers["heads"], numbers["dim"])
    block_bytes = shape.block_bytes(numbers["item_bytes"])
    # A step is whole pages of all layers.
    row_bytes = numbers["layers"] * 2 * PAGE
    rows = max((limit or numbers["limit"]) // (row_bytes * STEPS), 1)
    step_blocks = rows * row_bytes // block_bytes
    return shape._replace(blocks=STEPS * step_blocks), STEPS * rows * row_bytes, step_blocks


def run(limit: int | None, pause: float, seed: int) -> dict[str, Any]:
    """The story in a pond of its own, and everything that was noted."""
    pond = OwnPond()
    models: list[Process] = []
    try:
        import millpond

        shape, limit, step_blocks = sizes(limit)
        millpond.set_group(GROUP, limit)
        models = [Process(name, shape, seed + number) for number, name in enumerate(NAMES)]
        for model in models:
            model.hear()
        story = Story(models, step_blocks, pause)
        sampler = Sampler(story.begun)
        story.tell()
        given = moved(sampler.end())
        seconds = time.monotonic() - story.begun
        ends = [model.ask("end") for model in models]
        device = millpond.status().devices[0].name
        return {
            "device": device, "group": GROUP, "limit_bytes": limit, "seconds": seconds, "step_bytes": limit // STEPS,
            "checks": story.checks, "wrong": story.wrong, "phases": story.phases, "grown": story.grown, "moved": given,
            "caches": [{"name": name, "given_blocks": end["given_blocks"], "columns": COLUMNS, "samples": sampler.samples[name]}
                       for name, end in zip(NAMES, ends, strict=True)],
        }
    finally:
        for model in models:
            model.stop()
        pond.end()


def say(result: dict[str, Any]) -> None:
    """What moved, for people."""
    def size(count: float) -> str:
        return f"{count / (1 << 30):.2f} GiB" if count >= 1 << 30 else f"{count / MIB:.0f} MiB"

    print(f"{result['device']}: two caches under {size(result['limit_bytes'])}, {result['seconds']:.1f} s")
    for phase in result["phases"]:
        steps = [one for one in result["grown"] if one["phase"] == phase["name"]]
        times = sorted(one["seconds"] * 1e3 for one in steps)
        if steps:
            bytes_each = result["step_bytes"]
            print(f"  {phase['name']:20} {len(steps):3} commits of {size(bytes_each)}: median {times[len(times) // 2]:.2f} ms, longest {times[-1]:.2f} ms")
    for cache in result["moved"]:
        print(f"  {cache['name']} gave {size(cache['given_bytes'])} and got {size(cache['got_bytes'])} from others")
    held = [sum(parts) for parts in zip(*_held(result), strict=True)]
    print(f"  held at most {size(max(held))} together")
    print(f"  {result['checks']:,} outputs of attention compared with plain memory, {result['wrong']:,} differ")


def _held(result: dict[str, Any]) -> list[list[float]]:
    _, (used_a, idle_a, idle_b, used_b) = picture.stacked([cache["samples"] for cache in result["caches"]])
    return [used_a, idle_a, idle_b, used_b]


def size_of(text: str) -> int:
    """`128M`, `16G` or bytes."""
    factor = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}.get(text[-1:].upper())
    return int(text[:-1]) * factor if factor else int(text)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=size_of, help="of both together: 16G on a GPU and 128M without one, unless said")
    parser.add_argument("--pause", type=float, default=0.03, help="seconds between two steps")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("burst.json"))
    parser.add_argument("--svg", type=pathlib.Path, default=pathlib.Path("burst.svg"))
    options = parser.parse_args()
    needed = "numpy" if os.environ.get("MILLPOND_DRIVER") == "soft" else "torch"
    for package in ("millpond", needed):
        if not importlib.util.find_spec(package):
            sys.exit(f"burst: the package '{package}' is not installed")
    try:
        result = run(options.limit, options.pause, options.seed)
    except Failed as error:
        sys.exit(f"burst: {error}")
    options.out.write_text(json.dumps(result) + "\n")
    options.svg.write_text(picture.draw(result))
    say(result)
    print(f"  written: {options.out}, {options.svg}")
    return 1 if result["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
