"""M6: B was first where locks of cards may be: in /dev/shm, and in /run/lock, where on some systems everybody can write. A card is
needed for this lock; the software driver's library counts as one."""

import fcntl
import os
import pathlib
import signal
import socket
import subprocess
import time

from actor import kept
from harness import B, wait_until

FOLDERS = [pathlib.Path("/dev/shm"), pathlib.Path("/run/lock")]


def plant(kind, path):
    if kind == "a fifo":
        os.mkfifo(path)
    elif kind == "a folder":
        os.mkdir(path)
    elif kind == "a link":
        os.symlink("/nonexistent", path)
    elif kind == "a socket":
        listening = socket.socket(socket.AF_UNIX)
        listening.bind(path)
        listening.close()
    else:
        file = open(path, "w+", encoding="utf-8")
        file.write("mine\n")
        file.flush()
        fcntl.flock(file, fcntl.LOCK_EX)
        fcntl.lockf(file, fcntl.LOCK_EX)
        kept.append(file)


def rewrite(path):
    """What B can make of the file that says who has the card; whether it could."""
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write("nobody\n2026-01-01T00:00:00.000000Z ERROR fake: line\n")
    except OSError as error:
        return error.strerror
    return None


def nobody_keeps_a_card_from_roots_pond(pond, report):
    library = os.environ["MILLPOND_SOFT_LIBRARY"]
    if not os.path.exists(library):
        report.check(False, "SKIPPED: the software driver's libcuda.so is not there; set MILLPOND_SOFT_LIBRARY")
        return
    pond = pond(driver=library)
    device = bytes(pond.admin().devices[0].device).hex()
    name = f"millpond-GPU-{device[:8]}-{device[8:12]}-{device[12:16]}-{device[16:20]}-{device[20:]}"
    names = [name + end for end in (".lock", ".root.lock")]
    paths, b = [folder / name for folder in FOLDERS for name in names], pond.actor(B)
    there = [path for path in paths if path.exists()]
    report.check(there, "there is a lock", ", ".join(f"{path.name[-10:]}, mode {oct(path.stat().st_mode & 0o777)}" for path in there))
    for path in there:
        could = b.call(rewrite, str(path))
        report.check(could is not None, "B cannot change who has the card", could or "changed")
    other = pond.serve("--runtime-dir", "/run/other")
    wait_until(lambda: other.poll() is not None or "already served" in pond.log(), None, 5)
    other.kill()
    lines = [line for line in pond.log().split("\n") if line.startswith("2026-01-01") and "fake" in line]
    report.check(not lines, "a second pond logs no line of B's", lines[0] if lines else None)
    for kind in ("a fifo", "a folder", "a link", "a socket", "a file that B has locked"):
        pond.keeper.send_signal(signal.SIGTERM)
        pond.keeper.wait(15)
        subprocess.run(["rm", "-rf", *paths], check=True)
        planter = pond.actor(B)
        for each in paths:
            planter.call(plant, kind, str(each))
        pond.keeper = pond.serve()
        begun = time.monotonic()
        serves = wait_until(lambda: pond.keeper.poll() is not None or served(pond), None, 5) and pond.keeper.poll() is None
        said = [line for line in pond.log().split("\n") if "lock" in line or "already served" in line]
        report.check(serves, f"root's pond serves the card although B left {kind} at the name of its lock",
                     f"serves after {time.monotonic() - begun:.1f} s" if serves else said[-1][28:140] if said else "it does not")
        if pond.keeper.poll() is not None:
            # Without what B left there, the next one begins as this one did.
            subprocess.run(["rm", "-rf", *paths], check=True)
            planter.kill()
            pond.start()


def served(pond):
    try:
        return bool(pond.admin().devices)
    except OSError:
        return False
