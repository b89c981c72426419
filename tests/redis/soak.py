"""Random commands by several clients, while everything is killed at random; at intervals all comes to rest and must agree.

    tests/redis/run --soak MINUTES [--seed N] [--out FILE]

A client knows what each of its tensors must have: a command is repeated with the same bytes until it is answered, and counts
once. In rounds in which hosts die too, memory is lost by right; then only Redis, catalog and driver are compared. The seed decides
what is tried, not when: processes are as fast as they are. The last line is `N passed, N failed`: rounds.
"""

import argparse
import collections
import datetime
import json
import os
import pathlib
import platform
import random
import shutil
import subprocess
import sys
import threading
import time

import redis

import checker
import harness
import servers

CLIENTS, TENSORS, ROUND_SECONDS = 4, 5, 12
ROLES = ("bridge", "daemon", "keeper", "redis", "redis_empty", "holder", "host")
# Ids are remembered for a thousand changes: clients that repeat after a second must not have done more than that meanwhile.
PAUSE_SECONDS = 0.02


class Client(threading.Thread):
    """One user with tensors of its own and processes that hold them."""

    def __init__(self, number, seed, connect):
        super().__init__(daemon=True)
        self.user, self.random, self.name = harness.Commands(connect), random.Random(f"{seed}/{number}"), f"client{number}"
        self.lock, self.go, self.resting, self.ending = threading.Lock(), threading.Event(), threading.Event(), False
        self.anonymous, self.held = collections.Counter(), collections.Counter()
        self.holders, self.wrong, self.answered, self.refused, self.exact = [], [], 0, 0, True

    def choose(self):
        name = f"{self.name}/{self.random.randrange(TENSORS)}"
        with self.lock:
            mine = [pid for (held, pid), count in self.held.items() if held == name and count]
            there = self.anonymous[name] + len(mine)
            ops = ["create"] if not there else ["create", "get", "get", "hold", "info", "list"]
            if self.anonymous[name]:
                ops += ["delete", "delete", "delete"]
            if mine:
                ops += ["release"]
            op = self.random.choice(ops)
            if op == "hold":
                living = [holder for holder in self.holders if harness.lives(holder.pid)]
                return op, name, self.random.choice(living).pid if living else None
            return op, name, self.random.choice(mine) if op == "release" else None

    def step(self):
        op, name, pid = self.choose()
        fields = {"name": name} | ({"pid": pid} if pid else {}) | ({"dtype": "f32", "shape": [32]} if op == "create" else {})
        word = {"hold": "get", "release": "delete"}.get(op, op)
        answer = self.user.ask_through(word, **({"prefix": self.name} if op == "list" else fields))
        self.answered += 1
        with self.lock:
            if answer["status"] != "ok":
                # A pond has a limit of hosts, and each that has freed something makes no more memory.
                if op == "create" and answer["error"]["code"] == "too_many":
                    self.refused += 1
                    return
                # A process that died meanwhile has given up by itself, and may have been the last.
                if self.exact and not (pid and not harness.lives(pid)) and not self.had_dead(name):
                    self.wrong.append(f"{fields} with {self.anonymous[name]} and {dict(self.held)}: {answer}")
                return
            if op in ("create", "get") or (op == "hold" and pid is None):
                self.anonymous[name] += 1
            elif op == "hold":
                self.held[name, pid] += 1
            elif op == "delete":
                self.anonymous[name] -= 1
            elif op == "release":
                # Of a process that has just died its holds are gone, and one of nobody's was given up.
                dead = not harness.lives(pid)
                self.held[name, pid] -= 1
                if dead:
                    self.exact = False

    def had_dead(self, name):
        return any(held == name and not harness.lives(pid) for held, pid in self.held)

    def run(self):
        while not self.ending:
            if not self.go.is_set():
                self.resting.set()
                self.go.wait(0.1)
                continue
            try:
                self.step()
            except Exception as error:  # it is a finding, and the others go on
                self.wrong.append(repr(error))
                self.go.clear()
            time.sleep(self.random.uniform(0, 2 * PAUSE_SECONDS))

    def expected(self):
        """Holds by name, without those of processes that are gone."""
        found = collections.Counter(self.anonymous)
        for (name, pid), count in self.held.items():
            if harness.lives(pid):
                found[name] += count
        return {name: count for name, count in found.items() if count}

    def forget(self):
        self.anonymous.clear()
        self.held.clear()
        self.exact = True


class Soak:
    def __init__(self, seed):
        self.seed, self.random, self.kills = seed, random.Random(seed), collections.Counter()
        self.folder = harness.Folder()
        self.pond = harness.Pond(self.folder)
        self.server = servers.Redis(self.folder, appendonly=True)
        self.bridge = harness.Bridge(self.pond, self.server.unix, repair_every="1h")
        self.bridge.registered(self.server.connect())
        self.clients = [Client(number, seed, self.server.connect) for number in range(CLIENTS)]
        self.differences, self.wrong, self.rounds = [], [], []
        for client in self.clients:
            client.start()

    def kill(self, role):
        if role == "bridge":
            self.bridge.restart()
        elif role == "daemon":
            self.pond.kill_daemon(wait=False)
        elif role == "keeper":
            self.pond.kill_keeper()
        elif role == "host":
            hosts = self.pond.hosts()
            if not hosts:
                return
            harness.kill(self.random.choice(hosts))
        elif role == "holder":
            client = self.random.choice(self.clients)
            if not client.holders:
                return
            client.holders[self.random.randrange(len(client.holders))].kill()
        else:
            self.server.kill()
            if role == "redis_empty":
                shutil.rmtree(self.server.home / "appendonlydir", ignore_errors=True)
            self.server.start()
        self.kills[role] += 1

    def round(self, until):
        """Some seconds of commands and kills, then rest. True if everything is as it must be."""
        hosts = self.random.random() < 0.3
        roles = [role for role in ROLES if hosts or role != "host"]
        for client in self.clients:
            client.holders = [holder for holder in client.holders if harness.lives(holder.pid)]
            while len(client.holders) < 3:
                client.holders.append(harness.Holder())
            client.exact = not hosts
            client.resting.clear()
            client.go.set()
        end = min(time.monotonic() + ROUND_SECONDS, until)
        killed = collections.Counter()
        while time.monotonic() < end:
            time.sleep(self.random.uniform(0.02, 0.8))
            role = self.random.choice(roles)
            try:
                self.kill(role)
                killed[role] += 1
            except (AssertionError, OSError, redis.RedisError, subprocess.SubprocessError) as error:
                # The daemon that is asked for pids may be the one that was just killed.
                if isinstance(error, harness.Late):
                    self.wrong.append(f"kill of {role}: {error}")
        for client in self.clients:
            client.go.clear()
        for client in self.clients:
            if not client.resting.wait(120):
                self.wrong.append(f"{client.name} does not come to rest")
        return self.check(hosts, killed)

    def check(self, hosts, killed):
        found = []
        try:
            checker.agree(self.server.connect, {"a": self.pond}, seconds=2 * harness.PATIENCE)
        except AssertionError as error:
            found += str(error).splitlines()
        wrong = [line for client in self.clients for line in client.wrong]
        holds = {tensor["name"]: tensor["holds"] for tensor in self.pond.tensors()}
        for client in self.clients:
            if client.exact and not client.wrong:
                have = {name: count for name, count in holds.items() if name.startswith(client.name + "/")}
                expected = client.expected()
                if have != expected:
                    wrong.append(f"{client.name}: {have}, and the answers said {expected}")
            client.wrong.clear()
        self.rounds.append({"hosts": hosts, "kills": dict(killed), "exact": sum(client.exact for client in self.clients), "tensors": len(holds),
                            "differences": found, "wrong": wrong})
        self.differences += found
        self.wrong += wrong
        if hosts or found or wrong or not all(client.exact for client in self.clients):
            self.clear()
        return not found and not wrong

    def clear(self):
        """Everybody starts again from nothing."""
        user = harness.Commands(self.server.connect)
        for client in self.clients:
            for holder in client.holders:
                holder.kill()
            client.holders.clear()
            client.forget()
        for tensor in self.pond.tensors():
            while tensor["state"] == "ready" and user.ask_through("delete", name=tensor["name"]).get("refcount"):
                pass
        harness.eventually("nothing is left", lambda: not self.pond.tensors(), 2 * harness.PATIENCE)

    def end(self):
        for client in self.clients:
            client.ending = True
            for holder in client.holders:
                holder.kill()
        for client in self.clients:
            client.join(5)
        self.bridge.kill()
        self.server.kill()
        self.pond.stop()
        self.folder.remove()


def versions(soak):
    said = subprocess.run([os.environ["MILLPOND_BIN"], "version"], capture_output=True, text=True, check=False).stdout.strip()
    commit = subprocess.run(["git", "-C", str(harness.ROOT), "describe", "--always", "--dirty"], capture_output=True, text=True, check=False)
    return {"millpond": said.splitlines()[0] if said else soak.pond.status()["version"], "commit": commit.stdout.strip() or "unknown",
            "redis": soak.server.connect().info("server")["redis_version"], "redis_py": redis.__version__, "python": platform.python_version(),
            "linux": platform.release(), "processors": len(os.sched_getaffinity(0))}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--soak", type=float, required=True, metavar="MINUTES")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 31))
    parser.add_argument("--out", help="write the JSON to this file")
    options = parser.parse_args()
    out = pathlib.Path(options.out).absolute() if options.out else None
    begun, good, bad = time.monotonic(), 0, 0
    print(f"seed {options.seed}", flush=True)
    soak = Soak(options.seed)
    try:
        until = begun + 60 * options.soak
        while time.monotonic() < until:
            if soak.round(until):
                good += 1
            else:
                bad += 1
            last = soak.rounds[-1]
            print(f"{time.monotonic() - begun:6.0f} s: {sum(client.answered for client in soak.clients)} commands, {sum(soak.kills.values())} kills, "
                  f"{last['tensors']} tensors, {len(last['differences'])} differences, {len(last['wrong'])} wrong answers", flush=True)
            for line in (last["differences"] + last["wrong"])[:12]:
                print("       " + line[:400], flush=True)
        result = {"date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"), "seed": options.seed,
                  "minutes": round((time.monotonic() - begun) / 60, 2), "commands": sum(client.answered for client in soak.clients),
                  "refused_for_hosts": sum(client.refused for client in soak.clients),
                  "pushed": sum(client.user.sent for client in soak.clients), "kills": dict(soak.kills), "checks": len(soak.rounds),
                  "checks_with_exact_counts": sum(round_["exact"] == CLIENTS for round_ in soak.rounds), "differences": len(soak.differences),
                  "wrong_answers": len(soak.wrong), "versions": versions(soak), "rounds": soak.rounds}
    finally:
        soak.end()
    if out:
        out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(f"{result['commands']} commands, kills {result['kills']}, {result['checks']} checks, {result['differences']} differences")
    print(f"{good} passed, {bad} failed")
    return 0 if good and not bad else 1


if __name__ == "__main__":
    sys.exit(main())
