//! Requests out of the fuzzer's decisions, with identities that meet again.

use std::num::NonZeroU32;

use millpond_wire::message::{
    Claim, GroupJoin, GroupLimit, GroupSet, LeaseClaim, Life, MoveWork, PartSpec, Rename,
    RequestBody, Target, TensorAdopt, TensorCreate, TensorGet, TensorHold, TensorMove, TensorPage,
    TensorPublish, VersionCommit, VersionGet, VersionStage, WAIT_FOREVER,
};
use millpond_wire::{
    Audience, ClientId, ContentHash, Dtype, GroupName, HANDLE_BYTES, LeaseId, Mode, Shape,
    TensorId, TensorName, Token, Transport, TransportKind, VersionId, VersionTag, VersionTarget,
};
use uuid::Uuid;

use crate::bytes::Bytes;
use crate::world::GPU;

/// From nothing to all of the GPU, on both sides of the borders between slab classes.
const SIZES: [u64; 8] =
    [1, 300, (1 << 20) - 1, 1 << 20, 32 << 20, (100 << 20) + 1, 1 << 30, 1 << 49];
/// Small parts, whole tensors, and what lies beyond them.
const MOVED: [u64; 6] = [1, 100, 300, (1 << 20) - 1, 3 << 20, u64::MAX];
const TIMES: [u64; 6] = [0, 1, 100, 5000, 1 << 40, u64::MAX];
const DTYPES: [Dtype; 3] = [Dtype::U8, Dtype::F4, Dtype::F64];
const NAMES: [&str; 5] = ["a", "b", "a/b", "public/a", "public/b"];
const VERSIONS: [&str; 6] = ["a", "a@v1", "b@v2", "public/a", "~1/a@v1", "c"];
const TARGETS: [&str; 6] = ["a", "b", "public/a", "~1/a", "~2/b", "c"];

/// A client out of four.
pub fn client(decide: &mut Bytes<'_>) -> ClientId {
    ClientId(Uuid::from_u128(100 + decide.below(4) as u128))
}

/// All of them.
pub fn clients() -> impl Iterator<Item = ClientId> {
    (0..4).map(|number| ClientId(Uuid::from_u128(100 + number)))
}

fn tensor(decide: &mut Bytes<'_>) -> TensorId {
    TensorId(Uuid::from_u128(200 + decide.below(10) as u128))
}

fn lease(decide: &mut Bytes<'_>) -> LeaseId {
    LeaseId(decide.below(8) as u64)
}

fn target(decide: &mut Bytes<'_>) -> Target {
    match decide.pick(&TARGETS).parse() {
        Ok(name) if decide.flag() => Target::Name(name),
        _ => Target::Id(tensor(decide)),
    }
}

fn name(decide: &mut Bytes<'_>) -> Option<TensorName> {
    decide.flag().then(|| TensorName::new(decide.pick(&NAMES)).expect("a name"))
}

fn life(decide: &mut Bytes<'_>) -> Life {
    let limited = decide.byte();
    Life {
        ttl_ms: (limited & 1 != 0).then(|| decide.pick(&TIMES)),
        linger_ms: (limited & 2 != 0).then(|| decide.pick(&TIMES)),
        accesses: (limited & 4 != 0).then(|| decide.below(4) as u64),
    }
}

fn bytes_to_move(decide: &mut Bytes<'_>, parts: &[TensorId]) -> TensorMove {
    let work = match decide.below(4) {
        0 => MoveWork::Put { file_offset: decide.byte().into() },
        1 => MoveWork::Get { file_offset: decide.byte().into() },
        2 => MoveWork::Copy { from: tensor(decide), from_offset: decide.byte().into() },
        _ => MoveWork::Zero,
    };
    TensorMove {
        token: Token(Uuid::from_u128(300 + decide.below(8) as u128)),
        tensor: match parts.get(decide.below(2 * parts.len().max(1))) {
            Some(part) => *part,
            None => tensor(decide),
        },
        offset: decide.byte().into(),
        bytes: if decide.byte() == 255 { 0 } else { decide.pick(&MOVED) },
        work,
    }
}

/// Versions share their identities with some tensors.
fn version(decide: &mut Bytes<'_>) -> VersionId {
    VersionId(Uuid::from_u128(206 + decide.below(8) as u128))
}

fn tag(decide: &mut Bytes<'_>) -> Option<VersionTag> {
    decide.flag().then(|| VersionTag::numbered(decide.below(3) as u64 + 1))
}

fn version_target(decide: &mut Bytes<'_>) -> VersionTarget {
    match decide.pick(&VERSIONS).parse() {
        Ok(name) if decide.flag() => VersionTarget::Name(name),
        _ => VersionTarget::Id(version(decide)),
    }
}

fn stage(decide: &mut Bytes<'_>, parts: &[TensorId]) -> VersionStage {
    let part = |decide: &mut Bytes<'_>| PartSpec {
        bytes: decide.pick(&SIZES),
        shared: decide.flag().then(|| match parts.get(decide.below(parts.len().max(1))) {
            Some(part) => *part,
            None => tensor(decide),
        }),
    };
    VersionStage {
        version: version(decide),
        model: TensorName::new(decide.pick(&NAMES)).expect("a name"),
        tag: tag(decide),
        device: decide.flag().then_some(GPU),
        audience: decide.pick(Audience::ALL),
        parts: (0..decide.below(4)).map(|_| part(decide)).collect(),
        lease: decide.flag().then(|| lease(decide)),
    }
}

/// Anything that is asked about models.
fn of_models(decide: &mut Bytes<'_>, parts: &[TensorId]) -> RequestBody {
    let token = Token(Uuid::from_u128(400 + decide.below(8) as u128));
    match decide.below(16) {
        0..=4 => RequestBody::VersionStage(stage(decide, parts)),
        5..=7 => RequestBody::VersionCommit(VersionCommit {
            version: version(decide),
            token,
            layout: ContentHash([1; 16]),
            content: ContentHash([2; 16]),
            tensors: decide.byte().into(),
            bytes: decide.number(),
            activate: decide.flag(),
            unless_current: decide.flag(),
            source: "fuzz".to_owned(),
        }),
        8 | 9 => RequestBody::VersionGet(VersionGet {
            target: version_target(decide),
            lease: lease(decide),
            mode: decide.pick(Mode::ALL),
            wait_ms: decide.pick(&[0, 100, WAIT_FOREVER]),
        }),
        10 => RequestBody::VersionSlabs {
            version: version(decide),
            lease: lease(decide),
            first: decide.below(4) as u32,
            count: decide.byte().into(),
        },
        11 => RequestBody::VersionPart { version: version(decide), index: decide.below(4) as u32 },
        12 => match decide.flag() {
            true => RequestBody::VersionRetire(version_target(decide)),
            false => RequestBody::VersionRemove(version_target(decide)),
        },
        13 => RequestBody::VersionInspect(version_target(decide)),
        14 => RequestBody::ModelSwap {
            model: decide.pick(&TARGETS).parse().expect("a name"),
            tag: tag(decide),
            token,
        },
        _ => RequestBody::ModelList { prefix: decide.pick(&["", "a", "public/"]).into() },
    }
}

/// Anything that is asked about groups.
fn of_groups(decide: &mut Bytes<'_>) -> RequestBody {
    let group = GroupName::new(decide.pick(&["a", "team-a"])).expect("a name");
    let limit = decide.flag().then(|| GroupLimit::Bytes(decide.number()));
    match decide.below(5) {
        0 => {
            RequestBody::GroupSet(GroupSet { limit, create: decide.flag(), ..GroupSet::of(group) })
        }
        1 => RequestBody::GroupJoin(GroupJoin {
            token: Token(Uuid::from_u128(500 + decide.below(4) as u128)),
            group: decide.flag().then_some(group),
            device: decide.flag().then_some(GPU),
            limit,
        }),
        2 => RequestBody::GroupInspect { group },
        3 => RequestBody::GroupRemove { group },
        _ => RequestBody::GroupList,
    }
}

/// Memory of the client's own; some of it is offered twice.
fn adopt(decide: &mut Bytes<'_>) -> RequestBody {
    let bytes = decide.pick(&SIZES);
    let data = [decide.below(4) as u8; HANDLE_BYTES];
    RequestBody::TensorAdopt(Box::new(TensorAdopt {
        tensor: tensor(decide),
        name: name(decide),
        dtype: Dtype::U8,
        shape: Shape::new([bytes]).expect("a shape"),
        device: GPU,
        audience: decide.pick(Audience::ALL),
        slab_bytes: bytes + decide.pick(&[0, 0, 1, 300, 2 << 20]),
        offset: decide.pick(&[0, 0, 1, 300]),
        transport: decide.pick(&[Transport::Vmm, Transport::Mempool(data), Transport::Ipc(data)]),
    }))
}

/// Anything that a greeted client can ask; `parts` are slabs of versions that somebody has seen.
pub fn body(decide: &mut Bytes<'_>, granted: &[LeaseClaim], parts: &[TensorId]) -> RequestBody {
    match decide.below(32) {
        24.. => of_models(decide, parts),
        0..=3 => {
            let (tensor, name, kind) = (tensor(decide), name(decide), decide.byte());
            RequestBody::TensorCreate(TensorCreate {
                tensor,
                name,
                dtype: DTYPES[usize::from(kind) % DTYPES.len()],
                shape: Shape::new([decide.pick(&SIZES)]).expect("a shape"),
                device: decide.flag().then_some(GPU),
                audience: decide.pick(Audience::ALL),
                ephemeral: decide.flag(),
                zero: decide.flag(),
                lease: decide.flag().then(|| lease(decide)),
                life: life(decide),
                transport: match kind {
                    ..128 => TransportKind::Vmm,
                    128..240 => decide.pick(&[TransportKind::Ipc, TransportKind::Mempool]),
                    240.. => TransportKind::Fabric,
                },
                // Of a byte that was there before, so that old inputs keep their meaning.
                hold: (kind % 8 == 5).then(|| hold_token(kind >> 4 & 3)),
            })
        }
        4..=6 => RequestBody::TensorGet(TensorGet {
            target: target(decide),
            lease: lease(decide),
            mode: decide.pick(Mode::ALL),
            wait_ms: decide.pick(&[0, 100, 1 << 40, WAIT_FOREVER - 1, WAIT_FOREVER]),
        }),
        7 | 16 => RequestBody::TensorPublish(TensorPublish {
            tensor: tensor(decide),
            token: Token(Uuid::from_u128(decide.below(8) as u128)),
            name: name(decide),
            replace: decide.flag(),
        }),
        8 => RequestBody::TensorDelete { tensor: tensor(decide) },
        9 => RequestBody::TensorInspect(target(decide)),
        10 => RequestBody::LeaseRelease {
            leases: (0..decide.below(4)).map(|_| lease(decide)).collect(),
        },
        11 => {
            let mut leases: Vec<LeaseClaim> = (0..decide.below(4))
                .filter_map(|_| granted.get(decide.below(granted.len().max(1))).copied())
                .collect();
            if decide.flag()
                && let Some(first) = leases.first_mut()
            {
                first.lease = lease(decide);
            }
            RequestBody::Claim(Claim { leases, last: decide.flag() })
        }
        12 => RequestBody::Subscribe { from: decide.number() },
        13 => RequestBody::Goodbye,
        14 => RequestBody::TensorList {
            prefix: decide.pick(&["", "a", "~1/", "public/"]).into(),
            page: decide.flag().then(|| TensorPage {
                after: decide.flag().then(|| tensor(decide)),
                most: NonZeroU32::MIN.saturating_add(u32::from(decide.byte()) % 3),
            }),
        },
        17..=21 => RequestBody::TensorMove(bytes_to_move(decide, parts)),
        22 => RequestBody::Collect {
            unleased_for_ms: decide.flag().then(|| decide.pick(&TIMES)),
            dry_run: decide.flag(),
        },
        23 => RequestBody::Upgrade { program: decide.pick(&["", "/usr/bin/other"]).to_owned() },
        _ => match decide.byte() {
            224.. => of_holds(decide),
            128.. => adopt(decide),
            kind => other(kind % 7, decide),
        },
    }
}

fn hold_token(number: u8) -> Token {
    Token(Uuid::from_u128(700 + u128::from(number)))
}

fn of_holds(decide: &mut Bytes<'_>) -> RequestBody {
    let target = target(decide);
    if decide.byte() % 8 == 7 {
        return RequestBody::TensorPeek(target);
    }
    let pid = decide.flag().then(|| decide.pick(&crate::world::HOLDERS));
    let hold = TensorHold { target, pid, token: hold_token(decide.byte() % 32) };
    match decide.flag() {
        true => RequestBody::TensorHold(hold),
        false => RequestBody::TensorUnhold(hold),
    }
}

/// What is asked less often.
fn other(kind: u8, decide: &mut Bytes<'_>) -> RequestBody {
    match kind {
        5 => RequestBody::Rename(Rename {
            object: match decide.flag() {
                true => tensor(decide).into(),
                false => version(decide).into(),
            },
            name: TensorName::new(decide.pick(&NAMES)).expect("a name"),
            token: Token(Uuid::from_u128(600 + decide.below(4) as u128)),
        }),
        6 => RequestBody::StartReport {
            loading: decide.pick(&["", "net"]).to_owned(),
            failed: decide.pick(&["", "net: no such file"]).to_owned(),
        },
        4 => of_groups(decide),
        0 => RequestBody::Ping,
        1 => RequestBody::PondStatus,
        2 => RequestBody::ClientList,
        // Kinds that came later share a number, so that old inputs keep their meaning.
        _ if decide.flag() => {
            RequestBody::MovesExpected { device: decide.flag().then_some(GPU), name: None }
        }
        _ if decide.flag() => RequestBody::TensorDeleteUnused { tensor: tensor(decide) },
        _ => RequestBody::Unknown,
    }
}
