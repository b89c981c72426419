#!/usr/bin/env python3
"""What a limit costs: the same calls with and without the preloaded library, interleaved in one run.

    side_by_side.py --tenant PROGRAM --preload LIBRARY --pondtool PROGRAM [--out limits-bench.json] [--soft FOLDER] [--short]

In every round both sides are measured, one right after the other, in an order that changes, on the
same processor: two processors of one machine can differ by more than what is measured. A row has
the median over the rounds and the least disturbed round of each side. Of calls the latter is judged.
Of starts the medians are: one takes some 200 ms, which differ by 30 from one to the next on either
side, so the least of a dozen is chance. Needs torch for the training row. With --soft (cargo's
target/debug) it runs on the software driver, where no speed is judged. A goal that is missed is
shown and changes nothing; what fails makes the exit code 1. The last line is `N passed, N failed`.
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

GIB, MIB = 1 << 30, 1 << 20
# HAMi-core on the same kind of machine (H200, driver 580.159, 2026-11-15): without it, with it.
HAMI = {"cuMemAllocAsync, warm": (620, 1400), "kernel launch": (4200, 4810), "start to first allocation": (208e6, 402e6)}
# name: command of a tenant, which of its answers, count on a card
CALLS = {
    "cuMemAlloc 4 KiB, warm": ("time linear 4096", 0, 1000), "cuMemFree 4 KiB, warm": ("time linear 4096", 1, 1000),
    "cuMemAlloc 2 MiB": (f"time linear {2 * MIB}", 0, 50), "cuMemFree 2 MiB": (f"time linear {2 * MIB}", 1, 50),
    "cuMemAlloc 1 GiB": (f"time linear {GIB}", 0, 8), "cuMemFree 1 GiB": (f"time linear {GIB}", 1, 8),
    "cuMemAllocAsync, warm": ("time async 65536", 0, 2000), "cuMemFreeAsync, warm": ("time async 65536", 1, 2000),
    "own pool, warm": ("time pool 65536", 0, 2000),
    "cuMemCreate 2 MiB": (f"time handle {2 * MIB}", 0, 100), "cuMemRelease 2 MiB": (f"time handle {2 * MIB}", 1, 100),
    "kernel launch": ("launch", 0, 1000), "graph launch": ("graph", 0, 1000),
}
NOISE = 0.03  # of launches: what two runs of the same side differ by
TRAINING = """
import sys, time, torch
torch.manual_seed(0)
layer = torch.nn.TransformerEncoderLayer(768, 12, 3072, batch_first=True, device="cuda", dtype=torch.bfloat16)
model = torch.nn.TransformerEncoder(layer, 6)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
# So much that the card, and not the processor, is what a step waits for.
x = torch.randn(64, 512, 768, device="cuda", dtype=torch.bfloat16)
def step():
    optimizer.zero_grad(set_to_none=True)
    loss = model(x).float().square().mean()
    loss.backward()
    optimizer.step()
for _ in range(10): step()
torch.cuda.synchronize()
print("ready", flush=True)
for line in sys.stdin:
    torch.cuda.synchronize(); begun = time.perf_counter()
    for _ in range(int(line)): step()
    torch.cuda.synchronize()
    print(time.perf_counter() - begun, flush=True)
"""


class Process:
    """A program that answers lines."""

    def __init__(self, command, environment, wait=True, processors=None):
        if processors:
            command = ["taskset", "-c", ",".join(map(str, processors)), *command]
        self.process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        if wait:
            self.ready()

    def ready(self):
        line = self.line()
        if not line.startswith("ready"):
            raise RuntimeError(f"it says '{line}'")

    def line(self):
        return self.process.stdout.readline().strip()

    def tell(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def ask(self, line):
        self.tell(line)
        said = self.line()
        if said.startswith("error") or not said:
            raise RuntimeError(f"'{line}': '{said}'")
        return said.removeprefix("ok").split()

    def end(self):
        self.process.kill()
        self.process.communicate()


class Bench:
    def __init__(self, arguments):
        self.arguments, self.rows, self.failed = arguments, [], 0
        self.soft, self.short = arguments.soft, arguments.short
        self.rounds = 2 if self.short else arguments.rounds
        # The last ones: the first serve the machine's interrupts.
        self.processors = sorted(os.sched_getaffinity(0))[-4:]
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="lb-", dir="/dev/shm"))
        base = {name: value for name, value in os.environ.items() if not name.startswith("MILLPOND_") and name != "LD_PRELOAD"}
        if self.soft:
            for library, name in (("libcuda.so", "libcuda.so.1"), ("libnvidia_ml.so", "libnvidia-ml.so.1")):
                os.symlink(os.path.abspath(os.path.join(self.soft, library)), self.folder / name)
            base |= {"LD_LIBRARY_PATH": str(self.folder), "MILLPOND_SOFT_DIR": str(self.folder / "soft"), "MILLPOND_SOFT_MEMORY": "2G"}
        # Far more than is used: what is measured is the account, not the refusal.
        limit = "1G" if self.soft else "60G"
        self.group = f"bench-{os.getpid()}"
        limited = base | {"LD_PRELOAD": os.path.abspath(arguments.preload), "MILLPOND_MEMORY_LIMIT": limit, "MILLPOND_GROUP": self.group}
        self.sides = {"plain": base, "limited": limited}

    def order(self, round_):
        sides = list(self.sides)
        return sides if round_ % 2 == 0 else sides[::-1]

    def add(self, name, samples, goal, is_met, by="least"):
        """A row. `is_met` is asked with the least disturbed round of both sides, or their medians."""
        sides = {side: values for side, values in samples.items() if values}
        best = {side: min(values) for side, values in sides.items()}
        middle = {side: statistics.median(values) for side, values in sides.items()}
        plain, limited = best.get("plain", 0), best["limited"]
        met = is_met(plain, limited) if by == "least" else is_met(middle["plain"], middle["limited"])
        row = {"name": name, "plain_ns": round(plain, 1), "limited_ns": round(limited, 1), "difference_ns": round(limited - plain, 1),
               "ratio": round(limited / plain, 4) if plain else None, "goal": goal, "judged_by": by, "met": bool(met),
               "medians": middle, "samples": samples}
        if name in HAMI:
            without, with_ = HAMI[name]
            row["hami_core_ns"] = {"without": without, "with": with_, "difference": with_ - without}
        self.rows.append(row)
        mark = "" if self.soft else ("yes" if met else "NO")
        print(f"{name:34} {plain:14,.0f} {limited:14,.0f} {limited - plain:12,.0f} ns {row['ratio'] or 0:8.4f}  "
              f"{middle['limited'] - middle.get('plain', 0):12,.0f} ns  {goal:24} {mark}", flush=True)

    def part(self, work):
        begun = time.monotonic()
        try:
            work()
        except Exception as error:
            self.failed += 1
            self.rows.append({"name": work.__name__, "error": str(error)})
            print(f"{work.__name__}: FAILED: {error}", flush=True)
        print(f"   {work.__name__}: {time.monotonic() - begun:.1f} s", flush=True)

    def calls(self):
        """Two tenants that stay, asked in turn."""
        tenants = {side: Process([self.arguments.tenant], environment, processors=self.processors[-1:]) for side, environment in self.sides.items()}
        try:
            for tenant in tenants.values():
                tenant.ask("keep")
                # The driver takes blocks of 2 MiB: this one stays, so that small memory is warm.
                tenant.ask("alloc linear 4096")
            done = {}
            for name, (command, place, count) in CALLS.items():
                if self.soft and "1 GiB" in name:
                    continue
                count = min(count, 50) if self.short else count
                if command not in done:
                    samples = {side: [] for side in self.sides}
                    for tenant in tenants.values():
                        tenant.ask(f"{command} {max(10, count // 10)}")
                    for round_ in range(self.rounds):
                        for side in self.order(round_):
                            samples[side].append([int(word) for word in tenants[side].ask(f"{command} {count}")])
                    done[command] = samples
                samples = {side: [sample[place] for sample in done[command][side]] for side in self.sides}
                if "launch" in name:
                    self.add(name, samples, "within noise (3 %)", lambda plain, limited: limited <= plain * (1 + NOISE))
                else:
                    self.add(name, samples, "100 ns or 3 %", lambda plain, limited: limited - plain <= max(100, plain * 0.03))
        finally:
            for tenant in tenants.values():
                tenant.end()

    def start(self):
        """From the program's start to its first memory."""
        samples = {side: [] for side in self.sides}
        for round_ in range(self.rounds):
            for side in self.order(round_):
                begun = time.perf_counter_ns()
                tenant = Process([self.arguments.tenant], self.sides[side], processors=self.processors)
                tenant.ask("alloc linear 4096")
                samples[side].append(time.perf_counter_ns() - begun)
                tenant.end()
        self.add("start to first allocation", samples, "5 ms by medians", lambda plain, limited: limited - plain <= 5e6, by="medians")

    def crowd(self):
        """Hundreds of processes start at once, without contexts, and take a page each."""
        count, samples = 30 if self.short else 300, {side: [] for side in self.sides}
        for round_ in range(2):
            for side in self.order(round_):
                begun = time.perf_counter_ns()
                crowd = [Process([self.arguments.tenant, "--no-context"], self.sides[side], wait=False) for _ in range(count)]
                for tenant in crowd:
                    tenant.tell(f"alloc handle {2 * MIB}")
                for tenant in crowd:
                    tenant.ready()
                    if not tenant.line().startswith("ok"):
                        raise RuntimeError("a page was refused")
                samples[side].append(time.perf_counter_ns() - begun)
                for tenant in crowd:
                    tenant.process.kill()
                for tenant in crowd:
                    tenant.end()
        self.add(f"{count} processes start", samples, "no stall: 1 s by medians", lambda plain, limited: limited - plain <= 1e9, by="medians")

    def ledger(self):
        """A reserve and its release, alone and with eight processes."""
        folder = str(self.folder / "group")
        os.mkdir(folder)
        tool = self.arguments.pondtool
        subprocess.run([tool, "ledger", "make", folder, str(64 * GIB)], check=True)
        for count, goal in ((1, 50), (8, 100)):
            times = []
            for _ in range(1 if self.short else 5):
                crowd = [Process([tool, "ledger", "time", folder], None) for _ in range(count)]
                for process in crowd:
                    process.tell("go")
                times.append(statistics.median(float(process.line()) for process in crowd))
                for process in crowd:
                    process.end()
            self.add(f"reserve and release, {count} process{'es' if count > 1 else ''}", {"limited": times}, f"{goal} ns", lambda _, limited, goal=goal: limited <= goal)

    def training(self):
        """A small transformer in torch, two processes that take turns."""
        steps, rounds = 8, 21
        workers = {side: Process([sys.executable, "-c", TRAINING], environment) for side, environment in self.sides.items()}
        samples = {side: [] for side in self.sides}
        try:
            for round_ in range(rounds):
                for side in self.order(round_):
                    samples[side].append(float(workers[side].ask(str(steps))[0]) * 1e9 / steps)
        finally:
            for worker in workers.values():
                worker.end()
        self.add("a step of training", samples, "0.5 %", lambda plain, limited: limited <= plain * 1.005)

    def run(self):
        print(f"{'least disturbed round':34} {'plain ns':>14} {'limited ns':>14} {'difference':>12}      {'ratio':>6}  {'of medians':>15}  goal")
        parts = [self.ledger, self.calls, self.start, self.crowd] + ([] if self.soft else [self.training])
        for part in parts:
            self.part(part)
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.rmtree(f"/dev/shm/millpond-{os.getuid()}/{self.group}", ignore_errors=True)
        if self.arguments.out:
            pathlib.Path(self.arguments.out).write_text(json.dumps({"soft": bool(self.soft), "rounds": self.rounds, "rows": self.rows, "goals_missed": [row["name"] for row in self.rows if not row.get("met", False)]}, indent=1) + "\n")
        print(f"{len(parts) - self.failed} passed, {self.failed} failed")
        return 1 if self.failed else 0


def main():
    parser = argparse.ArgumentParser()
    for name in ("tenant", "preload", "pondtool"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--soft")
    parser.add_argument("--out")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--rounds", type=int, default=25)
    sys.exit(Bench(parser.parse_args()).run())


if __name__ == "__main__":
    main()
