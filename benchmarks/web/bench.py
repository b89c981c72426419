#!/usr/bin/env python3
"""What `millpond web` costs: the time and the size of answers, processor and memory, and what the daemon notices of it.

    benchmarks/web/bench.py --bin FOLDER [--short] [--out FILE]

FOLDER has `millpond`, `millpond-web`, `millpond-bench` and `pondtool`. A pond of its own on the software driver gets 10,000 tensors; nothing of a
card is measured. A goal that is missed is shown with NO and changes nothing: the numbers are the answer. With --short there is little of everything and
no speed is judged. What fails makes the exit code 1.
"""

import argparse
import asyncio
import contextlib
import datetime
import json
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "tests" / "web"))

import observe  # noqa: E402

FULL = {"tensors": 10_000, "scrapes": 20, "seconds": 20, "storm_seconds": 5, "readers": 1000, "rounds": 5}
SHORT = {"tensors": 300, "scrapes": 3, "seconds": 2, "storm_seconds": 1, "readers": 20, "rounds": 1}
PATIENCE = 120
GOALS = {"metrics_ms": 20.0, "metrics_bytes": 1 << 20, "scraped_percent": 5.0, "resident_mib": 40.0, "round_trip_ratio": 1.1}
TICKS = os.sysconf("SC_CLK_TCK")


def get(url: str) -> tuple[float, bytes]:
    """Milliseconds and the answer."""
    begun = time.perf_counter()
    with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
        body = answer.read()
    return (time.perf_counter() - begun) * 1e3, body


def processor(pid: int) -> float:
    """Seconds of the processor that a process has taken."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def mib(pid: int, line: str) -> float:
    return int(re.search(rf"^{line}:\s*(\d+) kB", pathlib.Path(f"/proc/{pid}/status").read_text(), re.M)[1]) / 1024


class Pond:
    def __init__(self, programs: pathlib.Path, folder: pathlib.Path) -> None:
        self.programs, self.folder = programs, folder
        (folder / "config.toml").touch()
        self.environment = os.environ | {
            "MILLPOND_DRIVER": "soft", "MILLPOND_SOFT_MEMORY": "2G", "MILLPOND_RUNTIME_DIR": str(folder / "run"),
            "MILLPOND_SOFT_DIR": str(folder / "soft"), "MILLPOND_CONFIG": str(folder / "config.toml")}
        self.log = (folder / "log").open("w")
        self.processes: list[subprocess.Popen] = []

    def start(self, *words: str, **options: object) -> subprocess.Popen:
        process = subprocess.Popen([self.programs / words[0], *words[1:]], env=self.environment, stderr=self.log, **options)
        self.processes.append(process)
        return process

    def run(self, *words: str) -> str:
        return subprocess.run([self.programs / words[0], *words[1:]], env=self.environment, stderr=self.log, stdout=subprocess.PIPE, text=True, check=True).stdout

    def serve(self) -> None:
        self.start("millpond", "serve", stdout=self.log)
        end = time.monotonic() + PATIENCE
        while subprocess.run([self.programs / "millpond", "status", "-q"], env=self.environment, capture_output=True, check=False).returncode:
            if time.monotonic() > end:
                raise SystemExit("no pond")
            time.sleep(0.05)
        self.daemon = json.loads(self.run("millpond", "status", "--json"))["daemon_pid"]

    def web(self) -> str:
        self.page = self.start("millpond-web", "--listen", "127.0.0.1:0", stdout=subprocess.PIPE, text=True)
        url = self.page.stdout.readline().strip()
        while b"\nmillpond_up 1\n" not in get(f"{url}metrics")[1]:
            time.sleep(0.1)
        return url

    def round_trip_us(self, rounds: int) -> float:
        """The median over rounds of what a ping takes."""
        row = lambda: json.loads(self.run("millpond-bench", "--pond", "--quick", "--only", "^request/ping$", "--json"))["rows"][0]  # noqa: E731
        return statistics.median(row()["median"] for _ in range(rounds))

    def end(self) -> None:
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(20)


def measure(pond: Pond, size: dict) -> dict:
    found: dict = {}
    found["round_trip_alone_us"] = pond.round_trip_us(size["rounds"])
    url = pond.web()
    found["resident_empty_mib"] = mib(pond.page.pid, "VmRSS")
    pond.run("pondtool", "many", "layer/weights", str(size["tensors"]), "4096")

    cold, warm = [], []
    for _ in range(size["scrapes"]):
        # What is known is a second old: the pond is asked.
        time.sleep(1.1)
        cold.append(get(f"{url}metrics")[0])
        took, body = get(f"{url}metrics")
        warm.append(took)
    found |= {"metrics_ms": statistics.median(cold), "metrics_longest_ms": max(cold), "metrics_again_ms": statistics.median(warm), "metrics_bytes": len(body)}
    time.sleep(1.1)
    took, body = get(f"{url}api/v1/overview")
    found |= {"overview_ms": took, "overview_bytes": len(body)}

    def share(seconds: float, pause: float) -> tuple[float, float]:
        """Percent of a processor of both processes while somebody scrapes."""
        begun, web, daemon = time.perf_counter(), processor(pond.page.pid), processor(pond.daemon)
        while time.perf_counter() - begun < seconds:
            get(f"{url}metrics")
            time.sleep(pause)
        passed = time.perf_counter() - begun
        return (processor(pond.page.pid) - web) / passed * 100, (processor(pond.daemon) - daemon) / passed * 100

    found["scraped_web_percent"], found["scraped_daemon_percent"] = share(size["seconds"], 1.0)
    found["scraped_percent"] = found["scraped_web_percent"] + found["scraped_daemon_percent"]
    found["storm_web_percent"], found["storm_daemon_percent"] = share(size["storm_seconds"], 0.01)

    begun = time.perf_counter()
    web = processor(pond.page.pid)
    readers = subprocess.Popen([sys.executable, "-B", __file__, "--crowd", url, str(size["readers"])], stdout=subprocess.PIPE, text=True)
    if readers.stdout.readline().strip() != "all are there":
        raise SystemExit("the readers did not come")
    found["readers_came_s"] = time.perf_counter() - begun
    begun, web = time.perf_counter(), processor(pond.page.pid)
    found["round_trip_ratio"] = pond.round_trip_us(size["rounds"]) / found["round_trip_alone_us"]
    found["crowd_web_percent"] = (processor(pond.page.pid) - web) / (time.perf_counter() - begun) * 100
    readers.terminate()
    readers.wait()
    found["resident_mib"] = mib(pond.page.pid, "VmHWM")
    return {name: round(value, 3) for name, value in found.items()}


async def crowd(url: str, count: int) -> None:
    readers = [await observe.Reader(url).open() for _ in range(count)]
    for reader in readers:
        if await reader.head() != 200:
            raise SystemExit("refused")
    print("all are there", flush=True)

    async def listen(reader: observe.Reader) -> None:
        while await reader.stream.read(1 << 16):
            pass
    await asyncio.gather(*[listen(reader) for reader in readers])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path)
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--crowd", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.crowd:
        asyncio.run(crowd(arguments.crowd[0], int(arguments.crowd[1])))
        return 0
    if not arguments.bin:
        parser.error("--bin FOLDER is needed")
    size = SHORT if arguments.short else FULL
    with tempfile.TemporaryDirectory(prefix="mpw-", dir="/dev/shm") as folder:
        pond = Pond(arguments.bin.resolve(), pathlib.Path(folder))
        try:
            pond.serve()
            found = measure(pond, size)
        finally:
            pond.end()
    verdicts = {name: found[name] <= goal for name, goal in GOALS.items()}
    for name, value in found.items():
        verdict = "" if name not in GOALS or arguments.short else ("  ok" if verdicts[name] else f"  NO: at most {GOALS[name]}")
        print(f"{name:<24} {value:>14,.3f}{verdict}")
    if arguments.out:
        result = {"program": "benchmarks/web/bench.py", "short": arguments.short, "unix": int(time.time()), "when": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
                  "machine": {"processors": os.cpu_count(), "kernel": platform.release()}, "size": size, "goals": GOALS, "met": verdicts, "found": found}
        arguments.out.write_text(json.dumps(result, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
