"""Runs the tests, some classes at a time, each in a process of its own that nothing may outlive. Called by `run`.

A class starts its ponds and servers once. What it prints is libtest's form, which `scripts/test` reads.
"""

import argparse
import concurrent.futures
import importlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import traceback
import unittest

HERE = pathlib.Path(__file__).resolve().parent
CONTAINED = HERE.parent.parent / "scripts" / "contained"
MOST_SECONDS = 240  # Ends what hangs; decides nothing.


def classes():
    """Every class of tests with the names of its tests, the longest classes first."""
    found = []
    for path in sorted(HERE.glob("test_*.py")):
        module = importlib.import_module(path.stem)
        for each in vars(module).values():
            if isinstance(each, type) and issubclass(each, unittest.TestCase) and each.__module__ == path.stem:
                names = unittest.defaultTestLoader.getTestCaseNames(each)
                if names:
                    found.append((f"{path.stem}.{each.__name__}", getattr(each, "SECONDS", 10), list(names)))
    return sorted(found, key=lambda it: -it[1])


def sentence(name, test):
    return f"{name.removeprefix('test_')}.{test.removeprefix('test_')}"


class Result(unittest.TestResult):
    def __init__(self, name):
        super().__init__()
        self.name, self.rows, self.begun = name, [], 0

    def startTest(self, test):
        super().startTest(test)
        self.begun = time.monotonic()

    def row(self, test, outcome, text=""):
        # A class that could not be set up is not a test; its tests have failed with it.
        method = getattr(test, "_testMethodName", None)
        self.rows.append({"test": sentence(self.name, method) if method else f"{self.name} (all of it)", "outcome": outcome, "text": text,
                          "seconds": round(time.monotonic() - self.begun, 1) if method else 0})

    def addSuccess(self, test):
        self.row(test, "ok")

    def addError(self, test, err):
        self.row(test, "FAILED", "".join(traceback.format_exception(*err)))

    addFailure = addError

    def addSkip(self, test, reason):
        self.row(test, "SKIPPED: " + reason)

    def addSubTest(self, test, subtest, err):
        if err:
            self.row(test, "FAILED", f"{subtest}\n" + "".join(traceback.format_exception(*err)))


def inside(name, tests, out):
    """In a process of its own: the tests of one class."""
    module, each = name.split(".")
    each = getattr(importlib.import_module(module), each)
    result = Result(name)
    unittest.TestSuite(map(each, tests)).run(result)
    pathlib.Path(out).write_text(json.dumps(result.rows), encoding="utf-8")


def run(name, tests):
    begun = time.monotonic()
    with tempfile.NamedTemporaryFile(prefix="redis-tests-", suffix=".json") as out:
        command = [sys.executable, str(CONTAINED), sys.executable, __file__, "--inside", name, "--tests", ",".join(tests), "--out", out.name]
        with tempfile.TemporaryFile() as log:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
            try:
                code = process.wait(MOST_SECONDS)
            except subprocess.TimeoutExpired:
                # Its tests are ended, and what they had started with them.
                process.terminate()
                process.wait()
                code = f"more than {MOST_SECONDS} s"
            log.seek(0)
            said = log.read().decode(errors="replace")
        text = pathlib.Path(out.name).read_text(encoding="utf-8")
    rows = json.loads(text) if text else [{"test": f"{name} (all of it)", "outcome": "FAILED", "text": f"broke off: {code}", "seconds": 0}]
    if code and all(row["outcome"] != "FAILED" for row in rows):
        rows.append({"test": f"{name} leaves nothing behind", "outcome": "FAILED", "text": str(code), "seconds": 0})
    if any(row["outcome"] == "FAILED" for row in rows):
        rows[-1]["text"] += "\n" + said[-6000:]
    return name, rows, round(time.monotonic() - begun, 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default=".", help="a regular expression of tests, as they are printed")
    parser.add_argument("--jobs", type=int, default=4, help="classes at the same time: most of them wait most of the time")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    parser.add_argument("--tests", help=argparse.SUPPRESS)
    parser.add_argument("--out", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.inside:
        return inside(arguments.inside, arguments.tests.split(","), arguments.out)
    chosen = []
    for name, _, tests in classes():
        tests = [test for test in tests if re.search(arguments.only, sentence(name, test))]
        if tests:
            chosen.append((name, tests))
    if arguments.list:
        for name, tests in chosen:
            print("\n".join(sentence(name, test) for test in tests))
        return 0
    good = bad = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for done in concurrent.futures.as_completed([pool.submit(run, *each) for each in chosen]):
            name, rows, seconds = done.result()
            print(f"== {name}, {seconds} s", flush=True)
            for row in rows:
                if row["text"]:
                    print(row["text"])
                print(f"test {row['test']} ... {row['outcome']}" + (f" ({row['seconds']} s)" if row["seconds"] > 5 and row["outcome"] == "ok" else ""))
                good += row["outcome"] == "ok"
                bad += row["outcome"] == "FAILED"
    print(f"{good} passed, {bad} failed")
    # Who asked for no test at all has mistyped.
    return 0 if good and not bad else 1


if __name__ == "__main__":
    os.chdir("/")
    sys.exit(main())
