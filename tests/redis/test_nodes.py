"""Two machines that share a Redis: two ponds with GPUs of their own, a bridge for each."""

import json
import os
import subprocess

import checker
import harness
from fixture import Case

# A heartbeat lasts 10 s and dead nodes are looked for every 10 s.
SWEPT = 3 * harness.PATIENCE


class TwoNodes(Case):
    SECONDS = 60
    REPAIR = "2s"

    @classmethod
    def prepare(cls):
        cls.ponds = {"a": cls.new_pond("pa"), "b": harness.Pond(cls.folder, "pb", devices=2, memory="1G")}
        cls.addClassCleanup(lambda: cls.ponds["b"].stop())
        cls.server = cls.new_redis()
        cls.bridges = {node: cls.new_bridge(pond, cls.server.unix, node=node) for node, pond in cls.ponds.items()}
        cls.redis = cls.server.connect()
        for bridge in cls.bridges.values():
            bridge.registered(cls.redis)
        cls.users = {node: harness.Commands(cls.server.connect, node=node) for node in cls.ponds}
        cls.user = harness.Commands(cls.server.connect)

    def agree(self, *nodes, **named):
        ponds = {node: self.ponds[node] for node in nodes or self.ponds}
        checker.agree(self.server.connect, ponds, tell=lambda: "".join(bridge.log()[-1500:] for bridge in self.bridges.values()), **named)

    def millpond(self, *words):
        folder = os.path.dirname(os.environ["MILLPOND_REDIS_BIN"])
        environment = self.ponds["a"].environment | {"MILLPOND_REDIS_URL": self.server.url, "PATH": f"{folder}:{os.environ['PATH']}"}
        ran = subprocess.run([os.environ["MILLPOND_BIN"], *words], env=environment, capture_output=True, text=True, timeout=harness.PATIENCE, check=False)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return ran.stdout

    def tearDown(self):
        for node, pond in self.ponds.items():
            for tensor in pond.tensors():
                while tensor["holds"] and self.users[node].ask("delete", name=tensor["name"]).get("refcount"):
                    pass

    def test_both_are_registered_with_their_gpus_and_sizes(self):
        self.agree()
        self.assertEqual(self.redis.smembers("tensor:nodes"), {"a", "b"})
        found = {node: json.loads(self.redis.hget(f"tensor:node:{node}", "gpus")) for node in "ab"}
        self.assertEqual([gpu["total_bytes"] for gpu in found["a"]], [2 << 30])
        self.assertEqual([gpu["total_bytes"] for gpu in found["b"]], [1 << 30] * 2)
        for node in "ab":
            self.assertEqual(self.redis.hget(f"tensor:node:{node}", "version"), self.ponds[node].status()["version"])
            self.assertTrue(0 < self.redis.pttl(f"tensor:heartbeat:{node}") <= 10_000)

    def test_a_command_with_a_node_reaches_it_whoever_takes_it(self):
        for number in range(10):
            for node in "ab":
                self.assertEqual(self.user.create(f"to/{node}{number}", node=node)["node"], node)
                self.assertEqual(self.users["a"].get(f"to/{node}{number}", node=node)["refcount"], 2)
        self.agree()
        self.assertEqual(len(self.ponds["b"].tensors()), 10)
        listed = self.user.ask("list", prefix="to/")["tensors"]
        self.assertEqual((len(listed), {each["node"] for each in listed}), (20, {"a", "b"}))
        self.assertEqual({each["node"] for each in self.user.ask("list", node="b")["tensors"]}, {"b"})

    def test_a_get_of_another_nodes_tensor_is_refused_and_names_the_node(self):
        self.user.create("far", node="b")
        for ask in (lambda: self.users["a"].refused("get", name="far"), lambda: self.user.refused("get", name="far", node="a")):
            error = ask()
            self.assertEqual((error["code"], error["node"]), ("wrong_node", "b"))
            self.assertIn("'b'", error["message"])
        self.assertEqual(self.ponds["b"].holds("far"), 1)
        self.assertEqual(self.user.get("far", node="b")["refcount"], 2)

    def test_a_name_is_one_tensor_on_all_nodes(self):
        self.user.create("one", node="b")
        error = self.users["a"].refused("create", name="one", dtype="f32", shape=[2, 3])
        self.assertEqual((error["code"], error["node"]), ("wrong_node", "b"))
        # Both at once: one of them is first.
        for number in range(8):
            asked = [(node, *self.user.make("create", name=f"race{number}", dtype="f32", shape=[4])) for node in "ab"]
            for node, raw, _ in asked:
                self.redis.lpush(f"{{tensor:cmd}}:node:{node}", raw)
            answers = [self.user.answer(reply) for _, _, reply in asked]
            good = [answer["tensor"]["node"] for answer in answers if answer["status"] == "ok"]
            self.assertEqual(len(good), 1, answers)
            self.assertEqual(self.user.hash(f"race{number}")["node"], good[0])
        self.agree()

    def test_a_delete_and_an_info_find_the_node_that_has_the_tensor(self):
        self.user.create("there", node="b")
        self.assertEqual(self.users["a"].do("info", name="there")["node"], "b")
        self.assertEqual(self.users["a"].delete("there")["refcount"], 0)
        self.agree()

    def test_all_nodes_are_listed_by_millpond(self):
        self.user.create("on-a", node="a")
        self.user.create("on-b", node="b", device=1)
        listed = json.loads(self.millpond("ls", "--all-nodes", "--json"))
        found = {(each["node"], each["name"]) for each in next(value for value in listed.values() if isinstance(value, list))}
        self.assertLessEqual({("a", "on-a"), ("b", "on-b")}, found)
        text = self.millpond("ls", "--all-nodes")
        for word in ("NODE", "on-a", "on-b"):
            self.assertIn(word, text)
        self.assertNotIn(self.user.hash("on-a")["ipc_handle"], self.millpond("ls", "--all-nodes", "--json"))
        nodes = json.loads(self.millpond("redis", "nodes", "--json"))["nodes"]
        self.assertEqual([(node["node"], node["alive"], len(node["gpus"])) for node in nodes], [("a", True, 1), ("b", True, 2)])

    def test_a_node_that_is_killed_loses_its_entries_and_has_them_again_when_it_is_back(self):
        self.user.create("stays", node="a")
        self.user.create("comes-back", node="b")
        self.user.get("comes-back", node="b")
        self.agree()
        self.bridges["b"].kill()
        raw, reply = self.user.make("get", name="comes-back", node="b")
        self.redis.lpush("{tensor:cmd}:node:b", raw)
        harness.eventually_equal("its hashes are gone", {}, lambda: self.user.hash("comes-back"), SWEPT)
        harness.eventually_equal("it is no node any more", {"a"}, lambda: self.redis.smembers("tensor:nodes"), SWEPT)
        self.assertEqual((self.redis.smembers("tensor:index:b"), self.user.refcount("stays")), (set(), 1))
        error = self.users["a"].refused("get", name="comes-back")
        self.assertEqual(error["code"], "not_found")
        # Nothing ended with it: the pond holds, and what waited is carried out.
        self.assertEqual(self.ponds["b"].holds("comes-back"), 2)
        self.bridges["b"].start().registered(self.redis)
        self.assertEqual(self.user.answer(reply)["tensor"]["refcount"], 3)
        self.agree()

    def test_a_name_of_a_dead_node_that_another_took_stays_with_the_other(self):
        self.user.create("taken", node="b")
        self.bridges["b"].kill()
        harness.eventually_equal("its hash is gone", {}, lambda: self.user.hash("taken"), SWEPT)
        self.user.create("taken", node="a")
        self.bridges["b"].start().registered(self.redis)
        self.assertEqual(self.user.hash("taken")["node"], "a")
        self.assertEqual(self.users["a"].delete("taken")["refcount"], 0)
        harness.eventually_equal("now it is the other's again", "b", lambda: self.user.hash("taken").get("node"))
        self.agree()


class AMachineIsLost(Case):
    SECONDS = 45

    def test_a_machine_that_loses_power_leaves_nothing_in_redis_after_its_heartbeat(self):
        pond = self.new_pond("other")
        bridge = self.new_bridge(pond, self.server.unix, node="b").registered(self.redis)
        self.user.create("stays", node="a")
        self.user.create("lost", node="b")
        pond.kill_all()
        bridge.kill()
        harness.eventually_equal("its hash is gone", {}, lambda: self.user.hash("lost"), SWEPT)
        self.agree(seconds=SWEPT)
        self.assertEqual(self.user.create("lost", node="a")["node"], "a")
        self.agree()
