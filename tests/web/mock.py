#!/usr/bin/env python3
"""Serves the page with the answers of a web service that a real pond cannot easily give.

    python3 tests/web/mock.py --scenario demo --port 7799

Headers, paths and data are those of `millpond web`; what is shown comes from `scenarios.py`. A test can change the scenario
under an open page with `POST /mock/scenario/NAME`. Nothing but the standard library.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import pathlib
import re
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import scenarios

PARTS = pathlib.Path(__file__).resolve().parents[2] / "crates/web/src/page.rs"
TOKEN = "let-me-act"


def page() -> str:
    """The page of the web service, of the parts that its source names."""
    listed = PARTS.read_text(encoding="utf-8").split("concat!(")[1].split("\n);")[0]
    parts = re.findall(r'include_str!\("([^"]+)"\)|"((?:[^"\\]|\\.)*)"', listed)
    return "".join(
        (PARTS.parent / file).read_text(encoding="utf-8") if file else text.replace("\\n", "\n") for file, text in parts
    )


def policy(html: str) -> str:
    """The content security policy of the web service: only what is in the page, by its hash."""

    def hashes(element: str) -> str:
        found = re.findall(f"<{element}>(.*?)</{element}>", html, re.DOTALL)
        return " ".join(f"'sha256-{base64.b64encode(hashlib.sha256(it.encode()).digest()).decode()}'" for it in found)

    return (
        f"default-src 'none'; script-src {hashes('script')}; style-src {hashes('style')}; connect-src 'self'; "
        "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


class Mock(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, port: int, scenario: str) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.scenario = scenario
        self.changed = threading.Condition()
        self.posted: list[dict] = []

    def turn_to(self, scenario: str) -> None:
        with self.changed:
            self.scenario = scenario
            self.changed.notify_all()

    def handle_error(self, request, client_address) -> None:
        """A browser that hangs up is no news."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Mock

    def log_message(self, *_) -> None:
        pass

    def answer(
        self, status: int, body: object, kind: str = "application/json", more: dict[str, str] | None = None
    ) -> None:
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        self.send_response(status)
        headers = {
            "Content-Type": kind,
            "Content-Length": str(len(data)),
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
            **(more or {}),
        }
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def refuse(self, status: int, kind: str, message: str, hint: str | None = None) -> None:
        self.answer(status, {"error": {"kind": kind, "message": message, "hint": hint}})

    @property
    def acts(self) -> bool:
        return self.headers.get("Authorization") == f"Bearer {TOKEN}"

    def do_GET(self) -> None:
        path, name = self.path.split("?")[0], self.server.scenario
        if path == "/":
            html = page()
            self.answer(200, html, "text/html; charset=utf-8", {"Content-Security-Policy": policy(html)})
        elif name == "locked" and not self.acts:
            message = "the token is not known" if "Authorization" in self.headers else "a token is needed"
            self.refuse(401, "denied", message, "send `Authorization: Bearer TOKEN`, with a token of `--token-file`")
        elif name == "forbidden":
            self.refuse(
                403,
                "denied",
                "this page is for user 1000 and root, not for user 33",
                "`millpond web --token-file FILE` lets others in",
            )
        elif path == "/api/v1/whoami":
            self.answer(200, {"sees": "everything", "actions": self.acts, "user": 0})
        elif path == "/api/v1/events":
            self.answer(200, scenarios.events(name))
        elif path == "/api/v1/history":
            self.answer(200, scenarios.history(name))
        elif path == "/api/v1/live":
            self.live()
        else:
            self.refuse(404, "not_found", f"there is no {path}")

    def live(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        told = None
        while True:
            name = self.server.scenario
            if name == "away":
                self.say(
                    "pond",
                    {
                        "state": "away",
                        "since_unix_ms": int(time.time() * 1000),
                        "reason": "nobody listens at /run/millpond/pond.sock",
                    },
                )
            else:
                if told in (None, "away"):
                    self.say("pond", {"state": "up", "since_unix_ms": int(time.time() * 1000), "reason": None})
                self.say("overview", scenarios.overview(name))
            told = name
            with self.server.changed:
                self.server.changed.wait(timeout=1.0)

    def say(self, kind: str, data: object) -> None:
        self.wfile.write(f"event: {kind}\ndata: {json.dumps(data)}\n\n".encode())
        self.wfile.flush()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.path.startswith("/mock/scenario/"):
            self.server.turn_to(self.path.rsplit("/", 1)[1])
            self.answer(200, {})
        elif not self.acts:
            self.refuse(
                403,
                "denied",
                "an action needs a token that allows it",
                "send `Authorization: Bearer TOKEN`, with a token of `--actions-token-file`",
            )
        else:
            self.server.posted.append({"path": self.path, "body": json.loads(body or b"{}")})
            self.answer(200, {})


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--port", type=int, default=7799)
    arguments.add_argument("--scenario", default="demo", choices=scenarios.NAMES)
    given = arguments.parse_args()
    Mock(given.port, given.scenario).serve_forever()


if __name__ == "__main__":
    main()
