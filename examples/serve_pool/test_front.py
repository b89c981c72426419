"""The coordinator's front, with a pool that only answers: `python -m unittest` in this folder."""

from __future__ import annotations

import contextlib
import io
import json
import socket
import struct
import threading
import unittest
from concurrent.futures import Future
from http.server import ThreadingHTTPServer

import coordinator

DEADLINE = 60
PROMPT = b'{"prompt": "hello"}'


class Echo:
    """A pool whose answers wait until they may come."""

    def __init__(self):
        self.asked = threading.Semaphore(0)
        self.go = threading.Event()
        self.go.set()

    def submit(self, body):
        self.asked.release()
        answer = Future()
        self.go.wait(DEADLINE)
        answer.set_result({"tokens": body["tokens"]})
        return answer


class FrontTest(unittest.TestCase):
    def setUp(self):
        class Front(coordinator.Front):
            pool = Echo()

        self.front, self.pool = Front, Front.pool
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Front)
        self.server.daemon_threads = False
        self.errors = io.StringIO()
        self.redirected = contextlib.ExitStack()
        self.redirected.enter_context(contextlib.redirect_stderr(self.errors))
        self.serving = threading.Thread(target=self.server.serve_forever)
        self.serving.start()

    def tearDown(self):
        self.server.shutdown()
        self.serving.join(DEADLINE)
        closing = threading.Thread(target=self.server.server_close, daemon=True)
        closing.start()
        closing.join(DEADLINE)
        self.redirected.close()
        self.assertFalse(closing.is_alive(), "a thread of the front hangs")
        self.assertEqual(self.errors.getvalue(), "", "nothing is raised")

    def connect(self):
        return socket.create_connection(self.server.server_address, DEADLINE)

    def ask(self, *headers, body=b""):
        with self.connect() as client:
            head = "".join(f"{line}\r\n" for line in ("POST /infer HTTP/1.0", *headers, ""))
            client.sendall(head.encode() + body)
            client.shutdown(socket.SHUT_WR)
            said = b""
            while more := client.recv(65536):
                said += more
        head, _, body = said.partition(b"\r\n\r\n")
        return int(head.split()[1]), json.loads(body)

    def test_a_request_is_answered(self):
        status, answer = self.ask(f"Content-Length: {len(PROMPT)}", body=PROMPT)
        self.assertEqual((status, answer["tokens"]), (200, list(b"hello")))

    def test_a_length_that_cannot_be_is_refused(self):
        for status, *headers in [
            (411,),
            (411, "Transfer-Encoding: chunked"),
            (400, "Content-Length: -1"),
            (400, "Content-Length: 1_0"),
            (400, "Content-Length: +5"),
            (400, "Content-Length: ten"),
            (400, "Content-Length: 5", "Content-Length: 6"),
            (413, "Content-Length: 1000000"),
            (413, "Content-Length: " + "9" * 5000),
            (400, "Content-Length: 0"),
            (400, "Content-Length: 500"),
        ]:
            with self.subTest(headers):
                found, answer = self.ask(*headers)
                self.assertEqual(found, status, answer)
                self.assertTrue(answer["error"])

    def test_a_body_that_says_nothing_sensible_is_refused(self):
        deep = b"[" * 16000
        for body in (b"", b"x", b"[]", b'{"prompt": 5}', b'{"prompt": "\\ud800"}', b"\xff", deep):
            with self.subTest(body[:20]):
                self.assertEqual(self.ask(f"Content-Length: {len(body)}", body=body)[0], 400)

    def test_a_half_of_a_request_is_not_one(self):
        status, _ = self.ask(f"Content-Length: {len(PROMPT) + 5}", body=PROMPT)
        self.assertEqual(status, 400)
        self.assertFalse(self.pool.asked.acquire(blocking=False))

    def test_a_client_that_hangs_up_is_forgotten(self):
        self.pool.go.clear()
        head = f"POST /infer HTTP/1.0\r\nContent-Length: {len(PROMPT)}\r\n\r\n".encode()
        for sent in (b"", b"POST /inf", head, head + PROMPT[:5], head + PROMPT):
            client = self.connect()
            client.sendall(sent)
            if sent == head + PROMPT:
                self.assertTrue(self.pool.asked.acquire(timeout=DEADLINE))
            # With a reset, so that writing fails at once.
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            client.close()
        self.pool.go.set()

    def test_a_client_that_stops_in_the_middle_does_not_keep_the_front(self):
        self.assertIsNotNone(self.front.timeout)
        self.front.timeout = 0.2
        head = f"POST /infer HTTP/1.0\r\nContent-Length: {len(PROMPT)}\r\n\r\n".encode()
        with self.connect() as client:
            client.sendall(head + PROMPT[:5])
            self.assertEqual(client.recv(1), b"", "the front hangs up")


if __name__ == "__main__":
    unittest.main()
