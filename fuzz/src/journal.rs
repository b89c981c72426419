//! The journal: frames, records, and what recovery makes of any list of them.

use std::collections::HashMap;

use millpond_daemon::journal::{read_frames, write_frame};
use millpond_daemon::policy::{Held, Pond};
use millpond_wire::record::{
    ClientRecord, CountedLease, DeviceRecord, HoldRecord, HoldTold, HolderProcess, HostRecord,
    ReadyRecord, Record, SlabRecord, TensorRecord, VersionRecord,
};
use millpond_wire::{
    Audience, Backing, ClientId, ContentHash, Dtype, Epoch, GpuUuid, HANDLE_BYTES, HostId, LeaseId,
    Mode, PondId, Shape, SlabId, TensorId, TensorName, Token, Transport, VersionId, VersionTag,
};
use planus::Builder;
use uuid::Uuid;

use crate::bytes::Bytes;
use crate::memory;
use crate::world::{self, LIMITS, World};

/// Records after which a journal is long enough: more of the same only takes time.
const RECORDS: usize = 200;

/// Some lives are over by then, others are not.
const NOW_MS: u64 = 1000;

/// The first byte says whether bytes are frames, one record, or decisions about records.
pub fn check(data: &[u8]) {
    let Some((kind, rest)) = data.split_first() else { return };
    match kind % 3 {
        0 => memory::within(data, 64, || frames(rest)),
        1 => memory::within(data, 64, || record(rest)),
        // A decision of one byte can be a slab.
        _ => memory::within(data, 4096, || recovery(&mut Bytes(rest))),
    }
}

fn frames(data: &[u8]) {
    if let Ok((records, length)) = read_frames(data) {
        let length = usize::try_from(length).expect("a length of bytes");
        assert!(length <= data.len());
        let again = read_frames(&data[..length]).expect("what was read once");
        assert_eq!(again.0, records);
    }
}

fn record(data: &[u8]) {
    let Ok(record) = Record::decode(data) else { return };
    if record == Record::Unknown {
        return;
    }
    let mut builder = Builder::new();
    assert_eq!(Record::decode(record.encode(&mut builder)).ok().as_ref(), Some(&record));
}

fn recovery(decide: &mut Bytes<'_>) {
    let mut held = HashMap::new();
    let kept = decide.byte();
    for number in 0..4u8 {
        if kept & 1 << number != 0 {
            held.insert(Held::Slab(SlabId(id(number))), number.into());
            held.insert(Held::HostProcess(HostId(id(number))), number.into());
            held.insert(Held::HostChannel(HostId(id(number))), number.into());
        }
        if kept & 0x80 >> number != 0 {
            held.insert(Held::Manifest(VersionId(id(2 + number))), number.into());
        }
        if kept & 0x10 << number != 0 {
            held.insert(Held::Client(ClientId(id(number))), number.into());
        }
    }
    let mut records =
        vec![Record::Opened { pond: PondId(id(0)), key: [7; 16], created_unix_ms: 1 }];
    while !decide.is_empty() && records.len() < RECORDS {
        let record = some_record(decide);
        if let Record::SlabMade(SlabRecord { slab, home: Some(_), .. }) = &record {
            held.remove(&Held::Slab(*slab)); // What a process keeps has no descriptor.
        }
        records.push(record);
    }
    let (mut bytes, mut frame, mut builder) = (Vec::new(), Vec::new(), Builder::new());
    for record in &records {
        write_frame(&mut frame, record.encode(&mut builder)).expect("a short record");
        bytes.extend_from_slice(&frame);
    }
    let (read, length) = read_frames(&bytes).expect("what was written can be read");
    assert_eq!((read.len(), length), (records.len(), bytes.len() as u64));
    let first = recovered(read, held);
    // The next daemon finds the same, from the whole journal and from a compacted one.
    let second = recovered(first.1.records, first.1.held.clone());
    assert_eq!(sorted(&first.0), sorted(&second.0));
    let third = recovered(first.0.clone(), first.1.held);
    assert_eq!(sorted(&first.0), sorted(&third.0));
}

/// The books after a recovery, and what is left around them.
fn recovered(records: Vec<Record>, held: HashMap<Held, u64>) -> (Vec<Record>, World) {
    let (now, held_before) = (NOW_MS, held.clone());
    let mut world = World { now, records: records.clone(), held: held_before, ..World::default() };
    let (mut pond, _) = Pond::recover(&mut world, records, held, Epoch(2), LIMITS)
        .expect("it begins with its opening record");
    world::driver_ready(&mut pond, &mut world);
    pond.tick(&mut world);
    let books = pond.snapshot();
    world::check_books(&books, &world.held, false);
    (books, world)
}

/// The bytes of the records, in an order that does not depend on that of a hash map.
fn sorted(records: &[Record]) -> Vec<Vec<u8>> {
    let mut builder = Builder::new();
    let mut all: Vec<_> =
        records.iter().map(|record| record.encode(&mut builder).to_vec()).collect();
    all.sort();
    all
}

fn id(number: u8) -> Uuid {
    Uuid::from_u128(u128::from(number) + 1)
}

fn some_id(decide: &mut Bytes<'_>) -> Uuid {
    id(decide.byte() % 4)
}

/// Some of them are tensors as well.
fn some_backing(decide: &mut Bytes<'_>) -> Backing {
    let data = [decide.byte(); HANDLE_BYTES];
    let transport = match decide.below(8) {
        0 => Transport::Mempool(data),
        1 => Transport::Ipc(data),
        _ => Transport::Vmm,
    };
    Backing { transport, adopted: decide.flag() }
}

fn some_version(decide: &mut Bytes<'_>) -> Uuid {
    id(2 + decide.byte() % 4)
}

fn some_name(decide: &mut Bytes<'_>) -> Option<TensorName> {
    TensorName::new(decide.pick(&["a", "b", "public/a", "?"])).ok()
}

fn some_number(decide: &mut Bytes<'_>) -> Option<u64> {
    decide.flag().then(|| decide.number())
}

fn some_hold(decide: &mut Bytes<'_>) -> Record {
    let (tensor, user) = (TensorId(some_id(decide)), decide.below(3) as u32);
    let token = Token(id(decide.below(6) as u8));
    let told = HoldTold { user, token, tensor, answer: None, create: None };
    if decide.byte() % 4 == 3 {
        return Record::HoldTold(told);
    }
    let process = decide.flag().then(|| HolderProcess {
        pid: u32::from(decide.byte() % 4) + 1,
        started: some_number(decide),
    });
    let told = decide.flag().then_some(told);
    let count = decide.pick(&[0, 1, 2, u64::MAX]);
    Record::HoldChanged(HoldRecord { tensor, process, user, count, told })
}

fn some_record(decide: &mut Bytes<'_>) -> Record {
    let kind = decide.byte();
    match kind % 23 {
        // Kinds that came later have high numbers, so that old inputs keep their meaning.
        _ if kind >= 252 => some_hold(decide),
        _ if kind >= 248 => Record::HostGone(HostId(some_id(decide))),
        _ if kind >= 240 => Record::HostMade(HostRecord {
            host: HostId(some_id(decide)),
            device: GpuUuid([decide.below(2) as u8 + 1; 16]),
            tenant: decide.pick(&["local", "other"]).to_owned(),
            user: decide.below(3) as u32,
            group: decide.below(2) as u32,
            audience: decide.pick(Audience::ALL),
            pid: decide.byte().into(),
            since_unix_ms: 3,
        }),
        21 => Record::SlabBorrowed { slab: SlabId(some_id(decide)), user: decide.below(3) as u32 },
        22 => {
            let version = VersionId(some_version(decide));
            Record::VersionBorrowed { version, user: decide.below(3) as u32 }
        }
        20 => Record::Renamed {
            object: match decide.flag() {
                true => TensorId(some_id(decide)).into(),
                false => VersionId(some_version(decide)).into(),
            },
            name: some_name(decide).unwrap_or_else(|| TensorName::new("n").expect("a name")),
            token: Token(some_id(decide)),
        },
        13..=15 => Record::VersionStaged(VersionRecord {
            version: VersionId(some_version(decide)),
            model: some_name(decide).unwrap_or_else(|| TensorName::new("m").expect("a name")),
            tag: VersionTag::numbered(decide.below(3) as u64),
            tenant: decide.pick(&["local", "other"]).to_owned(),
            user: decide.below(3) as u32,
            group: decide.below(2) as u32,
            device: GpuUuid([decide.below(2) as u8 + 1; 16]),
            audience: decide.pick(Audience::ALL),
            parts: (0..decide.below(4)).map(|_| TensorId(some_id(decide))).collect(),
            creator: ClientId(some_id(decide)),
            created_unix_ms: 3,
            borrowers_recorded: decide.flag(),
        }),
        16 | 17 => Record::VersionReady(ReadyRecord {
            version: VersionId(some_version(decide)),
            token: Token(some_id(decide)),
            layout: ContentHash([1; 16]),
            content: ContentHash([2; 16]),
            tensors: decide.byte().into(),
            bytes: decide.number(),
            source: "s".to_owned(),
            ready_unix_ms: 4,
            current: decide.flag(),
        }),
        18 => Record::VersionCurrent {
            version: VersionId(some_version(decide)),
            token: decide.flag().then(|| Token(some_id(decide))),
        },
        19 => match decide.flag() {
            true => Record::VersionDraining(VersionId(some_version(decide))),
            false => Record::VersionGone(VersionId(some_version(decide))),
        },
        0 => Record::ClientSeen(ClientRecord {
            client: ClientId(some_id(decide)),
            pid: decide.byte().into(),
            user: decide.below(3) as u32,
            group: decide.below(2) as u32,
            groups: vec![1; decide.below(3)],
            tenant: decide.pick(&["local", "other"]).to_owned(),
            program: "p".to_owned(),
            since_unix_ms: decide.number(),
            mover: decide.flag(),
        }),
        1 => Record::ClientGone(ClientId(some_id(decide))),
        2 | 3 => {
            let (slab, device) = (some_id(decide), GpuUuid([decide.below(2) as u8 + 1; 16]));
            let (bytes, class) = (decide.number(), decide.byte());
            let tenant = decide.pick(&["local", "other"]).to_owned();
            let (user, group) = (decide.below(3) as u32, decide.below(2) as u32);
            let (audience, backing) = (decide.pick(Audience::ALL), some_backing(decide));
            let is_kept = class >= 128 && matches!(backing.transport, Transport::Ipc(_));
            Record::SlabMade(SlabRecord {
                slab: SlabId(slab),
                device,
                bytes,
                class: class % 5,
                tenant,
                user,
                group,
                audience,
                backing,
                borrowers_recorded: decide.flag(),
                home: is_kept.then(|| id(class % 4)),
                event: (class >= 192).then_some([class; HANDLE_BYTES]),
            })
        }
        4 => Record::SlabTainted(SlabId(some_id(decide))),
        5 => Record::SlabGone(SlabId(some_id(decide))),
        6 | 7 => Record::TensorMade(TensorRecord {
            held: kind & 24 == 24,
            hold: (kind & 56 == 56).then(|| Token(id(8))),
            tensor: TensorId(some_id(decide)),
            name: some_name(decide),
            dtype: decide.pick(Dtype::ALL),
            shape: Shape::new(vec![decide.number()]).unwrap_or_default(),
            slab: SlabId(some_id(decide)),
            offset: decide.number(),
            bytes: decide.number(),
            ready: decide.flag(),
            generation: decide.number(),
            ephemeral: decide.flag(),
            creator: ClientId(some_id(decide)),
            created_unix_ms: 3,
            published: decide.flag().then(|| Token(id(9))),
            deleted: decide.flag(),
            expires_boot_ms: some_number(decide),
            linger_ms: some_number(decide),
            accesses_left: some_number(decide),
            part: decide.flag(),
            renamed: decide.flag().then(|| Token(id(9))),
        }),
        8 => Record::TensorPublished {
            tensor: TensorId(some_id(decide)),
            token: Token(some_id(decide)),
            generation: decide.number(),
            name: some_name(decide),
            replaced: decide.flag().then(|| TensorId(some_id(decide))),
        },
        12 => Record::TensorAccessed {
            tensor: TensorId(some_id(decide)),
            accesses_left: decide.number(),
            lease: decide.flag().then(|| CountedLease {
                client: ClientId(some_id(decide)),
                lease: LeaseId(decide.below(3) as u64),
                mode: if decide.flag() { Mode::ReadWrite } else { Mode::ReadOnly },
                ended: decide.flag(),
                asked: decide.below(3) as u64,
            }),
        },
        9 => Record::TensorDeleted(TensorId(some_id(decide))),
        10 => Record::TensorFreed(TensorId(some_id(decide))),
        _ => Record::DeviceSeen(DeviceRecord {
            device: GpuUuid([decide.below(2) as u8 + 1; 16]),
            index: decide.byte().into(),
            name: "test".to_owned(),
            total_bytes: decide.number(),
            capacity_bytes: decide.number(),
        }),
    }
}
