use super::*;
use crate::{Audience, GpuUuid, VersionTag, caps};

#[test]
fn every_record_comes_back_as_it_was() {
    let mut builder = Builder::new();
    for (name, record) in crate::samples::records() {
        let bytes = record.encode(&mut builder).to_vec();
        assert_eq!(Record::decode(&bytes).unwrap(), record, "{name}");
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
            borrowers_recorded: true,
        });
        Record::decode(record.encode(&mut Builder::new()))
    };
    assert!(staged(caps::PARTS).is_ok());
    assert!(matches!(staged(caps::PARTS + 1), Err(DecodeError::TooMany { field: "parts", .. })));
}
