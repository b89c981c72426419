"""The benchmark of pools without a GPU, with stand-ins for torch, the package and the driver: `python3 test_pool.py`, with MILLPOND_BIN
set and a C++ compiler. No speed is judged."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
STAND_IN = HERE / "stand_in"
SECONDS = 180
sys.path.insert(0, str(HERE.parent))

import build  # noqa: E402
import peers  # noqa: E402
import summary  # noqa: E402
import trainings  # noqa: E402


def run(program, *arguments, **env):
    command = [sys.executable, "-B", HERE.parent / program, *map(str, arguments)]
    return subprocess.run(command, env={**os.environ, "MILLPOND_DRIVER": "soft", **env}, capture_output=True, text=True, timeout=SECONDS, check=False)


class Arithmetic(unittest.TestCase):
    def measured(self, pairs):
        return {"pairs": pairs, "two_streams": {}, "known_second": {}, "calls": {"getpid": [[1.0], [3.0], [2.0]]},
                "mixed": {"used_bytes": 1000, "blocks": 3, "peers": {
                    "pool": {"rounds": [[100.0], [300.0]], "first_ns": 5000.0, "card_bytes": 4000, "held_bytes": 1100, "held_last_bytes": 1200},
                    "malloc": {"first_ns": 9000.0, "card_bytes": 3000, "held_bytes": None}}}}

    def test_a_ratio_compares_what_was_measured_in_the_same_round(self):
        # The machine was ten times slower in one round, for both.
        own, theirs = [[100.0], [1000.0], [110.0]], [[200.0], [2000.0], [200.0]]
        self.assertEqual(summary.ratio(own, theirs), 0.5)
        self.assertEqual(summary.p90(range(1, 11)), 9)
        self.assertEqual(summary.p90([7]), 7)

    def test_every_size_has_its_numbers_and_all_of_them_have_one(self):
        half, twice = {"pool": [[100.0, 300.0]], "async": [[400.0]]}, {"pool": [[800.0]], "async": [[100.0]]}
        found = summary.numbers(self.measured({"512": half, "1m": twice}))
        self.assertEqual((found["pool_over_async_512"], found["pool_over_async_1m"], found["pool_over_async"]), (0.5, 8.0, 2.0))
        self.assertEqual((found["pool_512_us"], found["pool_512_p90_us"]), (0.2, 0.3))
        self.assertEqual(found["calls_ns"], {"getpid": 2.0})
        # Without one of the sizes there is no number of all.
        found = summary.numbers(self.measured({"512": half, "1m": {"pool": [[800.0]]}}))
        self.assertEqual(found["pool_over_async_512"], 0.5)
        self.assertNotIn("pool_over_async", found)

    def test_what_is_held_is_compared_with_what_is_used(self):
        found = summary.numbers(self.measured({}))
        self.assertEqual((found["mixed_pool_us"], found["mixed_pool_first_us"], found["mixed_pool_held_over_used"]), (0.2, 5.0, 1.2))
        # Who keeps no books is judged by the card.
        self.assertEqual(found["mixed_malloc_held_over_used"], 3.0)
        self.assertNotIn("mixed_malloc_us", found)

    def test_goals_are_judged_on_a_gpu_alone_and_by_what_was_measured(self):
        found = {"pool_over_async": 2.2, "train_pool_over_torch": 1.01}
        verdicts = summary.judge(found, judged=True)
        self.assertEqual([verdicts[name]["ok"] for name in ("pool_over_async", "train_pool_over_torch", "train_replaced_over_torch")], [False, True, None])
        self.assertTrue(all(verdict["ok"] is None for verdict in summary.judge(found, judged=False).values()))

    def test_a_peer_that_is_not_there_is_a_row_with_the_reason(self):
        lines = summary.table(summary.numbers(self.measured({})), ["512"], {"rmm": "no wheel"})
        self.assertIn("rmm        not measured: no wheel", lines)


class Turns(unittest.TestCase):
    def test_peers_are_measured_in_turns_and_another_one_is_first_each_time(self):
        order = []

        def one(name, _number):
            order.append(name)
            return [1.0]

        found = peers.Turns({"a": 0, "b": 1, "c": 2}).take(3, one)
        self.assertEqual("".join(order), "abcbcacab")
        self.assertEqual(found, dict.fromkeys("abc", [[1.0]] * 3))

    def test_a_peer_that_fails_is_out_and_the_others_go_on(self):
        def one(name, _number):
            if name == "b":
                raise peers.Failed("b: no block")
            return [1.0]

        turns = peers.Turns({"a": 0, "b": 1})
        self.assertEqual((turns.take(2, one), turns.out), ({"a": [[1.0], [1.0]]}, {"b": "b: no block"}))
        self.assertEqual(turns.take(1, one), {"a": [[1.0]]})


class FakeWorker:
    """A training of which every step takes as long as it is told."""

    def __init__(self, kind, log, ms):
        self.kind, self.log, self.ms = kind, log, ms

    def answer(self, _seconds):
        return {"parameters": 1, "torch": "x"}

    def block(self, steps):
        self.log.append(self.kind)
        return {"seconds": self.ms * steps / 1e3, "losses": [1.0] * steps}

    def end(self):
        return {"hash": "same", "memory": {"max_memory_reserved": 5, "pool": {"peak_held_bytes": 7}}}

    def __exit__(self, *_):
        pass


class Trainings(unittest.TestCase):
    PLAN = {"generations": 2, "rounds": 4, "steps": 3, "warm_up": 1}

    def test_trainings_take_turns_and_are_compared_with_torch_in_the_same_round(self):
        log, ms = [], {"torch": 10, "torch_again": 10.1, "pool": 10.2, "replaced": 9}
        found, failed, _ = trainings.run(None, None, None, self.PLAN, start=lambda kind: FakeWorker(kind, log, ms[kind]))
        self.assertEqual(failed, [])
        self.assertEqual((found["train_pool_over_torch"], found["train_replaced_over_torch"], found["train_torch_again_over_torch"]), (1.02, 0.9, 1.01))
        self.assertEqual((found["train_torch_step_ms"], found["train_pool_peak_bytes"]), (10, 7))
        kinds = list(trainings.KINDS)
        self.assertEqual(log[:12], kinds + kinds + kinds[1:] + kinds[:1])
        self.assertEqual(len(log), 2 * 4 * (1 + 4))

    def test_bits_that_differ_are_found(self):
        one = {kind: {"losses": [3.0, 2.0], "hash": "a"} for kind in trainings.KINDS}
        self.assertEqual(trainings.compare([one, one]), [])
        other = {**one, "pool": {"losses": [3.0, 2.5], "hash": "b"}}
        self.assertEqual(trainings.compare([one, other]), ["pool, generation 1: losses differ from torch's, first at 1",
                                                          "pool, generation 1: parameters differ from torch's in some bit"])
        self.assertTrue(trainings.compare([{}]))

    def test_too_small_a_limit_is_an_exception_and_never_a_signal_or_a_success(self):
        program = STAND_IN / "children" / "train.py"
        found, failed = trainings.too_small(program, "pool-small", dict(os.environ))
        self.assertEqual(failed, [])
        self.assertIn("RuntimeError: no memory", found["replaced"])
        _, failed = trainings.too_small(program, "pool-small", {**os.environ, "STAND_IN_ENOUGH": "1"})
        self.assertEqual(len(failed), 2)
        _, failed = trainings.too_small(program, "pool-small", {**os.environ, "STAND_IN_ENOUGH": "1", "STAND_IN_DIES": "pool"})
        self.assertIn("pool ended with -9", failed[0])


class Compilers(unittest.TestCase):
    def test_without_a_compiler_the_reason_is_said(self):
        with tempfile.TemporaryDirectory() as folder:
            places = build.Places(env={"PATH": folder})
            places.roots = []
            made, absent = build.build(places, folder)
        self.assertEqual((made, set(absent)), ({}, {"peers", "torch", "cub", "rmm"}))
        self.assertIn("no C++ compiler", absent["peers"])

    def test_a_peer_that_does_not_compile_loses_only_itself(self):
        with tempfile.TemporaryDirectory() as folder:
            # Headers that are there and wrong.
            include = pathlib.Path(folder) / "cuda" / "include"
            for name in ("crt", "cccl/cub"):
                (include / name).mkdir(parents=True)
            (include / "crt" / "host_config.h").write_text("")
            (include / "cuda_runtime_api.h").write_text("#error this toolkit is broken\n")
            (include / "cccl" / "cub" / "util_allocator.cuh").write_text("")
            (include.parent / "lib64").mkdir()
            (include.parent / "lib64" / "libcudart.so").write_text("")
            places = build.Places(env={"PATH": os.environ["PATH"], "CUDA_HOME": str(include.parent)})
            places.roots, places.torch, places.nvcc = places.roots[:1], None, None
            made, absent = build.build(places, folder)
            self.assertEqual(set(made), {"peers"})
        self.assertIn("this toolkit is broken", absent["cub"])
        self.assertEqual(absent["torch"], "torch is not installed")
        self.assertIn("librmm-cu13 and rapids-logger not among the peers' wheels", absent["rmm"])

    def test_a_broken_wheel_is_the_reason(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in build.RMM_WHEELS:
                (pathlib.Path(folder) / f"{name.replace('-', '_')}-1-py3-none-any.whl").write_text("no archive")
            with self.assertRaisesRegex(build.Absent, "librmm_cu13-1-py3-none-any.whl"):
                build.unpack_rmm(folder, pathlib.Path(folder) / "rmm")

    def test_a_toolkit_without_headers_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            places = build.Places()
            places.roots = []
            _, absent = build.build(places, folder, units=("cub",))
        self.assertIn("no crt/host_config.h", absent["cub"])


class Loops(unittest.TestCase):
    """The real loops, over the stand-in of the driver."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.library = pathlib.Path(cls.folder.name) / "libstand_in.so"
        command = [build.Places().compiler(), "-std=c++17", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-o", cls.library, STAND_IN / "driver.cpp"]
        subprocess.run(command, check=True, timeout=SECONDS)

    def measure(self, *arguments, **env):
        return run("peers.py", "--group", "pool", "--quick", "--driver", self.library, *arguments, STAND_IN_LIBRARY=str(self.library),
                   PYTHONPATH=str(STAND_IN / "packages"), CUDA_HOME="", **env)

    def test_every_row_is_measured_and_what_is_missing_is_said(self):
        svg = pathlib.Path(self.folder.name) / "pool.svg"
        ran = self.measure("--svg", svg)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        found = json.loads(ran.stdout.split("RESULT ", 1)[1])
        self.assertEqual(found["failed"], [])
        self.assertLessEqual({"torch", "rmm", "rmm_async"}, set(found["absent"]))
        self.assertEqual(set(found["pairs"]), {"512", "64k", "1m", "2m", "20m", "256m"})
        plan = peers.QUICK
        for rounds in found["pairs"].values():
            for name in ("pool", "async", "nothing"):
                self.assertEqual([len(samples) for samples in rounds[name]], [plan["samples"]] * plan["rounds"])
        self.assertEqual(found["mixed"]["blocks"], peers.SLOTS)
        self.assertTrue(10_000 < found["mixed"]["allocations"] < 14_000)
        # On the card is what is left in use at the end: the same for all.
        self.assertEqual(found["mixed"]["peers"]["pool"]["card_bytes"], found["mixed"]["peers"]["async"]["card_bytes"])
        self.assertTrue(0 < found["mixed"]["peers"]["pool"]["card_bytes"] <= found["mixed"]["used_bytes"])
        self.assertEqual(found["mixed"]["peers"]["pool"]["held_bytes"], found["mixed"]["used_bytes"])
        self.assertEqual(set(found["calls"]), set(peers.CALLS))
        self.assertEqual({row: set(rounds) for row, rounds in found["two_streams"].items()},
                         {row: {"pool", "async"} for row in ("two_streams", "recorded", "handed")})
        self.assertEqual(svg.read_text(), "<svg/>")
        self.assertTrue(summary.numbers(found)["pool_over_async"] > 0)

    def test_a_pool_without_memory_is_a_failure_with_its_words(self):
        ran = self.measure(STAND_IN_POOL_EMPTY="1")
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        found = json.loads(ran.stdout.split("RESULT ", 1)[1])
        self.assertEqual(found["failed"], ["the pool failed: pool: no block of the mixed sequence: no memory for a block"])
        self.assertIn("async", found["pairs"]["512"])

    def test_without_a_compiler_nothing_is_measured(self):
        with tempfile.TemporaryDirectory() as empty:
            ran = self.measure(PATH=empty)
        self.assertEqual(ran.returncode, 1)
        self.assertIn("the loops could not be compiled: no C++ compiler", ran.stderr)


class SideBySide(unittest.TestCase):
    def side_by_side(self, **env):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "pool.json"
            ran = run("side_by_side.py", "--quick", "--children", STAND_IN / "children", "--out", out, **env)
            self.assertTrue(out.is_file(), ran.stdout + ran.stderr)
            return ran, json.loads(out.read_text())

    def test_it_writes_every_number_and_judges_no_speed_without_a_gpu(self):
        ran, result = self.side_by_side()
        self.assertEqual((ran.returncode, result["ok"]), (0, True), ran.stdout + ran.stderr)
        for name in ("pool_over_async", "pool_over_async_512", "pool_over_torch", "torch_over_async", "mixed_pool_over_async", "mixed_pool_us",
                     "mixed_pool_held_over_used", "pool_512_us", "pool_512_p90_us", "train_pool_over_torch", "train_replaced_over_torch",
                     "train_torch_again_over_torch", "train_pool_peak_bytes"):
            self.assertGreater(result[name], 0, name)
        for name in ("machine", "commit", "date", "device", "torch"):
            self.assertTrue(result[name], name)
        self.assertIn("no memory for a block", result["train_too_small"]["pool"])
        self.assertIn("not measured: librmm is not here", ran.stdout)
        self.assertIn("not judged", ran.stdout)
        self.assertIn("equal to the last bit", ran.stdout)

    def test_a_wrong_bit_is_a_failure(self):
        ran, result = self.side_by_side(STAND_IN_WRONG="replaced")
        self.assertEqual((ran.returncode, result["ok"]), (1, False))
        self.assertIn("FAILED: replaced, generation 0: parameters differ from torch's in some bit", ran.stdout)
        self.assertNotIn("equal to the last bit", ran.stdout)

    def test_a_training_that_dies_is_a_failure_and_the_others_are_measured(self):
        ran, result = self.side_by_side(STAND_IN_DIES="pool")
        self.assertEqual(ran.returncode, 1)
        self.assertIn("pool: ended with -9", ran.stdout)
        self.assertNotIn("train_pool_over_torch", result)
        self.assertIn("train_replaced_over_torch", result)

    def test_errors_of_our_own_are_failures(self):
        ran, _ = self.side_by_side(STAND_IN_PEERS="failed")
        self.assertEqual(ran.returncode, 1)
        self.assertIn("FAILED: a block was lost", ran.stdout)
        ran, result = self.side_by_side(STAND_IN_PEERS="crash")
        self.assertEqual(ran.returncode, 1)
        self.assertIn("the card caught fire", ran.stdout)
        self.assertIn("train_pool_over_torch", result)


if __name__ == "__main__":
    unittest.main()
