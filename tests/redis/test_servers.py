"""Every way to Redis: TCP, a unix socket, TLS, a user with few rights, Sentinels, a cluster of three."""

import re
import unittest

import redis

import checker
import harness
import servers
from fixture import Case
from test_kills import Flow

NO_POND = 15  # The exit code of `no_pond`.
PAGE = harness.ROOT / "docs" / "redis.md"


class Ways(Case):
    """One pond and one bridge after the other, each with a server of its own."""

    @classmethod
    def prepare(cls):
        cls.pond = cls.new_pond()

    def lives(self, bridge, connect):
        """A tensor's life through this bridge."""
        bridge.registered(connect())
        user = harness.Commands(connect)
        self.assertEqual(user.create("X")["refcount"], 1)
        self.assertEqual(user.get("X")["refcount"], 2)
        checker.agree(connect, {bridge.node: self.pond}, tell=bridge.log)
        self.assertEqual([user.delete("X")["refcount"] for _ in range(2)], [1, 0])
        checker.agree(connect, {bridge.node: self.pond}, tell=bridge.log)
        self.assertEqual(bridge.end()[0], 0)

    def test_by_tcp(self):
        server = self.new_redis("tcp")
        self.lives(self.new_bridge(self.pond, server.url), server.connect)

    def test_by_the_variable_which_keeps_passwords_from_others_eyes(self):
        server = self.new_redis("variable", password="sec,ret")
        url = f"redis://:sec%2Cret@127.0.0.1:{server.port}"
        bridge = self.new_bridge(self.pond, environment={"MILLPOND_REDIS_URL": url}, node="v")
        self.lives(bridge, server.connect)
        self.assertNotIn("sec", bridge.log())

    def test_a_wrong_password_is_said_without_it_and_the_right_one_is_waited_for(self):
        server = self.new_redis("password")
        server.connect().execute_command("ACL", "SETUSER", "bridge", "on", ">right", "~*", "&*", "+@all")
        bridge = self.new_bridge(self.pond, f"redis://bridge:wrong-one@127.0.0.1:{server.port}", node="w")
        harness.eventually("it says so", lambda: "WRONGPASS" in bridge.log() or "uthentication" in bridge.log())
        self.assertNotIn("wrong-one", bridge.log())
        server.connect().execute_command("ACL", "SETUSER", "bridge", ">wrong-one")
        self.lives(bridge, server.connect)

    def test_by_tls_with_an_authority_that_is_named_and_not_without(self):
        certificates = servers.Certificates(self.folder)
        server = self.new_redis("tls", tls=certificates)
        stranger = self.new_bridge(self.pond, server.url, node="s", environment={"SSL_CERT_FILE": "/dev/null"})
        harness.eventually("it says why", lambda: "ertificate" in stranger.log() or "UnknownIssuer" in stranger.log() or "TLS" in stranger.log())
        self.assertEqual(server.connect().keys("*"), [])
        self.assertEqual(stranger.end()[0], 0)
        self.lives(self.new_bridge(self.pond, server.url, node="t", environment={"SSL_CERT_FILE": str(certificates.authority)}), server.connect)

    def users(self):
        """The users of the page, as it tells people to make them."""
        if not PAGE.exists():
            raise unittest.SkipTest(f"{PAGE.relative_to(harness.ROOT)} is not there")
        lines = re.findall(r"^user (\w+) (on .*)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
        return {name: rules.split() for name, rules in lines}

    def test_the_users_of_the_page_have_the_rights_that_they_need_and_no_others(self):
        server, users = self.new_redis("users"), self.users()
        self.assertEqual(set(users), {"bridge", "program", "viewer"})
        connection, password = server.connect(), {}
        for name, rules in users.items():
            connection.execute_command("ACL", "SETUSER", name, "reset", *rules)
            password[name] = next(rule[1:] for rule in rules if rule.startswith(">"))

        def connect(name):
            return redis.Redis(unix_socket_path=server.socket, username=name, password=password[name], decode_responses=True,
                               socket_timeout=harness.PATIENCE + 5)

        bridge = self.new_bridge(self.pond, f"redis://bridge:{password['bridge']}@127.0.0.1:{server.port}", node="acl", repair_every="1s")
        bridge.registered(connection)
        program = harness.Commands(lambda: connect("program"))
        self.assertEqual(program.create("X")["refcount"], 1)
        self.assertEqual(program.get("X")["refcount"], 2)
        self.assertEqual(program.ask("list")["tensors"][0]["name"], "X")
        harness.Commands(lambda: connect("program"), node="acl").get("X")
        checker.agree(server.connect, {"acl": self.pond}, tell=bridge.log)
        self.assertNotIn("NOPERM", bridge.log())
        for forbidden in (lambda: program.redis.hgetall("tensor:X"), lambda: program.redis.delete("tensor:X"), lambda: program.redis.keys("*"),
                          lambda: program.redis.brpop(["tensor:cmd"], timeout=1), lambda: program.redis.flushall(),
                          lambda: program.redis.lpush("elsewhere", "x")):
            self.assertRaises(redis.exceptions.NoPermissionError, forbidden)
        viewer = connect("viewer")
        self.assertEqual((viewer.smembers("tensor:nodes"), set(viewer.sscan_iter("tensor:index:acl"))), ({"acl"}, {"X"}))
        self.assertRaises(redis.exceptions.NoPermissionError, viewer.hgetall, "tensor:X")
        self.assertRaises(redis.exceptions.NoPermissionError, viewer.lpush, "tensor:cmd", "{}")
        self.assertEqual([program.delete("X")["refcount"] for _ in range(3)], [2, 1, 0])
        bridge.end()

    def test_by_a_sentinel_which_is_asked_again_after_a_failover(self):
        first, second = self.new_redis("one"), self.new_redis("two")
        second.connect().execute_command("REPLICAOF", "127.0.0.1", first.port)
        harness.eventually_equal("a replica", 1, lambda: first.connect().info("replication")["connected_slaves"])
        sentinel = servers.Sentinel(self.folder, "main", first)
        self.addCleanup(sentinel.kill)
        harness.eventually("the Sentinel knows the replica", lambda: sentinel.connect().execute_command("SENTINEL", "REPLICAS", "main"))
        bridge = self.new_bridge(self.pond, sentinel.url, node="sentinel", arguments=["--sentinel", "main"])
        bridge.registered(first.connect())
        user = harness.Commands(first.connect)
        user.create("X")
        first.kill()
        harness.eventually_equal("the replica is promoted", "master", lambda: second.connect().info("replication")["role"])
        after = harness.Commands(second.connect)
        self.assertEqual(after.ask_through("get", name="X")["tensor"]["refcount"], 2)
        checker.agree(second.connect, {"sentinel": self.pond}, tell=bridge.log)
        self.assertEqual([after.delete("X")["refcount"] for _ in range(2)], [1, 0])
        bridge.end()

    def test_a_url_that_cannot_be_read_is_an_error_and_its_password_is_not_printed(self):
        for url in ("", "nonsense", "http://127.0.0.1", "redis://user:topsecret@:notaport"):
            bridge = self.new_bridge(self.pond, url, node="u", start=False)
            ran = bridge.once(code=2)
            self.assertNotIn("topsecret", ran.stdout + ran.stderr)

    def test_once_without_a_server_or_a_pond_is_an_error_at_once(self):
        server = self.new_redis("gone")
        server.kill()
        bridge = self.new_bridge(self.pond, server.url, node="o", start=False)
        ran = bridge.once(code=NO_POND)
        self.assertTrue(ran.stderr)


class InACluster(Case):
    SECONDS = 25

    @classmethod
    def prepare(cls):
        cls.pond = cls.new_pond()
        cls.server = servers.Cluster(cls.folder)
        cls.addClassCleanup(cls.server.kill)
        cls.bridge = cls.new_bridge(cls.pond, *cls.server.urls, arguments=["--cluster"])
        cls.redis = cls.server.connect()
        cls.bridge.registered(cls.redis)
        cls.user = harness.Commands(cls.server.connect)

    def tearDown(self):
        self.clear()

    def test_tensors_live_in_a_cluster_of_three_and_their_hashes_are_everywhere(self):
        names = [f"t{number}" for number in range(12)]
        for name in names:
            self.user.create(name)
            self.user.get(name)
        slots = {self.redis.keyslot(f"tensor:{name}") for name in names}
        self.assertTrue(all(any(low <= slot < low + 5462 for slot in slots) for low in (0, 5461, 10922)), slots)
        self.agree()
        answer = self.user.ask("list")
        self.assertEqual(sorted(each["name"] for each in answer["tensors"]), sorted(names))
        for name in names:
            self.assertEqual([self.user.delete(name)["refcount"] for _ in range(2)], [1, 0])
        self.empty()

    def test_a_bridge_that_is_killed_in_a_cluster_loses_nothing(self):
        flows = [Flow(self.server.connect, f"c{number}", number) for number in range(2)]
        for _ in range(8):
            sent = sum(flow.user.sent for flow in flows)
            harness.eventually("commands flow", lambda sent=sent: sum(flow.user.sent for flow in flows) > sent + 3)
            self.bridge.restart()
        left = [flow.end() for flow in flows]
        self.assertEqual([line for flow in flows for line in flow.wrong], [])
        self.agree()
        found = {tensor["name"]: tensor["holds"] for tensor in self.pond.tensors()}
        self.assertEqual(found, {**left[0], **left[1]})

    def test_a_primary_that_restarts_empty_is_filled_again(self):
        names = [f"r{number}" for number in range(12)]
        for name in names:
            self.user.create(name)
        # Its part of the cluster is in a file, its keys are not.
        self.server.servers[0].restart()
        for server in self.server.servers:
            harness.eventually_equal("the cluster is whole", "ok", lambda server=server: self.server.state(server)[0])
        self.user.again()
        type(self).redis = self.server.connect()
        self.agree()
        for name in names:
            self.assertEqual(self.user.ask_through("delete", name=name)["refcount"], 0)
        self.empty()
