"""Keeps the benchmark alive without a GPU: python3 -m unittest discover benchmarks/weights/tests

The script runs whole against a stand-in for the program. Where MILLPOND_BIN names a real one and
the package `millpond` can be imported, it runs against those too, on the software driver.
"""

import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
SCRIPTS = HERE.parent
STAND_IN = HERE / "stand_in"
sys.path.insert(0, str(SCRIPTS))

import checkpoints  # noqa: E402
import mps  # noqa: E402
import part_loads  # noqa: E402
import rows  # noqa: E402
import wheels  # noqa: E402

REAL = os.environ.get("MILLPOND_BIN")
HAS_NUMPY = importlib.util.find_spec("numpy") is not None


def skip(reason):
    # A line of its own: what runs the tests counts them.
    print(f"\nSKIPPED: {reason}", flush=True)
    raise unittest.SkipTest(reason)


def start(script, *arguments, program=STAND_IN / "bin" / "millpond", python=STAND_IN / "python", **env):
    path = [str(part) for part in (python, os.environ.get("PYTHONPATH")) if part]
    return subprocess.run(
        [sys.executable, str(SCRIPTS / script), "--millpond", str(program), "--small", "--soft", *arguments],
        env=os.environ | {"PYTHONPATH": ":".join(path)} | env, capture_output=True, text=True, timeout=300)


class Script(unittest.TestCase):
    def run_it(self, *arguments, **options):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder, "weights.json")
            done = start("side_by_side.py", "--out", str(out), *arguments, **options)
            return done, json.loads(out.read_text()) if out.exists() else None

    def test_every_part_gives_rows_and_the_ratios_are_named(self):
        done, result = self.run_it()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout.splitlines()[-1], r"^\d+ passed, 0 failed$")
        for name in ("load_over_ring", "load_over_safetensors", "attach_over_raw", "hash_cost"):
            self.assertIn(name, result)
        self.assertGreater(result["load_over_ring"], 0)
        # 2.0 ms for each of the files instead of 2.1 ms for all: what the stand-in says.
        self.assertLess(result["hash_cost"], 0)
        found = {row["name"]: row for row in result["rows"]}
        for name in ("load/dense", "load/behind-retire", "load/moe", "load/shared", "memory/load", "attach/python", "attach/fresh",
                     "attach/many", "flip", "refresh", "refresh/in-place"):
            self.assertIsNotNone(found[name]["value"], name)
            self.assertIsNone(found[name]["ok"], f"{name}: the software driver judges no speed")
        for name in ("peer/fastsafetensors", "peer/runai", "peer/instanttensor", "peer/torch", "peer/multiprocessing"):
            self.assertIn("GPU", found[name]["skipped"], name)
        if HAS_NUMPY:
            self.assertEqual(found["load/bytes"]["value"], 39)

    def test_a_command_that_fails_is_a_row_with_its_message_and_the_exit_code(self):
        done, result = self.run_it(STAND_IN_FAILS="load")
        self.assertEqual(done.returncode, 1)
        errors = {row["name"]: row["error"] for row in result["rows"] if "error" in row}
        self.assertIn("load is told to fail", errors["loads"])
        self.assertIn("load is told to fail", errors["many"])
        self.assertIsNone(result["load_over_ring"])
        self.assertFalse(result["met"])
        self.assertRegex(done.stdout.splitlines()[-1], r"^\d+ passed, [1-9]\d* failed$")

    def test_a_version_that_cannot_be_freed_is_seen_and_the_loads_go_on(self):
        done, result = self.run_it(STAND_IN_FAILS="retire")
        self.assertEqual(done.returncode, 1)
        found = {row["name"]: row for row in result["rows"]}
        self.assertIn("retire is told to fail", found["load/retire"]["error"])
        self.assertIsNotNone(found["load/dense"]["value"])

    def test_a_pond_that_does_not_start_is_an_error_and_not_silence(self):
        done, result = self.run_it(STAND_IN_FAILS="serve")
        self.assertEqual(done.returncode, 1)
        self.assertIn("the pond did not start", result["rows"][0]["error"])

    def test_a_load_that_was_not_what_is_measured_is_no_number(self):
        for lie, message in (("cold", "not in the page cache"), ("shared", "shared and not loaded")):
            done, result = self.run_it("--only", "loads", STAND_IN_SAYS=lie)
            self.assertEqual(done.returncode, 1)
            self.assertIn(message, result["rows"][-1]["error"])
            self.assertIsNone(result["load_over_ring"])

    def test_parts_are_chosen_by_name(self):
        done, result = self.run_it("--only", "loads,refresh")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertFalse(any(row["name"].startswith("peer/") for row in result["rows"]))
        done, _ = self.run_it("--only", "lodas")
        self.assertIn("no part is named lodas", done.stderr)

    def test_nothing_is_left_behind(self):
        with tempfile.TemporaryDirectory() as folder:
            done, _ = self.run_it("--only", "loads", "--folder", folder)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertEqual(os.listdir(folder), [])

    def test_workers_with_mps_on_the_software_driver(self):
        if not HAS_NUMPY:
            skip("workers need numpy, which is not installed here")
        done = start("mps.py", "--workers", "1,2", "--seconds", "0.1")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("SKIPPED: with MPS: the software driver has no MPS", done.stdout)
        self.assertIn("2 passed, 0 failed", done.stdout)

    def test_the_real_program_on_the_software_driver(self):
        if not REAL or not importlib.util.find_spec("millpond"):
            skip("MILLPOND_BIN and the package millpond are needed for the real program")
        done, result = self.run_it(program=REAL, python=None)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertGreater(result["load_over_ring"], 0)


class Loads(unittest.TestCase):
    def order(self, soft, **options):
        """What three loads do, in their order."""
        done = []
        loaded = lambda *arguments, **named: done.append("load") or (1.0, {"shared_tensor_bytes": 0, "elapsed_ms": 900}, 7)
        with unittest.mock.patch.object(part_loads, "load", loaded), \
                unittest.mock.patch.object(part_loads, "forget", lambda *arguments: done.append("free")), \
                unittest.mock.patch.object(part_loads.time, "sleep", lambda seconds: done.append("wait")):
            found = part_loads.fresh_loads(unittest.mock.Mock(soft=soft), "dense-v1", 3, **options)
        self.assertEqual(found, ([1.0] * 3, [0.9] * 3, 7))
        return done

    def test_a_load_waits_until_nothing_that_was_freed_slows_it(self):
        self.assertEqual(self.order(soft=False), ["wait", "load", "free"] * 3)
        self.assertEqual(self.order(soft=False, settled=False), ["load", "free"] * 3)
        self.assertEqual(self.order(soft=True), ["load", "free"] * 3, "memory of the software driver is just there")


class Pieces(unittest.TestCase):
    def test_a_goal_is_an_upper_limit_for_times_and_a_lower_one_for_speeds(self):
        table = rows.Rows(say=lambda text: None)
        self.assertTrue(table.add("a", "", 9, "GB/s", floor=10, ratio_goal=0.9)["ok"])
        self.assertFalse(table.add("b", "", 8, "GB/s", floor=10, ratio_goal=0.9)["ok"])
        self.assertTrue(table.add("c", "", 15, "ms", floor=10, ratio_goal=1.5)["ok"])
        self.assertFalse(table.add("d", "", 15, "ms", floor=10, ratio_goal=1.5, value_goal=2)["ok"])
        self.assertFalse(table.add("e", "", 1, "ms", ratio_goal=1.5)["ok"], "nothing to compare with")
        self.assertIsNone(table.add("f", "", 1, "ms")["ok"])
        self.assertEqual(table.counts()["missed"], 3)

    def test_a_peer_that_fails_is_shown_with_its_error(self):
        table = rows.Rows(say=lambda text: None)
        table.attempt("peer/x", "x", lambda: 1 / 0, peer=True)
        self.assertIn("ZeroDivisionError", rows.line(table.rows[0]))
        self.assertEqual((table.counts()["errors"], table.counts()["peer_errors"]), (0, 1))

    def test_tensors_of_a_checkpoint_are_distinct_and_an_equal_shard_is_linked(self):
        spec = {"kind": "dense", "dtype": "BF16", "hidden": 16, "intermediate": 32, "layers": 3, "vocabulary": 64, "shard_bytes": 8192}
        with tempfile.TemporaryDirectory() as folder:
            one, two = os.path.join(folder, "one"), os.path.join(folder, "two")
            checkpoints.write(one, spec)
            checkpoints.write(two, spec | {"differ": ["lm_head.weight"], "base": one})
            read = lambda path: {name: checkpoints.read_tensor(path, name)[2] for name in checkpoints.shapes_of(spec)}
            first, second = read(one), read(two)
            self.assertEqual(len(set(first.values())), len(first))
            self.assertEqual([name for name in first if first[name] != second[name]], ["lm_head.weight"])
            shards = sorted(file for file in os.listdir(one) if file.endswith(".safetensors"))
            self.assertTrue(os.path.samefile(os.path.join(one, shards[-1]), os.path.join(two, shards[-1])))
            index = json.loads(pathlib.Path(one, "model.safetensors.index.json").read_text())
            self.assertEqual(set(index["weight_map"]), set(first))

    def test_the_sizes_are_those_of_the_issue(self):
        import side_by_side

        dense = {"kind": "dense", "dtype": "BF16"} | side_by_side.FULL["dense"]
        moe = {"kind": "moe", "dtype": "BF16"} | side_by_side.FULL["moe"]
        self.assertAlmostEqual(checkpoints.total_bytes(dense) / 1e9, 15, delta=0.5)
        self.assertEqual(len(checkpoints.shapes_of(dense)), 579)
        self.assertEqual(len(checkpoints.shapes_of(moe)), 20_000)
        self.assertAlmostEqual(checkpoints.total_bytes(moe) / 1e9, 15, delta=1)

    def test_a_wheel_is_unpacked_with_its_data_and_never_outside(self):
        with tempfile.TemporaryDirectory() as folder:
            wheel = pathlib.Path(folder, "some_thing-1.0-py3-none-any.whl")
            with zipfile.ZipFile(wheel, "w") as archive:
                archive.writestr("some_thing-1.0.data/purelib/some_thing/__init__.py", "")
                archive.writestr("some_thing-1.0.data/scripts/tool", "")
                archive.writestr("some_thing-1.0.dist-info/METADATA", "")
            self.assertEqual(wheels.unpack(wheel, pathlib.Path(folder, "out")), ["some_thing"])
            self.assertTrue(pathlib.Path(folder, "out", "some_thing", "__init__.py").exists())
            self.assertEqual(wheels.find(folder, "some-thing"), wheel)
            self.assertIsNone(wheels.find(folder, "some"))
            with zipfile.ZipFile(wheel, "w") as archive:
                archive.writestr("../evil.py", "")
            with self.assertRaises(wheels.BadWheel):
                wheels.unpack(wheel, pathlib.Path(folder, "out"))
            wheel.write_bytes(b"no zip")
            with self.assertRaises(wheels.BadWheel):
                wheels.unpack(wheel, pathlib.Path(folder, "out"))

    def test_the_table_of_the_page_has_what_was_measured_and_dashes(self):
        row = {"workers": 1, "mps": False, "outputs_per_second": 10.0, "gpu_bytes_per_worker": 1 << 20}
        result = {"rows": [row, row | {"mps": True, "outputs_per_second": 15.0}, row | {"workers": 2}]}
        text = mps.table(result)
        self.assertIn("| 1 | 10.0 | 15.0 | 1.50 | 1 MiB | 1 MiB |", text)
        self.assertIn("| 2 | 10.0 | - | - | 1 MiB | - |", text)

    def test_the_bare_driver_attaches_what_another_process_made(self):
        """With the software driver as a library, where one is built: MILLPOND_SOFT_LIBRARY."""
        library = os.environ.get("MILLPOND_SOFT_LIBRARY")
        if not library:
            skip("MILLPOND_SOFT_LIBRARY names no libcuda.so of the software driver")
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(os.path.abspath(library), os.path.join(folder, "libcuda.so.1"))
            env = os.environ | {"LD_LIBRARY_PATH": folder, "MILLPOND_SOFT_DIR": f"{folder}/soft", "MILLPOND_SOFT_MEMORY": "64M"}
            sizes, path = [2 << 20, 4 << 20], f"{folder}/raw"
            holder = subprocess.Popen([sys.executable, str(SCRIPTS / "driver.py"), path, *map(str, sizes)], env=env, stdout=subprocess.PIPE, text=True)
            try:
                self.assertEqual(holder.stdout.readline().strip(), "ready")
                program = (f"import driver; d = driver.Driver(); d.context(); fds = driver.take_slabs({path!r})\n"
                           f"for _ in range(3): d.detach(d.attach(fds, {sizes}))\nprint(len(fds))")
                done = subprocess.run([sys.executable, "-c", program], env=env | {"PYTHONPATH": str(SCRIPTS)}, capture_output=True, text=True, timeout=60)
                self.assertEqual(done.stdout.strip(), "2", done.stderr)
            finally:
                holder.kill()
                holder.communicate()


if __name__ == "__main__":
    result = unittest.main(exit=False, verbosity=1).result
    bad = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - bad - len(result.skipped)} passed, {bad} failed")
    sys.exit(1 if bad else 0)
