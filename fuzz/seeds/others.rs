//! Journals, settings, array headers, and a pond's life.

use millpond::{Dtype, Shape, npy};
use millpond_daemon::journal::write_frame;
use millpond_fuzz::config::LIMITS;
use millpond_keeper::config::{Config, KEYS};
use millpond_wire::samples;
use planus::Builder;

use crate::Folder;

/// The first byte is the kind of input: frames, a record, or decisions.
pub fn journal(folder: &Folder) {
    let (mut builder, mut frame, mut frames) = (Builder::new(), Vec::new(), vec![0]);
    for (seed, record) in samples::records() {
        let payload = record.encode(&mut builder);
        folder.seed(seed, &[&[1], payload].concat());
        write_frame(&mut frame, payload).expect("a short record");
        frames.extend_from_slice(&frame);
    }
    folder.seed("frames", &frames);
    folder.seed("frames-cut", &frames[..frames.len() - 9]);
    // Everything is held; a client, a mover, a slab and four tensors: one lasts, one is deleted,
    // one is late and one has used up its gets.
    let slab = [2, 0, 0, 1, 21, 1, 0, 1, 0, 1];
    let tensor = |id: u8, at: u8, deleted: u8, life: &[u8]| {
        let made = [6, id, id, 4, 0, 5, 0, 1, at, 0, 200, 1, 0, 1, 0, 0, 0, deleted];
        [made.as_slice(), life].concat()
    };
    let client = |id: u8, mover: u8| [0, id, 7, 1, 0, 1, 0, 0, 9, mover];
    let whole = [
        [2, 0xff].as_slice(),
        &client(0, 0),
        &client(1, 1),
        &slab,
        &tensor(0, 0, 0, &[0, 0, 0]),
        &tensor(1, 16, 1, &[0, 0, 0]),
        &tensor(2, 17, 0, &[1, 0, 9, 1, 0, 9, 0]),
        &tensor(3, 18, 0, &[0, 0, 1, 0, 2]),
        &[12, 3, 0, 0],
        &[8, 0, 0, 0, 4, 2, 1, 3],
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
    for (seed, text) in [
        ("limit", "--- # limits\r\nmemory_limit: 1.5 GiB # of each GPU\ndevice_name: 'A card'\n"),
        ("flow", "{memory_limit: 1g}\n"),
    ] {
        folder.seed(&format!("{seed}.yaml"), &[&[LIMITS], text.as_bytes()].concat());
    }
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
    let made = [12, 0];
    // A tensor named `b`, with a lease, for ever or with a life.
    let create_with = |id: u8, size: u8, life: &[u8]| {
        [&[5, 0, id, 1, 1, 0, size, 1, 0, 0, 0, 1, 1], life, &[0]].concat()
    };
    let create = |size: u8| create_with(0, size, &[0]);
    // A tensor of zeroes, without name or lease.
    let bare = |id: u8, size: u8| [5, 0, id, 0, 0, size, 1, 0, 0, 1, 0, 0, 0];
    let publish = [5, 7, 0, 1, 0, 0, 0];
    let get = |lease: u8| [5, 4, 1, 1, lease, 0, 1, 0];
    let delete = [5, 8, 0, 0];
    let begin = [driver.as_slice(), &connect, &hello].concat();
    let life = [&begin, create(1).as_slice(), &made, &publish, &get(2), &delete].concat();
    folder.seed("life", &life);
    folder.seed(
        "large",
        &[&begin, create(4).as_slice(), &made, &create_with(1, 5, &[0]), &made, &[14, 0, 1]]
            .concat(),
    );
    folder.seed(
        "waits",
        &[&begin, get(2).as_slice(), &create(2), &made, &publish, &[17, 12]].concat(),
    );
    let claim = [5, 11, 2, 0, 0, 0, 1, 0];
    let back = [&life, [19].as_slice(), &driver, &connect, &[2, 0, 0, 1, 0], &claim].concat();
    folder.seed("restart", &back);
    folder.seed("died", &[&back, [16, 0, 19].as_slice()].concat());
    folder.seed("failing", &[&begin, [20, 2].as_slice(), &create(1), &made, &create(1)].concat());

    // Lives: a time, a time without a lease, a number of gets; then a restart and a late end.
    let counted = create_with(0, 1, &[7, 3, 2, 2]);
    let lived = [&begin, counted.as_slice(), &made, &publish, &get(2), &[17, 6]].concat();
    folder.seed("lives", &[&lived, get(3).as_slice(), &[17, 13]].concat());
    folder.seed("lives-restart", &[&lived, [19, 17, 8, 16, 0, 17, 13].as_slice()].concat());
    let collect = |for_ms: u8, dry: u8| [5, 22, 1, for_ms, dry, 0];
    let two = [&begin, bare(0, 1).as_slice(), &made, &bare(1, 1)].concat();
    folder.seed("collect", &[&two, collect(0, 1).as_slice(), &collect(0, 0)].concat());
    let publish_as = |id: u8, token: u8| [5, 7, id, token, 1, 1, 1, 0];
    let replaced = [&two, publish_as(0, 1).as_slice(), &publish_as(1, 2), &[19]].concat();
    folder.seed("replace", &replaced);
    folder.seed("upgrade", &[&begin, [5, 23, 0, 0, 31, 1].as_slice()].concat());

    // Moves of every kind; the mover works, lies, hangs, dies or is left behind.
    let moves = |token: u8, id: u8| {
        let (put, get) = ([0, 0, token, id, 0, 0, 1], [1, 0, token + 1, id, 0, 0, 1]);
        let (copy, zero) = ([2, 1, 0, token + 2, id, 0, 0, 1], [3, token + 3, id, 0, 0, 1]);
        let asked = |what: &[u8]| [&[5, 17], what, &[0, 0]].concat();
        [asked(&put), asked(&get), asked(&copy), asked(&zero)].concat()
    };
    let start = [23, 0, 0];
    let ready = [25, 0, 0, 11];
    let done = [25, 0, 0, 0];
    let moving = [&two, moves(0, 0).as_slice(), &start, &ready].concat();
    folder.seed("moves", &[&moving, done.as_slice(), &done, &done, &[17, 9]].concat());
    folder.seed(
        "moves-failed",
        &[&moving, [25, 0, 0, 5, 25, 255, 0, 9, 25, 0, 0, 7].as_slice()].concat(),
    );
    folder.seed("mover-fails", &[&two, moves(0, 0).as_slice(), &start, &[25, 0, 0, 10]].concat());
    folder.seed("mover-not-started", &[&two, moves(0, 0).as_slice(), &[23, 255]].concat());
    folder.seed("mover-dies", &[&moving, delete.as_slice(), &[29, 1, 29, 0, 0]].concat());
    folder.seed(
        "mover-hangs",
        &[&moving, [17, 12, 17, 12].as_slice(), &delete, &moves(4, 1)].concat(),
    );
    let left = [&moving, delete.as_slice(), &[19], &driver, &connect, &hello].concat();
    folder
        .seed("mover-left", &[&left, moves(4, 1).as_slice(), &[29, 0, 0], &start, &ready].concat());
    let no_file = [5, 17, 0, 0, 0, 0, 0, 0, 1, 255, 0];
    folder.seed("moves-no-file", &[&two, no_file.as_slice()].concat());

    // Memory of a host: it is charged, the host starts and is charged, and allocates. Then the host
    // dies, or the daemon does, and the next one asks it what it has.
    let other = |id: u8, transport: u8| [5, 0, id, 1, 1, 129, 1, 1, 0, 0, 0, 1, 1, 0, transport, 0];
    let (charged, says) = ([12, 0], [25, 0, 0]);
    let hosted =
        [&begin, other(0, 0).as_slice(), &charged, &[23, 0], &says, &charged, &says, &publish]
            .concat();
    folder.seed("host", &[&hosted, get(2).as_slice(), &delete, &says].concat());
    folder.seed("host-dies", &[&hosted, get(2).as_slice(), &[31, 216, 0, 1], &get(3)].concat());
    let again = [&hosted, [19].as_slice(), &driver, &says, &says].concat();
    folder.seed("host-left", &[&again, connect.as_slice(), &hello, &other(1, 0)].concat());
    folder
        .seed("host-not-started", &[&begin, other(0, 0).as_slice(), &charged, &[23, 255]].concat());
    folder.seed("not-charged", &[&begin, other(0, 0).as_slice(), &[14, 0, 1, 0, 1]].concat());
    let at_once = [&begin, [31, 240, 1].as_slice(), &other(0, 1), &[23, 0, 1], &ready, &publish];
    folder.seed("pool", &[&at_once.concat(), get(2).as_slice(), &delete].concat());
    let fabric = [5, 0, 0, 1, 1, 240, 1, 1, 0, 0, 0, 1, 1, 0, 0];
    folder.seed("fabric", &[&begin, fabric.as_slice(), &made].concat());
    for (seed, transport) in [("adopt", 0), ("adopt-pool", 1), ("adopt-legacy", 2)] {
        let adopt = [5, 15, 128, 1, 0, 0, 0, 0, 0, 0, transport, 0, 0];
        let proved = [&begin, adopt.as_slice(), &charged, &[23, 0, 1], &ready].concat();
        folder.seed(seed, &[&proved, [5, 8, 0, 0].as_slice(), &[16, 0]].concat());
    }
}
