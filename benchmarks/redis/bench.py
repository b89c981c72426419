#!/usr/bin/env python3
"""Redis as control plane beside bare Redis, in one run on this machine, on the software driver.

    tests/redis/run --bench [--short] [--out FILE]

`run` sets up what is needed and calls this. Measured are: command to reply of `get` and `delete` beside a bare ping-pong of two
processes through two lists, in turns; gets a second of several clients at once; the repair of many tensors after FLUSHALL; the
memory of the bridge. A goal that is missed is shown with NO and changes nothing: the numbers are the answer. With --short no
speed is judged. What fails makes the exit code 1.
"""

import argparse
import datetime
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "tests" / "redis"))

import harness  # noqa: E402
import servers  # noqa: E402

FULL = {"rounds": 8, "calls": 1000, "flood_seconds": 10.0, "clients": 4, "ahead": 32, "tensors": 100_000, "shared": 4, "makers": 2}
SHORT = {"rounds": 2, "calls": 50, "flood_seconds": 1.0, "clients": 2, "ahead": 8, "tensors": 300, "shared": 2, "makers": 1}
SECONDS = 600
GOALS = {"get_over_ping": ("at most", 3.0), "delete_over_ping": ("at most", 3.0), "gets_per_second": ("at least", 5000.0),
         "repair_seconds": ("at most", 10.0), "bridge_mib": ("at most", 40.0)}


class Failed(Exception):
    pass


def percentile(samples, share):
    ordered = sorted(samples)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def numbers(rounds):
    """Medians and the 99th of a hundred of each side in microseconds, and what a command takes beside a ping of the same round."""
    found = {}
    for side in ("ping", "get", "delete"):
        every = [sample for round_ in rounds for sample in round_[side]]
        found[f"{side}_us"] = round(statistics.median(every) / 1e3, 2)
        found[f"{side}_p99_us"] = round(percentile(every, 0.99) / 1e3, 2)
    for side in ("get", "delete"):
        found[f"{side}_over_ping"] = round(statistics.median(statistics.median(round_[side]) / statistics.median(round_["ping"])
                                                             for round_ in rounds), 3)
    return found


def judge(found, judged):
    verdicts = {}
    for name, (direction, goal) in GOALS.items():
        value = found.get(name)
        good = None if value is None or not judged else value <= goal if direction == "at most" else value >= goal
        verdicts[name] = {"value": value, "goal": f"{direction} {goal:g}", "ok": good}
    return verdicts


def peak_mib(pid):
    """The most memory that a process had."""
    lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    return round(next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024, 2)


class Bench:
    def __init__(self, plan, pondtool):
        self.plan, self.pondtool, self.ends = plan, pondtool, []
        self.folder = harness.Folder()
        self.ends.append(self.folder.remove)
        self.pond = harness.Pond(self.folder, memory="4G")
        self.ends.append(self.pond.stop)
        self.server = servers.Redis(self.folder)
        self.ends.append(self.server.kill)
        self.bridge = harness.Bridge(self.pond, self.server.unix, repair_every="1h")
        self.ends.append(self.bridge.kill)
        self.redis = self.server.connect()
        self.bridge.registered(self.redis)
        self.user = harness.Commands(self.server.connect)
        self.program = str(self.folder / "clients")
        subprocess.run(["cc", "-O2", "-Wall", "-Wextra", "-Werror", "-o", self.program, str(HERE / "clients.c"), "-lhiredis"], check=True, timeout=60)

    def start(self, *words):
        return subprocess.Popen([self.program, self.server.socket, *map(str, words)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)

    @staticmethod
    def end(process):
        said = process.communicate(timeout=SECONDS)[0]
        if process.returncode:
            raise Failed(f"{process.args[2:]} ended with {process.returncode}")
        return said

    def times(self, *words):
        return [int(line) for line in self.end(self.start(*words)).split()]

    def latency(self):
        """Pings, gets and deletes in turns, another one first each time."""
        echo = self.start("echo")
        rounds = []
        try:
            self.user.create("bench", dtype="u8", shape=[1024])
            calls = self.plan["calls"]
            sides = {"ping": ("ping", calls), "get": ("ask", calls, "get", "bench"), "delete": ("ask", calls, "delete", "bench")}
            for number in range(self.plan["rounds"]):
                # A delete gives up what a get has taken, so it is always behind it.
                order = [["ping", "get", "delete"], ["get", "ping", "delete"], ["get", "delete", "ping"]][number % 3]
                rounds.append({side: self.times(*sides[side]) for side in order})
            if self.user.refcount("bench") != 1:
                raise Failed(f"{self.user.refcount('bench')} holds are left, 1 is right")
            self.user.delete("bench")
        finally:
            echo.kill()
            echo.communicate()
        return rounds

    def flood(self):
        """Several clients at once; every get must be a hold."""
        self.user.create("bench", dtype="u8", shape=[1024])
        begun = time.monotonic()
        clients = [self.start("flood", self.plan["flood_seconds"], self.plan["ahead"], "bench") for _ in range(self.plan["clients"])]
        answered = [int(self.end(client)) for client in clients]
        seconds = time.monotonic() - begun
        holds = self.pond.holds("bench")
        if holds != 1 + sum(answered):
            raise Failed(f"{sum(answered)} gets were answered, and there are {holds} holds")
        self.pond.cli("tensor", "rm", "bench")
        return round(sum(answered) / seconds, 1), sum(answered)

    def make(self):
        """Many tensors of the pond's own, and some that were made through Redis."""
        makers, count = [], self.plan["tensors"] // self.plan["makers"]
        for number in range(self.plan["makers"]):
            maker = subprocess.Popen([self.pondtool, "shell"], env=self.pond.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            makers.append(maker)
            self.ends.append(maker.kill)
            maker.stdin.write(f"many m{number} {count} 16\n")
            maker.stdin.flush()
        for number in range(self.plan["shared"]):
            self.user.create(f"shared{number}")
        for maker in makers:
            said = maker.stdout.readline()
            if said.split() != ["ok", str(count)]:
                raise Failed(f"tensors were not made: {said}")
            maker.stdin.close()
            maker.stdout.close()
            maker.wait(SECONDS)
        return count * self.plan["makers"] + self.plan["shared"]

    def shown(self, count):
        return self.redis.scard("tensor:index:a") >= count and self.redis.dbsize() >= count

    def repair(self, count):
        """From FLUSHALL, and connections that are lost with it, until every hash is there again."""
        harness.eventually("all are shown", lambda: self.shown(count), SECONDS)
        self.redis.flushall()
        begun = time.monotonic()
        self.redis.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        harness.eventually("all are shown again", lambda: self.shown(count), SECONDS)
        seconds = time.monotonic() - begun
        last = {name: self.user.hash(name) for name in ("m0/0", "shared0")}
        if last["m0/0"].get("bytes") != "16" or last["shared0"].get("refcount") != "1":
            raise Failed(f"hashes are not as they were: {last}")
        return round(seconds, 3)

    def close(self):
        for end in reversed(self.ends):
            end()


def machine():
    names = [line.split(":", 1)[1].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    return f"{len(os.sched_getaffinity(0))} x {names[0] if names else platform.machine()}, Linux {platform.release()}"


def measure(plan, pondtool):
    bench = Bench(plan, pondtool)
    try:
        found = {"bridge_started_mib": peak_mib(bench.bridge.pid)}
        found |= numbers(bench.latency())
        found["gets_per_second"], found["gets"] = bench.flood()
        found["bridge_after_gets_mib"] = peak_mib(bench.bridge.pid)
        begun = time.monotonic()
        found["tensors"] = bench.make()
        found["make_seconds"] = round(time.monotonic() - begun, 1)
        found["repair_seconds"] = bench.repair(found["tensors"])
        found["bridge_mib"] = peak_mib(bench.bridge.pid)
        found["bridge_at_rest_mib"] = round(harness.resident(bench.bridge.pid) / harness.MIB, 2)
        status = bench.pond.status()
        found |= {"redis": bench.redis.info("server")["redis_version"], "driver": status["driver"], "version": status["version"]}
        return found
    finally:
        bench.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="few of everything; no speed is judged")
    parser.add_argument("--out", help="write the JSON to this file")
    parser.add_argument("--pondtool", default=os.environ.get("PONDTOOL") or str(pathlib.Path(os.environ["MILLPOND_BIN"]).parent / "pondtool"))
    options = parser.parse_args()
    plan = SHORT if options.short else FULL
    try:
        found = measure(plan, options.pondtool)
    except (Failed, AssertionError, OSError, subprocess.SubprocessError) as error:
        print(f"FAILED: {error}")
        return 1
    verdicts = judge(found, not options.short)
    commit = subprocess.run(["git", "-C", str(HERE), "describe", "--always", "--dirty"], capture_output=True, text=True, check=False).stdout.strip()
    result = {"date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"), "commit": commit or "unknown", "machine": machine(),
              "short": options.short, **found, "plan": plan, "goals": verdicts}
    if options.out:
        pathlib.Path(options.out).write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    for name, value in found.items():
        print(f"{name:22} {value}")
    for name, verdict in verdicts.items():
        print(f"{name:22} {verdict['value']:>10}  goal: {verdict['goal']}  {({True: 'yes', False: 'NO', None: 'not judged'})[verdict['ok']]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
