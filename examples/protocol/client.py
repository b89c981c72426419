"""A whole client of a pond in Python, written from docs/protocol.md and the schemas alone.

It needs `flatbuffers`, `xxhash` and what flatc makes of the schemas; docs/protocol.md has the commands. The pond runs on the
software driver, where a slab is mapped with `mmap`; with a card, what `map_slab` does is done by libcuda.
"""

import array
import fcntl
import importlib
import mmap
import os
import pathlib
import signal
import socket
import stat
import struct
import time
import uuid

import flatbuffers
import xxhash
from millpond.manifest.Hash import HashT
from millpond.manifest.Manifest import Manifest, ManifestT
from millpond.manifest.Slab import SlabT
from millpond.manifest.Tensor import TensorT
from millpond.wire.Id import IdT
from millpond.wire.LeaseClaim import LeaseClaimT
from millpond.wire.PartSpec import PartSpecT
from millpond.wire.Reply import Reply
from millpond.wire.ReplyBody import ReplyBody
from millpond.wire.Request import RequestT
from millpond.wire.RequestBody import RequestBody

RO, RW = 1, 2
USER = 1
U8, F32 = 5, 18
MIB = 1 << 20
SEALS = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE


def to_id(value):
    made = IdT()
    made.high, made.low = struct.unpack(">QQ", value.bytes)
    return made


def from_id(value):
    return uuid.UUID(bytes=struct.pack(">QQ", value.high, value.low))


class Failure(Exception):
    """The daemon's `Failure`."""


def find_pond():
    """The socket of the first pond that is there and can be trusted."""
    named, runtime = os.environ.get("MILLPOND_RUNTIME_DIR"), os.environ.get("XDG_RUNTIME_DIR", "")
    folders = [named] if named else [f"{runtime}/millpond"] * runtime.startswith("/") + own_folder() + ["/run/millpond"]
    for folder in folders:
        path = pathlib.Path(folder, "sock")
        if path.exists():
            found = path.stat()
            if not stat.S_ISSOCK(found.st_mode) or found.st_uid not in (os.geteuid(), 0):
                raise SystemExit(f"'{path}' is not to be trusted")
            return str(path)
    raise SystemExit("no pond; start one with: millpond serve --driver soft")


def own_folder():
    """In /dev/shm anybody can make a folder, so it counts only if nobody else can have made or changed it."""
    folder = pathlib.Path(f"/dev/shm/millpond-{os.geteuid()}")
    try:
        found = folder.lstat()
    except OSError:
        return []
    ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o022
    return [str(folder / "pond")] if ours else []


class Client:
    """One client: an identity, a connection, and the leases that it has to claim after a restart of the daemon."""

    def __init__(self, program):
        self.program, self.identity = program, uuid.uuid4()
        self.number = self.leases = 0
        self.held = {}  # number of a lease: what a claim of it needs
        self.proof = {}  # of the last welcome: the pond, and a token that proves the identity
        self.connect()

    def connect(self):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.connect(find_pond())
        peer = struct.unpack("3i", self.socket.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        if peer[1] not in (os.geteuid(), 0) or peer[1] == 65534:
            raise SystemExit(f"user {peer[1]} serves this pond")
        self.welcome, fds = self.ask("Hello", magic=0x504F4E44, version=1, client=to_id(self.identity), program=self.program,
                                     claims=bool(self.held), **self.proof)
        self.proof = {"pond": self.welcome.pond, "token": self.welcome.token}
        for page in fds:  # the page of counters, which this client does not use
            os.close(page)
        if self.held:
            claimed, _ = self.ask("Claim", leases=list(self.held.values()), last=True)
            return [] if claimed.refused is None else list(claimed.refused)
        return []

    def send(self, kind, fds=(), **fields):
        module = importlib.import_module(f"millpond.wire.{kind}")
        body = getattr(module, f"{kind}T")()
        for name, value in fields.items():
            assert hasattr(body, name), f"{kind} has no {name}"
            setattr(body, name, value)
        self.number += 1
        request = RequestT()
        request.number, request.bodyType, request.body = self.number, getattr(RequestBody, kind), body
        builder = flatbuffers.Builder(256)
        builder.Finish(request.Pack(builder))
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        self.socket.sendmsg([builder.Output()], rights)
        return self.number

    def receive(self):
        """The next message: its number, its body and its descriptors."""
        room = socket.CMSG_SPACE(128 * 4)
        data, control, _, _ = self.socket.recvmsg(65536, room, socket.MSG_CMSG_CLOEXEC)
        if not data:
            raise ConnectionError("the daemon has gone")
        fds = array.array("i")
        for level, kind, raw in control:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                fds.frombytes(raw[:len(raw) - len(raw) % fds.itemsize])
        reply = Reply.GetRootAs(data, 0)
        if reply.BodyType() == ReplyBody.InMemfd:  # too large for a datagram
            memfd = fds.pop(0)
            sealed = fcntl.fcntl(memfd, fcntl.F_GET_SEALS)
            size = body_of(reply).bytes
            if not sealed & fcntl.F_SEAL_WRITE or not sealed & fcntl.F_SEAL_SHRINK or os.fstat(memfd).st_size != size:
                raise SystemExit("a reply that could change while it is read")
            reply = Reply.GetRootAs(os.pread(memfd, size, 0), 0)
            os.close(memfd)
        return reply.Number(), body_of(reply), list(fds)

    def ask(self, kind, fds=(), **fields):
        """Sends a request and waits for its answer. One at a time: nothing else can come, but for events."""
        number = self.send(kind, fds, **fields)
        while True:
            answered, body, fds = self.receive()
            if type(body).__name__ == "FailureT" and answered in (number, 0):
                raise Failure(f"{body.message.decode()} (kind {body.kind})")
            if answered == number:
                return body, fds

    def lease(self):
        self.leases += 1
        return self.leases

    def remember(self, reply, tensor=None, version=None):
        """What a claim of this lease needs."""
        claim = LeaseClaimT()
        claim.lease, claim.mode, claim.token = reply.lease, reply.mode, list(reply.token)
        claim.tensor, claim.version = tensor, version
        self.held[reply.lease] = claim

    def create(self, name, dtype, shape):
        """A new tensor and its bytes; the create that is repeated has the same UUID."""
        reply, fds = self.ask("TensorCreate", tensor=to_id(uuid.uuid4()), name=name, dtype=dtype, shape=shape, audience=USER,
                              lease=self.lease())
        self.remember(reply, tensor=reply.info.tensor)
        return reply.info, map_slab(fds[0], reply.info, RW)

    def get(self, name):
        reply, fds = self.ask("TensorGet", name=name, lease=self.lease(), mode=RO, waitMs=5000)
        self.remember(reply, tensor=reply.info.tensor)
        return reply, map_slab(fds[0], reply.info, RO)

    def release(self, lease):
        """To be called when nothing of the tensor is mapped any more."""
        del self.held[lease]
        self.ask("LeaseRelease", leases=[lease])


def body_of(reply):
    names = {value: name for name, value in vars(ReplyBody).items() if isinstance(value, int)}
    name = names[reply.BodyType()]
    union = reply.Body()
    return getattr(importlib.import_module(f"millpond.wire.{name}"), f"{name}T").InitFromBuf(union.Bytes, union.Pos)


def map_slab(slab, info, mode):
    """The tensor's bytes. Whole slabs are mapped; the descriptor is not needed afterwards."""
    assert info.offset + info.bytes <= info.slabBytes
    protection = mmap.PROT_READ | (mmap.PROT_WRITE if mode == RW else 0)
    mapped = mmap.mmap(slab, info.slabBytes, mmap.MAP_SHARED, protection)
    os.close(slab)
    return memoryview(mapped)[info.offset:info.offset + info.bytes]


# A version and its manifest


def number(value):
    return struct.pack("<Q", value)


def described(name, dtype, shape):
    """How a tensor is written into the hashes of layout and content."""
    text = name.encode()
    return number(len(text)) + text + number(dtype) + number(len(shape)) + b"".join(map(number, shape))


def hash_table(digest):
    made = HashT()
    made.high, made.low = struct.unpack(">QQ", digest)
    return made


def manifest_of(slab_bytes, tensors):
    """The manifest of one slab with tensors (name, dtype, shape, offset, bytes), and the hashes of layout and content."""
    made, slab = ManifestT(), SlabT()
    made.format, made.tensors, made.metadata, made.source = 1, [], [], "examples/protocol"
    layout, content = xxhash.xxh3_128(number(1) + number(slab_bytes)), xxhash.xxh3_128()
    of_slab = xxhash.xxh3_128()
    for name, dtype, shape, offset, data in sorted(tensors, key=lambda each: each[0].encode()):
        # Of a tensor above 4 MiB it is the hash over the hashes of its pieces of 4 MiB.
        digest = xxhash.xxh3_128_digest(data)
        one = TensorT()
        one.name, one.dtype, one.shape, one.slab, one.offset, one.bytes = name, dtype, shape, 0, offset, len(data)
        one.hash = hash_table(digest)
        made.tensors.append(one)
        layout.update(described(name, dtype, shape) + number(0) + number(offset))
        content.update(described(name, dtype, shape) + digest)
        of_slab.update(digest)
    slab.arenaOffset, slab.bytes, slab.hash = 0, slab_bytes, hash_table(of_slab.digest())
    made.slabs = [slab]
    builder = flatbuffers.Builder(1024)
    builder.Finish(made.Pack(builder))
    return bytes(builder.Output()), layout.digest(), content.digest()


def commit_version(client, model):
    """Stages a version of one slab, writes two tensors into it, and commits it as the current one."""
    part, version = PartSpecT(), to_id(uuid.uuid4())
    part.bytes = 2 * MIB
    staged, fds = client.ask("VersionStage", version=version, model=model, audience=USER, parts=[part], lease=client.lease())
    client.remember(staged, version=version)
    tensors = [("bias", F32, [4], 0, struct.pack("<4f", 1, 2, 3, 4)), ("weight", U8, [1000], 256, bytes(range(250)) * 4)]
    with mmap.mmap(fds[0], part.bytes) as slab:
        for _, _, _, offset, data in tensors:
            slab[offset:offset + len(data)] = data
    os.close(fds[0])
    data, layout, content = manifest_of(part.bytes, tensors)
    manifest = os.memfd_create("manifest", os.MFD_ALLOW_SEALING | os.MFD_CLOEXEC)
    os.write(manifest, data)
    fcntl.fcntl(manifest, fcntl.F_ADD_SEALS, SEALS)
    ready, fds = client.ask("VersionCommit", [manifest], version=version, token=to_id(uuid.uuid4()), layout=list(layout),
                            content=list(content),
                            tensors=len(tensors), bytes=sum(len(each[4]) for each in tensors), activate=True, source="examples/protocol")
    for each in [manifest, *fds]:
        os.close(each)
    client.release(staged.lease)
    return ready.info


def read_version(client, model):
    """The tensors of the current version, each from its place in its slab."""
    reply, (manifest, *slabs) = client.ask("VersionGet", model=model, lease=client.lease(), mode=RO, waitMs=5000)
    assert reply.manifest and reply.slabs == len(slabs) == len(reply.parts)
    listed = ManifestT.InitFromObj(Manifest.GetRootAs(os.pread(manifest, os.fstat(manifest).st_size, 0), 0))
    found = {}
    for one in listed.tensors:
        with mmap.mmap(slabs[one.slab], listed.slabs[one.slab].bytes, mmap.MAP_SHARED, mmap.PROT_READ) as slab:
            data = slab[one.offset:one.offset + one.bytes]
        assert xxhash.xxh3_128_digest(data) == struct.pack(">QQ", one.hash.high, one.hash.low)
        found[one.name.decode()] = data
    for each in [manifest, *slabs]:
        os.close(each)
    client.ask("LeaseRelease", leases=[reply.lease])
    return found


def main():
    writer = Client("example writer")
    print(f"hello: user {writer.welcome.user}, epoch {writer.welcome.epoch}")
    events = Client("example events")
    events.ask("Subscribe")

    info, data = writer.create("example/x", F32, [256])
    data.cast("f")[:] = memoryview(struct.pack("256f", *range(256))).cast("f")
    generation, _ = writer.ask("TensorPublish", tensor=info.tensor, token=to_id(uuid.uuid4()))
    print(f"created example/x: {info.bytes} bytes in a slab of {info.slabBytes}, generation {generation.generation}")

    reader = Client("example reader")
    got, read = reader.get("example/x")
    print(f"a second client reads {read.cast('f')[:4].tolist()}")
    try:
        reader.ask("TensorGet", name="example/nothing", lease=reader.lease(), mode=RO)
    except Failure as failure:
        print(f"and is refused: {failure}")
    listed, _ = reader.ask("TensorList", prefix="example/")
    print(f"listed: {[each.name.decode() for each in listed.tensors]}")

    model = commit_version(writer, "example-model")
    print(f"committed {model.model.decode()} {model.tag.decode()}: {model.tensors} tensors, {model.bytes} bytes")
    print(f"read again: {sorted((name, len(data)) for name, data in read_version(reader, 'example-model').items())}")

    status, _ = reader.ask("PondStatus")
    os.kill(status.daemonPid, signal.SIGKILL)
    for each in (writer, reader, events):
        refused = reconnect(each)
        assert not refused, refused
    print(f"the daemon was killed: epoch {reader.welcome.epoch}, leases claimed {len(writer.held) + len(reader.held)}, still mapped "
          f"{read.cast('f')[4:8].tolist()}")

    events.ask("Subscribe", from_=1)
    writer.ask("TensorDelete", tensor=info.tensor)
    while True:
        # From 1 on: the daemon before has taken its events with it, which a gap says.
        _, event, _ = events.receive()
        if event.kind == 3:
            print(f"event: {event.name.decode()} was deleted")
            break
    del data, read  # unmapped, and then released
    writer.release(1)
    reader.release(got.lease)
    for each in (writer, reader, events):
        each.ask("Goodbye")


def reconnect(client):
    """Connects again with the same identity, and claims; what the daemon refused."""
    client.socket.close()
    for _ in range(100):
        try:
            return client.connect()
        except OSError:
            time.sleep(0.1)
    raise SystemExit("no daemon comes back")


if __name__ == "__main__":
    main()
