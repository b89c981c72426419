"""All attacks at once, while A does its work; then the attackers' processes end, and everything is as it was.

Once by B alone, and once each by a user of its own: what one user is refused for one attack keeps it from the others too."""

import time

import attackers
import bounds
import work
from harness import A, B, MIB, descriptors, resident, wait_until

NOFILE = 6144
SETTLED_SECONDS = 1
PATIENCE = 5  # How long the rest is looked for, to say how long it took.


def snapshot(pond):
    status = pond.admin()
    devices = status.devices or []
    return {"clients": status.clients, "silent clients": status.silentClients, "leases": status.leases,
            "slabs": sum(each.slabs for each in devices),
            "slab MiB": sum(each.slabBytes for each in devices) // MIB, "tensors": sum(each.tensors for each in devices),
            "moves": sum(each.moves for each in status.movers or []),
            "descriptors": descriptors(status.daemonPid)}


def settled(now, before):
    # A descriptor more or less is the daemon's own: a mover, a connection that is about to end.
    return all(now[name] <= before[name] + (8 if name == "descriptors" else 0) for name in before)


def all_attacks_at_once_cost_the_others_nothing(pond, report):
    besiege(pond, report, list(range(B, B + len(attackers.ALL))), 18)


def all_attacks_of_one_user_at_once_cost_the_others_nothing(pond, report):
    besiege(pond, report, [B] * len(attackers.ALL), 8)


def besiege(pond, report, users, seconds):
    pond = pond(settings={**bounds.SETTINGS, "recycle_bytes": 0}, unit=True, nofile=NOFILE, memory="4G")
    a, root = pond.actor(A), pond.actor(0)
    a.call(work.prepare)
    daemon = pond.daemon()
    a.call(work.rounds, 1, daemon)
    before = snapshot(pond)
    rested, epoch, keeper = resident(daemon), pond.admin().epoch, pond.admin().keeperPid
    alone = a.call(work.rounds, 2, daemon)
    create_alone = a.call(work.cost, daemon)
    under_attack = {attack: pond.actor(user) for attack, user in zip(attackers.ALL, users)}
    for attack, preparation in attackers.PREPARED.items():
        under_attack[attack].call(preparation)
    a.start(work.rounds, seconds, daemon)
    root.start(work.looks, seconds)
    begun, memory, open_files, waiting = time.monotonic(), 0, 0, dict(attackers.ALL)
    while time.monotonic() < begun + seconds:
        for attack in [each for each, at in waiting.items() if time.monotonic() >= begun + at * seconds]:
            del waiting[attack]
            under_attack[attack].start(attack, begun + seconds - 1)
        try:
            memory, open_files = max(memory, resident(daemon)), max(open_files, descriptors(daemon))
        except OSError:
            break
        time.sleep(0.1)
    served, looked = a.result(), root.result()
    # What a round that broke off still holds ends with its process.
    a.kill()
    a = pond.actor(A)
    for attack, actor in under_attack.items():
        # Those who are stuck are ended all the same.
        actor.kill()
        report.note(f"attack: {attack.__doc__.split(chr(10))[0]}", actor.last())
    report.note(f"requests of A that were answered: alone in 2 s, then in {seconds} s", f"{alone['answered']}, {served['answered']}")
    for name in ("median", "p99", "longest"):
        report.note(f"round trip of A, {name} in ms: alone, then under attack", f"{alone[name]:.2f}, {served[name]:.1f}")
    for kind, spread in served["kinds"].items():
        report.note(f"  {kind}: median, p99, longest; alone, then under attack",
                    ", ".join(f"{each:.1f}" for times in (alone["kinds"][kind], spread) for each in times.values()))
    for took, kind, *parts in served["slowest"]:
        report.note(f"  slow {kind} {took * 1000:.0f} ms: daemon on, waited; A on, waited", ", ".join(f"{each * 1000:.1f}" for each in parts))
    report.note("work", f"{alone['work']} {served['work']}")
    report.check(not served["failures"], "nothing of A is refused", served["failures"] or None)
    report.check(served["answered"] > 0, "A is served", served["answered"])
    report.check(not looked["failures"], "the operator is never refused", looked["failures"] or looked["answered"])
    report.check(memory <= bounds.RESIDENT_BYTES_UNDER_ATTACK,
                 f"the daemon's memory stays under {bounds.RESIDENT_BYTES_UNDER_ATTACK // MIB} MiB",
                 f"{rested // MIB} MiB, then {memory // MIB} MiB")
    report.check(open_files <= bounds.DESCRIPTORS_UNDER_ATTACK, f"and its descriptors under {bounds.DESCRIPTORS_UNDER_ATTACK}",
                 f"{before['descriptors']}, then {open_files}")
    begun = time.monotonic()
    # What attackers made under names lives without them; that much they take away again, as users do.
    rest = sum(pond.actor(user).call(attackers.tidy) for user in sorted(set(users)))
    a.call(work.tidy)
    report.note("named things of attackers that were removed afterwards", rest)
    wait_until(lambda: settled(snapshot(pond), before), None, PATIENCE)
    took, after = time.monotonic() - begun, snapshot(pond)
    report.check(settled(after, before), "everything is as it was",
                 ", ".join(f"{name} {before[name]} then {after[name]}" for name in before if after[name] != before[name]) or None)
    report.note(f"seconds until then, of which there should be {SETTLED_SECONDS}", f"{took:.2f}")
    create_after = a.call(work.cost, daemon)
    report.check(create_after <= 5 * max(create_alone, 20), "no waiting request is left: the daemon's work for a create, in µs",
                 f"{create_alone:.0f}, then {create_after:.0f}")
    report.check(resident(daemon) <= rested + bounds.RESIDENT_BYTES_KEPT,
                 f"the daemon keeps at most {bounds.RESIDENT_BYTES_KEPT // MIB} MiB more",
                 f"{rested // MIB} MiB, then {resident(daemon) // MIB} MiB")
    status = pond.admin()
    report.check((status.epoch, status.keeperPid) == (epoch, keeper), "no daemon and no keeper was replaced",
                 f"epoch {status.epoch}, keeper {status.keeperPid}")
