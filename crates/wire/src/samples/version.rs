//! Versions of models.

use super::pond::lease;
use super::{GPU, IPC, MEMPOOL, Sample, id};
use crate::message::{
    ModelInfo, PartInfo, PartSpec, ReplyBody, RequestBody, VersionCommit, VersionDetails,
    VersionGet, VersionGrant, VersionInfo, VersionStage, VersionState,
};
use crate::{
    Audience, Backing, ContentHash, LeaseId, Mode, TensorId, TensorName, Token, Transport,
    VersionId, VersionTag, VersionTarget,
};

pub(super) fn requests() -> Vec<Sample<RequestBody>> {
    let version = VersionId(id(3));
    let stage = VersionStage {
        version,
        model: TensorName::new("llama").unwrap(),
        tag: Some(VersionTag::numbered(3)),
        device: Some(GPU),
        audience: Audience::Group,
        parts: vec![
            PartSpec { bytes: 2 << 20, shared: None },
            PartSpec { bytes: 4 << 20, shared: Some(TensorId(id(10))) },
        ],
        lease: Some(LeaseId(4)),
    };
    let bare = VersionStage { tag: None, device: None, lease: None, ..stage.clone() };
    let commit = VersionCommit {
        version,
        token: Token(id(11)),
        layout: ContentHash([1; 16]),
        content: ContentHash([2; 16]),
        tensors: 5,
        bytes: 6,
        activate: true,
        unless_current: true,
        source: "model.safetensors".into(),
    };
    let get = |target| {
        let (lease, mode, wait_ms) = (LeaseId(2), Mode::ReadOnly, 9);
        RequestBody::VersionGet(VersionGet { target, lease, mode, wait_ms })
    };
    let name = |text: &str| VersionTarget::Name(text.parse().unwrap());
    let (slab_lease, first, count) = (LeaseId(2), 127, 3);
    let swap = |model: &str, tag| {
        let (model, token) = (model.parse().unwrap(), Token(id(12)));
        RequestBody::ModelSwap { model, tag, token }
    };
    vec![
        ("stage", RequestBody::VersionStage(stage)),
        ("stage-bare", RequestBody::VersionStage(bare)),
        ("commit", RequestBody::VersionCommit(commit)),
        ("version-get", get(name("llama"))),
        ("version-get-tag", get(name("~5/llama@v1"))),
        ("version-get-id", get(VersionTarget::Id(version))),
        ("version-slabs", RequestBody::VersionSlabs { version, lease: slab_lease, first, count }),
        ("version-part", RequestBody::VersionPart { version, index: 3 }),
        ("version-retire", RequestBody::VersionRetire(name("llama@v1"))),
        ("version-remove", RequestBody::VersionRemove(name("llama@v1"))),
        ("version-inspect", RequestBody::VersionInspect(VersionTarget::Id(version))),
        ("model-swap", swap("llama", Some(VersionTag::numbered(2)))),
        ("model-swap-back", swap("~1/llama", None)),
        ("model-list", RequestBody::ModelList { prefix: "l".into() }),
    ]
}

pub(super) fn replies() -> Vec<Sample<ReplyBody>> {
    let info = VersionInfo {
        version: VersionId(id(3)),
        model: TensorName::new("llama").unwrap(),
        tag: VersionTag::numbered(1),
        state: VersionState::Ready,
        device: GPU,
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
        PartInfo { tensor: TensorId(id(10)), bytes: 2 << 20, backing }
    };
    let parts = [Transport::Vmm, MEMPOOL, IPC].map(part).to_vec();
    let granted = VersionGrant {
        info: info.clone(),
        parts: parts.clone(),
        lease: Some((LeaseId(7), Mode::ReadOnly, [9; 16])),
        manifest: true,
        slabs: 2,
    };
    let staged = VersionGrant {
        info: staging.clone(),
        lease: None,
        manifest: false,
        slabs: 0,
        ..granted.clone()
    };
    let details = VersionDetails { info: info.clone(), parts, leases: vec![lease()] };
    let model = ModelInfo {
        name: TensorName::new("llama").unwrap(),
        user: 1000,
        versions: vec![info.clone(), staging],
    };
    let swapped = |previous| ReplyBody::Swapped { current: Box::new(info.clone()), previous };
    vec![
        ("version", ReplyBody::Version(Box::new(granted))),
        ("version-staged", ReplyBody::Version(Box::new(staged))),
        ("slabs", ReplyBody::Slabs { first: 127, count: 3 }),
        ("version-details", ReplyBody::VersionDetails(Box::new(details))),
        ("models", ReplyBody::Models(vec![model])),
        ("swapped", swapped(Some(VersionTag::numbered(8)))),
        ("swapped-first", swapped(None)),
    ]
}
