"""Unpacks wheels so that they can be imported by PYTHONPATH alone, without pip or a network.

A wheel is a zip archive; what lies in `NAME.data/purelib` or `platlib` belongs beside the rest.
Started as a program it unpacks every wheel of a folder into a temporary one, as a test.
"""

import pathlib
import re
import sys
import tempfile
import zipfile


class BadWheel(Exception):
    """A wheel that cannot be unpacked."""


def unpack(wheel, target):
    """Unpacks one wheel into the folder `target`; the top-level packages it brought."""
    target = pathlib.Path(target).resolve()
    packages = set()
    try:
        with zipfile.ZipFile(wheel) as archive:
            for entry in archive.infolist():
                parts = pathlib.PurePosixPath(entry.filename).parts
                if entry.is_dir():
                    continue
                if parts[0].endswith(".data"):
                    if len(parts) < 3 or parts[1] not in ("purelib", "platlib"):
                        continue
                    parts = parts[2:]
                path = target.joinpath(*parts).resolve()
                if not path.is_relative_to(target):
                    raise BadWheel(f"{wheel}: '{entry.filename}' lies outside")
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(archive.read(entry))
                if not parts[0].endswith((".dist-info", ".libs")):
                    packages.add(parts[0])
    except (OSError, zipfile.BadZipFile) as error:
        raise BadWheel(f"{wheel}: {error}") from error
    if not packages:
        raise BadWheel(f"{wheel}: no package in it")
    return sorted(packages)


def find(folder, project):
    """The wheel of a project in a folder, or None; of several the one with the last name."""
    wanted = re.sub(r"[-_.]+", "_", project).lower()
    names = sorted(pathlib.Path(folder).glob("*.whl")) if folder else []
    fitting = [path for path in names if path.name.split("-")[0].lower() == wanted]
    return fitting[-1] if fitting else None


def main():
    wheels = sorted(pathlib.Path(sys.argv[1]).glob("*.whl"))
    bad = 0 if wheels else 1
    for wheel in wheels:
        with tempfile.TemporaryDirectory() as folder:
            try:
                print(f"{wheel.name}: {', '.join(unpack(wheel, folder))}")
            except BadWheel as error:
                print(error, file=sys.stderr)
                bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
