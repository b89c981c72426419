"""Trainings with different allocators in processes of their own, told in turns to do a block of steps."""

import json
import pathlib
import selectors
import statistics
import subprocess
import sys
import tempfile
import time

# The second one is torch beside itself: how much two equal processes differ.
KINDS = ("torch", "torch_again", "pool", "replaced")
OWN_KINDS = ("pool", "replaced")
START_SECONDS, BLOCK_SECONDS = 90, 60
FULL = {"generations": 2, "rounds": 6, "steps": 20, "warm_up": 10}
QUICK = {"generations": 1, "rounds": 5, "steps": 5, "warm_up": 5}


class WorkerFailed(Exception):
    """A training ended or hung; the message is what it said, the code how it ended (None when it was killed for its time)."""

    def __init__(self, message, code):
        super().__init__(message)
        self.code = code


class Worker:
    """One training. Context manager: its process is over afterwards."""

    def __init__(self, kind, program, group, env):
        self.kind = kind
        self.errors = tempfile.TemporaryFile()
        command = [sys.executable, "-B", str(program), "--allocator", kind.removesuffix("_again"), "--group", group]
        self.process = subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors)
        self.waiting = selectors.DefaultSelector()
        self.waiting.register(self.process.stdout, selectors.EVENT_READ)
        self.read = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for file in (self.waiting, self.process.stdin, self.process.stdout, self.errors):
            try:
                file.close()
            except OSError:
                pass  # What it was not told any more.

    def said(self):
        """The end of its standard error."""
        self.errors.seek(0)
        return self.errors.read().decode(errors="replace").strip()[-3000:]

    def tell(self, line):
        try:
            self.process.stdin.write(line.encode() + b"\n")
            self.process.stdin.flush()
        except OSError:
            pass  # It is over; the answer that does not come says why.

    def answer(self, seconds):
        """The next line that it says."""
        until = time.monotonic() + seconds
        while b"\n" not in self.read:
            left = until - time.monotonic()
            if left <= 0:
                self.process.kill()
                self.process.wait()
                raise WorkerFailed(f"{self.kind}: no answer in {seconds} s\n{self.said()}", None)
            if not self.waiting.select(left):
                continue
            more = self.process.stdout.read1(1 << 16)
            if not more:
                code = self.process.wait()
                raise WorkerFailed(f"{self.kind}: ended with {code}\n{self.said()}", code)
            self.read += more
        line, _, self.read = self.read.partition(b"\n")
        try:
            return json.loads(line)
        except ValueError as error:
            raise WorkerFailed(f"{self.kind}: said {line[:200]!r}", None) from error

    def block(self, steps):
        self.tell(f"block {steps}")
        return self.answer(BLOCK_SECONDS)

    def end(self):
        """Its last words, and an end without an error."""
        self.tell("end")
        last = self.answer(BLOCK_SECONDS)
        try:
            code = self.process.wait(BLOCK_SECONDS)
        except subprocess.TimeoutExpired as error:
            raise WorkerFailed(f"{self.kind}: did not end after its last words\n{self.said()}", None) from error
        if code:
            raise WorkerFailed(f"{self.kind}: ended with {code} after its last words\n{self.said()}", code)
        return last


def generation(start, plan, kinds=KINDS):
    """One process of each kind at a time in turns, another one first in each round. `start(kind)` makes a worker.
    {kind: what it did}, and {kind: why it did not}."""
    done, out, workers = {}, {}, {}

    def each(names, act):
        for kind in names:
            if kind in workers and kind not in out:
                try:
                    act(kind, workers[kind])
                except WorkerFailed as error:
                    out[kind] = str(error)

    def ready(kind, worker):
        hello = worker.answer(START_SECONDS)
        done[kind] = {"parameters": hello.get("parameters"), "torch": hello.get("torch"), "losses": [], "step_ms": []}

    def warm(kind, worker):
        done[kind]["losses"] += worker.block(plan["warm_up"])["losses"]

    def block(kind, worker):
        answer = worker.block(plan["steps"])
        done[kind]["losses"] += answer["losses"]
        done[kind]["step_ms"].append(answer["seconds"] / plan["steps"] * 1e3)

    def end(kind, worker):
        done[kind] |= worker.end()

    try:
        workers |= {kind: start(kind) for kind in kinds}
        for act in (ready, warm):
            each(kinds, act)
        order = list(kinds)
        for _ in range(plan["rounds"]):
            each(order, block)
            order = order[1:] + order[:1]
        each(kinds, end)
    finally:
        for worker in workers.values():
            worker.__exit__()
    return {kind: found for kind, found in done.items() if kind not in out}, out


def compare(generations):
    """Whose losses or parameters differ from those of torch in the first generation that has them."""
    first = next((one["torch"] for one in generations if "torch" in one), None)
    if first is None:
        return ["there is no training by torch's own allocator to compare with"]
    different = []
    for number, one in enumerate(generations):
        for kind, found in one.items():
            if found["losses"] != first["losses"]:
                step = next((at for at, pair in enumerate(zip(found["losses"], first["losses"])) if pair[0] != pair[1]), "their number")
                different.append(f"{kind}, generation {number}: losses differ from torch's, first at {step}")
            if found["hash"] != first["hash"]:
                different.append(f"{kind}, generation {number}: parameters differ from torch's in some bit")
    return different


def summary(generations):
    """Numbers: the time of a step over torch's in the same round, the median over all rounds, and beside it torch over itself."""
    found = {}
    for kind in KINDS:
        times = [took for one in generations if kind in one for took in one[kind]["step_ms"]]
        if not times:
            continue
        found[f"train_{kind}_step_ms"] = round(statistics.median(times), 4)
        ratios = [own / theirs for one in generations if kind in one and "torch" in one
                  for own, theirs in zip(one[kind]["step_ms"], one["torch"]["step_ms"])]
        if ratios and kind != "torch":
            found[f"train_{kind}_over_torch"] = round(statistics.median(ratios), 4)
            found[f"train_{kind}_over_torch_spread"] = [round(min(ratios), 4), round(max(ratios), 4)]
        memory = next(one[kind]["memory"] for one in generations if kind in one)
        found[f"train_{kind}_memory"] = memory
        reserved = (memory.get("pool") or {}).get("peak_held_bytes") or memory.get("max_memory_reserved")
        found[f"train_{kind}_peak_bytes"] = reserved
    return found


def run(program, group, env, plan, start=None):
    """All generations: numbers, what is wrong, and all that was said."""
    start = start or (lambda kind: Worker(kind, program, group, env))
    generations, failed = [], []
    for number in range(plan["generations"]):
        done, out = generation(start, plan)
        generations.append(done)
        failed += [f"train, generation {number}: {why}" for why in out.values()]
        # A kind that cannot start will not do so later either.
        if len(out) == len(KINDS):
            break
    different = compare(generations)
    return summary(generations), failed + different, {"generations": generations, "plan": plan}


def too_small(program, group, env):
    """What a user reads whose group has too little memory: {kind: text}, and what is wrong about it."""
    found, failed = {}, []
    for kind in OWN_KINDS:
        with Worker(kind, pathlib.Path(program), group, env) as worker:
            try:
                worker.answer(START_SECONDS)
                worker.block(2)
            except WorkerFailed as error:
                # What was running is in the log; the last line is the error itself.
                found[kind] = str(error).splitlines()[-1]
                if error.code is None or error.code < 0:
                    failed.append(f"a limit that is too small: {kind} ended with {error.code} instead of an exception of Python")
            else:
                failed.append(f"a limit that is too small: {kind} trained all the same")
    return found, failed
