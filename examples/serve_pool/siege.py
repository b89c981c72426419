#!/usr/bin/env python3
"""Siege: is every answer right while everything dies?

Workers infer in a loop. Meanwhile versions v1 and v2 are swapped again and again, a third one is
loaded, verified and retired beside them, and workers, the daemon and the mover are killed with -9
at random. It starts a pond of its own and says, as JSON, whether

  - every answer is, to the last bit, the one of the version that it names, computed beforehand by
    this process from private weights;
  - no request was lost;
  - at the end all workers have followed the last swap, both versions verify, and the pond's account
    and the card's used bytes are what they were at the start.

    python siege.py [--workers 8] [--swaps 50] [--seed N]

It exits with 1 if anything of that is not so.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable

import make_checkpoint
from coordinator import framework_of_pond, worker_command
from model import Output, Shape, generate, new_net, private_weights
from pool import Pool
from siege_pond import DEADLINE, OwnPond, same

MODEL = "siege/net"
VERSIONS = ("v1", "v2")


class Siege:
    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        self.random = random.Random(args.seed)
        self.violations: list[str] = []
        self.kills = {"worker": 0, "daemon": 0, "mover": 0}
        self.asked = 0
        self.moved = {"done": 0, "repeated": 0}
        self.longest_wait = 0.0
        self.pool: Pool | None = None
        self.over = threading.Event()
        self.lock = threading.Lock()

        self.pond = OwnPond()
        import millpond  # not before the environment names the pond

        self.millpond = millpond
        self.framework = args.framework or framework_of_pond()
        self.shape = Shape(args.layers, args.width, context=args.context)
        self.checkpoints = {}
        for version, seeds in {"v1": (1, None), "v2": (1, 2), "v3": (3, None)}.items():
            path = self.checkpoints[version] = str(self.pond.folder / f"{version}.safetensors")
            make_checkpoint.write(path, self.shape, seeds[0], tune=seeds[1], dtype=args.dtype)
        self.prompts = [[self.random.randrange(256) for _ in range(6)] for _ in range(8)]
        self.expected = {version: self.private_outputs(version) for version in VERSIONS}

    def private_outputs(self, version: str) -> list[Output]:
        """What the version's weights answer to every prompt, without any pond."""
        net = new_net(self.framework)
        net.load(private_weights(self.framework, self.checkpoints[version]))
        return [generate(net, prompt, self.args.count) for prompt in self.prompts]

    def complain(self, text: str) -> None:
        with self.lock:
            self.violations.append(text)

    def run(self) -> dict[str, object]:
        begun = time.monotonic()
        if any(one == other for one, other in zip(*self.expected.values())):
            self.complain("the versions give equal answers: the check would show nothing")
        for version in VERSIONS:
            self.load(version)
        self.millpond.swap(MODEL, VERSIONS[0])
        start = self.pond.memory()

        pool = self.pool = Pool(
            worker_command(MODEL, self.framework, self.args.requests_per_worker),
            self.args.workers,
            max_tries=20,  # being shot at is not the request's fault
        )
        self.wait_for_workers()
        feeders = [self.thread(self.feed, number) for number in range(2 * self.args.workers)]
        others = [self.thread(self.move), self.thread(self.kill)]
        self.swap_again_and_again()
        self.over.set()
        for thread in others + feeders:
            thread.join()
        self.last_words()
        pool.stop()

        end = self.pond.memory(start)
        status = self.pond.status()
        if not status or not same(start, end, status):
            self.complain(f"memory at the end is {end}, and was {start}")
        stats = pool.stats()
        if stats["answered"] != self.asked:
            self.complain(f"{self.asked} requests were asked, {stats['answered']} answered")
        return {
            "ok": not self.violations,
            "driver": status and status["driver"],
            "workers": self.args.workers,
            "swaps": self.args.swaps,
            "kills": self.kills,
            "daemons": status and status["epoch"],
            "requests": {
                "asked": self.asked,
                "answered": stats["answered"],
                "by_version": stats["by_version"],
                "handed_over": stats["handed_over"],
                "longest_wait_ms": round(self.longest_wait * 1e3, 1),
            },
            "workers_started": stats["started"],
            "moves": self.moved,
            "memory": {"start": start, "end": end},
            "seed": self.args.seed,
            "seconds": round(time.monotonic() - begun, 1),
            "violations": self.violations,
        }

    def close(self) -> None:
        self.over.set()
        if self.pool:
            self.pool.stop(drain_seconds=0)
        self.pond.stop()

    def thread(self, work: Callable[..., None], *args: object) -> threading.Thread:
        def guarded() -> None:
            try:
                work(*args)
            except Exception as error:  # a thread that ends early must be seen
                self.complain(f"{work.__name__}: {type(error).__name__}: {error}")

        thread = threading.Thread(target=guarded, name=work.__name__)
        thread.start()
        return thread

    def load(self, version: str, tag: str | None = None) -> None:
        self.millpond.load(MODEL, self.checkpoints[version], version=tag or version, slab_bytes=self.args.slab_bytes)

    def wait_for_workers(self) -> None:
        deadline = time.monotonic() + DEADLINE
        while len(self.pool.pids()) < self.args.workers:
            if time.monotonic() > deadline:
                raise TimeoutError("the workers do not start")
            time.sleep(0.05)

    def ask(self, prompt: int) -> str:
        """One request, and whether its answer is right. Returns the version that gave it."""
        begun = time.monotonic()
        body = {"tokens": self.prompts[prompt], "count": self.args.count}
        with self.lock:
            self.asked += 1
        answer = self.pool.submit(body).result(timeout=2 * DEADLINE)
        with self.lock:
            self.longest_wait = max(self.longest_wait, time.monotonic() - begun)
        right = self.expected[answer["version"]][prompt]
        if (answer.get("tokens"), answer.get("digest")) != (right.tokens, right.digest):
            self.complain(f"prompt {prompt}: {answer} is not the answer of {answer['version']}: {right}")
        return answer["version"]

    def feed(self, number: int) -> None:
        while not self.over.is_set():
            self.ask(number % len(self.prompts))
            number += 1

    def swap_again_and_again(self) -> None:
        for swap in range(self.args.swaps):
            self.millpond.swap(MODEL, VERSIONS[(swap + 1) % 2])
            time.sleep(self.args.swap_every)

    def move(self) -> None:
        """Keeps a mover busy. Whoever is shot may fail, with an error that says "retry"."""
        number = 0
        while not self.over.is_set():
            number += 1
            for work in (
                lambda: self.load("v3", f"v3.{number}"),
                lambda: self.check(f"v3.{number}"),
                lambda: self.check(VERSIONS[number % 2]),
                lambda: self.millpond.retire(MODEL, f"v3.{number}"),
            ):
                self.until_done(work)

    def until_done(self, work: Callable[[], object]) -> None:
        deadline = time.monotonic() + DEADLINE
        while True:
            try:
                work()
                self.moved["done"] += 1
                return
            except self.millpond.Error as error:
                if error.remedy != "retry" or time.monotonic() > deadline:
                    raise
                self.moved["repeated"] += 1

    def check(self, tag: str) -> None:
        report = self.millpond.verify(f"{MODEL}@{tag}")
        if not report.ok:
            self.complain(f"{tag}: {report.bad} are not what was loaded")

    def kill(self) -> None:
        while not self.over.wait(self.random.uniform(0.5, 1.5) * self.args.kill_every):
            victim = self.random.choices(list(self.kills), (2, 1, 1))[0]
            if victim == "daemon":
                hit = self.pond.kill_daemon()
            elif victim == "mover":
                hit = self.pond.kill_mover()
            else:
                hit = self.kill_worker()
            self.kills[victim] += hit

    def kill_worker(self) -> bool:
        pids = self.pool.pids()
        if len(pids) <= self.args.workers // 2:  # those who start are given time
            return False
        try:
            os.kill(self.random.choice(pids), signal.SIGKILL)
        except ProcessLookupError:
            return False
        return True

    def last_words(self) -> None:
        """Everybody follows the last swap, and both versions are whole."""
        last = VERSIONS[self.args.swaps % 2]
        deadline = time.monotonic() + DEADLINE
        self.wait_for_workers()
        while {worker["version"] for worker in self.pool.stats()["workers"]} != {last}:
            self.ask(self.random.randrange(len(self.prompts)))
            if time.monotonic() > deadline:
                self.complain(f"not every worker has followed the swap to {last}")
                break
        for version in VERSIONS:
            self.until_done(lambda version=version: self.check(version))
        versions = {info.version for info in self.millpond.inspect(MODEL).versions if info.state == "ready"}
        if versions != set(VERSIONS):
            self.complain(f"the pond holds the versions {sorted(versions)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--swaps", type=int, default=50)
    parser.add_argument("--swap-every", type=float, default=0.3, metavar="SECONDS")
    parser.add_argument("--kill-every", type=float, default=0.4, metavar="SECONDS")
    parser.add_argument("--requests-per-worker", type=int, default=0, help="0: a worker lives until it is killed")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--framework", choices=("numpy", "torch"), help="unless said: what the driver needs")
    parser.add_argument("--dtype", choices=("F32", "F16", "BF16"), default="F32")
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--context", type=int, default=16)
    parser.add_argument("--count", type=int, default=2, help="tokens of an answer")
    parser.add_argument("--slab-bytes", type=int, default=2 << 20)
    args = parser.parse_args()

    siege = Siege(args)
    try:
        report = siege.run()
    finally:
        siege.close()
    print(json.dumps(report, indent=1))
    if report["ok"]:
        siege.pond.remove()
    else:
        print(f"siege: NOT as it should be; the pond's log is {siege.pond.folder}/log", file=sys.stderr)
    sys.exit(0 if report["ok"] else 1)


if __name__ == "__main__":
    main()
