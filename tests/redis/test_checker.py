"""The checker itself: it must find what is wrong, or it shows nothing."""

import copy
import unittest

import checker
from fixture import Case

GPU = {"device": "GPU-1", "index": 0, "name": "one", "total_bytes": 100, "slab_bytes": 2, "tensor_bytes": 24, "physical_used_bytes": 12, "tensors": 1}
TENSOR = {"id": "1-2", "name": "X", "dtype": "F32", "shape": [2, 3], "bytes": 24, "device": "GPU-1", "state": "ready", "created_unix_ms": 5,
          "slab": "s", "slab_bytes": 2, "transport": "ipc", "adopted": False, "survives": "host", "home_pid": 9, "holds": 2}
HANDLE = "A" * 86 + "=="
HASH = {"name": "X", "dtype": "f32", "shape": "[2,3]", "device": "0", "bytes": "24", "ipc_handle": HANDLE, "owner_pid": "9", "refcount": "2",
        "ctime": "5", "mtime": "6", "node": "a", "gpu_uuid": "GPU-1", "transport": "ipc", "epoch": "3", "state": "ready", "survives": "host",
        "id": "1-2", "offset": "0"}
STATUS = {"pond": "p", "epoch": 3, "leases": 0, "devices": [GPU], "hosts": [{"pid": 9, "tensors": 1}]}
POND = {"status": STATUS, "tensors": [TENSOR], "unused_bytes": [10], "handles": {"X": HANDLE}, "living": {9}}
NODE = {"node": "a", "epoch": "3", "pond": "p", "gpus": '[{"index":0,"uuid":"GPU-1","name":"one","total_bytes":100,"used":2}]'}
REDIS = {"hashes": {"X": HASH}, "indexes": {"a": {"X"}}, "nodes": {"a"}, "node_hashes": {"a": NODE}, "heartbeats": {"a": 9000}, "lists": {},
         "replies": {"tensor:reply:1": 500}, "done": {"{tensor:cmd}:done:1": 500}, "odd": []}


class WithPlantedViews(unittest.TestCase):
    SECONDS = 1

    def differences(self, change=lambda redis, pond: None):
        redis, pond = copy.deepcopy(REDIS), copy.deepcopy(POND)
        change(redis, pond)
        return checker.differences(redis, {"a": pond})

    def found(self, change, *expected):
        """Exactly these lines, by a part of each."""
        lines = self.differences(change)
        self.assertEqual(len(lines), len(expected), lines)
        for line, part in zip(sorted(lines), sorted(expected)):
            self.assertIn(part, line)

    def test_views_that_agree_have_no_difference(self):
        self.assertEqual(self.differences(), [])

    def test_every_wrong_field_of_a_hash_is_named(self):
        for field in set(HASH) - {"mtime", "offset", "ipc_handle"}:
            self.found(lambda redis, _, field=field: redis["hashes"]["X"].update({field: "wrong"}), f"hash of 'X': {field} is 'wrong'")

    def test_a_missing_and_a_stale_hash_and_index_are_found(self):
        self.found(lambda redis, _: redis["hashes"].clear(), "tensor 'X' of node 'a' has no hash")
        self.found(lambda redis, _: redis["hashes"].update(Y={**HASH, "name": "Y"}), "hash of 'Y' (node 'a'): no pond has it")
        self.found(lambda redis, _: redis["indexes"].clear(), "'X' is missing")
        self.found(lambda redis, _: redis["indexes"]["a"].add("Z"), "'Z' is not in the pond")
        self.found(lambda redis, _: redis["hashes"]["X"].pop("offset"), "fields differ")
        self.found(lambda redis, _: redis["odd"].append("key 'tensor:X': WRONGTYPE"), "WRONGTYPE")

    def test_handles_are_those_of_the_pond_and_only_where_there_may_be_one(self):
        self.found(lambda redis, _: redis["hashes"]["X"].update(ipc_handle="B" * 86 + "=="), "not the pond's")
        self.found(lambda redis, pond: (pond["handles"].clear(), redis["hashes"]["X"].update(ipc_handle="")), "its handle has 0 bytes")

        def own(redis, pond):
            pond["tensors"][0]["holds"], pond["handles"] = None, {}
            redis["hashes"]["X"]["refcount"] = "0"

        self.found(own, "it has a handle")

    def test_commands_that_nobody_answered_are_found(self):
        self.found(lambda redis, _: redis["lists"].update({"{tensor:cmd}:processing:a": ["{}"]}), "processing:a' has {}")
        self.found(lambda redis, _: redis["replies"].update({"tensor:reply:2": -1}), "never expires")

    def test_nodes_that_are_wrong_or_gone_are_found(self):
        self.found(lambda redis, _: redis["nodes"].add("b"), "nodes: 'b' is no node")
        self.found(lambda redis, _: redis["nodes"].clear(), "not registered")
        self.found(lambda redis, _: redis["heartbeats"].update(a=-1), "no heartbeat")
        self.found(lambda redis, _: redis["node_hashes"]["a"].update(epoch="2"), "epoch is '2'")
        self.found(lambda redis, _: redis["node_hashes"]["a"].update(gpus="[]"), "its GPUs are []")

    def test_memory_that_nobody_has_and_hosts_that_are_not_there_are_found(self):
        self.found(lambda _, pond: pond["status"]["devices"][0].update(physical_used_bytes=14), "the driver has 4 bytes")
        self.found(lambda _, pond: pond["status"]["devices"][0].update(tensor_bytes=25), "the catalog has 1 with 24")
        self.found(lambda _, pond: pond["status"].update(leases=1), "1 leases")
        self.found(lambda _, pond: pond["living"].clear(), "host 9 of 'a' does not live")
        self.found(lambda _, pond: (pond["status"]["hosts"].append({"pid": 8, "tensors": 0}), pond["living"].add(8)), "host 8 of 'a' has nothing")
        self.found(lambda _, pond: pond["status"]["hosts"].clear(), "host 9 of 'a' has 0 tensors")

    def test_a_deleted_tensor_that_nobody_holds_has_no_hash(self):
        self.found(lambda _, pond: pond["tensors"][0].update(state="deleted", holds=0), "no pond has it", "not in the pond")


class WithPlantedKeys(Case):
    """The same in a real Redis beside a real pond. The bridge is stopped, so nobody repairs it."""

    def found(self, *expected):
        lines = checker.look(self.redis, {"a": self.pond})
        self.assertEqual(len(lines), len(expected), lines)
        for line, part in zip(sorted(lines), sorted(expected)):
            self.assertIn(part, line)

    def test_a_wrong_count_a_stale_hash_a_missing_hash_and_a_lost_command_are_found(self):
        self.user.create("X")
        self.user.create("Y")
        self.agree()
        # Killed, so that its heartbeat is still there.
        self.bridge.kill()
        self.found()
        self.redis.hset("tensor:X", "refcount", 7)
        self.found("hash of 'X': refcount is '7', the pond says '1'")
        self.redis.hset("tensor:X", "refcount", 1)
        self.redis.hset("tensor:Z", mapping={**self.redis.hgetall("tensor:X"), "name": "Z"})
        self.found("hash of 'Z' (node 'a'): no pond has it")
        self.redis.delete("tensor:Z")
        self.redis.rename("tensor:Y", "kept")
        self.found("tensor 'Y' of node 'a' has no hash")
        self.redis.rename("kept", "tensor:Y")
        self.redis.lpush("{tensor:cmd}:processing:a", '{"op":"get"}')
        self.found("""list '{tensor:cmd}:processing:a' has {"op":"get"}""")
        self.redis.delete("{tensor:cmd}:processing:a")
        self.redis.hset("tensor:X", "ipc_handle", self.redis.hget("tensor:Y", "ipc_handle"))
        self.found("hash of 'X': its handle is not the pond's")
        self.bridge.start()
        self.agree()
