//! Requests and replies about models, for tests.

use super::model::{
    ModelInfo, PartInfo, PartSpec, VersionCommit, VersionDetails, VersionGet, VersionGrant,
    VersionInfo, VersionStage, VersionState,
};
use super::{Audience, LeaseInfo, Mode, MoveWork, ReplyBody, RequestBody, TensorMove};
use crate::{
    Backing, ContentHash, GpuUuid, HANDLE_BYTES, LeaseId, Piece, PiecesKind, Run, TensorId,
    TensorName, Token, Transport, VersionId, VersionTag, VersionTarget,
};

fn pieces(kind: PiecesKind) -> RequestBody {
    let runs = vec![Run { file_offset: 8, bytes: 2 }, Run { file_offset: 100, bytes: 5 }];
    RequestBody::TensorMove(TensorMove {
        token: Token::random(),
        tensor: TensorId::random(),
        offset: 0,
        bytes: 7,
        work: MoveWork::Pieces {
            kind,
            pieces: vec![Piece { offset: 0, bytes: 4 }, Piece { offset: 256, bytes: 3 }],
            runs: if kind.has_file() { runs } else { Vec::new() },
        },
    })
}

pub(super) fn requests() -> Vec<RequestBody> {
    let stage = VersionStage {
        version: VersionId::random(),
        model: TensorName::new("llama").unwrap(),
        tag: Some(VersionTag::numbered(3)),
        device: Some(GpuUuid([7; 16])),
        audience: Audience::Group,
        parts: vec![
            PartSpec { bytes: 2 << 20, shared: None },
            PartSpec { bytes: 4 << 20, shared: Some(TensorId::random()) },
        ],
        lease: Some(LeaseId(4)),
    };
    let get = |target| {
        RequestBody::VersionGet(VersionGet {
            target,
            lease: LeaseId(2),
            mode: Mode::ReadOnly,
            wait_ms: 9,
        })
    };
    let name = |text: &str| VersionTarget::Name(text.parse().unwrap());
    let mut all: Vec<RequestBody> =
        [PiecesKind::Load, PiecesKind::HashFile, PiecesKind::Hash, PiecesKind::Save]
            .map(pieces)
            .into();
    all.extend([
        RequestBody::VersionStage(VersionStage {
            tag: None,
            device: None,
            lease: None,
            ..stage.clone()
        }),
        RequestBody::VersionStage(stage),
        RequestBody::VersionCommit(VersionCommit {
            version: VersionId::random(),
            token: Token::random(),
            layout: ContentHash([1; 16]),
            content: ContentHash([2; 16]),
            tensors: 5,
            bytes: 6,
            activate: true,
            unless_current: true,
            source: "model.safetensors".into(),
        }),
        get(name("~5/llama@v1")),
        get(name("llama")),
        get(VersionTarget::Id(VersionId::random())),
        RequestBody::VersionSlabs {
            version: VersionId::random(),
            lease: LeaseId(2),
            first: 127,
            count: 3,
        },
        RequestBody::VersionPart { version: VersionId::random(), index: 3 },
        RequestBody::VersionRetire(name("llama@v1")),
        RequestBody::VersionRemove(name("llama@v1")),
        RequestBody::VersionInspect(VersionTarget::Id(VersionId::random())),
        RequestBody::ModelSwap {
            model: "llama".parse().unwrap(),
            tag: Some(VersionTag::numbered(2)),
            token: Token::random(),
        },
        RequestBody::ModelSwap {
            model: "~1/llama".parse().unwrap(),
            tag: None,
            token: Token::random(),
        },
        RequestBody::ModelList { prefix: "l".into() },
    ]);
    all
}

pub(super) fn replies(lease: &LeaseInfo) -> Vec<ReplyBody> {
    let info = VersionInfo {
        version: VersionId::random(),
        model: TensorName::new("llama").unwrap(),
        tag: VersionTag::numbered(1),
        state: VersionState::Ready,
        device: GpuUuid([3; 16]),
        user: 1000,
        audience: Audience::User,
        bytes: 5,
        slab_bytes: 4 << 20,
        shared_bytes: 2 << 20,
        slabs: 2,
        tensors: 3,
        layout: Some(ContentHash([1; 16])),
        content: Some(ContentHash([2; 16])),
        created_unix_ms: 1,
        ready_unix_ms: Some(2),
        readers: 4,
        current: true,
        previous: false,
        lost: false,
        source: "a folder".into(),
        stager_pid: None,
    };
    let staging = VersionInfo {
        state: VersionState::Staging,
        layout: None,
        content: None,
        ready_unix_ms: None,
        stager_pid: Some(5),
        ..info.clone()
    };
    let part = |transport| {
        let backing = Backing { transport, adopted: transport != Transport::Vmm };
        PartInfo { tensor: TensorId::random(), bytes: 2 << 20, backing }
    };
    let data = [8; HANDLE_BYTES];
    let parts = [Transport::Vmm, Transport::Mempool(data), Transport::Ipc(data)].map(part).to_vec();
    vec![
        ReplyBody::Version(Box::new(VersionGrant {
            info: info.clone(),
            parts: parts.clone(),
            lease: Some((LeaseId(7), Mode::ReadOnly, [9; 16])),
            manifest: true,
            slabs: 2,
        })),
        ReplyBody::Version(Box::new(VersionGrant {
            info: staging.clone(),
            parts: parts.clone(),
            lease: None,
            manifest: false,
            slabs: 0,
        })),
        ReplyBody::Slabs { first: 127, count: 3 },
        ReplyBody::VersionDetails(Box::new(VersionDetails {
            info: info.clone(),
            parts,
            leases: vec![lease.clone()],
        })),
        ReplyBody::Models(vec![ModelInfo {
            name: TensorName::new("llama").unwrap(),
            user: 1000,
            versions: vec![info.clone(), staging],
        }]),
        ReplyBody::Swapped { current: Box::new(info.clone()), previous: None },
        ReplyBody::Swapped { current: Box::new(info), previous: Some(VersionTag::numbered(8)) },
    ]
}
