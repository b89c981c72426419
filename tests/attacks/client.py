"""A client of the pond, from docs/protocol.md and schema/wire.fbs alone.

It shares no code with the project: messages are those of `flatc --python --gen-object-api`, which the script `run` writes
into a folder in PYTHONPATH. Beside well-behaved calls it has what attackers need: messages sent without reading, and
templates, which are patched instead of built because a message of thousands must cost little.
"""

import array
import fcntl
import importlib
import keyword
import mmap
import os
import select
import socket
import struct
import uuid

import flatbuffers
from millpond.wire.Reply import Reply
from millpond.wire.ReplyBody import ReplyBody
from millpond.wire.RequestBody import RequestBody

FOLDER = "/run/millpond"
SOCK = FOLDER + "/sock"
ADMIN = FOLDER + "/admin.sock"
MAGIC = 0x504F4E44
MESSAGE_BYTES = 65536
RO, RW = 1, 2
USER, GROUP, EVERYBODY = 1, 2, 3
U8, F32 = 5, 18
PUT, GET, COPY, ZERO, LOAD, HASH_FILE, HASH, SAVE = range(1, 9)
FOREVER = 2**64 - 1
KINDS = {1: "internal", 2: "invalid", 3: "not_found", 4: "exists", 5: "denied", 6: "not_ready", 7: "gpu_full", 8: "too_many",
         9: "later", 10: "draining", 11: "lost", 12: "driver", 13: "protocol", 14: "unknown_kind", 17: "timeout", 18: "no_device",
         19: "file", 20: "mover", 21: "retired", 22: "in_use", 23: "unsupported"}
# What a welcome may carry to prove an identity with in the next hello, by any of these names.
PROOFS = ("pond", "token")
REPLIES = {value: name for name, value in vars(ReplyBody).items() if isinstance(value, int)}


class Failure(Exception):
    """The daemon said no."""

    def __init__(self, body):
        self.kind = KINDS.get(body.kind, str(body.kind))
        self.message, self.hint = text(body.message), text(body.hint)
        # The setting that says how much, and what there is already.
        self.limit, self.has = text(body.limit), body.limitHas
        super().__init__(f"{self.kind}: {self.message}")


class Closed(Exception):
    """The daemon hung up."""


def text(value):
    return value.decode() if isinstance(value, bytes) else value or ""


def generated(name):
    return importlib.import_module("millpond.wire." + name)


def camel(name):
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def table(kind, /, **fields):
    """A table of the schema; UUIDs become `Id`."""
    made = getattr(generated(kind), kind + "T")()
    for name, value in fields.items():
        name = camel(name) + "_" * keyword.iskeyword(name)
        if not hasattr(made, name):
            raise AttributeError(f"{kind} has no field {name}")
        if isinstance(value, uuid.UUID):
            half = generated("Id").IdT()
            half.high, half.low = value.int >> 64, value.int & FOREVER
            value = half
        elif isinstance(value, (bytes, bytearray)):
            value = list(value)
        setattr(made, name, value)
    return made


def encode(number, kind, /, **fields):
    request = generated("Request").RequestT()
    request.number, request.bodyType, request.body = number, getattr(RequestBody, kind), table(kind, **fields)
    builder = flatbuffers.Builder(256)
    builder.Finish(request.Pack(builder))
    return bytes(builder.Output())


def identity(id_table):
    return uuid.UUID(int=id_table.high << 64 | id_table.low) if id_table is not None else None


def id_bytes(value):
    """An `Id` as it lies in a message: two little-endian numbers."""
    return struct.pack("<QQ", value.int >> 64, value.int & FOREVER)


class Template:
    """A message whose number, and numbers or UUIDs named in `varies`, are patched in."""

    NUMBER = 0x7A7B7C7D7E7F6A6B

    def __init__(self, kind, varies=(), /, **fields):
        marks = {name: uuid.uuid4() if isinstance(fields[name], uuid.UUID) else 0x6162636465666700 + at for at, name in enumerate(varies)}
        self.bytes = bytearray(encode(self.NUMBER, kind, **{**fields, **marks}))
        raw = {name: id_bytes(mark) if isinstance(mark, uuid.UUID) else struct.pack("<Q", mark) for name, mark in marks.items()}
        self.places = {name: self.bytes.index(mark) for name, mark in raw.items()}
        self.number = self.bytes.index(struct.pack("<Q", self.NUMBER))

    def fill(self, number, **values):
        struct.pack_into("<Q", self.bytes, self.number, number)
        for name, value in values.items():
            raw = id_bytes(value) if isinstance(value, uuid.UUID) else struct.pack("<Q", value)
            self.bytes[self.places[name]:self.places[name] + len(raw)] = raw
        return self.bytes


class Answer:
    def __init__(self, data, fds):
        self.reply = Reply.GetRootAs(data, 0)
        self.number, self.kind = self.reply.Number(), REPLIES.get(self.reply.BodyType(), "unknown")
        self.bytes, self.fds = len(data), fds

    @property
    def body(self):
        made = getattr(generated(self.kind), self.kind + "T")
        union = self.reply.Body()
        return made.InitFromBuf(union.Bytes, union.Pos)

    def close(self):
        for each in self.fds:
            os.close(each)
        self.fds = []


class Connection:
    """One connection; says hello unless told otherwise."""

    def __init__(self, path=SOCK, client=None, program="attack", claims=False, proof=None, hello=True, timeout=10):
        self.client, self.proof, self.next, self.waiting = client or uuid.uuid4(), proof, 0, {}
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        # A socket that does not block is refused while the queue of the listening one is full; this one waits.
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", timeout, 0))
        self.socket.connect(path)
        self.socket.settimeout(timeout)
        self.welcome = None
        if hello:
            try:
                self.hello(program, claims)
            except BaseException:
                self.close()
                raise

    def hello(self, program="attack", claims=False):
        fields = {"magic": MAGIC, "version": 1, "client": self.client, "program": program, "claims": claims}
        known = vars(generated("Hello").HelloT())
        fields.update({name: value for name, value in (self.proof or {}).items() if name in known})
        answer = self.ask("Hello", **fields)
        self.welcome = answer.body
        given = {name: getattr(self.welcome, name, None) for name in PROOFS}
        self.proof = {name: value for name, value in given.items() if value is not None} or self.proof
        answer.close()
        return self.welcome

    def send(self, request, fds=(), **fields):
        self.next += 1
        self.put(encode(self.next, request, **fields), fds)
        return self.next

    def put(self, data, fds=()):
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        self.socket.sendmsg([data], rights)

    def receive(self):
        """The next message, whichever it answers; one in a memfd is read from there."""
        space = socket.CMSG_SPACE(128 * 4)
        data, control, _, _ = self.socket.recvmsg(MESSAGE_BYTES, space, socket.MSG_CMSG_CLOEXEC)
        fds = []
        for level, kind, raw in control:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                fds.extend(array.array("i", raw[:len(raw) - len(raw) % 4]))
        if not data:
            raise Closed("the daemon closed the connection")
        answer = Answer(data, fds)
        if answer.kind == "InMemfd":
            memfd, size = fds[0], answer.body.bytes
            wanted = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SHRINK
            assert fcntl.fcntl(memfd, fcntl.F_GET_SEALS) & wanted == wanted and os.fstat(memfd).st_size == size
            answer = Answer(os.pread(memfd, size, 0), fds[1:])
            os.close(memfd)
        return answer

    def answer_to(self, number):
        while number not in self.waiting:
            got = self.receive()
            if got.kind == "Failure" and got.number == 0:
                raise Failure(got.body)
            self.waiting[got.number] = got
        got = self.waiting.pop(number)
        if got.kind == "Failure":
            raise Failure(got.body)
        return got

    def ask(self, request, fds=(), **fields):
        return self.answer_to(self.send(request, fds, **fields))

    def readable(self, seconds=0):
        poll = select.poll()
        poll.register(self.socket, select.POLLIN)
        return bool(poll.poll(seconds * 1000))

    def close(self):
        self.socket.close()

    def create(self, name=None, size=4096, lease=0, audience=USER, tensor=None, **more):
        more = {"zero": True, "ephemeral": name is None, **more}
        return self.ask("TensorCreate", tensor=tensor or uuid.uuid4(), name=name, dtype=U8, shape=[size], audience=audience,
                        lease=lease, **more)

    def get(self, name=None, tensor=None, lease=1, mode=RO, wait_ms=0):
        return self.ask("TensorGet", name=name, tensor=tensor, lease=lease, mode=mode, wait_ms=wait_ms)

    def move(self, kind, tensor, size, file=None, **more):
        return self.ask("TensorMove", [file] if file is not None else [], token=uuid.uuid4(), kind=kind, tensor=tensor, bytes=size, **more)

    def status(self):
        return self.ask("PondStatus").body


def mapped(answer, writable=False):
    """The tensor's bytes, as the software driver lets one have them: its slab is a file."""
    info = answer.body.info
    protection = mmap.PROT_READ | (mmap.PROT_WRITE if writable else 0)
    whole = mmap.mmap(answer.fds[0], info.slabBytes, mmap.MAP_SHARED, protection)
    return memoryview(whole)[info.offset:info.offset + info.bytes]


def refused(call, *args, **named):
    """The kind of the failure of a call; None if it succeeded."""
    try:
        call(*args, **named)
    except Failure as failure:
        return failure.kind
    except (Closed, OSError) as error:
        return type(error).__name__
    return None
