//! Tensors, and bytes that are moved.

use std::num::NonZeroU32;

use super::pond::lease;
use super::{GPU, IPC, MEMPOOL, Sample, id};
use crate::message::{
    Life, MoveWork, Rename, ReplyBody, RequestBody, Target, TensorAdopt, TensorCreate, TensorGet,
    TensorGrant, TensorHold, TensorInfo, TensorMove, TensorPage, TensorPublish, TensorState,
    WAIT_FOREVER,
};
use crate::{
    Audience, Backing, ContentHash, Dtype, HANDLE_BYTES, LeaseId, Mode, Piece, PiecesKind, Run,
    Shape, SlabId, Survives, TensorId, TensorName, Token, Transport, TransportKind, VersionId,
};

fn name(text: &str) -> TensorName {
    text.parse().unwrap()
}

pub(super) fn requests() -> Vec<Sample<RequestBody>> {
    let tensor = TensorId(id(2));
    let create = TensorCreate {
        tensor,
        name: Some(name("acts/x")),
        dtype: Dtype::Bf16,
        shape: Shape::new([4096, 8]).unwrap(),
        device: Some(GPU),
        audience: Audience::Group,
        ephemeral: true,
        zero: true,
        lease: Some(LeaseId(9)),
        life: Life { ttl_ms: Some(60_000), linger_ms: Some(0), accesses: Some(3) },
        transport: TransportKind::Vmm,
        hold: None,
    };
    let bare = TensorCreate {
        name: None,
        device: None,
        lease: None,
        life: Life::default(),
        ..create.clone()
    };
    let by_ipc = TensorCreate { transport: TransportKind::Ipc, ..bare.clone() };
    let held = TensorCreate { hold: Some(Token(id(10))), ..by_ipc.clone() };
    let hold = |target, pid| TensorHold { target, pid, token: Token(id(10)) };
    let adopt = |transport| {
        RequestBody::TensorAdopt(Box::new(TensorAdopt {
            tensor,
            name: Some(name("acts/x")),
            dtype: Dtype::Bf16,
            shape: Shape::new([4096, 8]).unwrap(),
            device: GPU,
            audience: Audience::User,
            slab_bytes: 2 << 20,
            offset: 512,
            transport,
        }))
    };
    let get = |target, wait_ms| {
        let (lease, mode) = (LeaseId(3), Mode::ReadOnly);
        RequestBody::TensorGet(TensorGet { target, lease, mode, wait_ms })
    };
    let publish = TensorPublish { tensor, token: Token(id(5)), name: None, replace: false };
    let publish_as = TensorPublish { name: Some(name("acts/y")), replace: true, ..publish.clone() };
    let rename = |object, text| {
        RequestBody::Rename(Rename { object, name: name(text), token: Token(id(6)) })
    };
    let mut all = vec![
        ("create", RequestBody::TensorCreate(create)),
        ("create-bare", RequestBody::TensorCreate(bare)),
        ("create-ipc", RequestBody::TensorCreate(by_ipc)),
        ("create-held", RequestBody::TensorCreate(held)),
        ("hold", RequestBody::TensorHold(hold(Target::Id(tensor), Some(77)))),
        ("hold-name", {
            RequestBody::TensorHold(hold(Target::Name("acts/x".parse().unwrap()), None))
        }),
        ("unhold", RequestBody::TensorUnhold(hold(Target::Id(tensor), Some(77)))),
        ("unhold-name", {
            RequestBody::TensorUnhold(hold(Target::Name("acts/x".parse().unwrap()), None))
        }),
        ("peek", RequestBody::TensorPeek(Target::Id(tensor))),
        ("adopt", adopt(Transport::Vmm)),
        ("adopt-mempool", adopt(MEMPOOL)),
        ("adopt-ipc", adopt(IPC)),
        ("get", get(Target::Name("~5/acts/x".parse().unwrap()), WAIT_FOREVER)),
        ("get-id", get(Target::Id(tensor), 5000)),
        ("publish", RequestBody::TensorPublish(publish)),
        ("publish-as", RequestBody::TensorPublish(publish_as)),
        ("delete", RequestBody::TensorDelete { tensor }),
        ("delete-unused", RequestBody::TensorDeleteUnused { tensor }),
        ("inspect", RequestBody::TensorInspect(Target::Name("acts/x".parse().unwrap()))),
        ("inspect-id", RequestBody::TensorInspect(Target::Id(tensor))),
        ("list", RequestBody::TensorList { prefix: "acts/".into(), page: None }),
        ("list-page", {
            let page = TensorPage { after: Some(tensor), most: NonZeroU32::MIN };
            RequestBody::TensorList { prefix: String::new(), page: Some(page) }
        }),
        ("moves-expected", RequestBody::MovesExpected { device: Some(GPU), name: None }),
        ("moves-expected-anywhere", RequestBody::MovesExpected { device: None, name: None }),
        ("moves-expected-named", {
            RequestBody::MovesExpected { device: None, name: Some(name("public/x")) }
        }),
        ("rename", rename(tensor.into(), "acts/z")),
        ("rename-model", rename(VersionId(id(3)).into(), "llama")),
    ];
    all.extend(moves());
    all
}

fn moves() -> [Sample<RequestBody>; 8] {
    let moving = |offset, bytes, work| {
        let (token, tensor) = (Token(id(7)), TensorId(id(2)));
        RequestBody::TensorMove(TensorMove { token, tensor, offset, bytes, work })
    };
    let pieces = |kind: PiecesKind| {
        let pieces = vec![Piece { offset: 0, bytes: 4 }, Piece { offset: 256, bytes: 3 }];
        let runs = vec![Run { file_offset: 8, bytes: 2 }, Run { file_offset: 100, bytes: 5 }];
        let runs = if kind.has_file() { runs } else { Vec::new() };
        moving(0, 7, MoveWork::Pieces { kind, pieces, runs })
    };
    let from = TensorId(id(8));
    [
        ("move-put", moving(1, 2, MoveWork::Put { file_offset: 5 })),
        ("move-get", moving(1, 2, MoveWork::Get { file_offset: 6 })),
        ("move-copy", moving(1, 2, MoveWork::Copy { from, from_offset: 7 })),
        ("move-zero", moving(1, 2, MoveWork::Zero)),
        ("move-load", pieces(PiecesKind::Load)),
        ("move-hash-file", pieces(PiecesKind::HashFile)),
        ("move-hash", pieces(PiecesKind::Hash)),
        ("move-save", pieces(PiecesKind::Save)),
    ]
}

/// A tensor as a pond describes it.
#[must_use]
pub fn info() -> TensorInfo {
    TensorInfo {
        tensor: TensorId(id(2)),
        name: Some(name("acts/x")),
        dtype: Dtype::F8E4M3,
        shape: Shape::new([2, 3]).unwrap(),
        device: GPU,
        bytes: 6,
        state: TensorState::Ready,
        generation: 2,
        user: 1000,
        audience: Audience::Everybody,
        ephemeral: false,
        created_unix_ms: 1,
        slab: SlabId(id(9)),
        slab_bytes: 2 << 20,
        offset: 256,
        leases: 1,
        life: Life { ttl_ms: Some(5), linger_ms: None, accesses: Some(0) },
        transport: TransportKind::Ipc,
        adopted: true,
        survives: Survives::Owner,
        home_pid: 77,
        holds: None,
    }
}

pub(super) fn replies() -> Vec<Sample<ReplyBody>> {
    let grant = |transport, adopted| {
        let backing = Backing { transport, adopted };
        let lease = Some((LeaseId(1), Mode::ReadWrite, [1; 16]));
        let event = (!adopted && transport == IPC).then_some([8; HANDLE_BYTES]);
        ReplyBody::Tensor(TensorGrant { info: info(), lease, existed: false, backing, event })
    };
    let backing = Backing::default();
    let known = TensorGrant { info: info(), lease: None, existed: true, backing, event: None };
    let hashes = vec![ContentHash([5; 16]); 3];
    vec![
        ("tensor", ReplyBody::Tensor(known)),
        ("tensor-held", {
            let backing = Backing { transport: IPC, adopted: false };
            let info = TensorInfo { holds: Some(2), ..info() };
            let event = Some([8; HANDLE_BYTES]);
            ReplyBody::Tensor(TensorGrant { info, lease: None, existed: false, backing, event })
        }),
        ("grant", grant(Transport::Vmm, false)),
        ("grant-adopted", grant(Transport::Vmm, true)),
        ("grant-mempool", grant(MEMPOOL, true)),
        ("grant-ipc", grant(IPC, false)),
        ("adopted-freed", ReplyBody::AdoptedFreed(TensorId(id(2)))),
        ("published", ReplyBody::Published { generation: 4 }),
        ("details", ReplyBody::Details { info: info(), leases: vec![lease()] }),
        ("tensors", ReplyBody::Tensors(vec![info(), info()])),
        ("moved", ReplyBody::Moved { bytes: 7, hashes: Vec::new() }),
        ("moved-hashes", ReplyBody::Moved { bytes: 7, hashes }),
        (
            "collected",
            ReplyBody::Collected { tensors: vec![info(); 2], slabs: 2, slab_bytes: 4 << 20 },
        ),
    ]
}
