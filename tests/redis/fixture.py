"""What most classes of tests share: a pond, a Redis and a bridge, started once, and looked at after each test."""

import shutil
import unittest

import checker
import harness
import servers


class Case(unittest.TestCase):
    """Each class has a folder of its own; what it starts is ended, in the opposite order."""

    # What the bridge must notice by itself is not left to the comparison that it makes from time to time.
    DEVICES, NODE, PREFIX, REPAIR = 1, "a", "", "1h"
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.folder = harness.Folder()
        cls.addClassCleanup(cls.folder.remove)
        cls.holders = []
        cls.addClassCleanup(lambda: [holder.kill() for holder in cls.holders])
        cls.prepare()

    @classmethod
    def prepare(cls):
        cls.pond = cls.new_pond()
        cls.server = cls.new_redis()
        cls.bridge = cls.new_bridge(cls.pond, cls.server.unix)
        cls.redis = cls.server.connect()
        cls.user = harness.Commands(cls.server.connect, cls.PREFIX)
        cls.bridge.registered(cls.redis)

    @classmethod
    def new_pond(cls, name="pond", **named):
        pond = harness.Pond(cls.folder, name, devices=cls.DEVICES, **named)
        cls.addClassCleanup(pond.stop)
        return pond

    @classmethod
    def new_redis(cls, name="redis", **named):
        server = servers.Redis(cls.folder, name, **named)
        cls.addClassCleanup(server.kill)
        return server

    @classmethod
    def new_bridge(cls, pond, *urls, **named):
        bridge = harness.Bridge(pond, *urls, **{"node": cls.NODE, "prefix": cls.PREFIX, "repair_every": cls.REPAIR, **named})
        cls.addClassCleanup(bridge.kill)
        return bridge

    def holder(self):
        self.holders.append(harness.Holder())
        return self.holders[-1]

    def agree(self, **named):
        """The checker finds nothing."""
        checker.agree(self.server.connect, {self.NODE: self.pond}, self.PREFIX, tell=lambda: self.bridge.log()[-3000:], **named)

    def empty(self):
        """Nothing is there, anywhere."""
        self.agree()
        self.assertEqual((self.pond.tensors(), self.pond.hosts()), ([], []))

    def clear(self):
        """Takes everything away: holds through Redis, and the rest as the pond's own user."""
        for holder in self.holders:
            holder.kill()
        self.holders.clear()
        for tensor in self.pond.tensors():
            if tensor["state"] == "deleted" or not tensor["name"]:
                continue
            if not tensor["holds"]:
                self.pond.cli("tensor", "rm", tensor["name"])
            while tensor["holds"] and self.user.ask("delete", name=tensor["name"]).get("refcount"):
                pass

    def fresh(self):
        """After a failure: another pond in an emptied Redis, so that the next test shows something of its own."""
        cls = type(self)
        for holder in self.holders:
            holder.kill()
        self.holders.clear()
        cls.bridge.kill()
        cls.pond.stop()
        shutil.rmtree(cls.pond.home)
        if cls.server.process.poll() is not None:
            cls.server.start()
        cls.redis = cls.server.connect()
        cls.redis.flushall()
        cls.pond.__init__(cls.folder, cls.pond.home.name, devices=cls.DEVICES)
        cls.user = harness.Commands(cls.server.connect, cls.PREFIX)
        cls.bridge.start().registered(cls.redis)


class Cleared(Case):
    """After each test nothing is left, and everybody agrees on that."""

    def tearDown(self):
        if not self._outcome.success:
            return self.fresh()
        try:
            self.clear()
            self.empty()
        except Exception:
            self.fresh()
            raise
