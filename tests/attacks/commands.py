"""L7 and L8: commands that are killed, and commands that wait."""

import json
import os
import signal
import struct
import subprocess
import time

from harness import MIB, wait_until

BYTES = 192 * MIB


def checkpoint(path):
    header = json.dumps({"weight": {"dtype": "U8", "shape": [BYTES], "data_offsets": [0, BYTES]}}).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header)
        file.truncate(8 + len(header) + BYTES)


def a_save_that_was_killed_leaves_nothing(pond, report):
    pond = pond()
    checkpoint(pond.folder / "in.safetensors")
    code, said = pond.cli("load", "model", str(pond.folder / "in.safetensors"))
    report.check(code == 0, "a model is loaded", code or None)
    out = pond.folder / "out"
    out.mkdir()
    path = out / "model.safetensors"
    path.write_bytes(b"old")
    appeared = 0
    for _ in range(4):
        saving = subprocess.Popen([pond.program, "save", "--force", "model", path], env=pond.environment, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)
        # Killed as soon as there is a file of its own, or after its work.
        wait_until(lambda: saving.poll() is not None or len(os.listdir(out)) > 1, None, 20)
        appeared += len(os.listdir(out)) > 1
        saving.kill()
        saving.wait()
    report.note("saves of which another name was seen", f"{appeared} of 4")
    code, said = pond.cli("save", "--force", "model", str(path))
    report.check(code == 0, "a save after them works", code or None)
    left = sorted(name for name in os.listdir(out) if name != path.name)
    report.check(not left, "nothing but the model is in the folder", ", ".join(left) or None)


def a_wait_that_ended_while_the_daemon_was_away_is_a_timeout(pond, report):
    pond = pond()
    status = pond.admin()
    waiting = subprocess.Popen([pond.program, "tensor", "get", "--wait", "1s", "--output", pond.folder / "file", "never"],
                               env=pond.environment,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    time.sleep(0.4)
    os.kill(status.keeperPid, signal.SIGSTOP)
    os.kill(status.daemonPid, signal.SIGKILL)
    time.sleep(1.5)
    os.kill(status.keeperPid, signal.SIGCONT)
    said, _ = waiting.communicate(timeout=30)
    report.check(waiting.returncode == 17, "a command whose time ran out exits with 17, timeout",
                 f"{waiting.returncode}: {said.strip().split(chr(10))[0][:100]}")
