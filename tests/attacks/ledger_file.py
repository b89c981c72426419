"""H5: a group that A and B share. B harms the ledger's file in every way that a member can; A's programs go on."""

import ctypes
import fcntl
import os
import pathlib
import shutil
import signal
import struct
import subprocess

from actor import kept
from harness import A, B, MIB, wait_until

GROUP = pathlib.Path("/run/millpond/groups/team")
TAKE = 8 * MIB
PUNCH_A_HOLE = 3
GROUP_LOCK = 1 << 40

# The folder as docs/limits.md mounts it into a container, at another path, with the card and its libraries.
CONTAINER = """
mount --make-rprivate /
mkdir -p /dev/shm/group
mount --bind "$GROUP" /dev/shm/group
mount -o remount,bind,ro /dev/shm/group
mount --bind "$GROUP/ledger" /dev/shm/group/ledger
mount --bind "$GROUP/exports" /dev/shm/group/exports
mount -t tmpfs tmpfs /run
exec setpriv --reuid="$USER_A" --regid="$USER_A" --clear-groups env -i PATH=/usr/bin:/bin MILLPOND_SOFT_DIR="$SOFT" \
    LD_LIBRARY_PATH="$LIBRARIES" LD_PRELOAD="$LIBRARY" MILLPOND_LEDGER=/dev/shm/group "$TENANT"
"""

good = []


def ledger():
    return open(GROUP / "ledger", "r+b", buffering=0)


def look():
    """What is in the file before it is harmed."""
    good[:] = [(GROUP / "ledger").read_bytes()]


def cut(length):
    with ledger() as file:
        file.truncate(length)


def restore():
    with ledger() as file:
        file.truncate(0)
        file.write(good[0])


def cut_and_restore():
    for _ in range(200):
        restore()


def overwrite(byte):
    with ledger() as file:
        file.write(bytes([byte]) * len(good[0]))


def punch():
    libc = ctypes.CDLL(None, use_errno=True)
    with ledger() as file:
        done = libc.fallocate(file.fileno(), PUNCH_A_HOLE, ctypes.c_int64(0), ctypes.c_int64(len(good[0])))
    if done != 0:
        raise OSError(ctypes.get_errno(), "fallocate")


def replace():
    """In the folder of its groups no user can exchange a file; says what the attempt was answered."""
    try:
        os.rename(GROUP / "ledger", GROUP / "other")
        return "replaced"
    except OSError as error:
        return error.strerror


def lock(first, count):
    kept.append(ledger())
    fcntl.fcntl(kept[-1], fcntl.F_OFD_SETLKW, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, first, count, 0))


def unlock():
    kept.pop().close()


class Program:
    """A program of A's that does what it is told, a line at a time."""

    def __init__(self, command, environment):
        self.process = subprocess.Popen(command, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL)

    def hear(self):
        return self.process.stdout.readline().strip()

    def ask(self, line):
        """The answer; empty when the program has ended."""
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return ""
        return self.hear()


def tenant(pond, bin_, libraries):
    environment = {"GROUP": str(GROUP), "USER_A": str(A), "SOFT": str(pond.folder / "soft"), "LIBRARIES": str(libraries),
                   "LIBRARY": str(bin_ / "libmillpond_preload.so"), "TENANT": str(bin_ / "tenant"), "PATH": os.environ["PATH"]}
    program = Program(["unshare", "--mount", "--pid", "--ipc", "--fork", "--kill-child", "--mount-proc", "sh", "-c", CONTAINER],
                      environment)
    if not program.hear().startswith("ready"):
        raise RuntimeError("A's program does not start")
    return program


def cache(pond, bin_):
    who = ["setpriv", f"--reuid={A}", f"--regid={A}", "--clear-groups"]
    program = Program([*who, str(bin_ / "pondtool"), "shell"], {**pond.environment, "HOME": "/nonexistent"})
    opened = program.ask("cache open team kv bytes=67108864 wait_ms=1000")
    if not opened.startswith("ok"):
        raise RuntimeError(f"A's cache: {opened}")
    return program


def takes(program, _):
    """Takes memory and gives it back; the answer to the taking."""
    answer = program.ask(f"alloc linear {TAKE}")
    if answer.startswith("ok "):
        program.ask("free " + answer.split()[1])
    return answer


def commits(program, turn):
    """The same with pages of the cache; other ones each time, because a page may be kept."""
    answer = program.ask(f"cache commit-range kv {turn} {turn + 1}")
    program.ask(f"cache uncommit kv {turn} {turn + 1}")
    return answer


def a_member_that_harms_the_ledger_ends_no_other_program(pond, report):
    bin_ = pathlib.Path(os.environ["MILLPOND_BIN"]).parent
    pond = pond(memory="4G")
    libraries = pond.folder / "libraries"
    libraries.mkdir()
    shutil.copy(bin_ / "libcuda.so", libraries / "libcuda.so.1")
    shutil.copy(bin_ / "libnvidia_ml.so", libraries / "libnvidia-ml.so.1")
    code, said = pond.cli("group", "set", "team", "--limit", "2G", "--user", str(A), "--user", str(B))
    if code != 0:
        raise RuntimeError(said)
    subprocess.run(["chmod", "-R", "a+rwX", str(pond.folder / "soft")], check=True)
    b = pond.actor(B)
    programs = [("A's program in a container", tenant(pond, bin_, libraries), takes),
                ("A's elastic cache", cache(pond, bin_), commits)]
    served = [wait_until(lambda p=program, use=use: use(p, 0).startswith("ok"), None) for _, program, use in programs]
    report.check(all(served), "before it A is served", served)
    report.check(b.call(replace) != "replaced", "B cannot exchange the file")
    a_folder_that_b_was_first_at_is_named(pond, b, bin_, libraries, report)
    b.call(look)

    def all_ways(where):
        harms = [("cut to nothing", cut, 0), ("cut to one page", cut, 4096), ("cut and restored", cut_and_restore),
                 ("0xff", overwrite, 255), ("zeroes", overwrite, 0), ("a hole", punch),
                 ("the group's lock kept", lock, GROUP_LOCK, 1), ("all words locked", lock, 0, 1 << 21)]
        ended, answers = {}, []
        for turn, (what, function, *arguments) in enumerate(harms):
            b.start(function, *arguments)
            if function is not cut_and_restore:
                b.result()
            for name, program, use in programs:
                answers.append(use(program, turn))
                if not answers[-1]:
                    ended.setdefault(name, what)
            if function is cut_and_restore:
                b.result()
            b.call(unlock if function is lock else restore)
        report.check(not ended, f"{where} none of A's programs ends", ended or f"{len(answers)} answers")
        kinds = {answer if answer.startswith("error") else answer.split()[0] for answer in answers if answer}
        # `error 2` is what a card says that has no more.
        unexpected = [kind for kind in kinds if not kind.startswith(("ok", "error 2 ", "error after_freeing ", "error over_budget "))]
        report.check(not unexpected, f"{where} each is served or out of memory", sorted(kinds))
        for name, program, use in programs:
            if name not in ended:
                again = wait_until(lambda p=program, u=use: u(p, 9).startswith("ok"), None)
                report.check(again, f"{where} {name} is served when the file is right again")

    all_ways("with a daemon")
    status = pond.admin()
    # A keeper that stands still starts no other daemon.
    os.kill(status.keeperPid, signal.SIGSTOP)
    os.kill(status.daemonPid, signal.SIGKILL)
    all_ways("without a daemon")
    os.kill(status.keeperPid, signal.SIGCONT)
    for _, program, _ in programs:
        program.process.kill()
        program.process.wait()


def take_folder(path):
    os.mkdir(path, 0o700)


def a_folder_that_b_was_first_at_is_named(pond, b, bin_, libraries, report):
    """Without a pond, A's limit would be in a folder that B has made."""
    home = f"/dev/shm/millpond-{A}"
    b.call(take_folder, home)
    environment = {"PATH": "/usr/bin:/bin", "MILLPOND_SOFT_DIR": str(pond.folder / "soft"), "LD_LIBRARY_PATH": str(libraries),
                   "LD_PRELOAD": str(bin_ / "libmillpond_preload.so"), "MILLPOND_MEMORY_LIMIT": "1G"}
    who = ["setpriv", f"--reuid={A}", f"--regid={A}", "--clear-groups", "env", "-i"]
    ran = subprocess.run([*who, *(f"{name}={value}" for name, value in environment.items()), str(bin_ / "tenant")], text=True,
                         input=f"alloc linear {TAKE}\n", stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=30, check=False)
    named = f"'{home}' belongs to user {B}" in ran.stderr and f"rm -r {home}" in ran.stderr
    report.check("ok" not in ran.stdout and named, "a folder that B was first at is named, with its owner and the way out", (ran.stdout + ran.stderr)[-300:])
