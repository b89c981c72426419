"""All attacks of B at once, while A does its work; then B's processes end, and everything is as it was."""

import time

import attackers
import bounds
import work
from harness import A, B, MIB, descriptors, resident, wait_until

SECONDS = 20
NOFILE = 8192
SETTLED_SECONDS = 1
PATIENCE = 10  # How long the rest is looked for, to say how long it took.


def snapshot(pond):
    status = pond.admin()
    devices = status.devices or []
    return {"clients": status.clients, "silent clients": status.silentClients, "leases": status.leases, "slabs": sum(each.slabs for each in devices),
            "slab MiB": sum(each.slabBytes for each in devices) // MIB, "tensors": sum(each.tensors for each in devices), "moves": sum(each.moves for each in status.movers or []),
            "descriptors": descriptors(status.daemonPid)}


def settled(now, before):
    # A descriptor more or less is the daemon's own: a mover, a connection that is about to end.
    return all(now[name] <= before[name] + (8 if name == "descriptors" else 0) for name in before)


def all_attacks_at_once_cost_the_others_nothing(pond, report):
    pond = pond(settings={**bounds.SETTINGS, "recycle_bytes": 0}, unit=True, nofile=NOFILE, memory="4G")
    a, root = pond.actor(A), pond.actor(0)
    a.call(work.prepare)
    a.call(work.rounds, 1)
    daemon, before = pond.daemon(), snapshot(pond)
    rested, epoch, keeper = resident(daemon), pond.admin().epoch, pond.admin().keeperPid
    alone = a.call(work.rounds, 2)
    create_alone = a.call(work.cost, daemon)
    a.start(work.rounds, SECONDS)
    under_attack = [pond.actor(B) for _ in attackers.ALL]
    for actor, attack in zip(under_attack, attackers.ALL):
        actor.start(attack, SECONDS - 2)
    root.start(work.looks, SECONDS)
    end, memory, open_files = time.monotonic() + SECONDS, 0, 0
    while time.monotonic() < end:
        try:
            memory, open_files = max(memory, resident(daemon)), max(open_files, descriptors(daemon))
        except OSError:
            break
        time.sleep(0.1)
    served, looked = a.result(), root.result()
    for actor, attack in zip(under_attack, attackers.ALL):
        # Those who are stuck are ended all the same.
        actor.kill()
        report.note(f"attack: {attack.__doc__.split(chr(10))[0]}", actor.last())
    begun = time.monotonic()
    report.note("requests of A that were answered: alone in 2 s, then in 20 s", f"{alone['answered']}, {served['answered']}")
    for name in ("median", "p99", "longest"):
        report.note(f"round trip of A, {name} in ms: alone, then under attack", f"{alone[name]:.2f}, {served[name]:.1f}")
    report.check(not served["failures"], "nothing of A is refused", served["failures"] or None)
    report.check(served["answered"] > 0, "A is served", served["answered"])
    report.check(not looked["failures"], "the operator is never refused", looked["failures"] or looked["answered"])
    report.check(memory <= bounds.RESIDENT_BYTES_UNDER_ATTACK, f"the daemon's memory stays under {bounds.RESIDENT_BYTES_UNDER_ATTACK // MIB} MiB",
                 f"{rested // MIB} MiB, then {memory // MIB} MiB")
    report.check(open_files <= bounds.DESCRIPTORS_UNDER_ATTACK, f"and its descriptors under {bounds.DESCRIPTORS_UNDER_ATTACK}",
                 f"{before['descriptors']}, then {open_files}")
    # What B made under names lives without it; that much B takes away again, as its user would.
    rest = pond.actor(B).call(attackers.tidy)
    a.call(work.tidy)
    report.note("named things of B that were removed afterwards", rest)
    wait_until(lambda: settled(snapshot(pond), before), None, PATIENCE)
    took, after = time.monotonic() - begun, snapshot(pond)
    report.check(settled(after, before), "everything is as it was",
                 ", ".join(f"{name} {before[name]} then {after[name]}" for name in before if after[name] != before[name]) or None)
    report.note(f"seconds until then, of which there should be {SETTLED_SECONDS}", f"{took:.2f}")
    create_after = a.call(work.cost, daemon)
    report.check(create_after <= 5 * max(create_alone, 20), "no waiting request is left: the daemon's work for a create, in µs",
                 f"{create_alone:.0f}, then {create_after:.0f}")
    report.check(resident(daemon) <= rested + bounds.RESIDENT_BYTES_KEPT, f"the daemon keeps at most {bounds.RESIDENT_BYTES_KEPT // MIB} MiB more",
                 f"{rested // MIB} MiB, then {resident(daemon) // MIB} MiB")
    status = pond.admin()
    report.check((status.epoch, status.keeperPid) == (epoch, keeper), "no daemon and no keeper was replaced", f"epoch {status.epoch}, keeper {status.keeperPid}")
