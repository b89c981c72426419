"""HOSTS, ADOPTED: B has many hosts, each with a context, and gives the pond its own memory as memory of B's.

A host makes no memory after it has freed some, so a tensor that stays beside one that is deleted keeps a host for itself."""

import uuid

import client
from actor import kept
from harness import A, B, MIB

IPC, VMM, MEMPOOL = 3, 1, 2
CONTEXT = 526 * MIB
CARD = 16 << 30
PAIRS = 32
HOSTS = 4
SHORT = 200
LARGE = 8 << 30
# More than a host keeps for nobody.
LARGE_PAIR = 300 * MIB


def pairs(wanted, size):
    """Pairs of tensors, of which one of so many bytes goes at once; the refusal of the first that was not made."""
    connection = client.Connection(timeout=60)
    kept.append(connection)
    for at in range(wanted):
        try:
            connection.create(name=f"stays{at}-{size}", transport=IPC).close()
            goes = client.identity(connection.create(name=f"goes{at}", size=size, transport=IPC).body.info.tensor)
            connection.ask("TensorDelete", tensor=goes)
        except client.Failure as failure:
            return failure.kind, failure.limit
    return None


def short(rounds):
    """Tensors that come and go, beside one that stays; the refusal of the first one."""
    connection = client.Connection(timeout=60)
    connection.create(name="beside", transport=IPC).close()
    for _ in range(rounds):
        try:
            gone = client.identity(connection.create(name="short", transport=IPC).body.info.tensor)
            connection.ask("TensorDelete", tensor=gone)
        except client.Failure as failure:
            return failure.kind
    return None


def large(size):
    """The refusal of a tensor of so many bytes, and what it says that B has."""
    connection = client.Connection(timeout=60)
    kept.append(connection)
    try:
        connection.create(name="large", size=size)
    except client.Failure as failure:
        return failure.kind, failure.message
    return None


def holders(size):
    """Bytes of each user, as the answer to a create that never fits says them."""
    connection = client.Connection(timeout=60)
    number = connection.send("TensorCreate", tensor=uuid.uuid4(), dtype=client.U8, shape=[size], audience=client.USER, ephemeral=True)
    answer = connection.receive()
    while answer.number != number:
        answer = connection.receive()
    return [(each.user, each.bytes) for each in answer.body.holders or []]


def in_account():
    connection = client.Connection()
    uses = connection.ask("AccountList").body.users[0].resources
    return next((use.has for use in uses if client.text(use.name) == "hosts"), None)


def few_hosts_whose_contexts_are_on_the_users_account(pond, report):
    pond = pond(settings={"soft_context_bytes": CONTEXT}, memory=str(CARD))
    a, b = pond.actor(A), pond.actor(B)
    came = b.call(short, SHORT)
    report.check(came is None, f"{SHORT} tensors of B come and go beside one that stays", came)
    report.note(f"B's {PAIRS} pairs of small tensors", b.call(pairs, PAIRS, 4096))
    came = b.call(pairs, PAIRS, LARGE_PAIR)
    report.check(came == ["too_many", "limits.hosts_per_user"], f"B's {PAIRS} pairs with a large tensor reach the limit", came)
    hosts = [host for host in pond.admin().hosts if host.user == B]
    contexts = sum(host.contextBytes for host in hosts)
    report.check(0 < len(hosts) <= HOSTS, f"B has at most {HOSTS} hosts", f"{len(hosts)}, {contexts >> 20} MiB of contexts")
    report.check(b.call(in_account) == len(hosts), "they are in B's account", b.call(in_account))
    held = dict(a.call(holders, CARD * 9 // 10)).get(B, 0)
    report.check(held > contexts >= CONTEXT, "their contexts are what B holds", f"{held >> 20} MiB")
    came = a.call(large, LARGE)
    report.check(came is None, "A's create of half the card is served", came)

def give(name, transport, fd, slab_bytes, device, data):
    """An adoption of what is somebody else's; its refusal."""
    backing = client.table("Backing", transport=transport, data=bytes(data or ()))
    connection = client.Connection(timeout=60)
    kept.append(connection)
    try:
        connection.ask("TensorAdopt", [] if fd is None else [fd], tensor=uuid.uuid4(), name=name, dtype=client.U8, shape=[4096],
                       device=bytes(device), audience=client.USER, slab_bytes=slab_bytes, offset=0, backing=backing)
    except client.Failure as failure:
        return failure.kind, failure.message
    return None, ""


def share():
    connection = client.Connection(timeout=60)
    kept.append(connection)
    for name, transport in (("vmm", VMM), ("mempool", MEMPOOL), ("ipc", IPC)):
        connection.create(name="public/" + name, transport=transport).close()


def adopt_all():
    """What each adoption of a tensor that was got is answered, and whether the answer names its slab."""
    said = {}
    for name, transport in (("vmm", VMM), ("mempool", MEMPOOL), ("ipc", IPC)):
        connection = client.Connection(timeout=60)
        kept.append(connection)
        got = connection.get(name="public/" + name)
        info, backing = got.body.info, got.body.backing
        data = backing.data if backing else b""
        fd = got.fds[0] if got.fds else None
        kind, message = give("mine-" + name, transport, fd, info.slabBytes, info.device, data)
        said[name] = kind, str(client.identity(info.slab)) in message
        got.close()
    return said


def memory_of_the_pond_is_not_taken_for_a_users(pond, report):
    pond = pond(settings={"limits.tensors_per_user": 1000})
    a, b = pond.actor(A), pond.actor(B)
    a.call(share)
    before = pond.admin().devices[0].slabBytes
    said = b.call(adopt_all)
    refused = all(kind == "invalid" and not named for kind, named in said.values())
    report.check(len(said) == 3 and refused, "memory of the pond is refused, whatever its transport, and its slab stays untold", said)
    after = pond.admin().devices[0].slabBytes
    report.check(after == before, "it counts once", f"{before >> 20} MiB, then {after >> 20} MiB")
