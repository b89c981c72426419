//! Records of the journal.

use super::{IPC, MEMPOOL, Sample, id, tensor_info};
use crate::message::TensorInfo;
use crate::record::{
    ClientRecord, CountedLease, DeviceRecord, HoldRecord, HoldTold, HolderProcess, HostRecord,
    ReadyRecord, Record, SlabRecord, TensorRecord, VersionRecord,
};
use crate::{
    Audience, Backing, ClientId, ContentHash, Dtype, GpuUuid, HANDLE_BYTES, HostId, LeaseId, Mode,
    PondId, Shape, SlabId, TensorId, TensorName, Token, Transport, VersionId, VersionTag,
};

#[must_use]
pub fn records() -> Vec<Sample<Record>> {
    let slab = SlabId(id(9));
    let tensor = TensorId(id(2));
    let client = ClientId(id(1));
    let version = VersionId(id(3));
    let slab_record = |transport, adopted| SlabRecord {
        slab,
        device: GpuUuid([1; 16]),
        bytes: 2 << 20,
        class: 1,
        tenant: "local".into(),
        user: 2,
        group: 3,
        audience: Audience::Group,
        backing: Backing { transport, adopted },
        borrowers_recorded: false,
        home: (transport == IPC).then_some(id(21)),
        event: (transport == IPC).then_some([8; HANDLE_BYTES]),
    };
    let made = |transport, adopted| Record::SlabMade(slab_record(transport, adopted));
    let staged = VersionRecord {
        version,
        model: TensorName::new("llama").unwrap(),
        tag: VersionTag::numbered(2),
        tenant: "local".into(),
        user: 1,
        group: 2,
        device: GpuUuid([2; 16]),
        audience: Audience::Everybody,
        parts: vec![tensor, TensorId(id(15))],
        creator: client,
        created_unix_ms: 8,
        borrowers_recorded: false,
    };
    let lent = VersionRecord { borrowers_recorded: true, ..staged.clone() };
    let host = HostRecord {
        host: HostId(id(21)),
        device: GpuUuid([1; 16]),
        tenant: "local".into(),
        user: 2,
        group: 3,
        audience: Audience::User,
        pid: 77,
        since_unix_ms: 6,
    };
    let told = |answer| {
        let create = Option::is_none(&answer).then_some(TensorId(id(15)));
        HoldTold { user: 2, token: Token(id(14)), tensor, answer, create }
    };
    let last = TensorInfo { holds: Some(0), ..tensor_info() };
    let held = |process, told| {
        Record::HoldChanged(HoldRecord { tensor, process, user: 2, count: 3, told })
    };
    vec![
        ("host", Record::HostMade(host)),
        ("host-gone", Record::HostGone(HostId(id(21)))),
        ("hold", held(None, None)),
        ("hold-process", held(Some(HolderProcess { pid: 78, started: Some(9) }), Some(told(None)))),
        ("hold-told", Record::HoldTold(told(Some(Box::new(last))))),
        ("opened", Record::Opened { pond: PondId(id(4)), key: [3; 16], created_unix_ms: 5 }),
        (
            "client",
            Record::ClientSeen(ClientRecord {
                client,
                pid: 1,
                user: 2,
                group: 3,
                groups: vec![4, 5],
                tenant: "local".into(),
                program: "p".into(),
                since_unix_ms: 6,
                mover: true,
            }),
        ),
        ("client-gone", Record::ClientGone(client)),
        ("slab", made(Transport::Vmm, false)),
        ("slab-mempool", made(MEMPOOL, true)),
        ("slab-ipc", made(IPC, true)),
        (
            "slab-lent",
            Record::SlabMade(SlabRecord {
                borrowers_recorded: true,
                ..slab_record(Transport::Vmm, false)
            }),
        ),
        ("slab-borrowed", Record::SlabBorrowed { slab, user: 5 }),
        ("tainted", Record::SlabTainted(slab)),
        ("slab-gone", Record::SlabGone(slab)),
        (
            "tensor",
            Record::TensorMade(TensorRecord {
                tensor,
                name: Some(TensorName::new("a/b").unwrap()),
                dtype: Dtype::I8,
                shape: Shape::new([5]).unwrap(),
                slab,
                offset: 512,
                bytes: 5,
                ready: true,
                generation: 9,
                ephemeral: true,
                creator: client,
                created_unix_ms: 7,
                published: Some(Token(id(14))),
                deleted: true,
                expires_boot_ms: Some(1),
                linger_ms: Some(0),
                accesses_left: Some(2),
                part: true,
                renamed: Some(Token(id(14))),
                held: true,
                hold: Some(Token(id(16))),
            }),
        ),
        (
            "published",
            Record::TensorPublished {
                tensor,
                token: Token(id(14)),
                generation: 2,
                name: Some(TensorName::new("c").unwrap()),
                replaced: Some(TensorId(id(15))),
            },
        ),
        ("accessed", Record::TensorAccessed { tensor, accesses_left: 0, lease: None }),
        (
            "accessed-lease",
            Record::TensorAccessed {
                tensor,
                accesses_left: 1,
                lease: Some(CountedLease {
                    client,
                    lease: LeaseId(3),
                    mode: Mode::ReadWrite,
                    ended: true,
                    asked: 9,
                }),
            },
        ),
        ("deleted", Record::TensorDeleted(tensor)),
        ("freed", Record::TensorFreed(tensor)),
        ("version-staged", Record::VersionStaged(staged)),
        ("version-lent", Record::VersionStaged(lent)),
        ("version-borrowed", Record::VersionBorrowed { version, user: 5 }),
        (
            "version-ready",
            Record::VersionReady(ReadyRecord {
                version,
                token: Token(id(14)),
                layout: ContentHash([1; 16]),
                content: ContentHash([2; 16]),
                tensors: 3,
                bytes: 4,
                source: "a file".into(),
                ready_unix_ms: 9,
                current: true,
            }),
        ),
        ("version-current", Record::VersionCurrent { version, token: Some(Token(id(14))) }),
        ("version-recovered", Record::VersionCurrent { version, token: None }),
        ("version-draining", Record::VersionDraining(version)),
        ("version-gone", Record::VersionGone(version)),
        (
            "renamed",
            Record::Renamed {
                object: tensor.into(),
                name: TensorName::new("d").unwrap(),
                token: Token(id(14)),
            },
        ),
        (
            "renamed-model",
            Record::Renamed {
                object: version.into(),
                name: TensorName::new("m").unwrap(),
                token: Token(id(14)),
            },
        ),
        (
            "device",
            Record::DeviceSeen(DeviceRecord {
                device: GpuUuid([2; 16]),
                index: 1,
                name: "H200".into(),
                total_bytes: 3,
                capacity_bytes: 2,
            }),
        ),
    ]
}
