"""The pool alone, with workers that need no pond: `python -m unittest` in this folder."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import time
import unittest

from pool import Pool, PoolStopped, RequestFailed

DEADLINE = 60
WORKER = """
import json, os, socket, sys, time
channel = socket.socket(fileno=int(sys.argv[sys.argv.index("--channel") + 1]))
limit = int(sys.argv[1])
try:
    channel.send(json.dumps({"version": "v1", "attach_ms": 0.0}).encode())
except BrokenPipeError:
    sys.exit()
served = 0
while message := channel.recv(65536):
    body = json.loads(message)
    served += 1
    if body.get("die") and (body["die"] == "always" or not os.path.exists(body["die"])):
        if body["die"] != "always":
            open(body["die"], "w").close()
        os.kill(os.getpid(), 9)
    time.sleep(body.get("sleep", 0))
    channel.send(json.dumps({"version": "v1", "echo": body["echo"], "last": served == limit}).encode())
    if served == limit:
        break
"""


class PoolTest(unittest.TestCase):
    def start(self, size=2, limit=0, command=None, **options):
        pool = Pool(command or [sys.executable, "-c", WORKER, str(limit)], size, **options)
        self.addCleanup(pool.stop, 0)
        return pool

    def wait_until(self, condition):
        deadline = time.monotonic() + DEADLINE
        while not condition():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)

    def test_every_request_gets_its_own_answer(self):
        pool = self.start(3)
        answers = [pool.submit({"echo": number}) for number in range(100)]
        self.assertEqual([answer.result(DEADLINE)["echo"] for answer in answers], list(range(100)))
        self.assertEqual(pool.stats()["answered"], 100)
        self.assertEqual(pool.stats()["by_version"], {"v1": 100})

    def test_a_request_whose_worker_is_killed_goes_to_another_one(self):
        pool = self.start(2)
        with tempfile.TemporaryDirectory() as folder:
            answer = pool.submit({"echo": 7, "die": os.path.join(folder, "died")}).result(DEADLINE)
        self.assertEqual(answer["echo"], 7)
        stats = pool.stats()
        self.assertEqual((stats["handed_over"], stats["died"], stats["failed"]), (1, 1, 0))

    def test_an_idle_worker_that_is_killed_is_replaced(self):
        pool = self.start(2)
        self.wait_until(lambda: len(pool.pids()) == 2)
        killed = pool.pids()[0]
        os.kill(killed, signal.SIGKILL)
        self.wait_until(lambda: len(pool.pids()) == 2 and killed not in pool.pids())
        self.assertEqual(pool.stats()["started"], 3)

    def test_a_request_that_kills_every_worker_fails_and_the_rest_is_served(self):
        pool = self.start(1, max_tries=3)
        deadly = pool.submit({"echo": 1, "die": "always"})
        harmless = pool.submit({"echo": 2})
        with self.assertRaisesRegex(RequestFailed, "3 workers"):
            deadly.result(DEADLINE)
        self.assertEqual(harmless.result(DEADLINE)["echo"], 2)

    def test_a_request_that_fits_no_message_is_refused_and_kills_nobody(self):
        pool = self.start(1)
        with self.assertRaisesRegex(ValueError, "at most 65536 bytes"):
            pool.submit({"echo": [100] * 14000})
        self.assertEqual(pool.submit({"echo": 2}).result(DEADLINE)["echo"], 2)
        self.assertEqual(pool.stats()["died"], 0)

    def test_a_worker_that_hangs_is_killed(self):
        pool = self.start(1, deadline=1.0, max_tries=1)
        with self.assertRaises(RequestFailed):
            pool.submit({"echo": 1, "sleep": 1000}).result(DEADLINE)
        self.assertEqual(pool.submit({"echo": 2}).result(DEADLINE)["echo"], 2)

    def test_short_lived_workers_are_replaced_and_nothing_is_handed_over(self):
        pool = self.start(2, limit=3)
        answers = [pool.submit({"echo": number}) for number in range(20)]
        self.assertEqual([answer.result(DEADLINE)["echo"] for answer in answers], list(range(20)))
        stats = pool.stats()
        self.assertGreaterEqual(stats["started"], 7)
        self.assertEqual((stats["handed_over"], stats["died"]), (0, 0))

    def test_a_stop_answers_what_was_asked_and_takes_no_more(self):
        pool = self.start(2)
        answers = [pool.submit({"echo": number, "sleep": 0.02}) for number in range(20)]
        pool.stop(DEADLINE)
        self.assertEqual([answer.result(0)["echo"] for answer in answers], list(range(20)))
        with self.assertRaises(PoolStopped):
            pool.submit({"echo": 0})

    def test_a_stop_that_may_not_wait_fails_what_is_left(self):
        pool = self.start(1)
        answer = pool.submit({"echo": 1, "sleep": 1000})
        self.wait_until(lambda: any(worker["state"] == "busy" for worker in pool.stats()["workers"]))
        pids = pool.pids()
        pool.stop(0)
        with self.assertRaises(PoolStopped):
            answer.result(0)
        for pid in pids:
            with self.assertRaises(ProcessLookupError):
                os.kill(pid, 0)

    def test_a_cancelled_request_is_left_out(self):
        pool = self.start(1, command=[sys.executable, "-c", "raise SystemExit(3)"])
        self.wait_until(lambda: pool.stats()["died"] > 0)
        answer = pool.submit({"echo": 1})
        answer.cancel()
        pool.stop(0)
        self.assertTrue(answer.cancelled() or isinstance(answer.exception(0), PoolStopped))


if __name__ == "__main__":
    unittest.main()
