"""M3: the mover reads and writes files for B. It may do for B only what B may do."""

import os
import pathlib
import resource
import subprocess

import client
from harness import A, B, MIB

# Of /proc/PID/stat: where code, its end, and the stack are; 0 or 1 for who may not know.
ADDRESSES = slice(25, 28)
# CAP_SETGID and CAP_SETUID.
CHANGE_USER = 1 << 6 | 1 << 7


def addresses(data):
    return [int(field) for field in data.decode(errors="replace").rpartition(") ")[2].split()[ADDRESSES.start - 2:ADDRESSES.stop - 2]]


def spy(path):
    """A file of /proc as this user reads it, and as the mover does."""
    connection = client.Connection()
    own = pathlib.Path(path).read_bytes()
    answer = connection.create(size=4096, lease=1)
    tensor = client.identity(answer.body.info.tensor)
    with open(path, "rb") as file:
        # As it has no size, so many bytes as there are at least.
        refusal = client.refused(connection.move, client.PUT, tensor, len(own), file.fileno())
    moved = bytes(client.mapped(answer)).split(b"\0")[0]
    return addresses(own), None if refusal else addresses(moved), refusal


def write(path, size, most):
    """A get into a file of this process: the refusal, and how long the file is then."""
    connection = client.Connection()
    tensor = client.identity(connection.create(size=size, lease=1).body.info.tensor)
    if most:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    refusal = client.refused(connection.move, client.GET, tensor, size, file)
    return refusal, os.fstat(file).st_size


def fill(path):
    """Fills the file system as far as this user may."""
    with open(path, "wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(64 << 10))
        except OSError:
            return os.fstat(file.fileno()).st_size


def set_user(path):
    pathlib.Path(path).write_bytes(b"program")
    os.chmod(path, 0o4777)


def small_disk(folder):
    """An ext4 of which half is root's; None where there are no loop devices."""
    image, disk = folder / "image", folder / "disk"
    disk.mkdir()
    with open(image, "wb") as file:
        file.truncate(32 * MIB)
    subprocess.run(["mkfs.ext4", "-q", "-m", "50", "-O", "^has_journal", image], check=True)
    if subprocess.run(["mount", "-o", "loop", image, disk], check=False, stderr=subprocess.DEVNULL).returncode:
        return None
    disk.chmod(0o777)
    return disk


def the_mover_has_the_callers_rights(pond, report):
    pond = pond()
    a, b = pond.actor(A), pond.actor(B)
    for whose, pid in (("daemon", pond.daemon()), ("keeper", pond.admin().keeperPid)):
        own, moved, refusal = b.call(spy, f"/proc/{pid}/stat")
        report.check(max(own) <= 1, f"B itself does not read the addresses of the {whose}")
        report.check(moved is None or max(moved) <= 1, "nor does the mover for B",
                     refusal if moved is None else ", ".join(map(hex, moved)))
    shared = pond.folder / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    program = shared / "program"
    a.call(set_user, str(program))
    refusal, _ = b.call(write, str(program), 4096, None)
    mode = program.stat().st_mode
    report.check(refusal or not mode & 0o4000, "a write for B takes the set-uid bit from A's file, as one of B's own does",
                 refusal or oct(mode & 0o7777))
    disk = small_disk(pond.folder)
    if disk is None:
        report.note("SKIPPED: reserved blocks", "no loop device here")
    else:
        try:
            b.call(fill, str(disk / "filler"))
            refusal, size = b.call(write, str(disk / "more"), 8 * MIB, None)
            report.check(refusal and size < MIB, "a disk that is full for B is full for the mover",
                         f"{refusal or 'done'}, {size} bytes written")
        finally:
            subprocess.run(["umount", "-l", disk], check=False)
    refusal, size = b.call(write, str(shared / "large"), 8 * MIB, MIB)
    report.note("with B's own limit of 1 MiB for a file", f"{refusal or 'done'}, {size} bytes written")
    status = pathlib.Path(f"/proc/{pond.admin().movers[0].pid}/status").read_text()
    caps = [line for line in status.split("\n") if line.startswith("CapEff")]
    report.check(int(caps[0].split()[1], 16) & ~CHANGE_USER == 0, "the mover has no capability but to take the caller's place", caps[0])
