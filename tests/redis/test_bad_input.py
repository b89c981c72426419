"""Whatever somebody pushes: it is refused with a reason, nothing is made, and the bridge goes on."""

import json

import harness
from fixture import Cleared


class BadInput(Cleared):
    DEVICES = 2

    def code(self, **command):
        """The code of the answer to a command, as it stands."""
        self.user.push(json.dumps({"id": "1", "reply": "tensor:reply:bad", **command}))
        answer = self.user.answer("tensor:reply:bad")
        self.assertEqual((answer["status"], answer["id"]), ("error", "1"))
        self.assertTrue(answer["error"]["message"])
        return answer["error"]["code"]

    def goes_on(self):
        self.assertEqual(self.user.refused("info", name="nothing")["code"], "not_found")

    def test_what_is_not_json_is_dropped_and_what_is_behind_it_is_carried_out(self):
        for raw in (b"", b"not JSON", b"{", b"[1,2]", b"42", b"null", b'"text"', b"\x00\xff\xfe", b"{'op':'get'}", b"[" * 60_000,
                    b'{"op":"get","name":"\xff"}', b'{"a":' * 10_000):
            self.user.push(raw)
        self.goes_on()
        self.assertIsNone(self.bridge.process.poll())

    def test_an_object_that_cannot_be_read_is_answered_where_its_reply_can_be(self):
        self.assertEqual(self.code(op=7), "invalid")
        self.assertEqual(self.code(op="create", name=["x"], dtype="f32", shape=[1]), "invalid")
        self.assertEqual(self.code(op="create", name="x", dtype="f32", shape="[1]"), "invalid")
        self.assertEqual(self.code(op="get", name="x", device="zero"), "invalid")
        self.assertEqual(self.code(op="get", name="x", pid=-1), "invalid")
        self.assertEqual(self.code(op="get", name="x", pid=0), "invalid")
        self.assertEqual(self.code(op="get", name="x", devise=1), "invalid")

    def test_an_unknown_op_is_refused_with_those_that_there_are(self):
        self.user.push('{"op":"destroy","name":"x","reply":"tensor:reply:bad"}')
        error = self.user.answer("tensor:reply:bad")["error"]
        self.assertEqual(error["code"], "unknown_op")
        self.assertIn("create", error["hint"])
        for op in ("", "CREATE", "get ", "\x00"):
            self.assertEqual(self.code(op=op, name="x"), "unknown_op", op)

    def test_a_missing_field_is_named(self):
        for command, missing in (({}, "op"), ({"op": "create"}, "name"), ({"op": "create", "name": "x"}, "dtype"), ({"op": "get"}, "name"),
                                 ({"op": "create", "name": "x", "dtype": "f32"}, "shape"), ({"op": "delete"}, "name"), ({"op": "info"}, "name"),
                                 ({"op": "clone", "name": "x", "device": 0}, "dst"), ({"op": "clone", "name": "x", "dst": "y"}, "device")):
            self.user.push(json.dumps({"id": 1, "reply": "tensor:reply:bad", **command}))
            error = self.user.answer("tensor:reply:bad")["error"]
            self.assertEqual(error["code"], "missing_field", command)
            self.assertIn(f"'{missing}'", error["message"])

    def test_a_command_of_a_megabyte_is_refused_and_one_of_64_kib_is_read(self):
        large = json.dumps({"op": "create", "name": "x" * (1 << 20), "dtype": "f32", "shape": [1], "id": "1", "reply": "tensor:reply:large"})
        self.user.push(large)
        self.assertEqual(self.user.answer("tensor:reply:large")["error"]["code"], "too_large")
        for length, code in ((65_536, "not_found"), (65_537, "too_large")):
            raw = '{"op":"info","name":"none","id":"1","reply":"tensor:reply:large"'
            self.user.push(raw + " " * (length - len(raw) - 1) + "}")
            self.assertEqual(self.user.answer("tensor:reply:large")["error"]["code"], code, length)
        for _ in range(20):
            self.user.push(large.replace("tensor:reply:large", "tensor:reply:none"))
        self.goes_on()
        self.assertLess(harness.resident(self.bridge.pid), 200 * harness.MIB)

    def test_odd_names_are_refused_and_make_nothing(self):
        names = ["", " ", "{x}", "a{b", "a}b", "../x", "a/../b", "/x", "x/", "a//b", ".", "..", "a\x00b", "a\nb", "a\x1b[31m", "a\u202eb", "\u200b",
                 "x" * 256, "x" * 5000, "ü" * 200, "cmd", "nodes", "reply:1", "index:a", "node:a", "heartbeat:a", "-x", "a b"]
        for name in names:
            self.assertEqual(self.code(op="create", name=name, dtype="f32", shape=[1]), "invalid", repr(name))
            self.assertIn(self.code(op="get", name=name), ("invalid", "not_found"), repr(name))
            self.assertIn(self.code(op="delete", name=name), ("invalid", "not_found"), repr(name))
        self.empty()

    def test_a_clone_to_an_odd_name_is_refused(self):
        self.user.create("source")
        for name in ("", "{x}", "../x", "cmd", "x" * 256, "a\nb"):
            self.assertEqual(self.code(op="clone", name="source", dst=name, device=1), "invalid", repr(name))

    def test_names_that_are_only_long_or_look_like_keys_work(self):
        for name in ("x" * 200, "tensor:X", "a.b-c_d/e", "node", "replies:1"):
            made = self.user.create(name)
            self.assertEqual(made["name"], name)
            self.assertEqual(self.user.refcount(name), 1)
            self.user.delete(name)

    def test_dtypes_and_shapes_that_cannot_be_are_refused(self):
        for dtype in ("f33", "", "F32 ", "torch.", "x" * 1000):
            self.assertEqual(self.code(op="create", name="x", dtype=dtype, shape=[1]), "invalid", dtype)
        for shape in ([-1], [2, -3], [1.5], [1 << 64], [1 << 40, 1 << 40], ["2"], [None], {}, 5, [[1]], [1] * 1000):
            self.assertEqual(self.code(op="create", name="x", dtype="f32", shape=shape), "invalid", shape)
        for shape in ([], [1], [1, 1, 1, 1]):
            self.user.create("good", shape=shape)
            self.user.delete("good")

    def test_names_of_dtypes_from_numpy_and_torch_are_understood(self):
        for given, shown in (("float32", "f32"), ("torch.bfloat16", "bf16"), ("int8", "i8"), ("F16", "f16"), ("bool", "bool")):
            self.assertEqual(self.user.create("d", dtype=given)["dtype"], shown)
            self.user.delete("d")

    def test_what_is_unknown_cannot_be_got_deleted_or_cloned(self):
        for command in ({"op": "get"}, {"op": "delete"}, {"op": "info"}, {"op": "clone", "dst": "y", "device": 0}):
            self.assertEqual(self.code(name="unknown", **command), "not_found", command)

    def test_an_answer_goes_nowhere_but_into_a_reply_list(self):
        self.redis.set("victim", "safe")
        for reply in ("victim", "tensor:cmd", "tensor:X", "tensor:nodes", "tensor:reply:", "Tensor:reply:1", " tensor:reply:1", "x" * 5000, "",
                      "tensor:reply:" + "x" * 5000):
            self.user.push(json.dumps({"op": "create", "name": "elsewhere", "dtype": "f32", "shape": [1], "id": "9", "reply": reply}))
        self.user.push('{"op":"info","name":"x","reply":7}')
        self.goes_on()
        self.assertEqual(self.redis.get("victim"), "safe")
        self.assertFalse(self.redis.exists("tensor:X"))
        self.assertEqual(self.user.hash("elsewhere"), {}, "a command that is dropped makes nothing")
        self.redis.delete("victim")

    def test_a_node_that_is_none_is_refused(self):
        for node in ("", "{x}", "a b", "../a", "x" * 300, "a\nb"):
            self.assertEqual(self.code(op="info", name="x", node=node), "invalid", repr(node))
        self.assertIn(self.code(op="info", name="x", node="nobody"), ("wrong_node", "not_found"))
        self.assertEqual(self.redis.keys("*nobody*"), [])

    def test_the_wrong_kind_of_key_in_the_place_of_ours_does_not_end_the_bridge(self):
        self.user.create("shown")
        for key in ("tensor:index:a", "tensor:node:a", "tensor:heartbeat:a", "tensor:nodes"):
            self.redis.delete(key)
            self.redis.rpush(key, "not what it was")
        self.user.get("shown")
        self.assertEqual(self.user.hash("shown")["refcount"], "2")
        self.bridge.restart()
        self.agree()


class Endless(Cleared):
    """Lists of many commands: each has its answer."""

    def test_a_thousand_commands_at_once_are_all_answered(self):
        self.user.create("many")
        asked = [self.user.make("get", name="many") for _ in range(1000)]
        self.redis.lpush("tensor:cmd", *(raw for raw, _ in asked))
        answers = [self.user.answer(reply) for _, reply in asked]
        self.assertEqual([answer["tensor"]["refcount"] for answer in answers], list(range(2, 1002)), "in their order")
        given = [self.user.make("delete", name="many") for _ in range(1001)]
        self.redis.lpush("tensor:cmd", *(raw for raw, _ in given))
        self.assertEqual([self.user.answer(reply)["refcount"] for _, reply in given], list(range(1000, -1, -1)))
