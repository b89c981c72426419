"""What a neighbour with rights in the same Redis can do to the bridge, to other programs' commands and to other applications' keys."""

import json

import harness
from fixture import Cleared

LIMIT = 48 * harness.MIB  # Far more than the debug build needs, far less than one of the values.
LARGE = "local text = string.rep(string.rep('x', 1048576), tonumber(ARGV[1])) for _, key in ipairs(KEYS) do "


class Giants(Cleared):
    """Values of 64 MiB wherever the bridge reads: none of them leaves the server."""

    SECONDS = 20
    REPAIR = "1s"

    def plant(self, do, *keys, mib=64, more=""):
        """Large values, made by the server itself."""
        self.redis.eval(f"{LARGE} {do} end", len(keys), *keys, mib, more)

    def bounded(self):
        self.assertEqual(self.user.refused("info", name="nothing")["code"], "not_found")
        self.assertIsNone(self.bridge.process.poll())
        self.assertLess(harness.peak(self.bridge.pid), LIMIT, self.bridge.log()[-2000:])

    def test_giant_commands_are_removed_unread_and_what_lies_between_them_is_answered(self):
        self.user.create("X")
        self.bridge.restart().registered(self.redis)
        self.plant("redis.call('LPUSH', key, text)", "tensor:cmd", "{tensor:cmd}:node:a")
        self.assertEqual(self.user.do("info", name="X")["refcount"], 1)
        self.bounded()
        # Left behind by a bridge that was killed, in a row and between commands.
        self.bridge.kill()
        asked = [self.user.make("get", name="X") for _ in range(3)]
        for raw, _ in asked:
            self.redis.lpush("{tensor:cmd}:processing:a", raw)
        self.plant("redis.call('LPUSH', key, text, text)", "{tensor:cmd}:processing:a")
        self.plant("redis.call('LINSERT', key, 'BEFORE', ARGV[2], text)", "{tensor:cmd}:processing:a", more=asked[1][0])
        self.bridge.start()
        self.assertEqual([self.user.answer(reply)["tensor"]["refcount"] for _, reply in asked], [2, 3, 4])
        self.bounded()
        self.agree()
        self.assertIn("67108864 bytes", self.bridge.log())

    def test_giant_fields_members_and_records_are_not_read(self):
        self.user.create("X")
        self.user.create("Y")
        self.bridge.restart().registered(self.redis)
        self.agree()
        self.plant("redis.call('HSET', key, 'dtype', text)", "tensor:X")
        self.plant("redis.call('HSET', key, 'node', text)", "tensor:foreign")
        self.plant("redis.call('SADD', key, text)", "tensor:index:a", "tensor:nodes")
        self.plant("redis.call('SET', key, text)", "tensor:heartbeat:b")
        self.plant("redis.call('HSET', key, 'gpus', text)", "tensor:node:a", mib=1)
        self.redis.sadd("tensor:nodes", "b")
        self.assertEqual(self.user.refused("get", name="foreign")["code"], "not_found")
        self.assertEqual(self.user.refused("info", name="x", node="c")["code"], "not_found")
        harness.eventually_equal("the hash is right again", "f32", lambda: self.user.hash("X").get("dtype"))
        harness.eventually_equal("no giant is on the index", {"X", "Y"}, lambda: self.redis.smembers("tensor:index:a"))
        self.user.ask("list")
        self.bounded()
        self.redis.delete("tensor:foreign", "tensor:heartbeat:b")
        harness.eventually_equal("the node that never was is gone", {"a"}, lambda: self.redis.smembers("tensor:nodes"))


class Repeats(Cleared):
    """The same bytes with the same id, long after the pond has forgotten them."""

    SECONDS = 15

    def others(self, count=1200):
        """More changes than the pond remembers of one user."""
        asked = [self.user.make("get", name="other") for _ in range(count)]
        for at in range(0, count, 100):
            self.redis.lpush("tensor:cmd", *(raw for raw, _ in asked[at:at + 100]))
        self.user.answer(asked[-1][1])

    def test_a_repeat_is_carried_out_once_however_much_lies_between(self):
        self.user.create("other")
        create, made = self.user.make("create", name="X", dtype="f32", shape=[1])
        get, got = self.user.make("get", name="X")
        delete, gone = self.user.make("delete", name="X")
        silent = json.dumps({"op": "get", "name": "X", "id": "no reply"})
        first = {}
        for raw, reply in ((create, made), (get, got), (delete, gone)):
            self.user.push(raw)
            first[raw] = self.user.answer(reply)
        self.user.push(silent)
        harness.eventually_equal("it is held", 2, lambda: self.user.refcount("X"))
        self.others()
        self.bridge.kill()
        # As if the bridge had been killed between the answer and the end of the command.
        self.redis.lpush("{tensor:cmd}:processing:a", get)
        self.bridge.start()
        self.assertEqual(self.user.answer(got)["status"], "ok")
        for raw, reply in ((create, made), (get, got), (delete, gone)):
            self.user.push(raw)
            answer = self.user.answer(reply)
            self.assertEqual((answer["status"], answer["id"], answer["op"], answer["tensor"]["id"]),
                             ("ok", first[raw]["id"], first[raw]["op"], first[raw]["tensor"]["id"]))
            self.user.push(silent)
        self.assertEqual((self.user.do("info", name="X")["refcount"], self.pond.holds("X")), (2, 2))
        for key in self.redis.scan_iter("{tensor:cmd}:done:*", count=1000):
            self.assertTrue(0 < self.redis.pttl(key) <= 60_000, key)
            self.assertLess(self.redis.strlen(key), 2048)
        # The tensor is gone, and another has its name: the old handle would open something else.
        while self.user.delete("X")["refcount"]:
            pass
        self.user.create("X")
        for raw, reply in ((create, made), (get, got)):
            self.user.push(raw)
            error = self.user.answer(reply)["error"]
            self.assertEqual(error["code"], "not_found")
            self.assertIn("`id`", error["hint"])
        self.assertEqual(self.pond.holds("X"), 1)
        self.redis.delete("tensor:other")


class Deputy(Cleared):
    """Keys of other applications under the bridge's prefix."""

    REPAIR = "1s"

    def test_keys_that_are_not_the_bridges_stay_as_they_are(self):
        self.redis.set("tensor:app", "their text")
        self.redis.rpush("tensor:queue", "their list")
        self.redis.hset("tensor:conf", mapping={"theirs": "1"})
        self.redis.hset("tensor:near", mapping={"node": "a", "id": "7", "theirs": "1"})
        names = ("app", "queue", "conf", "near")
        before = self.seen(names)
        for name in names:
            error = self.user.refused("create", name=name, dtype="f32", shape=[1])
            self.assertEqual(error["code"], "exists", name)
            self.assertIn(f"tensor:{name}", error["message"])
            self.assertIn("--prefix", error["hint"])
            self.assertIn(self.user.refused("delete", name=name)["code"], ("not_found", "not_shared"))
        self.assertEqual(self.pond.tensors(), [], "nothing was made")
        # What the pond's own clients make has no hash there either.
        for name in names:
            self.pond.cli("tensor", "create", name, "--dtype", "f32", "--shape", "4", "--zero")
        self.bridge.restart().registered(self.redis)
        self.assertEqual(self.user.do("info", name="app")["refcount"], 0)
        for name in names:
            self.pond.cli("tensor", "rm", name)
        self.assertEqual(self.user.refused("info", name="app")["code"], "not_found")
        harness.eventually_equal("its index is empty", set(), lambda: self.redis.smembers("tensor:index:a"))
        self.assertEqual(self.seen(names), before)
        self.assertIn("tensor:app", self.bridge.log())
        self.redis.delete(*(f"tensor:{name}" for name in names))

    def seen(self, names):
        read = {"string": self.redis.get, "list": lambda key: self.redis.lrange(key, 0, -1), "hash": self.redis.hgetall}
        return {name: read[self.redis.type(f"tensor:{name}")](f"tensor:{name}") for name in names}

    def test_a_hash_that_others_put_in_the_place_of_a_tensors_stays_and_the_tensor_lives(self):
        made = self.user.create("X")
        self.redis.delete("tensor:X")
        self.redis.set("tensor:X", "theirs")
        self.assertEqual(self.user.get("X")["ipc_handle"], made["ipc_handle"])
        self.assertEqual(self.redis.get("tensor:X"), "theirs")
        self.redis.delete("tensor:X")
        harness.eventually_equal("it is shown again", 2, lambda: self.user.refcount("X"))

    def test_an_answer_goes_into_no_list_of_others(self):
        self.bridge.restart().registered(self.redis)
        self.redis.set("tensor:reply:text", "theirs")
        self.redis.hset("tensor:reply:hash", "theirs", "1")
        self.redis.rpush("tensor:reply:list", "theirs")
        for kind in ("text", "hash", "list"):
            self.user.push(json.dumps({"op": "info", "name": "none", "id": 1, "reply": f"tensor:reply:{kind}"}))
        self.assertEqual(self.user.refused("info", name="none")["code"], "not_found")
        self.assertEqual((self.redis.get("tensor:reply:text"), self.redis.hgetall("tensor:reply:hash"), self.redis.lrange("tensor:reply:list", 0, -1)),
                         ("theirs", {"theirs": "1"}, ["theirs"]))
        self.assertEqual(self.redis.ttl("tensor:reply:list"), -1)
        self.assertIn("tensor:reply:", self.bridge.log())
        self.redis.delete("tensor:reply:text", "tensor:reply:hash", "tensor:reply:list")
