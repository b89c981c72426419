//! Journals, settings, array headers, and a pond's life.

use millpond::{Dtype, Shape, npy};
use millpond_daemon::journal::write_frame;
use millpond_keeper::config::{Config, KEYS};
use millpond_wire::record::{ClientRecord, DeviceRecord, Record, SlabRecord, TensorRecord};
use millpond_wire::{Audience, ClientId, GpuUuid, PondId, SlabId, TensorId, TensorName, Token};
use planus::Builder;
use uuid::Uuid;

use crate::Folder;

const ID: Uuid = Uuid::from_u64_pair(0x1111_2222_3333_4444, 0x5555_6666_7777_8888);

fn records() -> Vec<(&'static str, Record)> {
    let (client, slab, tensor) = (ClientId(ID), SlabId(ID), TensorId(ID));
    let seen = ClientRecord {
        client,
        pid: 1,
        user: 2,
        group: 3,
        groups: vec![4, 5],
        tenant: "local".into(),
        program: "p".into(),
        since_unix_ms: 6,
    };
    let made = SlabRecord {
        slab,
        device: GpuUuid([1; 16]),
        bytes: 2 << 20,
        class: 1,
        tenant: "local".into(),
        user: 2,
        group: 3,
        audience: Audience::Group,
    };
    let made_tensor = TensorRecord {
        tensor,
        name: TensorName::new("a/b").ok(),
        dtype: Dtype::I8,
        shape: Shape::new([5]).expect("a shape"),
        slab,
        offset: 512,
        bytes: 5,
        ready: true,
        generation: 9,
        ephemeral: true,
        creator: client,
        created_unix_ms: 7,
        published: Some(Token(ID)),
        deleted: true,
    };
    let device = DeviceRecord {
        device: GpuUuid([2; 16]),
        index: 1,
        name: "H200".into(),
        total_bytes: 3,
        capacity_bytes: 2,
    };
    let pond = PondId(ID);
    vec![
        ("opened", Record::Opened { pond, key: [3; 16], created_unix_ms: 5 }),
        ("client", Record::ClientSeen(seen)),
        ("slab", Record::SlabMade(made)),
        ("tensor", Record::TensorMade(made_tensor)),
        ("published", Record::TensorPublished { tensor, token: Token(ID), generation: 2 }),
        ("deleted", Record::TensorDeleted(tensor)),
        ("freed", Record::TensorFreed(tensor)),
        ("tainted", Record::SlabTainted(slab)),
        ("slab-gone", Record::SlabGone(slab)),
        ("client-gone", Record::ClientGone(client)),
        ("device", Record::DeviceSeen(device)),
    ]
}

/// The first byte is the kind of input: frames, a record, or decisions.
pub fn journal(folder: &Folder) {
    let (mut builder, mut frame, mut frames) = (Builder::new(), Vec::new(), vec![0]);
    for (seed, record) in records() {
        let payload = record.encode(&mut builder);
        folder.seed(seed, &[&[1], payload].concat());
        write_frame(&mut frame, payload).expect("a short record");
        frames.extend_from_slice(&frame);
    }
    folder.seed("frames", &frames);
    folder.seed("frames-cut", &frames[..frames.len() - 9]);
    // Everything is held; a client, a slab and two tensors, one of them deleted.
    let slab = [2, 0, 0, 1, 21, 1, 0, 1, 0, 1];
    let tensor = |id: u8, at: u8, deleted: u8| {
        [6, id, id, 4, 0, 5, 0, 1, at, 0, 200, 1, 0, 1, 0, 0, 0, deleted]
    };
    let client = [0, 0, 7, 1, 0, 1, 0, 0, 9];
    let whole = [
        &[2, 0xff],
        client.as_slice(),
        &slab,
        &tensor(0, 0, 0),
        &tensor(1, 16, 1),
        &[10, 1, 9, 0, 4, 0, 5, 0, 1, 0],
    ];
    folder.seed("recovery", &whole.concat());
    folder.seed("recovery-lost", &[&[2, 0], whole[1..].concat().as_slice()].concat());
}

/// The first byte says whether JSON or TOML follows.
pub fn config(folder: &Folder) {
    let json = Config::default().to_json().expect("settings are text");
    folder.seed("default.json", &[b"\x00".as_slice(), &json].concat());
    for (seed, text) in [
        ("everything", include_str!("../../crates/keeper/tests/configs/valid/everything.toml")),
        ("short", include_str!("../../crates/keeper/tests/configs/valid/short.toml")),
        (
            "odd-variable",
            include_str!("../../crates/keeper/tests/configs/invalid/odd_variable.toml"),
        ),
        ("nested", include_str!("../../crates/keeper/tests/configs/invalid/unknown_nested.toml")),
        ("lone-dollar", include_str!("../../crates/keeper/tests/configs/invalid/lone_dollar.toml")),
        ("variables", "log = \"${A}x${LONGER:info}$$\"\n"),
    ] {
        folder.seed(&format!("{seed}.toml"), format!("\x01{text}").as_bytes());
    }
    let names: String = KEYS.iter().map(|key| format!("{} = 1\n", key.name)).collect();
    folder.seed("names.toml", format!("\x01{names}").as_bytes());
}

pub fn npy_header(folder: &Folder) {
    let shape = Shape::new([2, 3]).expect("a shape");
    for dtype in Dtype::ALL {
        if let Ok(header) = npy::write_header(*dtype, &shape) {
            folder.seed(dtype.name(), &header);
        }
    }
    folder.seed("scalar", &npy::write_header(Dtype::F32, &Shape::default()).expect("a header"));
    for (seed, version, dict) in [
        ("two", 2, "{'shape': (1, ), 'fortran_order': True, 'descr': \"<f4\"}"),
        ("three", 3, "{'descr': '|b1', 'fortran_order': False, 'shape': (4L, 5)}\n"),
        ("fields", 2, "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}"),
        ("big", 2, "{'descr': '>f4', 'fortran_order': False, 'shape': (1,)}"),
        ("empty", 2, "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 3)}"),
        ("huge", 2, "{'descr': '<f4', 'fortran_order': False, 'shape': (18446744073709551615, 9)}"),
    ] {
        let length = u32::try_from(dict.len()).expect("a short dict").to_le_bytes();
        let head = [b"\x93NUMPY".as_slice(), &[version, 0], &length];
        folder.seed(seed, &[head.concat().as_slice(), dict.as_bytes()].concat());
    }
}

/// Decisions, as `policy.rs` and `requests.rs` take them.
pub fn policy(folder: &Folder) {
    let driver = [21, 1];
    let connect = [0, 0, 0];
    let hello = [2, 0, 0, 0, 0];
    let create = |size: u8| [5, 0, 0, 1, 0, 0, size, 1, 0, 0, 0, 1, 1, 0];
    let made = [12, 0];
    let publish = [5, 7, 0, 1, 0];
    let get = [5, 4, 0, 1, 2, 0, 1, 0];
    let delete = [5, 8, 0, 0];
    let begin = [driver.as_slice(), &connect, &hello].concat();
    let life = [&begin, create(1).as_slice(), &made, &publish, &get, &delete].concat();
    folder.seed("life", &life);
    folder.seed(
        "large",
        &[&begin, create(4).as_slice(), &made, &create(5), &made, &[14, 0, 1]].concat(),
    );
    folder
        .seed("waits", &[&begin, get.as_slice(), &create(2), &made, &publish, &[17, 12]].concat());
    let claim = [5, 11, 2, 0, 0, 0, 1, 0];
    let back = [&life, [19].as_slice(), &driver, &connect, &[2, 0, 0, 1, 0], &claim].concat();
    folder.seed("restart", &back);
    folder.seed("died", &[&back, [16, 0, 19].as_slice()].concat());
    folder.seed("failing", &[&begin, [20, 2].as_slice(), &create(1), &made, &create(1)].concat());
}
