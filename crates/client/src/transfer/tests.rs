//! Transfers against a pond in a thread that keeps the bytes of one tensor.

use std::fs::File;
use std::io::{Cursor, Read, Seek, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use millpond_wire::message::{MoveWork, ReplyBody, RequestBody, TensorInfo, TensorMove};
use millpond_wire::{Dtype, ErrorKind, Mode, Shape, TensorId};

use super::moves::{MOVE_BYTES, cut};
use super::{Progress, PutSpec, Sink, Source};
use crate::connection::lock;
use crate::testing::{Does, FakePond, an_fd, failure, grant, info};
use crate::{Error, Pond};

type Bytes = Arc<Mutex<Vec<u8>>>;

/// A pond with one tensor, and what it does with moves before they are made.
struct Scene {
    pond: FakePond,
    bytes: Bytes,
    tensor: TensorInfo,
}

fn scene(
    count: usize,
    before: impl Fn(usize, &TensorMove) -> Option<Does> + Send + Sync + 'static,
) -> Scene {
    let tensor = TensorInfo {
        dtype: Dtype::U8,
        shape: Shape::new([count as u64]).unwrap(),
        bytes: count as u64,
        slab_bytes: 256 + count as u64,
        ..info("acts/x")
    };
    let bytes = Bytes::new(Mutex::new(vec![0xee; count]));
    let (own, known) = (Arc::clone(&bytes), tensor.clone());
    let pond = FakePond::start(move |connection, request| match &request.body {
        RequestBody::TensorInspect(_) => {
            Does::Reply(ReplyBody::Details { info: known.clone(), leases: Vec::new() })
        }
        RequestBody::TensorGet(get) => {
            Does::ReplyWith(grant(known.clone(), get.lease, get.mode), vec![an_fd()])
        }
        RequestBody::TensorCreate(create) => {
            let info = TensorInfo { tensor: create.tensor, name: None, ..known.clone() };
            let info = TensorInfo { ephemeral: create.ephemeral, ..info };
            let lease = create.lease.unwrap();
            Does::ReplyWith(grant(info, lease, Mode::ReadWrite), vec![an_fd()])
        }
        RequestBody::TensorMove(one) => {
            before(connection, one).unwrap_or_else(|| Does::Moves(Arc::clone(&own)))
        }
        _ => Does::Polite,
    });
    Scene { pond, bytes, tensor }
}

fn quiet(count: usize) -> Scene {
    scene(count, |_, _| None)
}

impl Scene {
    fn connect(&self) -> Pond {
        self.pond.builder().connect().unwrap()
    }

    fn moves(&self) -> Vec<(usize, TensorMove)> {
        let only = |(connection, body)| match body {
            RequestBody::TensorMove(one) => Some((connection, one)),
            _ => None,
        };
        self.pond.seen().into_iter().filter_map(only).collect()
    }
}

fn pattern(count: usize) -> Vec<u8> {
    let block: Vec<u8> = (0..251).collect();
    let mut bytes = block.repeat(count.div_ceil(block.len()));
    bytes.truncate(count);
    bytes
}

fn file_with(bytes: &[u8]) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file.rewind().unwrap();
    file
}

#[test]
fn a_transfer_is_cut_into_moves() {
    let tensor = TensorId::random();
    let jobs: Vec<_> =
        cut(tensor, MOVE_BYTES * 2 + 7, |offset| MoveWork::Put { file_offset: offset + 5 })
            .collect();
    let found: Vec<_> = jobs.iter().map(|job| (job.offset, job.bytes)).collect();
    assert_eq!(found, [(0, MOVE_BYTES), (MOVE_BYTES, MOVE_BYTES), (MOVE_BYTES * 2, 7)]);
    assert_eq!(jobs[1].work, MoveWork::Put { file_offset: MOVE_BYTES + 5 });
    assert_eq!(cut(tensor, 1, |_| MoveWork::Zero).count(), 1);
}

#[test]
fn a_file_goes_in_from_where_it_stands_and_out_again() {
    let scene = quiet(1000);
    let pond = scene.connect();
    let mut file = file_with(&pattern(1007));
    file.seek(std::io::SeekFrom::Start(7)).unwrap();
    let mut seen = Vec::new();
    let source = Source::file(file, "x").unwrap();
    assert_eq!(source.length(), Some(1000));
    let moved = pond.upload("acts/x", source, |progress| seen.push(progress)).unwrap();
    assert_eq!(moved.bytes, 1000);
    assert_eq!(seen, [0, 1000].map(|done| Progress { done, total: 1000 }));
    assert_eq!(*lock(&scene.bytes), pattern(1007)[7..]);

    let mut out = file_with(b"head");
    out.seek(std::io::SeekFrom::End(0)).unwrap();
    let sink = Sink::file(out.try_clone().unwrap(), "y").unwrap();
    pond.download("acts/x", sink, |_| {}).unwrap();
    out.rewind().unwrap();
    let mut written = Vec::new();
    out.read_to_end(&mut written).unwrap();
    assert_eq!(written, [b"head", &pattern(1007)[7..]].concat());
    scene.pond.wait_for(|_, body| matches!(body, RequestBody::LeaseRelease { .. }));
}

#[test]
fn a_stream_goes_through_a_few_memfds() {
    // Three parts, the last of one byte.
    let count = (128 << 20) + 1;
    let scene = quiet(count);
    let pond = scene.connect();
    let bytes = pattern(count);
    pond.upload("acts/x", Source::reader(Cursor::new(&bytes), "x"), |_| {}).unwrap();
    assert!(*lock(&scene.bytes) == bytes);
    let mut out = Vec::new();
    let mut last = 0;
    pond.download("acts/x", Sink::writer(&mut out, "y"), |now| last = now.done).unwrap();
    assert!(out == bytes);
    assert_eq!((last, scene.moves().len()), (count as u64, 6));
    for (_, one) in scene.moves() {
        assert!(one.bytes <= 64 << 20);
    }
}

#[test]
fn a_source_has_exactly_the_bytes_of_the_tensor() {
    let scene = quiet(100);
    let pond = scene.connect();
    let said = |source: Source<'_>| {
        let error = pond.upload("acts/x", source, |_| {}).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::File);
        error.to_string()
    };
    let file = |count| Source::file(file_with(&pattern(count)), "'x.bin'").unwrap();
    assert_eq!(said(file(99)), "'x.bin' has only 99 of the 100 bytes that tensor 'acts/x' takes");
    assert_eq!(said(file(105)), "'x.bin' has 5 bytes more than the 100 that tensor 'acts/x' takes");
    assert!(scene.moves().is_empty(), "nothing was moved");
    let stream = |count: usize| Source::reader(Cursor::new(pattern(count)), "standard input");
    assert_eq!(said(stream(99)), "standard input ended after 99 bytes; tensor 'acts/x' takes 100");
    assert_eq!(
        said(stream(101)),
        "standard input has more than the 100 bytes that tensor 'acts/x' takes"
    );
    let folder = Source::open(scene.pond.folder()).unwrap_err();
    assert!(folder.to_string().ends_with("is a folder, not a file"), "{folder}");
    let missing = Source::open("/nowhere/x").unwrap_err().to_string();
    assert!(missing.starts_with("opening '/nowhere/x': No such file"), "{missing}");
}

#[test]
fn a_file_that_is_written_meanwhile_is_refused() {
    let file = file_with(&pattern(100));
    let writer = Mutex::new(file.try_clone().unwrap());
    let scene = scene(100, move |_, _| {
        let mut writer = lock(&writer);
        writer.seek(std::io::SeekFrom::End(0)).unwrap();
        writer.write_all(b"more").unwrap();
        None
    });
    let source = Source::file(file, "'log'").unwrap();
    let error = scene.connect().upload("acts/x", source, |_| {}).unwrap_err();
    assert_eq!(error.to_string(), "'log' was changed while it was read");
}

#[test]
fn a_broken_connection_repeats_the_move_with_its_descriptor() {
    let scene = scene(500, |connection, _| (connection == 0).then_some(Does::HangUp));
    let source = Source::file(file_with(&pattern(500)), "x").unwrap();
    scene.connect().upload("acts/x", source, |_| {}).unwrap();
    assert_eq!(*lock(&scene.bytes), pattern(500));
    let moves = scene.moves();
    assert_eq!(moves.len(), 2);
    assert_eq!(moves[0].1, moves[1].1, "the same move");
    assert_ne!(moves[0].0, moves[1].0, "on another connection");
}

#[test]
fn a_move_whose_mover_died_is_repeated_a_few_times_under_a_new_name() {
    let deaths = Arc::new(AtomicUsize::new(2));
    let left = Arc::clone(&deaths);
    let scene = scene(64, move |_, _| {
        let died =
            left.fetch_update(Ordering::AcqRel, Ordering::Acquire, |left| left.checked_sub(1));
        died.is_ok().then(|| Does::Reply(failure(ErrorKind::Mover)))
    });
    let pond = scene.connect();
    let stream = || Source::reader(Cursor::new(pattern(64)), "x");
    pond.upload("acts/x", stream(), |_| {}).unwrap();
    let moves = scene.moves();
    assert_eq!(moves.len(), 3);
    assert_ne!(moves[0].1.token, moves[1].1.token);
    deaths.store(100, Ordering::Release);
    let error = pond.upload("acts/x", stream(), |_| {}).unwrap_err();
    assert_eq!((error.kind(), scene.moves().len()), (ErrorKind::Mover, 6));
}

#[test]
fn too_many_moves_are_waited_for() {
    let busy = AtomicUsize::new(3);
    let scene = scene(64, move |_, _| {
        let was =
            busy.fetch_update(Ordering::AcqRel, Ordering::Acquire, |left| left.checked_sub(1));
        was.is_ok().then(|| Does::Reply(failure(ErrorKind::TooMany)))
    });
    scene.connect().zero("acts/x").unwrap();
    assert_eq!(*lock(&scene.bytes), [0; 64]);
    assert_eq!(scene.moves().len(), 4);
}

#[test]
fn a_failed_move_ends_the_transfer_in_the_ponds_words() {
    let scene = scene(64, |_, _| Some(Does::Reply(failure(ErrorKind::NotFound))));
    let pond = scene.connect();
    let file = Source::file(file_with(&pattern(64)), "x").unwrap();
    assert_eq!(pond.upload("acts/x", file, |_| {}).unwrap_err().to_string(), "no: not_found");
    let stream = Source::reader(Cursor::new(pattern(64)), "x");
    assert_eq!(pond.upload("acts/x", stream, |_| {}).unwrap_err().to_string(), "no: not_found");
    let mut out = Vec::new();
    let error = pond.download("acts/x", Sink::writer(&mut out, "y"), |_| {}).unwrap_err();
    assert_eq!((error.kind(), out.len()), (ErrorKind::NotFound, 0));
}

#[test]
fn a_sink_that_is_closed_says_so() {
    struct Closed;
    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let scene = quiet(64);
    let sink = Sink::writer(Closed, "standard output");
    let error = scene.connect().download("acts/x", sink, |_| {}).unwrap_err();
    let broken = Some(std::io::ErrorKind::BrokenPipe);
    assert!(matches!(&error, Error::File { reason, .. } if *reason == broken), "{error}");
}

#[test]
fn a_put_makes_an_unnamed_tensor_and_names_it_in_the_end() {
    let scene = quiet(64);
    let pond = scene.connect();
    let spec = || PutSpec::new("acts/x", Dtype::U8, [64]);
    let source = || Source::file(file_with(&pattern(64)), "x").unwrap();
    let error = pond.put(spec(), source(), |_| {}).unwrap_err();
    assert_eq!(error.to_string(), "tensor 'acts/x' already exists");
    assert!(scene.moves().is_empty());
    let info = pond.put(spec().replace(true), source(), |_| {}).unwrap();
    assert_eq!(info.name.unwrap().as_str(), "acts/x");
    assert!(!info.ephemeral && info.tensor != scene.tensor.tensor);
    let mut steps = Vec::new();
    for (_, body) in scene.pond.seen() {
        match body {
            RequestBody::TensorCreate(create) => {
                assert!(create.name.is_none() && create.ephemeral);
                steps.push("create");
            }
            RequestBody::TensorMove(_) => steps.push("move"),
            RequestBody::TensorPublish(publish) => {
                assert_eq!((publish.tensor, publish.replace), (info.tensor, true));
                assert_eq!(publish.name.unwrap().as_str(), "acts/x");
                steps.push("publish");
            }
            _ => {}
        }
    }
    assert_eq!(steps, ["create", "move", "publish"]);
    let short = Source::file(file_with(&pattern(3)), "'s'").unwrap();
    let error = pond.put(spec().replace(true), short, |_| {}).unwrap_err();
    assert!(error.to_string().contains("tensor 'acts/x' takes"), "{error}");
    scene.pond.wait_for(|_, body| matches!(body, RequestBody::TensorDelete { .. }));
    let error = pond.put(PutSpec::new("public/x", Dtype::U8, [64]), source(), |_| {}).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
}

/// It has no name, and this process may go on for years.
#[test]
fn a_put_that_fails_leaves_no_tensor_when_the_pond_comes_back() {
    let failures = Arc::new(AtomicUsize::new(0));
    let failed = Arc::clone(&failures);
    let scene = scene(1000, move |_, _| {
        failed.fetch_add(1, Ordering::Relaxed);
        Some(Does::HangUp)
    });
    let pond = scene.connect();
    let spec = PutSpec::new("acts/new", Dtype::U8, [1000]);
    let error = pond.put(spec, Source::reader(Cursor::new(pattern(1000)), "it"), |_| {});
    assert_eq!(error.unwrap_err().kind(), ErrorKind::NoPond);
    assert!(failures.load(Ordering::Relaxed) > 1);
    let made = scene.pond.seen().into_iter().find_map(|(_, body)| match body {
        RequestBody::TensorCreate(create) => Some(create.tensor),
        _ => None,
    });
    let tensor = made.unwrap();
    scene.pond.wait_for(|_, body| *body == RequestBody::TensorDelete { tensor });
    assert_eq!(pond.live_leases(), 0);
}

#[test]
fn pieces_come_back_as_hashes_in_their_order_and_all_of_them() {
    use millpond_wire::{ContentHash, Piece, PiecesKind};
    let scene = quiet(100);
    *lock(&scene.bytes) = (0..100).collect();
    let link = scene.pond.link();
    let cut = vec![Piece { offset: 60, bytes: 40 }, Piece { offset: 0, bytes: 10 }];
    let hash = |pieces| {
        super::moves::pieces(&link, scene.tensor.tensor, PiecesKind::Hash, pieces, Vec::new(), None)
    };
    let bytes = lock(&scene.bytes).clone();
    let expected = [ContentHash::of(&bytes[60..]), ContentHash::of(&bytes[..10])];
    assert_eq!(hash(cut.clone()).unwrap(), expected);

    let short = scene_that_says(ReplyBody::Moved { bytes: 50, hashes: vec![expected[0]] });
    let link = short.pond.link();
    let error =
        super::moves::pieces(&link, scene.tensor.tensor, PiecesKind::Hash, cut, Vec::new(), None);
    let error = error.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Protocol);
    assert!(error.to_string().contains("1 hashes came for 2 pieces"), "{error}");
}

fn scene_that_says(answer: ReplyBody) -> Scene {
    scene(100, move |_, _| Some(Does::Reply(answer.clone())))
}
