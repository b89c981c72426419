"""All attacks at once, while A does its work; then the attackers' processes end, and everything is as it was.

Once by B alone, and once each by a user of its own: what one user is refused for one attack keeps it from the others too."""

import os
import time

import attackers
import bounds
import client
import work
from harness import A, B, MIB, PATIENCE, descriptors, resident, wait_until

NOFILE = 6144
SECONDS = 8
# What a user may have and still has when its processes are gone: names live without them, and events are kept for others.
OUTLIVES = ("tensors", "versions", "events")


class Look:
    """The operator's look, over one connection for all of the time: it is no news itself."""

    def __init__(self, users):
        self.users, self.connection = users, client.Connection(client.ADMIN, program="operator", timeout=PATIENCE)

    def theirs(self):
        """What the daemon counts for the attackers, without what is zero."""
        counts = {}
        for account in self.connection.ask("AccountList").body.users or []:
            for each in account.resources if account.user in self.users else []:
                name = client.text(each.name)
                counts[name] = counts.get(name, 0) + (0 if name in OUTLIVES else each.has)
        return {name: count for name, count in counts.items() if count}

    def whole(self):
        """What the daemon has in all."""
        status = self.connection.status()
        devices = status.devices or []
        return {"clients": status.clients, "silent clients": status.silentClients, "leases": status.leases,
                "slabs": sum(each.slabs for each in devices), "slab MiB": sum(each.slabBytes for each in devices) // MIB,
                "tensors": sum(each.tensors for each in devices), "moves": sum(each.moves for each in status.movers or []),
                "descriptors": descriptors(status.daemonPid)}


def more(now, before):
    """What there is more of than before. A descriptor more or less is the daemon's own: a mover, a connection that is about to
    end."""
    slack = {"descriptors": 8}
    return {name: f"{before[name]} then {now[name]}" for name in before if now[name] > before[name] + slack.get(name, 0)}


def until_empty(look, daemon):
    """How long it took until nothing was left, and what was left at the end of all patience. Without the time for which the
    daemon or whoever asks it had to wait for a processor: a machine with much to do is not the daemon's fault."""
    waited = lambda: work.main_thread(daemon)[1] + work.main_thread(os.getpid())[1]
    begun, before, left = time.monotonic(), waited(), {}

    def is_empty():
        nonlocal left
        left = look()
        return not left
    wait_until(is_empty, None, 20 * bounds.SETTLED_SECONDS)
    return max(0, time.monotonic() - begun - (waited() - before)), left


def all_attacks_at_once_cost_the_others_nothing(pond, report):
    besiege(pond, report, list(range(B, B + len(attackers.ALL))))


def all_attacks_of_one_user_at_once_cost_the_others_nothing(pond, report):
    besiege(pond, report, [B] * len(attackers.ALL))


def besiege(pond, report, users):
    pond = pond(settings={**bounds.SETTINGS, "recycle_bytes": 0}, unit=True, nofile=NOFILE, memory="4G")
    a, root = pond.actor(A), pond.actor(0)
    under_attack = {attack: pond.actor(user) for attack, user in zip(attackers.ALL, users)}
    tidiers = {user: pond.actor(user) for attack, user in zip(attackers.ALL, users) if attack in attackers.NAMING}
    a.call(work.prepare)
    daemon = pond.daemon()
    a.call(work.rounds, 1, daemon)
    look = Look(users)
    before, rested = look.whole(), resident(daemon)
    epoch, keeper = pond.admin().epoch, pond.admin().keeperPid
    alone = a.call(work.rounds, 1, daemon)
    create_alone = a.call(work.cost, daemon)
    for attack, preparation in attackers.PREPARED.items():
        under_attack[attack].start(preparation)
    for actor in tidiers.values():
        actor.start(attackers.wait_for_the_end)
    for actor in [under_attack[attack] for attack in attackers.PREPARED] + list(tidiers.values()):
        actor.result()
    a.start(work.rounds, SECONDS, daemon)
    root.start(work.looks, SECONDS)
    begun, memory, open_files, waiting = time.monotonic(), 0, 0, dict(attackers.ALL)
    while time.monotonic() < begun + SECONDS:
        for attack in [each for each, at in waiting.items() if time.monotonic() >= begun + at * SECONDS]:
            del waiting[attack]
            under_attack[attack].start(attack, begun + SECONDS - 1)
        try:
            memory, open_files = max(memory, resident(daemon)), max(open_files, descriptors(daemon))
        except OSError:
            break
        time.sleep(0.1)
    served, looked = a.result(), root.result()
    # What a round that broke off still holds ends with its process. Those who are stuck are ended all the same.
    a.kill()
    for actor in under_attack.values():
        actor.kill()
    took, left = until_empty(look.theirs, daemon)
    report_service(report, alone, served)
    for attack, actor in under_attack.items():
        report.note(f"attack: {attack.__doc__.split(chr(10))[0]}", actor.last())
    report.check(not looked["failures"], "the operator is never refused", looked["failures"] or looked["answered"])
    report.check(memory <= bounds.RESIDENT_MIB * MIB, f"the daemon's memory stays under {bounds.RESIDENT_MIB} MiB",
                 f"{rested // MIB} MiB, then {memory // MIB} MiB")
    report.check(open_files <= bounds.DESCRIPTORS, f"and its descriptors under {bounds.DESCRIPTORS}",
                 f"{before['descriptors']}, then {open_files}")
    report.check(not left and took <= bounds.SETTLED_SECONDS,
                 f"nothing of the attackers is counted {bounds.SETTLED_SECONDS} s after the last of them has ended, seconds it took",
                 left or f"{took:.2f}")
    # What attackers made under names lives without them; that much they take away again, as users do.
    a = pond.actor(A)
    a.call(work.tidy)
    report.note("named things of attackers that were removed afterwards", sum(each.call(attackers.tidy) for each in tidiers.values()))
    took, left = until_empty(lambda: more(look.whole(), before), daemon)
    report.check(not left and took <= bounds.SETTLED_SECONDS,
                 f"and {bounds.SETTLED_SECONDS} s after their names are gone everything is as it was, seconds it took",
                 left or f"{took:.2f}")
    create_after = a.call(work.cost, daemon)
    report.check(create_after <= 5 * max(create_alone, 20), "no waiting request is left: the daemon's work for a create, in µs",
                 f"{create_alone:.0f}, then {create_after:.0f}")
    report.check(resident(daemon) <= rested + bounds.RESIDENT_MIB_KEPT * MIB,
                 f"the daemon keeps at most {bounds.RESIDENT_MIB_KEPT} MiB more", f"{rested // MIB} MiB, then {resident(daemon) // MIB} MiB")
    status = pond.admin()
    report.check((status.epoch, status.keeperPid) == (epoch, keeper), "no daemon and no keeper was replaced",
                 f"epoch {status.epoch}, keeper {status.keeperPid}")


def report_service(report, alone, served):
    said = lambda values: " ".join(f"{each:.1f}" for each in values)
    report.check(not served["failures"], "nothing of A is refused", served["failures"] or None)
    report.check(served["answered"] > 0, "A is served: answers alone in 1 s, then in all", f"{alone['answered']}, {served['answered']}")
    report.note("round trip of A in ms, median, p99 and longest: alone, then under attack", f"{said(alone['took'])}, {said(served['took'])}")
    for kind, took in served["kinds"].items():
        report.note(f"    {kind}", f"{said(alone['kinds'].get(kind, []))}, {said(took)}")
    late = served["late"]
    report.note("of the slowest 1 %: the round trip, the daemon's main thread on a processor, and waiting for one, mean in ms",
                said(late[part] for part in ("took", "worked", "waited")))
    report.note("the daemon's work between a request of A and the answer in ms: alone, then under attack",
                f"{said(alone['work'])}, {said(served['work'])}")
    report.check(served["work"][2] <= bounds.WORK_MS, f"that is never more than {bounds.WORK_MS} ms", f"{served['work'][2]:.1f}")
