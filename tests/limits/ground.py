"""What every part needs: the driver under test, tenants, and NVML's reading of them."""

import ctypes
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time

GIB, MIB = 1 << 30, 1 << 20
PATIENCE = 120  # Ends what hangs; decides nothing.


class Failure(Exception):
    """Something is not as it must be."""


def check(is_so, what):
    if not is_so:
        raise Failure(what)


class Ground:
    """The programs, the driver, and a scale: on the software driver a GiB is 64 MiB."""

    def __init__(self, arguments):
        self.soft = arguments.soft
        self.scale = 16 if self.soft else 1
        self.trials = arguments.trials
        self.millpond, self.tenant_program = arguments.millpond, arguments.tenant
        self.preload = os.path.abspath(arguments.preload)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="lim-", dir="/dev/shm"))
        self.groups = 0
        self.base = {name: value for name, value in os.environ.items()
                     if not name.startswith("MILLPOND_") and name != "LD_PRELOAD"}
        if self.soft:
            for library, name in (("libcuda.so", "libcuda.so.1"), ("libnvidia_ml.so", "libnvidia-ml.so.1")):
                os.symlink(os.path.abspath(os.path.join(arguments.soft, library)), self.folder / name)
            self.base |= {"LD_LIBRARY_PATH": str(self.folder), "MILLPOND_SOFT_DIR": str(self.folder / "soft"),
                          "MILLPOND_SOFT_MEMORY": "2G", "MILLPOND_SOFT_CONTEXT_BYTES": "8M", "MILLPOND_DRIVER": "soft"}
        else:
            self.base |= {"MILLPOND_DRIVER": "cuda"}

    def gib(self, number):
        return int(number * GIB) // self.scale

    def group(self, limit):
        """The environment of a new group without a pond."""
        self.groups += 1
        return self.base | {"LD_PRELOAD": self.preload, "MILLPOND_MEMORY_LIMIT": str(limit),
                            "MILLPOND_GROUP": f"test-{os.getpid()}-{self.groups}"}

    def tenant(self, environment, *flags, before=()):
        return Tenant([*before, self.tenant_program, *flags], environment)

    def tenants(self, count, environment, *flags):
        """Started together, after one: until that has measured its context, each is taken for a sixteenth of a
        small card, and the software driver's has no room for so many at once."""
        first = self.tenant(environment, *flags)
        others = [Tenant([self.tenant_program, *flags], environment, wait=False) for _ in range(count - 1)]
        for tenant in others:
            tenant.ready()
        return [first, *others]

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        mine = pathlib.Path(f"/dev/shm/millpond-{os.getuid()}")
        for left in mine.glob(f"test-{os.getpid()}-*"):
            shutil.rmtree(left, ignore_errors=True)


class Tenant:
    """A `tenant` process."""

    def __init__(self, command, environment, wait=True):
        self.process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, bufsize=1)
        self.pid = self.process.pid
        if wait:
            self.ready()

    def ready(self):
        line = self.process.stdout.readline().strip()
        check(line.startswith("ready "), f"a tenant starts: '{line}' {'' if line else self.process.stderr.read()}")
        self.pid = int(line.split()[1])

    def tell(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def answer(self):
        line = self.process.stdout.readline().strip()
        check(line, f"a tenant is gone: {self.process.poll()}")
        return line

    def try_ask(self, line):
        self.tell(line)
        return self.answer()

    def ask(self, line):
        said = self.try_ask(line)
        check(said == "ok" or said.startswith("ok "), f"'{line}': {said}")
        return said[3:]

    def takes(self, kind, size):
        said = self.try_ask(f"alloc {kind} {size}")
        check(said.startswith(("ok", "error 2 ")), f"{kind}, {size}: {said}")
        return said.startswith("ok")

    def kill(self):
        self.process.kill()

    def end(self):
        self.process.kill()
        self.process.communicate()


def end(tenants):
    for tenant in tenants:
        tenant.kill()
    for tenant in tenants:
        tenant.end()


class ProcessInfo(ctypes.Structure):
    _fields_ = [("pid", ctypes.c_uint), ("used", ctypes.c_ulonglong), ("instances", ctypes.c_uint * 2)]


class Nvml:
    """The real management library, in this process, which has no limit."""

    def __init__(self, ground):
        name = str(ground.folder / "libnvidia-ml.so.1") if ground.soft else "libnvidia-ml.so.1"
        if ground.soft:
            os.environ.update({k: v for k, v in ground.base.items() if k.startswith("MILLPOND_SOFT_")})
        self.library = ctypes.CDLL(name)
        self.device = ctypes.c_void_p()
        check(self.library.nvmlInit_v2() == 0, "NVML starts")
        check(self.library.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(self.device)) == 0, "NVML has a device")
        self.list = (ProcessInfo * 1024)()
        self.memory = (ctypes.c_ulonglong * 3)()

    def used(self):
        check(self.library.nvmlDeviceGetMemoryInfo(self.device, self.memory) == 0, "NVML reads")
        return self.memory[2]

    def processes(self):
        count = ctypes.c_uint(1024)
        check(self.library.nvmlDeviceGetComputeRunningProcesses_v3(self.device, ctypes.byref(count), self.list) == 0, "NVML lists")
        return {self.list[index].pid: self.list[index].used for index in range(count.value)}


class Watch:
    """Samples what some processes hold together, as fast as it can, in a process of its own."""

    def __init__(self, ground):
        self.process = subprocess.Popen([sys.executable, "-B", __file__, json.dumps(
            {"soft": bool(ground.soft), "folder": str(ground.folder), "base": ground.base})],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=ground.base)
        check(self.process.stdout.readline() == "ready\n", "the watch starts")

    def start(self, pids):
        self.process.stdin.write(json.dumps(pids) + "\n")
        self.process.stdin.flush()
        check(self.process.stdout.readline() == "watching\n", "the watch looks")

    def stop(self):
        """The most that they held together and each of them, and the number of samples."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.kill()
        self.process.communicate()


def watch(settings):
    class Stub:
        soft, folder, base = settings["soft"], pathlib.Path(settings["folder"]), settings["base"]

    nvml, stop = Nvml(Stub), threading.Event()
    print("ready", flush=True)
    for line in sys.stdin:
        pids = set(json.loads(line))
        stop.clear()
        threading.Thread(target=lambda: (sys.stdin.readline(), stop.set()), daemon=True).start()
        peak, samples, each = 0, 0, dict.fromkeys(pids, 0)
        print("watching", flush=True)
        while True:
            # The last sample begins after everybody has answered.
            last = stop.is_set()
            seen = {pid: used for pid, used in nvml.processes().items() if pid in pids}
            peak, samples = max(peak, sum(seen.values())), samples + 1
            for pid, used in seen.items():
                each[pid] = max(each[pid], used)
            if last:
                break
        print(json.dumps({"peak": peak, "samples": samples, "each": each}), flush=True)


def eventually(what, ask):
    until = time.monotonic() + PATIENCE
    while not (answer := ask()):
        check(time.monotonic() < until, f"waited for {what}")
        time.sleep(0.001)
    return answer


if __name__ == "__main__":
    watch(json.loads(sys.argv[1]))
