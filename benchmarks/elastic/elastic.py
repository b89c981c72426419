#!/usr/bin/env python3
"""Elastic caches beside the bare driver: `millpond bench`, its rows about caches, and what they are judged by.

    elastic.py --millpond PROGRAM [--quick] [--out FILE]

Runs the rows, prints them, and writes one JSON file. The goals are for a GPU; on the software driver no speed is judged.
A goal that is missed is shown with NO and changes nothing: the numbers are the answer. What fails makes the exit code 1.
"""

import argparse
import datetime
import json
import os
import pathlib
import platform
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SECONDS = 300

# kvcached in the same layout on the same kind of machine (H200, driver 580.159): 16 layers, one page of all layers, with
# its thread that makes pages ahead. The best that was seen of each.
KVCACHED = {"page_us": 19.0, "page_p90_us": 500.0, "free_us": 130.0}
TIMES_FASTER = 10

GOALS = {
    "warm_block_us": 1.0,
    "cold_1g_over_raw": 1.2,
    "move_1g_ms": 5.0,
    "move_1g_asked_ms": 5.0,
    "kv_page_us": KVCACHED["page_us"] / TIMES_FASTER,
    "kv_page_p90_us": KVCACHED["page_p90_us"] / TIMES_FASTER,
    "kv_page_free_us": KVCACHED["free_us"] / TIMES_FASTER,
    "book_ratio": 0.001,
}


def bench(program, quick):
    """What `millpond bench` says of caches. Its own errors go to this program's standard error."""
    command = [program, "bench", "--json", "--only", "^elastic/", *(["--quick"] if quick else [])]
    try:
        ran = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        sys.exit(f"elastic: `{' '.join(command)}` was killed after {SECONDS} s")
    if ran.returncode != 0:
        sys.exit(f"elastic: `{' '.join(command)}` ended with {ran.returncode}\n{ran.stdout}")
    return json.loads(ran.stdout)


def numbers(rows):
    """The numbers of the rows under names that say their units. A row of times is in microseconds."""
    by_name = {row["name"].removeprefix("elastic/"): row for row in rows}
    found = {}

    def put(key, unit, name):
        row, divisor = by_name[name], {"us": 1.0, "ms": 1e3}[unit]
        for part, field in (("", "median"), ("p90_", "p90"), ("raw_", "floor")):
            value = row[field]
            found[f"{key}_{part}{unit}"] = None if value is None else round(value / divisor, 6)

    put("warm_block", "us", "warm-block")
    for key, name in (("cold_1g", "cold-1g"), ("cold_1g_16m", "cold-1g-16m"), ("cold_1g_2m", "cold-1g-2m")):
        found[f"{key}_over_raw"] = by_name[name]["ratio"]
        put(key, "ms", name)
    put("move_1g", "ms", "move-1g")
    put("move_1g_asked", "ms", "move-1g-asked")
    for key, name in (("kv_page", "kv-page"), ("kv_page_again", "kv-page-again"), ("kv_page_cold", "kv-page-cold"),
                      ("kv_page_free", "kv-page-free"), ("kv_page_trim", "kv-page-trim")):
        put(key, "us", name)
    found["book_ratio"] = by_name["book"]["ratio"]
    found["book_bytes"] = by_name["book"]["median"]
    return found


def machine():
    """This machine, in words; of the card what the bench says."""
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


def judge(found, soft):
    """Each goal with its number, and whether it is met; `None` where no speed is judged."""
    verdicts = {}
    for name, goal in GOALS.items():
        judged = found[name] is not None and (not soft or name == "book_ratio")
        verdicts[name] = {"value": found[name], "goal": goal, "ok": found[name] <= goal if judged else None}
    return verdicts


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--millpond", default=os.environ.get("MILLPOND_BIN", "millpond"), help="the program; MILLPOND_BIN unless said")
    parser.add_argument("--quick", action="store_true", help="fewer rounds; on the software driver less memory too")
    parser.add_argument("--out", help="write the JSON to this file")
    options = parser.parse_args()
    measured = bench(options.millpond, options.quick)
    found = numbers(measured["rows"])
    verdicts = judge(found, measured["software_driver"])
    result = {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "commit": commit(), "machine": machine(), "driver": measured["driver"], "device": measured["device_name"],
        "software_driver": measured["software_driver"], "quick": measured["quick"], **found,
        "kvcached": KVCACHED, "goals": verdicts, "rows": measured["rows"],
    }
    if options.out:
        pathlib.Path(options.out).write_text(json.dumps(result, indent=1) + "\n")
    print(f"{measured['device_name']}, {measured['driver']}")
    for row in measured["rows"]:
        beside = "" if row["floor"] is None else f", bare {row['floor']:,.3f}"
        p90 = "" if row["p90"] is None else f", p90 {row['p90']:,.3f}"
        print(f"{row['name']:24} {row['median']:14,.3f} {row['unit']}{p90}{beside}  ({row['what']})")
    words = {True: "yes", False: "NO", None: "not judged"}
    for name, verdict in verdicts.items():
        value = "-" if verdict["value"] is None else f"{verdict['value']:.6g}"
        print(f"{name:20} {value:>12}  goal: at most {verdict['goal']:g}  {words[verdict['ok']]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
