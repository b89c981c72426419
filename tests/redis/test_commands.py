"""What each command does, to the letter of the protocol."""

import base64
import json
import os
import subprocess
import time

import checker
import harness
from fixture import Case, Cleared

SEED = ("name", "dtype", "shape", "device", "bytes", "ipc_handle", "owner_pid", "refcount", "ctime", "mtime")
ADDED = ("node", "gpu_uuid", "transport", "epoch", "state", "survives", "id", "offset")
CREATE = '{"op":"create","name":"X","dtype":"f32","shape":[2,3],"device":0,"id":"42","reply":"tensor:reply:42"}'
DELETE = '{"op":"delete","name":"X","id":"43","reply":"tensor:reply:43"}'


class Commands(Cleared):
    DEVICES = 2

    def test_the_lines_that_people_type_work_as_they_stand(self):
        self.assertEqual(self.server.cli("LPUSH", "tensor:cmd", CREATE).strip(), "1")
        said = self.server.cli("BRPOP", "tensor:reply:42", "5").splitlines()
        self.assertEqual(said[0], "tensor:reply:42")
        answer = json.loads(said[1])
        self.assertEqual((answer["id"], answer["status"], answer["op"]), ("42", "ok", "create"))
        lines = self.server.cli("HGETALL", "tensor:X").splitlines()
        found = dict(zip(lines[::2], lines[1::2]))
        self.assertLessEqual({*SEED, *ADDED}, set(found))
        self.assertEqual((found["name"], found["dtype"], found["shape"], found["device"], found["bytes"], found["refcount"]),
                         ("X", "f32", "[2,3]", "0", "24", "1"))
        self.server.cli("LPUSH", "tensor:cmd", DELETE)
        self.server.cli("BRPOP", "tensor:reply:43", "5")
        self.assertEqual(self.server.cli("HGETALL", "tensor:X").strip(), "")

    def test_a_create_makes_a_shared_tensor_and_the_answer_is_its_hash(self):
        before = time.time() * 1000
        made = self.user.create("made", dtype="bf16", shape=[4, 5, 6])
        self.assertEqual((made["name"], made["dtype"], made["shape"], made["device"], made["bytes"]), ("made", "bf16", [4, 5, 6], 0, 240))
        self.assertEqual((made["refcount"], made["state"], made["transport"], made["survives"], made["node"]), (1, "ready", "ipc", "host", "a"))
        self.assertIn(made["owner_pid"], self.pond.hosts())
        self.assertEqual(len(base64.b64decode(made["ipc_handle"])), 64)
        self.assertTrue(before - 5000 < made["ctime"] <= made["mtime"] < before + 60_000, made)
        found = self.user.hash("made")
        self.assertEqual(set(found), {*SEED, *ADDED})
        for field, value in made.items():
            shown = json.dumps(value, separators=(",", ":")) if isinstance(value, list) else str(value)
            if field != "mtime":
                self.assertEqual(found[field], shown, field)

    def test_a_new_tensor_is_zeroes_and_its_handle_opens_the_same_memory_for_everybody(self):
        first = self.user.create("same", dtype="u8", shape=[5000])
        again = self.user.get("same")
        self.assertEqual((first["ipc_handle"], first["id"], first["owner_pid"]), (again["ipc_handle"], again["id"], again["owner_pid"]))
        handle = base64.b64decode(first["ipc_handle"])
        with harness.Memory(self.pond, handle) as writer, harness.Memory(self.pond, base64.b64decode(again["ipc_handle"])) as reader:
            self.assertEqual(reader.sum(5000), 0)
            writer.fill(7, 5000)
            self.assertEqual(reader.sum(5000), 35_000)

    def test_counts_are_those_of_the_seed_create_one_get_more_delete_less_and_none_frees(self):
        counts = [self.user.create("count")["refcount"], self.user.get("count")["refcount"], self.user.get("count")["refcount"]]
        self.assertEqual((counts, self.user.refcount("count"), self.pond.holds("count")), ([1, 2, 3], 3, 3))
        counts = [self.user.delete("count")["refcount"] for _ in range(2)]
        self.assertEqual((counts, self.user.refcount("count")), ([2, 1], 1))
        last = self.user.ask("delete", name="count")
        self.assertEqual((last["refcount"], last["state"]), (0, "deleted"))
        self.assertEqual(self.user.hash("count"), {})
        self.assertEqual(self.user.refused("get", name="count")["code"], "not_found")

    def test_the_same_create_again_is_one_more_hold_and_another_one_is_refused(self):
        first = self.user.create("twice")
        again = self.user.create("twice")
        self.assertEqual((again["id"], again["refcount"]), (first["id"], 2))
        for other in ({"dtype": "f16"}, {"shape": [3, 2]}, {"device": 1}):
            error = self.user.refused("create", **{"name": "twice", "dtype": "f32", "shape": [2, 3], **other})
            self.assertEqual(error["code"], "exists", other)
            self.assertIn("twice", error["message"])
        self.assertEqual(self.user.refcount("twice"), 2)

    def test_two_creates_of_one_name_at_once_make_one_tensor(self):
        asked = [self.user.make("create", name="race", dtype="f32", shape=[8]) for _ in range(20)]
        self.redis.lpush("tensor:cmd", *(raw for raw, _ in asked))
        answers = [self.user.answer(reply) for _, reply in asked]
        self.assertEqual({answer["status"] for answer in answers}, {"ok"})
        self.assertEqual(len({answer["tensor"]["id"] for answer in answers}), 1)
        self.assertEqual(sorted(answer["tensor"]["refcount"] for answer in answers), list(range(1, 21)))
        self.assertEqual(self.pond.holds("race"), 20)
        self.agree()

    def test_two_different_creates_of_one_name_at_once_make_one_of_them(self):
        asked = [self.user.make("create", name="either", dtype=dtype, shape=[8]) for dtype in ("f32", "f16")]
        self.redis.lpush("tensor:cmd", *(raw for raw, _ in asked))
        answers = [self.user.answer(reply) for _, reply in asked]
        self.assertEqual(sorted(answer["status"] for answer in answers), ["error", "ok"])
        self.assertEqual(self.pond.holds("either"), 1)

    def test_a_hold_with_a_pid_ends_with_its_process(self):
        self.user.create("held")
        holder, other = self.holder(), self.holder()
        for pid in (holder.pid, holder.pid, other.pid):
            self.user.get("held", pid=pid)
        self.assertEqual(self.user.refcount("held"), 4)
        holder.kill()
        harness.eventually_equal("both of its holds are gone", 2, lambda: self.user.refcount("held"))
        self.agree()
        # Its maker gives up, and a process keeps it.
        self.assertEqual(self.user.delete("held")["refcount"], 1)
        self.assertEqual(self.user.hash("held")["state"], "ready")
        other.kill()
        harness.eventually_equal("the last one frees it", {}, lambda: self.user.hash("held"))

    def test_a_create_with_a_pid_is_a_hold_of_that_process(self):
        maker, other = self.holder(), self.holder()
        made = self.user.create("mine", pid=maker.pid)
        self.assertEqual((made["refcount"], self.user.refcount("mine"), len(base64.b64decode(made["ipc_handle"]))), (1, 1, 64))
        self.assertEqual(self.user.create("mine", pid=other.pid)["refcount"], 2)
        self.assertEqual(self.user.do("clone", name="mine", dst="copy", device=1, pid=other.pid)["refcount"], 1)
        self.agree()
        maker.kill()
        harness.eventually_equal("its hold is gone", 1, lambda: self.user.refcount("mine"))
        self.assertEqual(self.user.refused("delete", name="mine")["code"], "not_found", "no hold is nobody's")
        other.kill()
        harness.eventually_equal("the last holder frees both", ({}, {}), lambda: (self.user.hash("mine"), self.user.hash("copy")))

    def test_a_repeated_create_with_a_pid_is_one_hold(self):
        maker = self.holder()
        raw, reply = self.user.make("create", name="mine", dtype="f32", shape=[1], pid=maker.pid)
        self.redis.lpush("tensor:cmd", raw, raw, raw)
        self.assertEqual([self.user.answer(reply)["tensor"]["refcount"] for _ in range(3)], [1, 1, 1])
        self.assertEqual(self.pond.holds("mine"), 1)
        maker.kill()
        harness.eventually_equal("it goes with its maker", {}, lambda: self.user.hash("mine"))

    def test_a_get_that_names_another_dtype_or_shape_is_refused_with_what_differs(self):
        self.user.create("typed")
        for wrong, right in (({"dtype": "f16"}, "f32"), ({"shape": [3, 2]}, "[2,3]"), ({"dtype": "f32", "shape": [6]}, "[2,3]")):
            error = self.user.refused("get", name="typed", **wrong)
            self.assertEqual(error["code"], "exists", wrong)
            self.assertIn(right, error["message"])
        for bad in ({"dtype": "f33"}, {"shape": [0]}):
            self.assertEqual(self.user.refused("get", name="typed", **bad)["code"], "invalid", bad)
        self.assertEqual(self.user.get("typed", dtype="float32", shape=[2, 3])["refcount"], 2)

    def test_a_delete_with_a_pid_gives_up_that_process_hold_and_otherwise_one_of_nobody(self):
        self.user.create("whose")
        holder = self.holder()
        self.user.get("whose", pid=holder.pid)
        self.assertEqual(self.user.delete("whose", pid=holder.pid)["refcount"], 1)
        # That process has none any more: this one is the create's.
        self.assertEqual(self.user.delete("whose", pid=holder.pid)["refcount"], 0)
        self.user.create("whose")
        self.user.get("whose", pid=holder.pid)
        self.assertEqual(self.user.delete("whose")["refcount"], 1)
        error = self.user.refused("delete", name="whose")
        self.assertEqual(error["code"], "not_found")
        self.assertIn("whose", error["message"])
        self.assertEqual(self.user.refcount("whose"), 1)
        holder.kill()
        harness.eventually_equal("gone with its last holder", {}, lambda: self.user.hash("whose"))

    def test_a_pid_that_is_no_process_holds_until_it_is_given_up(self):
        gone = self.holder()
        gone.kill()
        self.user.create("ghost")
        self.assertEqual(self.user.get("ghost", pid=gone.pid)["refcount"], 2)
        self.agree()
        self.assertEqual(self.user.delete("ghost", pid=gone.pid)["refcount"], 1)

    def test_info_and_list_add_no_hold_and_a_list_has_no_handles(self):
        for name in ("some/one", "some/two", "other"):
            self.user.create(name)
        info = self.user.do("info", name="some/one")
        self.assertEqual((info["refcount"], info["ipc_handle"]), (1, self.user.hash("some/one")["ipc_handle"]))
        answer = self.user.ask("list", prefix="some/")
        self.assertEqual((sorted(each["name"] for each in answer["tensors"]), answer["truncated"]), (["some/one", "some/two"], False))
        self.assertEqual(len(self.user.ask("list")["tensors"]), 3)
        self.assertFalse(any("ipc_handle" in each for each in answer["tensors"]))
        self.assertEqual({each["refcount"] for each in answer["tensors"]}, {1})

    def test_a_clone_on_another_gpu_has_the_bytes_of_the_first(self):
        made = self.user.create("here", dtype="u8", shape=[3000])
        with harness.Memory(self.pond, base64.b64decode(made["ipc_handle"])) as memory:
            memory.fill(3, 3000)
        there = self.user.do("clone", name="here", dst="there", device=1)
        self.assertEqual((there["device"], there["refcount"], there["dtype"], there["shape"]), (1, 1, "u8", [3000]))
        self.assertNotEqual(there["gpu_uuid"], made["gpu_uuid"])
        with harness.Memory(self.pond, base64.b64decode(there["ipc_handle"]), device=1) as memory:
            self.assertEqual(memory.sum(3000), 9000)
        self.assertEqual(self.user.do("clone", src="here", dst="beside", device=0)["device"], 0)
        self.assertEqual(self.user.refcount("here"), 1)
        self.assertEqual(self.user.refused("clone", name="nothing", dst="x", device=0)["code"], "not_found")

    def test_a_get_that_names_the_wrong_gpu_is_refused_and_says_which_is_right(self):
        self.user.create("on-one", device=1)
        error = self.user.refused("get", name="on-one", device=0)
        self.assertEqual(error["code"], "wrong_device")
        self.assertIn("1", error["message"])
        self.assertEqual(self.user.get("on-one", device=1)["refcount"], 2)

    def test_a_gpu_that_is_not_there_is_refused(self):
        for device in (2, 7, 4_000_000_000):
            error = self.user.refused("create", name="nowhere", dtype="f32", shape=[1], device=device)
            self.assertEqual(error["code"], "no_device", device)

    def test_ids_come_back_as_they_came_and_without_a_reply_nothing_is_said(self):
        for id_ in ("42", 42, 0, -1, 1.5, "", "ü" * 20):
            raw = json.dumps({"op": "info", "name": "none", "id": id_, "reply": "tensor:reply:ids"})
            self.user.push(raw)
            answer = self.user.answer("tensor:reply:ids")
            self.assertEqual((answer["id"], type(answer["id"])), (id_, type(id_)))
        before = set(self.redis.keys("tensor:reply:*"))
        self.user.push('{"op":"create","name":"silent","dtype":"f32","shape":[1]}')
        harness.eventually_equal("it is made", 1, lambda: self.user.refcount("silent"))
        self.assertEqual(self.user.do("info", name="silent")["refcount"], 1)
        self.assertLessEqual(set(self.redis.keys("tensor:reply:*")), before)

    def test_the_same_bytes_with_an_id_are_carried_out_once(self):
        create, made = self.user.make("create", name="once", dtype="f32", shape=[4])
        get, got = self.user.make("get", name="once")
        for raw, reply in ((create, made), (get, got)):
            for _ in range(3):
                self.user.push(raw)
            answers = [self.user.answer(reply) for _ in range(3)]
            self.assertEqual({answer["status"] for answer in answers}, {"ok"}, answers)
        self.assertEqual(self.user.refcount("once"), 2)
        delete, gone = self.user.make("delete", name="once")
        for _ in range(3):
            self.user.push(delete)
        answers = [self.user.answer(gone) for _ in range(3)]
        self.assertEqual({answer["status"] for answer in answers}, {"ok"}, answers)
        self.assertEqual(self.user.refcount("once"), 1)
        # Not carried out again either after the tensor is gone.
        self.user.delete("once")
        for raw, reply in ((create, made), (get, got), (delete, gone)):
            self.user.push(raw)
            self.user.answer(reply)
        self.assertEqual(self.user.hash("once"), {})
        self.assertEqual(self.pond.tensors(), [])

    def test_a_late_repeat_changes_nothing_that_is_shown(self):
        self.user.create("late")
        asked = [self.user.make(op, name="late") for op in ("get", "get", "delete")]
        for raw, reply in asked:
            self.user.push(raw)
            self.user.answer(reply)
        for _ in range(3):
            self.user.get("late")
        for raw, reply in asked:
            self.user.push(raw)
            self.user.answer(reply)
            self.agree()
        # The same while the name means another tensor.
        while self.user.delete("late")["refcount"]:
            pass
        later = self.user.create("late")
        for raw, reply in asked:
            self.user.push(raw)
            self.user.answer(reply)
            self.assertEqual((self.user.hash("late")["id"], self.user.refcount("late")), (later["id"], 1))
            self.agree()

    def test_without_an_id_every_command_is_carried_out(self):
        self.user.create("each")
        for _ in range(3):
            self.user.push('{"op":"get","name":"each"}')
        harness.eventually_equal("three more", 4, lambda: self.user.refcount("each"))

    def test_an_answer_waits_and_then_expires(self):
        raw, reply = self.user.make("info", name="nothing")
        self.user.push(raw)
        left = harness.eventually("an answer", lambda: self.redis.pttl(reply) if self.redis.exists(reply) else 0)
        self.assertTrue(30_000 < left <= 60_000, left)

    def test_tensors_of_the_pond_are_shown_without_a_handle_and_cannot_be_got_here(self):
        for transport in ("vmm", "ipc"):
            self.pond.cli("tensor", "create", f"own/{transport}", "--dtype", "f32", "--shape", "2,3", "--zero", "--transport", transport)
            found = harness.eventually("its hash", lambda: self.user.hash(f"own/{transport}"))
            self.assertEqual((found["ipc_handle"], found["refcount"], found["transport"]), ("", "0", transport))
            self.assertEqual(self.user.refused("get", name=f"own/{transport}")["code"], "not_shared")
            self.assertEqual(self.user.refused("delete", name=f"own/{transport}")["code"], "not_shared")
        self.agree()
        self.assertEqual(self.user.refused("create", name="own/vmm", dtype="f32", shape=[2, 3])["code"], "exists")
        self.pond.cli("tensor", "rm", "own/vmm")
        harness.eventually_equal("its hash is gone", {}, lambda: self.user.hash("own/vmm"))

    def test_what_the_pond_deletes_and_renames_is_shown(self):
        self.user.create("old")
        self.pond.cli("mv", "old", "new")
        harness.eventually_equal("under its new name alone", ({}, 1), lambda: (self.user.hash("old"), self.user.refcount("new")))
        holder = self.holder()
        self.user.get("new", pid=holder.pid)
        self.pond.cli("tensor", "rm", "new")
        # A process keeps the memory, and no one else gets it.
        harness.eventually_equal("it is going", ("deleted", "1", ""), lambda: tuple(
            self.user.hash("new").get(field) for field in ("state", "refcount", "ipc_handle")))
        self.assertEqual(self.user.refused("get", name="new")["code"], "not_found")
        self.agree()
        holder.kill()
        harness.eventually_equal("gone with its holder", {}, lambda: self.user.hash("new"))

    def test_out_of_memory_is_an_answer_and_room_is_found_again(self):
        error = self.user.refused("create", name="huge", dtype="u8", shape=[1 << 40])
        self.assertIn(error["code"], ("gpu_full", "out_of_memory"))
        self.assertTrue(error["message"])
        self.user.create("big", dtype="u8", shape=[1500 * harness.MIB])
        self.assertIn(self.user.refused("create", name="more", dtype="u8", shape=[1500 * harness.MIB])["code"], ("gpu_full", "out_of_memory"))
        self.user.delete("big")
        self.user.create("more", dtype="u8", shape=[1500 * harness.MIB])

    def test_a_prefix_stands_before_every_key_and_keeps_two_bridges_apart(self):
        pond = self.new_pond("second")
        bridge = self.new_bridge(pond, self.server.unix, node="p", prefix="lab:")
        bridge.registered(self.redis)
        user = harness.Commands(self.server.connect, "lab:")
        user.create("mine")
        self.assertEqual(self.redis.hget("lab:tensor:mine", "refcount"), "1")
        self.assertEqual(self.redis.smembers("lab:tensor:index:p"), {"mine"})
        self.assertFalse(self.redis.exists("tensor:mine"))
        checker.agree(self.server.connect, {"p": pond}, "lab:")
        self.agree()
        self.assertEqual(user.delete("mine")["refcount"], 0)
        self.assertEqual(bridge.end()[0], 0)


class Many(Case):
    """More tensors than a list has. They go with the pond."""

    def test_a_list_ends_after_a_thousand_and_says_so(self):
        pondtool = os.environ.get("PONDTOOL") or os.path.join(os.path.dirname(os.environ["MILLPOND_BIN"]), "pondtool")
        if not os.path.exists(pondtool):
            self.skipTest(f"no {pondtool}")
        self.user.create("shared")
        made = subprocess.run([pondtool, "shell"], input="many m 1100 16\n", env=self.pond.environment, capture_output=True, text=True,
                              timeout=60, check=True)
        self.assertEqual(made.stdout.split(), ["ok", "1100"])
        self.agree()
        answer = self.user.ask("list")
        self.assertEqual((len(answer["tensors"]), answer["truncated"]), (1000, True))
        answer = self.user.ask("list", prefix="m/10")
        self.assertEqual((len(answer["tensors"]), answer["truncated"]), (111, False))


class Ending(Case):
    def test_once_carries_out_what_waits_repairs_and_ends(self):
        self.assertEqual(self.bridge.end()[0], 0)
        made, reply = self.user.make("create", name="waiting", dtype="f32", shape=[1])
        self.user.push(made)
        ran = self.bridge.once()
        self.assertEqual(ran.stdout, "")
        self.assertEqual(self.user.answer(reply)["tensor"]["refcount"], 1)
        self.redis.delete("tensor:waiting")
        self.bridge.once()
        self.assertEqual(self.user.refcount("waiting"), 1)
        self.agree()
        self.user.push(self.user.make("delete", name="waiting")[0])
        self.bridge.once()
        self.empty()
        self.bridge.start().registered(self.redis)

    def test_a_signal_ends_it_in_order_within_five_seconds_also_without_redis_and_pond(self):
        code, seconds = self.bridge.end()
        self.assertEqual(code, 0)
        self.assertLess(seconds, 5)
        pond = self.new_pond("away")
        server = self.new_redis("away-redis")
        bridge = self.new_bridge(pond, server.unix, node="away").registered(server.connect())
        server.kill()
        pond.kill_all()
        harness.eventually("it says that it waits", lambda: "wait" in bridge.log().lower() or "lost" in bridge.log().lower())
        self.assertIsNone(bridge.process.poll())
        code, seconds = bridge.end()
        self.assertEqual(code, 0)
        self.assertLess(seconds, 5)
        self.bridge.start().registered(self.redis)

    def test_millpond_redis_is_the_same_program(self):
        folder = os.path.dirname(os.environ["MILLPOND_REDIS_BIN"])
        ran = subprocess.run([self.pond.program, "redis", "nodes", "--json", "--url", self.server.url],
                             env=self.pond.environment | {"PATH": f"{folder}:{os.environ['PATH']}"}, capture_output=True, text=True, timeout=30, check=False)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertEqual([node["node"] for node in json.loads(ran.stdout)["nodes"]], ["a"])
