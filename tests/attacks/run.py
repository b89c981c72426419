"""Runs the attacks, each in namespaces of its own, and says of each finding whether the pond holds. Called by `run`."""

import argparse
import concurrent.futures
import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
import traceback

import bounds
import harness

MOST_SECONDS = 75  # Ends what hangs; decides nothing.


def find(name):
    module, function = bounds.FINDINGS[name]
    return getattr(importlib.import_module(module), function)


def inside(name, out):
    """In the namespaces: one attack."""
    for folder in ("/run", "/dev/shm"):
        subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=1777" if folder == "/dev/shm" else "mode=755", "tmpfs", folder], check=True)
    # As Debian has it: everybody can write there.
    os.mkdir("/run/lock")
    os.chmod("/run/lock", 0o1777)
    report, ponds = harness.Report(), []

    def pond(**named):
        ponds.append(harness.Pond(os.environ["MILLPOND_BIN"], **named))
        return ponds[-1]

    error = None
    try:
        find(name)(pond, report)
    except Exception:  # an attack that breaks off has failed, and the others go on
        error = traceback.format_exc()
        if ponds:
            error += ponds[-1].log()[-2000:]
    for each in ponds:
        each.stop()
    with open(out, "w", encoding="utf-8") as file:
        json.dump({"ok": report.ok and error is None, "checks": report.checks, "error": error}, file)


def run(name):
    begun = time.monotonic()
    with tempfile.NamedTemporaryFile(prefix="attack-", suffix=".json") as out:
        apart = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--propagation", "private", "--mount-proc"]
        try:
            ran = subprocess.run([*apart, sys.executable, __file__, "--inside", name, "--json", out.name], stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=MOST_SECONDS, check=False)
            said = ran.stdout.decode(errors="replace")
        except subprocess.TimeoutExpired:
            said = f"more than {MOST_SECONDS} s"
        text = open(out.name, encoding="utf-8").read()
    result = json.loads(text) if text else {"ok": False, "checks": [], "error": "broke off: " + said[-2000:]}
    return name, {**result, "test": ".".join(bounds.FINDINGS[name]), "seconds": round(time.monotonic() - begun, 1)}


def show(name, result):
    print(f"== {name} {result['test']}, {result['seconds']} s", flush=True)
    for check in result["checks"]:
        mark = "     note" if check.get("note") else "       ok" if check["ok"] else "   FAILED"
        measured = "" if check["measured"] is None else f": {check['measured']}"
        print(f"{mark}  {check['what']}{measured}")
    if result["error"]:
        print(f"   FAILED  broke off\n{result['error']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help="findings, by comma")
    parser.add_argument("--json", help="file for everything that was measured")
    parser.add_argument("--jobs", type=int, default=3, help="attacks at the same time")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.inside:
        return inside(arguments.inside, arguments.json)
    names = arguments.only.split(",") if arguments.only else list(bounds.FINDINGS)
    unknown = [name for name in names if name not in bounds.FINDINGS]
    if unknown:
        parser.error(f"no finding {', '.join(unknown)}; there are {', '.join(bounds.FINDINGS)}")
    if arguments.list:
        for name in names:
            print(name, ".".join(bounds.FINDINGS[name]))
        return 0
    results = {}
    # What measures the daemon under all attacks at once has the machine for itself.
    together = [name for name in names if name not in bounds.ALONE]
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for done in concurrent.futures.as_completed([pool.submit(run, name) for name in together]):
            name, results[name] = done.result()
            show(name, results[name])
    for name in names:
        if name in bounds.ALONE:
            results[name] = run(name)[1]
            show(name, results[name])
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)
    print(f"\n{'FINDING':8} {'RESULT':7} {'SECONDS':>7}  TEST")
    for name in names:
        result = results[name]
        print(f"{name:8} {'ok' if result['ok'] else 'FAILED':7} {result['seconds']:7}  {result['test']}")
    good = sum(result["ok"] for result in results.values())
    print(f"{good} passed, {len(results) - good} failed")
    return 0 if good == len(results) else 1


if __name__ == "__main__":
    sys.exit(main())
