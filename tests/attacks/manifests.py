"""Manifests of versions (schema/manifest.fbs), and L9: what a commit says is checked."""

import fcntl
import os
import struct
import uuid

import flatbuffers
import xxhash
from millpond.manifest.Hash import HashT
from millpond.manifest.Manifest import ManifestT
from millpond.manifest.Slab import SlabT
from millpond.manifest.Tensor import TensorT

import client
from actor import kept
from harness import B, MIB

SEALS = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE


BYTES = 1024


def number(value):
    return struct.pack("<Q", value)


def hash_table(digest):
    made = HashT()
    made.high, made.low = struct.unpack(">QQ", digest)
    return made


def manifest(slab_bytes):
    """One tensor of zeroes in each slab; the manifest, and the hashes of layout and content."""
    made, offset, digest = ManifestT(), 0, xxhash.xxh3_128_digest(bytes(BYTES))
    layout = xxhash.xxh3_128(number(len(slab_bytes)) + b"".join(map(number, slab_bytes)))
    content = xxhash.xxh3_128()
    made.format, made.slabs, made.tensors, made.metadata, made.source = 1, [], [], [], "attack"
    for index, size in enumerate(slab_bytes):
        slab, tensor = SlabT(), TensorT()
        slab.arenaOffset, slab.bytes, slab.hash = offset, size, hash_table(xxhash.xxh3_128_digest(digest))
        tensor.name, tensor.dtype, tensor.shape = f"t{index:05}", client.U8, [BYTES]
        tensor.slab, tensor.offset, tensor.bytes, tensor.hash = index, 0, BYTES, hash_table(digest)
        described = number(len(tensor.name)) + tensor.name.encode() + number(client.U8) + number(1) + number(BYTES)
        layout.update(described + number(index) + number(0))
        content.update(described + digest)
        made.slabs.append(slab)
        made.tensors.append(tensor)
        offset += size
    builder = flatbuffers.Builder(1024)
    builder.Finish(made.Pack(builder))
    return bytes(builder.Output()), layout.digest(), content.digest()


def sealed(data):
    memfd = os.memfd_create("manifest", os.MFD_ALLOW_SEALING | os.MFD_CLOEXEC)
    os.write(memfd, data)
    fcntl.fcntl(memfd, fcntl.F_ADD_SEALS, SEALS)
    return memfd


def commit(connection, version, slab_bytes, data=None, **more):
    written, layout, content = manifest(slab_bytes)
    memfd = sealed(written if data is None else data)
    fields = {"layout": layout, "content": content, "tensors": len(slab_bytes), "bytes": BYTES * len(slab_bytes), **more}
    try:
        return connection.ask("VersionCommit", [memfd], version=version, token=uuid.uuid4(), source="attack", **fields)
    finally:
        os.close(memfd)


def lie(model, damaged):
    """Stages a version, and commits it with a manifest or numbers that are not so; the kind of the refusal."""
    connection = client.Connection()
    kept.append(connection)
    version = uuid.uuid4()
    parts = [client.table("PartSpec", bytes=2 * MIB)]
    connection.ask("VersionStage", version=version, model=model, audience=client.USER, parts=parts, lease=1).close()
    if damaged:
        return client.refused(commit, connection, version, [2 * MIB], b"\x10\0\0\0nonsense" * 20, activate=True)
    return client.refused(commit, connection, version, [2 * MIB], bytes=2**64 - 1, tensors=2**32 - 1, activate=True)


def a_commit_is_checked(pond, report):
    pond = pond()
    b = pond.actor(B)
    refusal = b.call(lie, "damaged", True)
    code, said = pond.cli("inspect", "damaged", user=B)
    report.check(refusal == "invalid" or code not in (0, 3), "a damaged manifest is refused, or `inspect` says that it is damaged",
                 f"commit: {refusal or 'accepted'}; inspect exits with {code}: {said.strip().split(chr(10))[0][:80]}")
    refusal = b.call(lie, "huge", False)
    code, said = pond.cli("models", user=B)
    report.check(refusal == "invalid" or "EiB" not in said, "numbers of a commit that its manifest does not have are refused",
                 refusal or next((line.strip() for line in said.split("\n") if "EiB" in line), "accepted"))
