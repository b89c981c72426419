use super::*;

#[test]
fn every_record_comes_back_as_it_was() {
    let slab = SlabId::random();
    let tensor = TensorId::random();
    let client = ClientId::random();
    let version = VersionId::random();
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
        Record::SlabMade(SlabRecord {
            slab,
            device: GpuUuid([1; 16]),
            bytes: 2 << 20,
            class: 1,
            tenant: "local".into(),
            user: 2,
            group: 3,
            audience: Audience::Group,
        }),
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
        }),
        Record::TensorPublished {
            tensor,
            token: Token::random(),
            generation: 2,
            name: Some(TensorName::new("c").unwrap()),
            replaced: Some(TensorId::random()),
        },
        Record::TensorAccessed { tensor, accesses_left: 0 },
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
