"""P1: files that B has planted where root's pond reads, loads or writes."""

import os
import pathlib
import shutil

import client
from harness import B, wait_until

UNTRUSTED = 16


def plant(folder, library, secret):
    """What B puts into a folder of B's."""
    os.umask(0)
    folder = pathlib.Path(folder)
    shutil.copy(library, folder / "libcuda.so")
    os.mkdir(folder / "millpond")
    config = folder / "millpond" / "config.toml"
    config.write_text(f"driver = '{folder}/libcuda.so'\n")
    os.symlink(secret, folder / "log")


def what_another_user_planted_is_not_used(pond, report):
    pond = pond(started=False)
    folder, secret = pond.folder / "of-b", pond.folder / "secret"
    secret.touch(mode=0o600)
    folder.mkdir()
    os.chown(folder, B, B)
    # A library that the pond would load: whose constructor it is decides what root runs.
    library = os.environ["MILLPOND_SOFT_LIBRARY"]
    if not os.path.isfile(library):
        library = "/bin/true"
    pond.actor(B).call(plant, str(folder), library, str(secret))
    usual = dict(pond.environment)
    for what, different, arguments in (
        ("a configuration that MILLPOND_CONFIG names", {"MILLPOND_CONFIG": f"{folder}/millpond/config.toml"}, ()),
        ("a configuration in XDG_CONFIG_HOME", {"MILLPOND_CONFIG": "", "XDG_CONFIG_HOME": str(folder)}, ()),
        ("a driver", {"MILLPOND_DRIVER": f"{folder}/libcuda.so"}, ()),
        ("a log file that is a link", {}, ("--log-file", f"{folder}/log")),
    ):
        pond.environment = {**usual, **different}
        if "driver" not in what and not arguments:
            # What the file says counts.
            pond.environment.pop("MILLPOND_DRIVER")
        keeper = pond.serve(*arguments)
        wait_until(lambda keeper=keeper: keeper.poll() is not None or client.refused(pond.admin) is None, f"an answer to {what}")
        code = keeper.poll()
        if code is None:
            keeper.terminate()
            keeper.wait()
        report.check(code == UNTRUSTED, f"{what} is refused", "served" if code is None else code)
        named = f"user {B} can change '{folder}'" in pond.log()
        report.check(named, "with owner and folder", None)
        pond.log_file.unlink()
    report.check(secret.stat().st_size == 0, "nothing is written through B's link", f"{secret.stat().st_size} bytes")
