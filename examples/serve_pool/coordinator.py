#!/usr/bin/env python3
"""The coordinator: takes requests by HTTP and hands them to a pool of workers.

    python coordinator.py llama --workers 4 --port 8080
    curl -s localhost:8080/infer -d '{"prompt": "hello", "count": 8}'
    curl -s localhost:8080/stats

SIGTERM or Ctrl-C stops it in order: what was asked is answered first. It holds no GPU memory and
opens no GPU, so it is as light as a web server.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import signal
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from pool import Pool, PoolStopped, RequestFailed

BODY_BYTES = 1 << 14
CLIENT_SECONDS = 10.0  # for a client to send or take the next bytes; a stop waits for it


def worker_command(model: str, framework: str, requests: int = 0) -> list[str]:
    """How a worker is started."""
    program = pathlib.Path(__file__).with_name("worker.py")
    return [sys.executable, str(program), model, "--framework", framework, "--requests", str(requests)]


def framework_of_pond() -> str:
    """numpy on the software driver, torch on a GPU."""
    import millpond

    return "numpy" if millpond.status().software else "torch"


def parse(body: bytes) -> dict[str, Any]:
    """A request of the front as one for a worker: a prompt is its bytes."""
    asked = json.loads(body)
    if not isinstance(asked, dict) or not isinstance(asked.get("prompt"), (str, list)):
        raise ValueError('expected {"prompt": "text" or [tokens], "count": 8}')
    prompt, count = asked["prompt"], asked.get("count", 8)
    if type(count) is not int:
        raise ValueError("count must be a whole number")
    return {"tokens": list(prompt.encode()) if isinstance(prompt, str) else prompt, "count": count}


class Refused(Exception):
    """A request that is not read: its status, and why."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class Front(BaseHTTPRequestHandler):
    pool: Pool
    timeout = CLIENT_SECONDS

    def handle(self) -> None:
        try:
            super().handle()
        except ConnectionError:
            self.close_connection = True  # the client has hung up: nobody to tell

    def do_POST(self) -> None:
        begun = time.perf_counter()
        if self.path != "/infer":
            return self.reply(404, {"error": "POST /infer, or GET /stats"})
        try:
            answer = self.pool.submit(parse(self.body())).result()
        except Refused as error:
            return self.reply(error.status, {"error": str(error)})
        except RecursionError:
            return self.reply(400, {"error": "too deep"})
        except ValueError as error:
            return self.reply(400, {"error": str(error)})
        except (PoolStopped, RequestFailed) as error:
            return self.reply(503, {"error": str(error)})
        answer["ms"] = round((time.perf_counter() - begun) * 1e3, 1)
        self.reply(400 if "error" in answer else 200, answer)

    def body(self) -> bytes:
        """As many bytes as were announced, or why not."""
        announced = set(self.headers.get_all("Content-Length", ()))
        if not announced or "Transfer-Encoding" in self.headers:
            raise Refused(411, "Content-Length is missing")
        text = announced.pop().strip()
        if announced or not (text.isascii() and text.isdigit()):
            raise Refused(400, "Content-Length is not a number of bytes")
        if len(text) > 18 or int(text) > BODY_BYTES:
            raise Refused(413, f"at most {BODY_BYTES} bytes")
        body = self.rfile.read(int(text))
        if len(body) < int(text):
            raise Refused(400, f"{len(body)} of {text} bytes came")
        return body

    def do_GET(self) -> None:
        if self.path == "/stats":
            self.reply(200, self.pool.stats())
        else:
            self.reply(404, {"error": "POST /infer, or GET /stats"})

    def reply(self, status: int, body: dict[str, Any]) -> None:
        text = json.dumps(body).encode() + b"\n"
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: Any) -> None:
        """Requests are counted in /stats, not printed."""


def main() -> None:
    parser = argparse.ArgumentParser(description="Serves a model of the pond with a pool of workers.")
    parser.add_argument("model")
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--requests", type=int, default=0, help="a worker ends after so many; 0: never")
    parser.add_argument("--framework", choices=("numpy", "torch"), help="unless said: what the driver needs")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8080)
    args = parser.parse_args()

    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    front = ThreadingHTTPServer((args.host, args.port), Front)
    front.daemon_threads = False  # a stop waits for answers that are on their way
    framework = args.framework or framework_of_pond()
    pool = Front.pool = Pool(worker_command(args.model, framework, args.requests), args.workers)
    threading.Thread(target=front.serve_forever, name="front").start()
    print(f"serving {args.model} with {args.workers} workers on http://{args.host}:{front.server_port}", flush=True)

    stop.wait()
    front.shutdown()
    pool.stop()
    front.server_close()
    stats = pool.stats()
    print(f"stopped: {stats['answered']} answered, {stats['failed']} failed, {stats['handed_over']} handed over")


if __name__ == "__main__":
    main()
