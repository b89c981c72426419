#!/usr/bin/env python3
"""Millpond's stream-ordered pool beside other allocators: blocks alone, and the training of a small transformer.

    side_by_side.py --millpond PROGRAM [--peers FOLDER] [--quick] [--svg FILE] [--out FILE]

Starts a pond of its own and processes that have torch and the Python package `millpond` on their path. The loops are compiled
here. Wrong results, and errors of our own, make the exit code 1. A peer that cannot be measured is a row with the reason; a
goal that is missed is shown with NO. Neither changes anything: the numbers are the answer.
"""

import argparse
import datetime
import importlib.util
import json
import os
import pathlib
import platform
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "weights"))
sys.path.insert(0, str(HERE))

import pond as ponds  # noqa: E402
import summary  # noqa: E402
import trainings  # noqa: E402

GROUP, SMALL = "pool", "pool-small"
PEERS_SECONDS = 180
PARTS = ("peers", "train")


def machine():
    """This machine, in words."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    return f"{len(os.sched_getaffinity(0))} x {names[0] if names else platform.machine()}, Linux {platform.release()}"


def commit():
    """Which commit was measured, where a bundle or a checkout says so."""
    beside = HERE.parent / "commit"
    if beside.is_file():
        return beside.read_text().strip()
    asked = subprocess.run(["git", "-C", HERE, "describe", "--always", "--dirty"], capture_output=True, text=True, check=False)
    return asked.stdout.strip() or "unknown"


def measure_peers(options, env):
    """Blocks by all allocators: numbers, what is wrong, lines for people, and the samples."""
    command = [sys.executable, "-B", str(options.children / "peers.py"), "--group", GROUP]
    command += ["--peers", options.peers] if options.peers else []
    command += ["--svg", options.svg] if options.svg else []
    command += ["--quick"] if options.quick else []
    try:
        printed = ponds.run(command, env, seconds=PEERS_SECONDS).text
        measured = json.loads(printed.rsplit("RESULT ", 1)[1])
    except (ponds.CommandFailed, IndexError, ValueError) as error:
        return {}, [f"peers: {error}"], [f"peers: FAILED: {error}"], None
    found = summary.numbers(measured)
    lines = [f"{measured['device']}, torch {measured['torch']}", *summary.table(found, measured["sizes"], measured["absent"])]
    return found, measured["failed"], lines, measured


def measure_trainings(options, env):
    """Trainings: the same four."""
    plan = trainings.QUICK if options.quick else trainings.FULL
    program = options.children / "train.py"
    found, failed, said = trainings.run(program, GROUP, env, plan)
    found["train_too_small"], wrong = trainings.too_small(program, SMALL, env)
    lines = []
    for kind in trainings.KINDS:
        if f"train_{kind}_step_ms" in found:
            peak = found[f"train_{kind}_peak_bytes"]
            over, spread = found.get(f"train_{kind}_over_torch"), found.get(f"train_{kind}_over_torch_spread")
            beside = "" if over is None else f", {over:.4f}x torch ({spread[0]:.4f} to {spread[1]:.4f})"
            lines.append(f"train {kind:12} {found[f'train_{kind}_step_ms']:9.3f} ms a step{beside}, peak {'-' if peak is None else f'{peak / (1 << 20):,.0f} MiB'}")
    lines += [f"too small a limit, {kind}: {text.splitlines()[-1]}" for kind, text in found["train_too_small"].items()]
    if not failed:
        lines.append("losses and parameters of all trainings are equal to the last bit")
    return found, failed + wrong, lines, said


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--millpond", default=os.environ.get("MILLPOND_BIN", "millpond"), help="the program; MILLPOND_BIN unless said")
    parser.add_argument("--peers", help="the folder with the peers' wheels; benchmarks/weights/peers makes it")
    parser.add_argument("--part", choices=PARTS, action="append", help="one part alone; all unless said")
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    parser.add_argument("--svg", help="draw the pool in the mixed sequence into this file")
    parser.add_argument("--out", help="write the JSON to this file")
    parser.add_argument("--children", type=pathlib.Path, default=HERE, help=argparse.SUPPRESS)
    options = parser.parse_args()
    for package in ("torch", "millpond") if options.children == HERE else ():
        if not importlib.util.find_spec(package):
            sys.exit(f"pool: the package '{package}' is not installed")
    gpu = os.environ.get("MILLPOND_DRIVER") != "soft"
    parts = options.part or PARTS
    found, failed, lines, samples = {}, [], [], {}
    try:
        pond = ponds.Pond(options.millpond, soft=not gpu)
    except (ponds.CommandFailed, OSError) as error:
        sys.exit(f"pool: {error}")
    try:
        pond.cli("group", "set", GROUP, "--limit", "32G" if gpu else "512M")
        pond.cli("group", "set", SMALL, "--limit", "512M" if gpu else "16M")
        for part, measure in (("peers", measure_peers), ("train", measure_trainings)):
            if part in parts:
                more, wrong, text, samples[part] = measure(options, pond.env)
                found |= more
                failed += wrong
                lines += text
    except ponds.CommandFailed as error:
        failed.append(str(error))
    finally:
        pond.stop()
    verdicts = summary.judge(found, judged=gpu)
    measured = samples.get("peers") or {}
    result = {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"), "commit": commit(), "machine": machine(),
        "device": measured.get("device"), "torch": measured.get("torch"), "quick": options.quick, "ok": not failed, "failed": failed,
        **found, "absent": measured.get("absent", {}), "goals": verdicts, "samples": samples,
    }
    if options.out:
        pathlib.Path(options.out).write_text(json.dumps(result, indent=1) + "\n")
    print("\n".join(lines))
    words = {True: "yes", False: "NO", None: "not judged"}
    for name, verdict in verdicts.items():
        value = "-" if verdict["value"] is None else f"{verdict['value']:.4g}"
        print(f"{name:28} {value:>9}  goal: at most {verdict['goal']:g}  {words[verdict['ok']]}")
    for what in failed:
        print(f"FAILED: {what}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
