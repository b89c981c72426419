#!/usr/bin/env python3
"""The picture of a page that was recorded elsewhere, such as on a machine with a GPU and no browser.

    python3 tests/web/recorded.py benchmarks/results/h200-2026-11-19-shown.json --out page.png

The page is the program's, and so are the answers that it gets: `adds_up.py --out` has kept them.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import threading

import mock
import pictures
import scenarios
from webdriver import Browser


def main() -> None:
    reading = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reading.add_argument("recorded", type=pathlib.Path)
    reading.add_argument("--out", type=pathlib.Path, required=True)
    given = reading.parse_args()
    kept = json.loads(given.recorded.read_text())
    scenarios.overview = lambda _: kept["overview"]
    scenarios.events = lambda _: kept["events"]
    scenarios.history = lambda _: kept["history"]
    server = mock.Mock(0, "recorded")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    browser = Browser()
    try:
        # Ages are counted from the time of the recording.
        at = kept["overview"]["at_unix_ms"]
        browser.cdp("Page.addScriptToEvaluateOnNewDocument", source=f"(() => {{ const now = Date.now; const shift = now() - {at}; Date.now = () => now() - shift; }})();")
        browser.scheme("light")
        browser.size(1440, 1000, 1.5, mobile=False)
        browser.go(f"http://127.0.0.1:{server.server_address[1]}/")
        browser.until("return window.__millpond && window.__millpond.updates > 0", what="the picture is there")
        browser.picture(given.out)
        pictures.shrink(given.out)
    finally:
        browser.end()
        server.shutdown()
    print(f"{given.out}: {given.out.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
