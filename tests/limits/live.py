"""With a pond: limits that move under a running loop, nvidia-smi inside, the pond killed, coverage."""

import json
import os
import pathlib
import signal
import subprocess
import time

from ground import MIB, PATIENCE, check, end, eventually


class Pond:
    def __init__(self, ground):
        self.ground = ground
        self.folder = ground.folder / f"run-{time.monotonic_ns()}"
        self.environment = ground.base | {"MILLPOND_RUNTIME_DIR": str(self.folder), "MILLPOND_PRELOAD": ground.preload}
        self.log = open(ground.folder / "serve.log", "w")
        self.process = subprocess.Popen([ground.millpond, "serve"], env=self.environment, stdout=self.log, stderr=self.log)
        eventually("a pond", lambda: self.run("status").returncode == 0)

    def run(self, *words):
        return subprocess.run([self.ground.millpond, *words], env=self.environment, capture_output=True, text=True, timeout=PATIENCE)

    def said(self, *words):
        done = self.run(*words)
        check(done.returncode == 0, f"millpond {' '.join(words)}: {done.returncode} {done.stdout} {done.stderr}")
        return done.stdout

    def tenant(self, *flags):
        return self.ground.tenant(self.environment, before=[self.ground.millpond, "run", *flags, "--"])

    def used(self, name):
        groups = json.loads(self.said("group", "ls", "--json", name))["groups"]
        return sum(device["used_bytes"] for device in groups[0]["devices"])

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()
        # Its keeper outlives it and keeps the card, and one of them may start the other again.
        eventually("the end of a pond", lambda: not self.kill())

    def kill(self):
        """Kills what is left of it; says what that was."""
        left = self.processes()
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        return left

    def processes(self):
        """Those that have this pond's folder in their environment."""
        wanted, found = f"MILLPOND_RUNTIME_DIR={self.folder}".encode(), []
        for entry in pathlib.Path("/proc").glob("[0-9]*/environ"):
            try:
                if wanted in entry.read_bytes().split(b"\0"):
                    found.append(int(entry.parent.name))
            except OSError:
                pass
        return found


def live(ground):
    """Raised and lowered under a loop: each time from the next allocation on."""
    pond, size, changes = Pond(ground), ground.gib(0.5), []
    tenants = []
    try:
        tenant = pond.tenant("--limit", str(ground.gib(4)), "--group", "loop")
        tenants.append(tenant)
        check(tenant.takes("linear", size), "the first")
        for round_ in range(5):
            held = pond.used("loop")
            pond.said("group", "set", "loop", "--limit", str(held))
            check(not tenant.takes("linear", size), f"round {round_}: lowered to what is held")
            free, total = map(int, tenant.ask("info").split())
            check((free, total) == (0, held), f"round {round_}: it sees {free} of {total}, {held} are held")
            pond.said("group", "set", "loop", "--limit", str(held // 2 // MIB * MIB))
            check(tenant.ask("info").split()[0] == "0", "nothing is free below what is held")
            check(not tenant.takes("async", size), f"round {round_}: lowered below what is held")
            begun = time.monotonic()
            pond.said("group", "set", "loop", "--limit", str(ground.gib(4)))
            check(tenant.takes("linear", size), f"round {round_}: raised")
            changes.append(round((time.monotonic() - begun) * 1e3, 1))
            tenant.ask("free all")
            check(tenant.takes("linear", size), "again")
        # Without its pond the limit holds, for those who are there.
        pond.process.kill()
        pond.process.wait()
        check(not tenant.takes("linear", ground.gib(4)), "the pond is gone and the limit is not")
        check(tenant.takes("linear", size), "and there is room below it")
    finally:
        end(tenants)
        pond.close()
    return {"raised_and_used_ms": changes}


def inside(ground):
    """What nvidia-smi and the driver show inside is the limit."""
    pond, limit = Pond(ground), ground.gib(10)
    try:
        tenant = pond.tenant("--limit", str(limit))
        total = int(tenant.ask("total"))
        nvml = list(map(int, tenant.ask("nvml").split()))
        info = list(map(int, tenant.ask("info").split()))
        end([tenant])
        check(total == nvml[0] == info[1] == limit, f"total {total}, NVML {nvml}, info {info}")
        out = {"total": total}
        if not ground.soft:
            query = ["nvidia-smi", "--query-gpu=memory.total,memory.used", "--format=csv,noheader,nounits"]
            shown = pond.said("run", "--limit", str(limit), "--", *query)
            check(int(shown.split(",")[0]) == limit // MIB, f"nvidia-smi shows {shown}")
            table = pond.said("run", "--limit", str(limit), "--", "nvidia-smi")
            check(f"/ {limit // MIB:6}MiB".replace(" ", "") in table.replace(" ", ""), table)
            out["nvidia-smi"] = shown.strip()
        code = pond.run("run", "--limit", str(limit), "--", "sh", "-c", "exit 7").returncode
        check(code == 7, f"the exit code is {code}")
    finally:
        pond.close()
    return out


def coverage(ground):
    """No export of this driver that can take memory is unknown."""
    library = ["--library", str(ground.folder / "libcuda.so.1")] if ground.soft else []
    done = subprocess.run([ground.millpond, "coverage", "--json", *library], env=ground.base, capture_output=True, text=True, timeout=PATIENCE)
    check(done.returncode == 0, f"coverage: {done.returncode} {done.stdout[-2000:]} {done.stderr[-500:]}")
    shown = json.loads(done.stdout)
    return {name: shown.get(name) for name in ("hooked", "passed", "unknown")}
