"""Plain programs in C and in Python, which link nothing of ours, share a tensor by Redis and CUDA IPC alone."""

import subprocess
import sys
import unittest

import harness
from fixture import Cleared

PROGRAMS = harness.ROOT / "tests" / "programs"
BYTES = 3 * harness.MIB + 100
# What a container has for itself; Redis is reached through a socket in the folder that both see.
APART = ["unshare", "--user", "--map-root-user", "--pid", "--net", "--ipc", "--mount", "--fork", "--kill-child", "--mount-proc"]


class PlainPrograms(Cleared):
    @classmethod
    def prepare(cls):
        super().prepare()
        program = cls.folder / "redis_tensor"
        subprocess.run(["cc", "-O1", "-Wall", "-Wextra", "-Werror", "-o", str(program), str(PROGRAMS / "redis_tensor.c"), "-lhiredis", "-ldl"],
                       check=True, timeout=60)
        cls.programs = {"C": [str(program)], "Python": [sys.executable, str(PROGRAMS / "redis_tensor.py")]}

    def run_plain(self, language, *words, code=0):
        ran = subprocess.run([*self.programs[language], self.server.socket, *map(str, words)], env=self.pond.driver, capture_output=True, text=True,
                             timeout=2 * harness.PATIENCE, check=False)
        self.assertEqual(ran.returncode != 0, code != 0, f"{language} {words}: {ran.returncode} {ran.stdout}{ran.stderr}")
        return ran.stdout.strip()

    def life(self, maker, reader):
        name = f"plain/{maker}-{reader}"
        self.assertEqual(self.run_plain(maker, "make", name, BYTES, 7), "1")
        self.assertEqual(self.run_plain(reader, "check", name, BYTES, 7), "2")
        harness.eventually_equal("the reader's hold ends with its process", 1, lambda: self.user.refcount(name))
        self.run_plain(reader, "check", name, BYTES, 8, code=1)
        harness.eventually_equal("also of one that fails", 1, lambda: self.user.refcount(name))
        self.agree()
        self.assertEqual(self.run_plain(reader, "delete", name), "0")
        self.assertEqual(self.user.hash(name), {})
        self.run_plain(maker, "check", name, BYTES, 7, code=1)

    def test_c_makes_and_c_reads(self):
        self.life("C", "C")

    def test_python_makes_and_python_reads(self):
        self.life("Python", "Python")

    def test_c_makes_and_python_reads(self):
        self.life("C", "Python")

    def test_python_makes_and_c_reads(self):
        self.life("Python", "C")

    def test_neither_links_anything_of_ours(self):
        linked = subprocess.run(["ldd", self.programs["C"][0]], capture_output=True, text=True, check=True).stdout
        self.assertNotIn("millpond", linked)
        for source in ("redis_tensor.c", "redis_tensor.py"):
            text = (PROGRAMS / source).read_text(encoding="utf-8")
            self.assertEqual(text.count("illpond"), 1, "the sentence that says so")


class BridgeInAContainer(Cleared):
    @classmethod
    def prepare(cls):
        if subprocess.run([*APART, "true"], capture_output=True, check=False).returncode != 0:
            print("SKIPPED: `unshare` with a user namespace is not permitted here")
            raise unittest.SkipTest("no namespaces")
        super().prepare()

    @classmethod
    def new_bridge(cls, pond, *urls, **named):
        return super().new_bridge(pond, *urls, apart=APART, **named)

    def test_it_holds_for_processes_by_the_numbers_of_the_pond_and_is_killed_without_a_loss(self):
        holder = self.holder()
        self.user.create("held")
        self.assertEqual(self.user.get("held", pid=holder.pid)["refcount"], 2)
        self.bridge.restart().registered(self.redis)
        self.agree()
        holder.kill()
        harness.eventually_equal("the hold ends with its process", 1, lambda: self.user.refcount("held"))
        self.assertEqual(self.user.delete("held")["refcount"], 0)
