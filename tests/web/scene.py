#!/usr/bin/env python3
"""A pond with something to look at: models, tensors, groups with limits, caches and the processes that hold them, on the
software driver, with `millpond web` beside it.

    python3 tests/web/scene.py --bin target/debug [--unit 64M]        # until Enter; prints the page's address

The contents are the same each time. A unit is the grain of all sizes, and the card has 64 of them.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import pathlib
import secrets
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
PACKAGE = HERE.parents[1] / "bindings/python/python/millpond"
PATIENCE = 60.0
"""Nothing takes so long unless it hangs."""
MIB = 1 << 20
OUT_OF_MEMORY = 2


class Scene:
    """A pond of its own with all of its processes; `end` leaves nothing behind."""

    def __init__(self, built: str | os.PathLike[str], unit: int = 16 * MIB, folder: str | None = None) -> None:
        self.built, self.unit = pathlib.Path(built).resolve(), unit
        self.folder = pathlib.Path(folder or tempfile.mkdtemp(prefix="millpond-scene-"))
        # One that is there already is somebody else's.
        self.folder.mkdir(mode=0o700, exist_ok=folder is None)
        self.children: list[subprocess.Popen] = []
        self.keeper: subprocess.Popen | None = None
        self.web: subprocess.Popen | None = None
        self.token = secrets.token_urlsafe(24)
        soft = self.folder / "lib"
        for made in ("gpu", "lib", "package/millpond"):
            (self.folder / made).mkdir(mode=0o700, parents=True)
        os.symlink(self.built / "libcuda.so", soft / "libcuda.so.1")
        os.symlink(self.built / "libnvidia_ml.so", soft / "libnvidia-ml.so.1")
        for file in PACKAGE.glob("*.py"):
            os.symlink(file, self.folder / "package/millpond" / file.name)
        os.symlink(self.built / "lib_millpond.so", self.folder / "package/millpond/_millpond.so")
        (self.folder / "config.toml").touch()
        tokens = self.folder / "tokens"
        tokens.touch(mode=0o600)
        tokens.write_text(self.token + "\n")
        clean = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("MILLPOND_") and name != "LD_PRELOAD"
        }
        self.environment = clean | {
            "MILLPOND_RUNTIME_DIR": str(self.folder / "run"),
            "MILLPOND_CONFIG": str(self.folder / "config.toml"),
            "MILLPOND_SOFT_DIR": str(self.folder / "gpu"),
            "MILLPOND_SOFT_MEMORY": str(64 * unit),
            "MILLPOND_SOFT_CONTEXT_BYTES": str(unit // 8),
            "MILLPOND_DRIVER": "soft",
            "MILLPOND_PRELOAD": str(self.built / "libmillpond_preload.so"),
            "PYTHONPATH": str(self.folder / "package"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "XDG_STATE_HOME": str(self.folder / "state"),
        }

    # -- programs --

    def millpond(self, *words: str, check: bool = True) -> str:
        """Runs a command to its end, and returns what it prints."""
        done = subprocess.run(
            [self.built / "millpond", *words],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        if check and done.returncode:
            raise RuntimeError(f"millpond {' '.join(words)}: {done.stderr.strip()}")
        return done.stdout

    def read(self, *words: str) -> dict:
        return json.loads(self.millpond(*words, "--json"))

    def serve(self) -> None:
        """Starts a pond, and waits until its driver has answered."""
        log = open(self.folder / "log", "ab")
        self.keeper = subprocess.Popen(
            [self.built / "millpond", "serve"], env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
        log.close()
        deadline = time.monotonic() + PATIENCE
        while not self.is_ready():
            if self.keeper.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"no pond answers: {(self.folder / 'log').read_text()}")
            time.sleep(0.05)

    def is_ready(self) -> bool:
        asked = self.millpond("status", "--json", check=False)
        return bool(asked) and json.loads(asked)["driver_ready"]

    def open_web(self, *flags: str, port: int = 0) -> str:
        """Starts the web service; returns the page's address."""
        log = open(self.folder / "web.log", "ab")
        self.web = subprocess.Popen(
            [
                self.built / "millpond-web",
                "--listen",
                f"127.0.0.1:{port}",
                "--actions-token-file",
                self.folder / "tokens",
                *flags,
            ],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
        log.close()
        line = self.web.stdout.readline().strip()
        if not line.startswith("http://"):
            raise RuntimeError(
                f"the web service does not say its address, but '{line}': {(self.folder / 'web.log').read_text()}"
            )
        return line

    def close_web(self, number: int = signal.SIGTERM) -> None:
        self.web.send_signal(number)
        self.web.wait(PATIENCE)
        self.web.stdout.close()
        self.web = None

    def act(self, name: str, *orders: object, group: str | None = None) -> subprocess.Popen:
        """Starts a process that carries orders out under a name, and then keeps what it has."""
        command = [sys.executable, str(HERE / "scene.py"), "--actor", name]
        environment = self.environment
        if group:
            command = [self.built / "millpond", "run", "--group", group, "--", *command]
            environment = environment | {"LD_LIBRARY_PATH": str(self.folder / "lib")}
        child = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.children.append(child)
        self.tell(child, *orders)
        return child

    def wait_for(self, child: subprocess.Popen, name: str) -> None:
        line = child.stdout.readline().strip()
        if line != "ready":
            raise RuntimeError(f"{name} does not begin: '{line}'")

    def tell(self, child: subprocess.Popen, *orders: object) -> None:
        """Has a process do more."""
        child.stdin.write(json.dumps(orders) + "\n")
        child.stdin.flush()
        self.wait_for(child, "a process")

    def end_processes(self) -> None:
        for child in self.children:
            child.kill()
        for child in self.children:
            child.communicate()
        self.children.clear()

    def end(self) -> None:
        self.end_processes()
        if self.web:
            self.close_web(signal.SIGKILL)
        if self.keeper and self.keeper.poll() is None:
            self.millpond("stop", check=False)
            try:
                self.keeper.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self.keeper.kill()
                self.keeper.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    # -- what there is to see --

    def fill(self) -> None:
        """Two models with versions and readers, a dozen tensors, groups with limits, two caches, nine processes."""
        unit = self.unit
        for name, limit in (("serving", 20 * unit), ("training", 8 * unit), ("notebooks", None)):
            self.millpond("group", "set", name, "--limit", str(limit) if limit else "none")
        self.load("llama", "v1", 12, changed=())
        self.load("embedder", "2026-11", 3, changed=())
        self.act("canary", ["attach", "llama@v1"])
        self.load("llama", "v2", 12, changed=(9, 10, 11))
        self.act(
            "publisher",
            *[
                ["publish", name, int(size * unit)]
                for name, size in (
                    ("vectors/wiki", 6),
                    ("acts/layer12", 3),
                    ("acts/layer24", 3),
                    ("rl/rollout-b", 2),
                    ("prompts/batch", 1),
                    ("public/tokenizer", 0.5),
                    ("eval/suite", 1.5),
                    ("lora/finance", 0.75),
                    ("lora/law", 0.75),
                )
            ],
        )
        for number in range(4):
            self.act(
                f"engine-{number}",
                ["attach", "llama"],
                *([["get", "acts/layer12"], ["get", "acts/layer24"]] if number < 2 else []),
                ["get", "public/tokenizer"],
            )
        self.act("search", ["attach", "embedder"], ["get", "vectors/wiki"])
        self.act("trainer", ["create", "rl/rollout-a", 2 * unit], ["get", "rl/rollout-b"])
        self.kv = self.act(
            "kv-engine",
            ["reserve", "serving", "llama/kv", 16 * unit, unit // 4, 32],
            ["reserve", "serving", "embedder/kv", 8 * unit, unit // 4, 8],
        )
        self.tell(self.kv, ["uncommit", 1, 5, 8])
        self.act("finetune", ["allocate", 3 * unit], ["allocate", unit], group="training")

    def load(self, model: str, tag: str, units: int, changed: tuple[int, ...]) -> None:
        """Loads a version of as many tensors as units; those that are named differ from other versions."""
        path = self.folder / f"{model}-{tag}.safetensors"
        header, size = {}, self.unit
        for number in range(units):
            header[f"layers.{number}.weight"] = {
                "dtype": "BF16",
                "shape": [size // 8192, 4096],
                "data_offsets": [number * size, (number + 1) * size],
            }
        text = json.dumps(header).encode()
        text += b" " * (-len(text) % 8)
        with open(path, "wb") as file:
            file.write(struct.pack("<Q", len(text)) + text)
            # The rest is a hole, which costs no disk.
            file.truncate(8 + len(text) + units * size)
            for number in changed:
                file.seek(8 + len(text) + number * size)
                file.write(tag.encode())
        self.millpond("load", model, str(path), "--version", tag, "--activate", "--slab-bytes", str(size))
        path.unlink()


# -- a process of the scene --


def actor(name: str) -> None:
    """Does what each line tells it and keeps everything, until nobody tells it anything more."""
    kept: list = []
    pond = None
    for line in sys.stdin:
        for verb, *words in json.loads(line):
            if verb == "allocate":
                allocate(*words)
                continue
            if pond is None:
                import millpond

                pond = millpond.Pond(program=name)
            carry_out(pond, kept, verb, *words)
        print("ready", flush=True)


def carry_out(pond, kept: list, verb: str, *words) -> None:
    if verb in ("create", "publish"):
        shape, dtype = ((words[1] // 8192, 4096), "bfloat16") if words[1] >= 8192 else (words[1], "uint8")
        tensor = pond.create(words[0], shape, dtype)
        kept.append(tensor)
        if verb == "publish":
            tensor.publish()
            kept.pop().close()
    elif verb == "attach":
        kept.append(pond.attach(words[0]))
    elif verb == "get":
        kept.append(pond.get(words[0]))
    elif verb == "reserve":
        group, name, reserved, block, committed = words
        cache = pond.elastic(group).reserve(name, shape=(reserved // block, block), dtype="uint8")
        cache.commit(committed)
        kept.append(cache)
    elif verb in ("commit", "uncommit"):
        getattr(kept[words[0]], verb)(range(words[1], words[2]))
    elif verb == "trim":
        kept[words[0]].trim()
    else:
        raise ValueError(verb)


def allocate(size: int) -> None:
    """As any CUDA program does."""
    cuda = ctypes.CDLL("libcuda.so.1")
    context, pointer = ctypes.c_void_p(), ctypes.c_uint64()
    for call, arguments in (
        ("cuInit", (0,)),
        ("cuDevicePrimaryCtxRetain", (ctypes.byref(context), 0)),
        ("cuCtxSetCurrent", (context,)),
        ("cuMemAlloc_v2", (ctypes.byref(pointer), ctypes.c_size_t(size))),
    ):
        deadline = time.monotonic() + PATIENCE
        # What others gave back a moment ago may not be the group's yet.
        while (answer := getattr(cuda, call)(*arguments)) == OUT_OF_MEMORY and time.monotonic() < deadline:
            time.sleep(0.05)
        if answer:
            raise RuntimeError(f"{call} answers {answer}")


def size_of(text: str) -> int:
    return int(text[:-1]) * {"M": MIB, "G": 1 << 30}[text[-1]]


def main() -> None:
    if sys.argv[1:2] == ["--actor"]:
        actor(sys.argv[2])
        return
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--bin", required=True)
    arguments.add_argument("--unit", default="16M", type=size_of)
    arguments.add_argument("--port", default=0, type=int)
    given = arguments.parse_args()
    scene = Scene(given.bin, given.unit)
    try:
        scene.serve()
        print(scene.open_web(port=given.port), flush=True)
        scene.fill()
        print(f"token: {scene.token}\nfolder: {scene.folder}\nEnter ends it.", flush=True)
        sys.stdin.readline()
    finally:
        scene.end()


if __name__ == "__main__":
    main()
