"""A pool of worker processes that loses no request.

One thread owns all of it and waits for whatever comes first: a request, an answer, the end of a
worker. Each worker has one end of a socketpair and one request at a time. If it dies or takes too
long, its request goes to the front of the queue and another worker takes its place. The pool knows
nothing about models: that is the workers' business.
"""

from __future__ import annotations

import collections
import contextlib
import json
import selectors
import socket
import subprocess
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

MESSAGE_BYTES = 1 << 16


class PoolStopped(Exception):
    """The pool takes no more requests, or ended before this one was answered."""


class RequestFailed(Exception):
    """Every worker that tried this request died of it, or took too long."""


@dataclass
class Request:
    message: bytes
    answer: Future = field(default_factory=Future)
    tries: int = 0


class Worker:
    """A worker process and the pool's end of its channel."""

    def __init__(self, command: Sequence[str]) -> None:
        # One packet is one message, and the end of the process is the end of the channel.
        self.channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            fd = theirs.fileno()
            self.process = subprocess.Popen([*command, "--channel", str(fd)], pass_fds=[fd], stdin=subprocess.DEVNULL)
        self.request: Request | None = None
        self.since = time.monotonic()
        self.version: str | None = None  # none until it has said that it is ready
        self.attach_ms: float | None = None
        self.served = 0

    def give(self, request: Request) -> None:
        self.request, self.since = request, time.monotonic()
        request.tries += 1
        with contextlib.suppress(OSError):  # it is dead; its channel says so in a moment
            self.channel.send(request.message)

    def hear(self) -> dict[str, Any] | None:
        """Its message, or nothing if it has ended."""
        try:
            message = self.channel.recv(MESSAGE_BYTES)
        except OSError:
            message = b""
        return json.loads(message) if message else None


class Pool:
    """`size` workers, each started with `command`.

    A worker that says nothing for `deadline` seconds is killed; a request that `max_tries` workers
    could not answer fails.
    """

    def __init__(self, command: Sequence[str], size: int, *, deadline: float = 60.0, max_tries: int = 5) -> None:
        self._command, self._size = list(command), size
        self._deadline, self._max_tries = deadline, max_tries
        self._inbox: collections.deque[Request] = collections.deque()
        self._queue: collections.deque[Request] = collections.deque()
        self._workers: list[Worker] = []
        self._ended: list[subprocess.Popen] = []
        self._failed_starts = 0
        self._start_after = 0.0
        self._stop_by: float | None = None
        self._lock = threading.Lock()
        self._counts: collections.Counter[str] = collections.Counter()
        self._versions: collections.Counter[str] = collections.Counter()
        self._wake, self._bell = socket.socketpair()
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._wake, selectors.EVENT_READ)
        self._thread = threading.Thread(target=self._run, name="pool")
        self._thread.start()

    def submit(self, body: dict[str, Any]) -> Future:
        """Queues a request; the future gets the worker's answer."""
        request = Request(json.dumps(body).encode())
        if len(request.message) > MESSAGE_BYTES:  # a worker would see only the beginning, and die of it
            raise ValueError(f"a request has at most {MESSAGE_BYTES} bytes, and this one {len(request.message)}")
        with self._lock:
            if self._stop_by is not None:
                raise PoolStopped("the pool is stopping")
            self._inbox.append(request)
            self._bell.send(b"!")
        return request.answer

    def stats(self) -> dict[str, Any]:
        workers = [
            {
                "pid": worker.process.pid,
                "state": "starting" if not worker.version else "busy" if worker.request else "idle",
                "version": worker.version,
                "served": worker.served,
                "attach_ms": worker.attach_ms,
            }
            for worker in list(self._workers)
        ]
        counts = dict(self._counts)
        return {
            "workers": workers,
            "queued": len(self._queue) + len(self._inbox),
            "by_version": dict(sorted(self._versions.items())),
            **{name: counts.get(name, 0) for name in ("answered", "handed_over", "failed", "started", "died")},
        }

    def pids(self) -> list[int]:
        """The processes of the workers that are ready."""
        return [worker.process.pid for worker in list(self._workers) if worker.version]

    def stop(self, drain_seconds: float = 30.0) -> None:
        """Answers what was asked, then ends the workers. What is not answered in time fails."""
        with self._lock:
            if self._stop_by is None:
                self._stop_by = time.monotonic() + drain_seconds
                self._bell.send(b"!")
        self._thread.join()
        self._wake.close()
        self._bell.close()

    def _run(self) -> None:
        while True:
            for key, _ in self._selector.select(self._patience()):
                if key.fileobj is self._wake:
                    self._wake.recv(MESSAGE_BYTES)
                else:
                    self._listen(key.data)
            while self._inbox:
                request = self._inbox.popleft()
                if request.answer.set_running_or_notify_cancel():  # from here on it is answered
                    self._queue.append(request)
            self._end_what_hangs()
            self._ended = [process for process in self._ended if process.poll() is None]
            if self._stop_by is not None:
                working = self._queue or self._inbox or any(worker.request for worker in self._workers)
                if not working or time.monotonic() > self._stop_by:
                    return self._finish()
            self._start_missing()
            self._hand_out()

    def _patience(self) -> float:
        """How long to wait at most: until a start may be tried again or somebody is too slow."""
        times = [worker.since + self._deadline for worker in self._workers if worker.request or not worker.version]
        if len(self._workers) < self._size:
            times.append(self._start_after)
        if self._ended:
            times.append(time.monotonic() + 0.1)
        if self._stop_by is not None:
            times.append(self._stop_by)
        return max(0.0, min(times, default=time.monotonic() + 60.0) - time.monotonic())

    def _start_missing(self) -> None:
        while len(self._workers) < self._size and time.monotonic() >= self._start_after:
            worker = Worker(self._command)
            self._counts["started"] += 1
            self._workers.append(worker)
            self._selector.register(worker.channel, selectors.EVENT_READ, worker)

    def _hand_out(self) -> None:
        idle = [worker for worker in self._workers if worker.version and not worker.request]
        for worker in sorted(idle, key=lambda worker: worker.since):  # in turn
            if self._queue:
                worker.give(self._queue.popleft())

    def _listen(self, worker: Worker) -> None:
        message = worker.hear()
        if message is None:
            return self._bury(worker)
        worker.version = message["version"]
        if "last" not in message:  # no answer but news: it is ready, or has followed a swap
            worker.attach_ms = message.get("attach_ms", worker.attach_ms)
            self._failed_starts = 0
            return None
        request, worker.request = worker.request, None
        worker.served += 1
        worker.since = time.monotonic()
        self._counts["answered"] += 1
        self._versions[worker.version] += 1
        if message.pop("last"):
            self._remove(worker)
        request.answer.set_result({**message, "worker": worker.process.pid})
        return None

    def _bury(self, worker: Worker) -> None:
        """A worker died: its request goes to the next one, and another one takes its place."""
        self._counts["died"] += 1
        self._remove(worker)
        if worker.version is None:  # it did not even start: do not try again at once
            self._failed_starts += 1
            self._start_after = time.monotonic() + min(2.0, 0.05 * 2**self._failed_starts)
        request = worker.request
        if request is None:
            return
        if request.tries < self._max_tries:
            self._counts["handed_over"] += 1
            self._queue.appendleft(request)
        else:
            self._counts["failed"] += 1
            request.answer.set_exception(RequestFailed(f"{request.tries} workers could not answer it"))

    def _end_what_hangs(self) -> None:
        for worker in list(self._workers):
            waited_for = worker.request or not worker.version
            if waited_for and time.monotonic() > worker.since + self._deadline:
                worker.process.kill()
                self._bury(worker)

    def _remove(self, worker: Worker) -> None:
        self._workers.remove(worker)
        self._selector.unregister(worker.channel)
        worker.channel.close()
        self._ended.append(worker.process)

    def _finish(self) -> None:
        for request in [*self._queue, *self._inbox, *(w.request for w in self._workers if w.request)]:
            self._counts["failed"] += 1
            request.answer.set_exception(PoolStopped("the pool was stopped before"))
        self._queue.clear()
        for worker in list(self._workers):
            if worker.request:
                worker.process.kill()
            self._remove(worker)  # a worker ends when its channel does
        for process in self._ended:
            try:
                process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._selector.close()
