#!/usr/bin/env python3
"""scripts/check-wheel accepts the wheel, and refuses one that is broken in any of the ways that it knows.

    tests/check_wheel.py WHEEL
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
WHEEL = pathlib.Path(sys.argv.pop())
PROGRAM = "millpond-0.1.0.data/scripts/millpond".replace("0.1.0", WHEEL.name.split("-")[1])


def check(wheel, *flags):
    ran = subprocess.run([ROOT / "scripts/check-wheel", *flags, wheel], capture_output=True, text=True)
    return ran.returncode, ran.stderr


class Broken(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def refused(self, change, *said):
        """A copy of the wheel in which `change` has seen every file: refused, with these words."""
        path = pathlib.Path(self.folder.name) / WHEEL.name
        with zipfile.ZipFile(WHEEL) as old, zipfile.ZipFile(path, "w") as new:
            for entry in old.infolist():
                content = change(entry, old.read(entry))
                if content is not None:
                    new.writestr(entry, content)
        code, errors = check(path)
        self.assertEqual(code, 1, errors)
        for words in said:
            self.assertIn(words, errors)

    def built(self):
        """A program for this machine, with its symbols."""
        source = pathlib.Path(self.folder.name) / "main.c"
        source.write_text("#include <stdio.h>\nint main(void) { return puts(\"\") < 0; }\n")
        program = source.with_suffix("")
        subprocess.run(["cc", "-g", "-o", program, source], check=True)
        return program.read_bytes()

    def test_the_wheel_is_accepted(self):
        self.assertEqual(check(WHEEL), (0, ""))

    def test_a_program_with_symbols_is_refused(self):
        other = self.built()
        change = lambda entry, content: other if entry.filename == PROGRAM else content
        self.refused(change, f"{PROGRAM} is not stripped", f"wrong hash or size for {PROGRAM}")

    def test_a_newer_glibc_is_refused(self):
        code, errors = check(WHEEL, "--glibc", "2.5")
        self.assertEqual(code, 1)
        self.assertIn("at most 2.5 is promised", errors)

    def test_a_program_that_cannot_be_executed_is_refused(self):
        def change(entry, content):
            if entry.filename == PROGRAM:
                entry.external_attr = 0o100644 << 16
            return content

        self.refused(change, f"{PROGRAM} is not executable")

    def test_a_path_of_the_machine_that_built_it_is_refused(self):
        change = lambda entry, content: content + f"# {ROOT}/x".encode() if entry.filename.endswith(".py") else content
        self.refused(change, f"contains the path {ROOT}")

    def test_a_missing_library_is_refused(self):
        name = "libmillpond_preload.so"
        change = lambda entry, content: None if entry.filename.endswith(name) else content
        self.refused(change, f"{name} is missing", "which does not exist")

    def test_a_file_that_uninstall_would_leave_is_refused(self):
        def change(entry, content):
            if entry.filename.endswith("/RECORD"):
                return b"".join(line for line in content.splitlines(True) if f"{PROGRAM},".encode() not in line)
            return content

        self.refused(change, f"RECORD does not list {PROGRAM}")


if __name__ == "__main__":
    unittest.main()
