#!/usr/bin/env python3
"""Limits with real processes, on a card or (with --soft FOLDER, cargo's target/debug) without one.

    run.py --millpond PROGRAM --tenant PROGRAM --preload LIBRARY [--only PART,...] [--trials 50] [--out limits.json]

The last line is `N passed, N failed`.
"""

import argparse
import json
import sys
import time
import traceback

import frameworks
import live
import races
from ground import Ground

PARTS = {"races": races.races, "fresh": races.fresh_races, "contexts": races.contexts, "kills": races.kills,
         "live": live.live, "inside": live.inside, "coverage": live.coverage, "frameworks": frameworks.frameworks}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--millpond", required=True)
    parser.add_argument("--tenant", required=True)
    parser.add_argument("--preload", required=True)
    parser.add_argument("--soft")
    parser.add_argument("--only")
    parser.add_argument("--trials", type=int, default=50)
    parser.add_argument("--out")
    arguments = parser.parse_args()
    # Frameworks need a card.
    names = arguments.only.split(",") if arguments.only else [name for name in PARTS if not (arguments.soft and name == "frameworks")]
    ground, result, passed, failed = Ground(arguments), {}, 0, 0
    try:
        for name in names:
            begun = time.monotonic()
            try:
                result[name], verdict = PARTS[name](ground), "ok"
                passed += 1
            except Exception as error:
                result[name], verdict = {"error": str(error)}, "FAILED"
                traceback.print_exc()
                failed += 1
            print(f"{name}: {verdict}, {time.monotonic() - begun:.1f} s: {json.dumps(result[name])}", flush=True)
    finally:
        ground.close()
    if arguments.out:
        with open(arguments.out, "w") as out:
            json.dump(result, out, indent=1)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
