"""What can happen to Redis: overwritten, emptied, full, read-only, paused, replaced by its replica."""

import os
import signal

import redis

import harness
from fixture import Case, Cleared


class Overwritten(Cleared):
    REPAIR = "1s"

    def test_a_hash_that_somebody_overwrites_is_repaired(self):
        self.user.create("X")
        self.user.create("Y")
        before = {name: self.user.hash(name) for name in "XY"}

        def repaired():
            found = {name: self.user.hash(name) for name in "XY"}
            return all({**found[name], "mtime": 0} == {**before[name], "mtime": 0} for name in "XY")

        handle = self.redis.hget("tensor:Y", "ipc_handle")
        for damage in (lambda: self.redis.hset("tensor:X", "refcount", 99), lambda: self.redis.hset("tensor:X", "ipc_handle", handle),
                       lambda: self.redis.hdel("tensor:X", "dtype", "shape"), lambda: self.redis.delete("tensor:X"),
                       lambda: self.redis.srem("tensor:index:a", "X"), lambda: self.redis.delete("tensor:index:a", "tensor:nodes"),
                       lambda: self.redis.hset("tensor:X", "node", "nobody")):
            damage()
            harness.eventually("the hash is as before", repaired)
            self.agree()

    def test_an_emptied_redis_is_filled_again(self):
        made = self.user.create("kept")
        self.user.get("kept")
        self.pond.cli("tensor", "create", "own", "--dtype", "f32", "--shape", "4", "--zero")
        for _ in range(3):
            self.redis.flushall()
            self.agree()
        self.assertEqual((self.user.refcount("kept"), self.user.hash("kept")["ipc_handle"]), (2, made["ipc_handle"]))

    def test_a_hash_of_this_node_that_no_tensor_has_goes(self):
        self.user.create("X")
        self.redis.hset("tensor:invented", mapping={**self.user.hash("X"), "name": "invented"})
        self.redis.sadd("tensor:index:a", "invented")
        harness.eventually_equal("it is gone", {}, lambda: self.user.hash("invented"))
        self.agree()


class Emptied(Cleared):
    SECONDS = 20

    def test_an_emptied_redis_is_filled_by_the_next_bridge(self):
        made = self.user.create("kept")
        self.user.get("kept")
        self.pond.cli("tensor", "create", "own", "--dtype", "f32", "--shape", "4", "--zero")
        self.agree()
        self.redis.flushall()
        self.bridge.restart()
        self.agree()
        self.assertEqual((self.user.refcount("kept"), self.user.hash("kept")["ipc_handle"]), (2, made["ipc_handle"]))

    def test_a_redis_that_is_restarted_empty_is_filled_again_by_the_same_bridge(self):
        self.user.create("kept")
        self.user.get("kept")
        pid = self.bridge.pid
        for _ in range(3):
            self.server.restart()
            self.user.again()
            harness.eventually_equal("it is shown again", 2, lambda: self.user.refcount("kept"))
            self.agree()
        self.assertEqual(self.user.get("kept")["refcount"], 3)
        self.assertEqual((self.bridge.pid, self.bridge.process.poll()), (pid, None))

    def test_what_changes_while_redis_is_away_is_shown_afterwards(self):
        self.user.create("going")
        self.user.create("staying")
        holder = self.holder()
        self.user.get("staying", pid=holder.pid)
        self.server.kill()
        self.pond.cli("tensor", "rm", "going")
        self.pond.cli("tensor", "create", "coming", "--dtype", "f32", "--shape", "4", "--zero")
        holder.kill()
        harness.eventually_equal("the daemon sees it", 1, lambda: self.pond.holds("staying"))
        self.server.start()
        self.user.again()
        self.agree()
        self.assertEqual((self.user.refcount("staying"), self.user.hash("going"), self.user.refcount("coming")), (1, {}, 0))

    def test_commands_wait_while_the_pond_is_away_and_are_answered_when_it_is_back(self):
        self.user.create("before")
        self.pond.kill_all()
        raw, reply = self.user.make("create", name="after", dtype="f32", shape=[1])
        self.user.push(raw)
        harness.eventually("it is taken, and not answered", lambda: self.redis.llen("{tensor:cmd}:processing:a") == 1)
        self.pond.start()
        self.assertEqual(self.user.answer(reply)["tensor"]["refcount"], 1)
        self.agree()

    def test_a_redis_that_stands_still_for_seconds_is_waited_for(self):
        self.user.create("kept")
        os.kill(self.server.process.pid, signal.SIGSTOP)
        self.pond.cli("tensor", "create", "own", "--dtype", "f32", "--shape", "4", "--zero")
        os.kill(self.server.process.pid, signal.SIGCONT)
        self.agree()

    def test_connections_that_are_cut_are_made_again(self):
        self.user.create("kept")
        for _ in range(5):
            self.redis.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
            self.user.again()
            self.user.ask_through("get", name="kept")
        self.assertEqual(self.pond.holds("kept"), 6)
        self.agree()

    def test_the_scripts_of_a_redis_may_be_flushed(self):
        self.user.create("kept")
        self.redis.script_flush()
        self.assertEqual(self.user.get("kept")["refcount"], 2)
        self.agree()


class Full(Cleared):
    def fill(self, raw):
        """A command, and from then on no memory for any write."""
        with self.redis.pipeline(transaction=True) as both:
            both.lpush("tensor:cmd", raw)
            both.execute_command("CONFIG", "SET", "maxmemory", "1")
            both.execute()

    def tearDown(self):
        self.redis.config_set("maxmemory", "0")
        super().tearDown()

    def test_a_command_of_a_full_redis_is_answered_once_there_is_room(self):
        self.redis.config_set("maxmemory-policy", "noeviction")
        self.user.create("X")
        for round_ in range(6):
            raw, reply = self.user.make("get", name="X")
            self.fill(raw)
            self.assertRaises(redis.ResponseError, self.user.push, raw)
            if round_ == 2:
                self.bridge.restart()
            # What the pond says to others meanwhile cannot be shown either.
            self.pond.cli("tensor", "create", f"own{round_}", "--dtype", "f32", "--shape", "4", "--zero")
            self.assertFalse(self.redis.exists(reply))
            left = self.redis.llen("tensor:cmd") + self.redis.llen("{tensor:cmd}:processing:a")
            self.assertEqual(left, 1, "it stays until it is answered")
            self.redis.config_set("maxmemory", "0")
            self.assertEqual(self.user.answer(reply)["tensor"]["refcount"], 2 + round_)
            self.agree()
        self.assertIsNone(self.bridge.process.poll())
        self.assertLess(self.bridge.log().count("OOM"), 60, "it says so once, and not all the time")


class Replicas(Case):
    """Two servers; the bridge knows a socket, and who is behind it changes."""
    SECONDS = 30

    @classmethod
    def prepare(cls):
        cls.pond = cls.new_pond()
        cls.first, cls.second = cls.new_redis("first"), cls.new_redis("second")
        cls.path = str(cls.folder / "current")
        os.symlink(cls.first.socket, cls.path)
        cls.bridge = cls.new_bridge(cls.pond, f"unix://{cls.path}")
        cls.server = cls.first
        cls.redis = cls.first.connect()
        cls.user = harness.Commands(lambda: cls.server.connect())
        cls.bridge.registered(cls.redis)

    def test_a_promoted_replica_is_followed_and_shows_everything(self):
        self.user.create("X")
        self.user.get("X")
        behind = self.second.connect()
        behind.execute_command("REPLICAOF", "127.0.0.1", self.first.port)
        harness.eventually_equal("the replica has it", "2", lambda: behind.hget("tensor:X", "refcount"))
        self.first.kill()
        # What happens before somebody promotes it: the bridge may reach a server that refuses to be written to.
        os.unlink(self.path)
        os.symlink(self.second.socket, self.path)
        holder = self.holder()
        behind.execute_command("REPLICAOF", "NO", "ONE")
        type(self).server = self.second
        self.user.again()
        self.assertEqual(self.user.ask_through("get", name="X", pid=holder.pid)["tensor"]["refcount"], 3)
        self.agree()
        holder.kill()
        harness.eventually_equal("its hold is gone", 2, lambda: self.user.refcount("X"))
        self.agree()

    def test_a_primary_that_becomes_an_empty_servers_replica_and_is_promoted_again_is_filled_again(self):
        self.user.create("Y")
        self.assertEqual(self.user.get("Y")["refcount"], 2)
        other, connection = self.new_redis("other"), self.server.connect()
        connection.execute_command("REPLICAOF", "127.0.0.1", other.port)
        harness.eventually_equal("it has what the other has: nothing", (), lambda: tuple(connection.keys("tensor:Y")))
        # Nobody may write there, and the bridge waits.
        self.assertRaises(redis.ReadOnlyError, self.user.push, b"{}")
        self.pond.cli("tensor", "create", "own", "--dtype", "f32", "--shape", "4", "--zero")
        self.assertIsNone(self.bridge.process.poll())
        connection.execute_command("REPLICAOF", "NO", "ONE")
        self.assertEqual(self.user.ask_through("get", name="Y")["tensor"]["refcount"], 3)
        self.agree()

    def test_a_primary_that_wants_replicas_before_it_is_written_to_is_waited_for(self):
        self.user.create("Z")
        connection = self.server.connect()
        connection.config_set("min-replicas-to-write", "1")
        self.assertRaises(redis.ResponseError, self.user.push, b"{}")
        self.pond.cli("tensor", "create", "later", "--dtype", "f32", "--shape", "4", "--zero")
        connection.config_set("min-replicas-to-write", "0")
        self.assertEqual(self.user.ask_through("get", name="Z")["tensor"]["refcount"], 2)
        self.agree()
