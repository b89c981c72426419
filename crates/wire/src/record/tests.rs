use super::*;
use crate::{HANDLE_BYTES, Transport};

#[test]
fn every_record_comes_back_as_it_was() {
    let slab = SlabId::random();
    let tensor = TensorId::random();
    let client = ClientId::random();
    let version = VersionId::random();
    let made = |transport, adopted| {
        Record::SlabMade(SlabRecord {
            slab,
            device: GpuUuid([1; 16]),
            bytes: 2 << 20,
            class: 1,
            tenant: "local".into(),
            user: 2,
            group: 3,
            audience: Audience::Group,
            backing: Backing { transport, adopted },
        })
    };
    let records = [
        Record::Opened { pond: PondId::random(), key: [3; 16], created_unix_ms: 5 },
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
        Record::ClientGone(client),
        made(Transport::Vmm, false),
        made(Transport::Mempool([4; HANDLE_BYTES]), true),
        made(Transport::Ipc([5; HANDLE_BYTES]), true),
        Record::SlabTainted(slab),
        Record::SlabGone(slab),
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
            published: Some(Token::random()),
            deleted: true,
            expires_boot_ms: Some(1),
            linger_ms: Some(0),
            accesses_left: Some(2),
            part: true,
            renamed: Some(Token::random()),
        }),
        Record::TensorPublished {
            tensor,
            token: Token::random(),
            generation: 2,
            name: Some(TensorName::new("c").unwrap()),
            replaced: Some(TensorId::random()),
        },
        Record::TensorAccessed { tensor, accesses_left: 0, lease: None },
        Record::TensorAccessed {
            tensor,
            accesses_left: 1,
            lease: Some(CountedLease {
                client,
                lease: LeaseId(3),
                mode: Mode::ReadWrite,
                ended: true,
            }),
        },
        Record::TensorDeleted(tensor),
        Record::TensorFreed(tensor),
        Record::VersionStaged(VersionRecord {
            version,
            model: TensorName::new("llama").unwrap(),
            tag: VersionTag::numbered(2),
            tenant: "local".into(),
            user: 1,
            group: 2,
            device: GpuUuid([2; 16]),
            audience: Audience::Everybody,
            parts: vec![tensor, TensorId::random()],
            creator: client,
            created_unix_ms: 8,
        }),
        Record::VersionReady(ReadyRecord {
            version,
            token: Token::random(),
            layout: ContentHash([1; 16]),
            content: ContentHash([2; 16]),
            tensors: 3,
            bytes: 4,
            source: "a file".into(),
            ready_unix_ms: 9,
            current: true,
        }),
        Record::VersionCurrent { version, token: Some(Token::random()) },
        Record::VersionCurrent { version, token: None },
        Record::VersionDraining(version),
        Record::VersionGone(version),
        Record::Renamed {
            object: tensor.into(),
            name: TensorName::new("d").unwrap(),
            token: Token::random(),
        },
        Record::Renamed {
            object: version.into(),
            name: TensorName::new("m").unwrap(),
            token: Token::random(),
        },
        Record::DeviceSeen(DeviceRecord {
            device: GpuUuid([2; 16]),
            index: 1,
            name: "H200".into(),
            total_bytes: 3,
            capacity_bytes: 2,
        }),
    ];
    let mut builder = Builder::new();
    for record in records {
        let bytes = record.encode(&mut builder).to_vec();
        assert_eq!(Record::decode(&bytes).unwrap(), record);
        for length in 0..bytes.len() {
            let _ = Record::decode(&bytes[..length]);
        }
    }
}

#[test]
fn another_format_is_refused_and_a_kind_that_is_not_known_is_skipped() {
    let opened = Record::Opened { pond: PondId::random(), key: [3; 16], created_unix_ms: 5 };
    let mut builder = Builder::new();
    let Some(fb::Body::Opened(mut newer)) = write(&opened) else { panic!("not what was written") };
    newer.format = FORMAT + 1;
    let record = fb::Record { body: Some(fb::Body::Opened(newer)) };
    let error = Record::decode(builder.finish(record, None)).unwrap_err();
    assert!(matches!(error, DecodeError::BadValue { field: "format", .. }), "{error}");
    // One byte of it says which kind it is.
    let bytes = Record::SlabGone(SlabId::random()).encode(&mut builder).to_vec();
    let unknown = (0..bytes.len()).filter(|at| {
        let mut bytes = bytes.clone();
        bytes[*at] = 250;
        matches!(Record::decode(&bytes), Ok(Record::Unknown))
    });
    assert_eq!(unknown.count(), 1);
}

#[test]
fn a_version_has_no_more_parts_than_the_cap() {
    let staged = |parts| {
        let record = Record::VersionStaged(VersionRecord {
            version: VersionId::random(),
            model: TensorName::new("llama").unwrap(),
            tag: VersionTag::numbered(2),
            tenant: "local".into(),
            user: 1,
            group: 2,
            device: GpuUuid([2; 16]),
            audience: Audience::Everybody,
            parts: vec![TensorId::random(); parts],
            creator: ClientId::random(),
            created_unix_ms: 8,
        });
        Record::decode(record.encode(&mut Builder::new()))
    };
    assert!(staged(limits::PARTS).is_ok());
    assert!(matches!(staged(limits::PARTS + 1), Err(DecodeError::TooMany { field: "parts", .. })));
}
