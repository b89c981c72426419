"""kill -9 of everything, at every step, while commands flow. In the end all answers are right and all three views agree.

Each command is repeated with the same bytes until it has an answer, so what must come out is known exactly: an id is carried out
once, however often it was pushed and whoever died of it.
"""

import base64
import os
import random
import threading
import time

import harness
from fixture import Cleared

KILLS = 30


class Flow:
    """A user in a thread of its own, who makes, gets and gives up tensors, and knows what must be left."""

    def __init__(self, connect, name, seed, tensors=4):
        self.user, self.name, self.random, self.tensors = harness.Commands(connect), name, random.Random(seed), tensors
        self.expected, self.wrong, self.stop = {}, [], threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def step(self):
        name = f"{self.name}/{self.random.randrange(self.tensors)}"
        count = self.expected.get(name, 0)
        op = self.random.choice(["create", "get", "get", "delete", "delete", "info"]) if count else "create"
        fields = {"dtype": "f32", "shape": [16]} if op == "create" else {}
        answer = self.user.ask_through(op, name=name, **fields)
        if answer["status"] != "ok":
            # A pond has a limit of hosts, and each that has freed something makes no more memory.
            if op == "create" and answer["error"]["code"] == "too_many":
                return
            self.wrong.append(f"{op} of {name} with {count} holds: {answer}")
            return
        count += {"create": 1, "get": 1, "delete": -1, "info": 0}[op]
        self.expected[name] = count
        left = answer.get("tensor", answer)["refcount"]
        if left != count:
            self.wrong.append(f"{op} of {name}: {left} holds, {count} expected: {answer}")

    def run(self):
        try:
            while not self.stop.is_set() and not self.wrong:
                self.step()
        except Exception as error:  # it ends the thread, and the test is told
            self.wrong.append(repr(error))

    def end(self):
        self.stop.set()
        self.thread.join(120)
        return {name: count for name, count in self.expected.items() if count}


class Lossy(Flow):
    """Where memory is lost by right, every command is answered, and nothing more is known."""

    def step(self):
        op = self.random.choice(["create", "create", "get", "get", "delete", "info"])
        fields = {"dtype": "f32", "shape": [16]} if op == "create" else {}
        self.user.ask_through(op, name=f"{self.name}/{self.random.randrange(self.tensors)}", **fields)


class Kills(Cleared):
    SECONDS = 40

    def flow(self, kill, kills=KILLS, flows=2, pause=0.15, seed=None, kind=Flow):
        """Kills at random times while commands flow; then every count is as it must be."""
        seed = seed if seed is not None else random.randrange(1 << 30)
        chance = random.Random(seed)
        running = [kind(self.server.connect, f"flow{number}", seed + number) for number in range(flows)]
        try:
            for number in range(kills):
                before = sum(len(flow.expected) + flow.user.sent for flow in running)
                time.sleep(chance.uniform(0, pause))
                kill(number)
                harness.eventually("commands flow", lambda before=before: sum(len(flow.expected) + flow.user.sent for flow in running) > before
                                   or any(flow.wrong for flow in running))
        finally:
            left = [flow.end() for flow in running]
        wrong = [line for flow in running for line in flow.wrong]
        self.assertEqual(wrong, [], f"seed {seed}\n{self.bridge.log()[-2000:]}")
        self.agree()
        if kind is Lossy:
            return
        expected = {name: count for each in left for name, count in each.items()}
        found = {tensor["name"]: tensor["holds"] for tensor in self.pond.tensors()}
        self.assertEqual(found, expected, f"seed {seed}")

    def test_the_bridge_dies_at_every_step_and_each_command_is_carried_out_once(self):
        self.flow(lambda _: self.bridge.restart())

    def test_the_daemon_dies_at_every_step(self):
        self.flow(lambda _: self.pond.kill_daemon(), kills=8)

    def test_the_keeper_dies_at_every_step(self):
        self.flow(lambda _: self.pond.kill_keeper(), kills=6)

    def test_redis_dies_at_every_step_and_comes_back_empty(self):
        self.flow(lambda _: self.server.restart(), kills=8)

    def test_hosts_die_at_every_step_and_all_agree_on_what_is_lost(self):
        self.flow(lambda _: self.pond.kill_hosts(), kills=12, kind=Lossy)

    def test_hosts_and_the_daemon_and_the_bridge_die_in_turns(self):
        kinds = [self.pond.kill_hosts, self.pond.kill_daemon, self.bridge.restart]
        self.flow(lambda number: kinds[number % 3](), kills=12, kind=Lossy)

    def test_bridge_daemon_and_redis_die_in_turns(self):
        kinds = [lambda: self.bridge.restart(), lambda: self.pond.kill_daemon(), lambda: self.server.restart()]
        self.flow(lambda number: kinds[number % 3](), kills=12)


class Deaths(Cleared):
    SECONDS = 20

    def test_a_command_that_a_killed_bridge_had_taken_is_carried_out_by_the_next(self):
        self.bridge.kill()
        raw, reply = self.user.make("create", name="taken", dtype="f32", shape=[1])
        # As far as a bridge comes before it dies: taken, and nothing else.
        self.redis.lpush("{tensor:cmd}:processing:a", raw)
        self.bridge.start()
        self.assertEqual(self.user.answer(reply)["tensor"]["refcount"], 1)
        self.agree()
        # Carried out and shown, and neither answered nor taken from the list.
        self.bridge.kill()
        self.redis.lpush("{tensor:cmd}:processing:a", raw)
        self.bridge.start()
        self.assertEqual(self.user.answer(reply)["tensor"]["refcount"], 1)
        self.agree()

    def test_what_was_taken_for_a_node_alone_is_carried_out_too(self):
        self.bridge.kill()
        raw, reply = self.user.make("create", name="mine", dtype="f32", shape=[1], node="a")
        self.redis.lpush("{tensor:cmd}:node:a", raw)
        self.bridge.start()
        self.assertEqual(self.user.answer(reply)["tensor"]["node"], "a")
        self.agree()
        self.bridge.kill()
        again, reply = self.user.make("get", name="mine", node="a")
        self.redis.lpush("{tensor:cmd}:processing:a:own", again)
        self.bridge.start()
        self.assertEqual(self.user.answer(reply)["tensor"]["refcount"], 2)
        self.agree()

    def test_a_bridge_that_is_killed_ends_nothing(self):
        made = self.user.create("kept")
        holder = self.holder()
        self.user.get("kept", pid=holder.pid)
        self.bridge.kill()
        self.assertEqual(self.pond.holds("kept"), 2)
        with harness.Memory(self.pond, base64.b64decode(made["ipc_handle"])) as memory:
            memory.fill(1, 24)
        # Its holder dies while no bridge sees it.
        holder.kill()
        harness.eventually_equal("the daemon sees it", 1, lambda: self.pond.holds("kept"))
        self.assertEqual(self.user.refcount("kept"), 2)
        self.bridge.start()
        harness.eventually_equal("the next bridge shows it", 1, lambda: self.user.refcount("kept"))
        self.agree()

    def test_holds_and_handles_survive_daemon_and_keeper_and_the_epoch_is_shown(self):
        made = self.user.create("kept", dtype="u8", shape=[1000])
        holder = self.holder()
        self.user.get("kept", pid=holder.pid)
        with harness.Memory(self.pond, base64.b64decode(made["ipc_handle"])) as memory:
            memory.fill(5, 1000)
        self.pond.kill_daemon()
        self.pond.kill_keeper()
        self.pond.kill_daemon()
        harness.eventually_equal("the epoch of the third daemon", str(self.pond.status()["epoch"]), lambda: self.user.hash("kept")["epoch"])
        self.assertEqual((self.user.refcount("kept"), self.user.hash("kept")["ipc_handle"]), (2, made["ipc_handle"]))
        with harness.Memory(self.pond, base64.b64decode(made["ipc_handle"])) as memory:
            self.assertEqual(memory.sum(1000), 5000)
        self.agree()
        # The daemon of today watches the process that held under an earlier one.
        holder.kill()
        harness.eventually_equal("its hold is gone", 1, lambda: self.user.refcount("kept"))

    def test_a_holder_that_dies_while_there_is_no_daemon_is_noticed_by_the_next(self):
        self.user.create("kept")
        holder = self.holder()
        self.user.get("kept", pid=holder.pid)
        daemon = self.pond.daemon()
        holder.process.kill()
        os.kill(daemon, 9)
        holder.process.wait()
        harness.eventually_equal("its hold is gone", 1, lambda: self.user.refcount("kept"))
        self.agree()

    def test_a_tensor_whose_host_is_killed_is_an_orphan_and_its_name_is_free(self):
        made = self.user.create("lost")
        holder = self.holder()
        self.user.get("lost", pid=holder.pid)
        self.assertEqual(self.pond.kill_hosts(), [made["owner_pid"]])
        harness.eventually("no handle opens it any more", lambda: self.user.hash("lost").get("ipc_handle", "") == "")
        self.agree()
        again = self.user.create("lost")
        self.assertNotEqual((again["id"], again["ipc_handle"]), (made["id"], made["ipc_handle"]))
        self.assertEqual(again["refcount"], 1)
        self.agree()
        with harness.Memory(self.pond, base64.b64decode(again["ipc_handle"])) as memory:
            self.assertEqual(memory.sum(24), 0)
        self.assertRaises(AssertionError, harness.Memory, self.pond, base64.b64decode(made["ipc_handle"]))

    def test_memory_of_a_program_is_shown_until_that_program_is_killed(self):
        for bridge_lives in (True, False):
            owner = harness.Owner(self.pond, "own", 2 * harness.MIB)
            self.addCleanup(owner.process.kill)
            harness.eventually_equal("it is shown", str(owner.pid), lambda owner=owner: self.user.hash("own").get("owner_pid"))
            found = self.user.hash("own")
            self.assertEqual((found["transport"], found["survives"], found["state"], found["ipc_handle"]), ("ipc", "owner", "ready", ""))
            self.assertEqual(self.user.ask("get", name="own")["error"]["code"], "not_shared", "whoever reads a handle has the memory")
            self.agree()
            if not bridge_lives:
                self.bridge.kill()
            owner.kill()
            if not bridge_lives:
                harness.eventually_equal("the pond has nothing of it", [], self.pond.tensors)
                self.bridge.start()
            harness.eventually_equal("its hash goes with it", {}, lambda: self.user.hash("own"))
            self.agree()

    def test_hosts_that_die_while_tensors_are_made_leave_nothing_wrong(self):
        for round_ in range(6):
            asked = [self.user.make("create", name=f"made/{round_}/{number}", dtype="f32", shape=[8]) for number in range(5)]
            self.redis.lpush("tensor:cmd", *(raw for raw, _ in asked))
            for _ in range(round_):
                self.pond.kill_hosts()
            for _, reply in asked:
                # Made, or refused because a host died of it; never silent.
                self.user.answer(reply)
        self.agree()

    def test_a_pond_that_is_started_again_has_nothing_and_neither_has_redis(self):
        self.user.create("gone")
        self.pond.kill_all()
        self.pond.start()
        harness.eventually_equal("its hash goes with it", {}, lambda: self.user.hash("gone"))
        self.empty()
        self.user.create("next")

    def test_holders_are_killed_in_a_row_and_counts_follow(self):
        self.user.create("counted")
        holders = [self.holder() for _ in range(20)]
        for holder in holders:
            self.user.get("counted", pid=holder.pid)
        self.assertEqual(self.user.refcount("counted"), 21)
        for holder in holders[:10]:
            holder.process.kill()
        harness.eventually_equal("ten are left", 11, lambda: self.user.refcount("counted"))
        self.bridge.kill()
        for holder in holders[10:]:
            holder.process.kill()
        self.bridge.start()
        harness.eventually_equal("the maker is left", 1, lambda: self.user.refcount("counted"))
        self.agree()
