//! The daemon and its movers, by bare messages: real processes, real files, real kills.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests are tests too"
)]

use std::fs::{self, File};
use std::os::fd::AsFd;

use millpond::{Dtype, ErrorKind, EventKind, TensorId, TensorSpec};
use millpond_tests::raw::encoded;
use millpond_tests::{Options, PATIENCE, Process, Raw, TestPond, eventually};
use millpond_wire::Token;
use millpond_wire::message::{MoveWork, ReplyBody, RequestBody, TensorMove};

const MIB: u64 = 1 << 20;

/// A pond, somebody who moves, and files.
struct Scene {
    pond: TestPond,
    raw: Raw,
    number: std::cell::Cell<u64>,
}

impl Scene {
    fn start(options: Options) -> Self {
        let pond = TestPond::start(options);
        let raw = Raw::connect(&pond.runtime_dir());
        raw.be_welcome();
        Self { pond, raw, number: 10.into() }
    }

    fn tensor(&self, name: &str, bytes: u64) -> TensorId {
        let spec = TensorSpec::new(name, Dtype::U8, [bytes]).zero(true);
        self.pond.control().reserve(spec).unwrap().tensor
    }

    fn file(&self, name: &str, bytes: &[u8]) -> File {
        let path = self.pond.path(name);
        fs::write(&path, bytes).unwrap();
        File::options().read(true).write(true).open(path).unwrap()
    }

    fn send(&self, what: TensorMove, file: Option<&File>) -> u64 {
        let number = self.number.replace(self.number.get() + 1);
        let bytes = encoded(number, RequestBody::TensorMove(what));
        let fds: Vec<_> = file.iter().map(|file| file.as_fd()).collect();
        self.raw.send_fds(&bytes, &fds);
        number
    }

    fn answer(&self, number: u64) -> Result<u64, millpond::Failure> {
        loop {
            let (reply, _) = self.raw.receive().expect("an answer");
            if reply.number == number {
                return match reply.body {
                    ReplyBody::Moved { bytes, .. } => Ok(bytes),
                    ReplyBody::Failure(failure) => Err(failure),
                    other => panic!("{other:?}"),
                };
            }
        }
    }

    fn moves(&self, what: TensorMove, file: Option<&File>) -> Result<u64, millpond::Failure> {
        let number = self.send(what, file);
        self.answer(number)
    }

    fn mover_pid(&self) -> Option<u32> {
        self.pond.status().movers.first().map(|mover| mover.pid)
    }
}

fn put(tensor: TensorId, bytes: u64) -> TensorMove {
    let work = MoveWork::Put { file_offset: 0 };
    TensorMove { token: Token::random(), tensor, offset: 0, bytes, work }
}

fn get(tensor: TensorId, bytes: u64) -> TensorMove {
    TensorMove { work: MoveWork::Get { file_offset: 0 }, ..put(tensor, bytes) }
}

/// Bytes that no other place has.
fn pattern(bytes: u64) -> Vec<u8> {
    (0..bytes).map(|at| (at ^ (at >> 8) ^ (at >> 16)).to_le_bytes()[0]).collect()
}

#[test]
fn bytes_go_in_across_and_out_again() {
    let scene = Scene::start(Options::giving_back());
    let (x, y) = (scene.tensor("x", 9 * MIB), scene.tensor("y", 40 * MIB));
    let bytes = pattern(9 * MIB);
    let source = scene.file("in", &bytes);
    assert_eq!(scene.moves(put(x, 9 * MIB), Some(&source)).unwrap(), 9 * MIB);
    let across = MoveWork::Copy { from: x, from_offset: 5 };
    let copy = TensorMove { offset: 7, work: across, ..put(y, 8 * MIB) };
    assert_eq!(scene.moves(copy, None).unwrap(), 8 * MIB);
    let zero = TensorMove { offset: 9, work: MoveWork::Zero, ..put(y, 4) };
    assert_eq!(scene.moves(zero, None).unwrap(), 4);
    let sink = scene.file("out", b"");
    let out = TensorMove { offset: 7, ..get(y, 8 * MIB) };
    assert_eq!(scene.moves(out, Some(&sink)).unwrap(), 8 * MIB);
    let mut expected = bytes[5..][..usize::try_from(8 * MIB).unwrap()].to_vec();
    expected[2..6].fill(0);
    assert!(fs::read(scene.pond.path("out")).unwrap() == expected);
    let status = scene.pond.status();
    assert_eq!((status.movers.len(), status.movers[0].moves, status.leases), (1, 0, 0));
    assert!(scene.pond.control().clients().unwrap().iter().any(|client| client.mover));
    scene.pond.control().delete("x").unwrap();
    scene.pond.control().delete("y").unwrap();
    eventually("no slab", || (scene.pond.accounts().slabs == 0).then_some(()));
}

#[test]
fn a_killed_mover_is_an_answer_and_the_next_one_goes_on() {
    let scene = Scene::start(Options::new());
    let x = scene.tensor("x", 64 * MIB);
    let source = scene.file("in", &pattern(64 * MIB));
    let mut failed = 0;
    for round in 0..12_u64 {
        let number = scene.send(put(x, 64 * MIB), Some(&source));
        let pid = eventually("a mover", || scene.mover_pid());
        std::thread::sleep(std::time::Duration::from_millis(round));
        let mover = Process::open(pid).unwrap();
        mover.kill();
        match scene.answer(number) {
            Ok(_) => {}
            Err(failure) => {
                assert_eq!(failure.kind, ErrorKind::Mover, "{failure}");
                failed += 1;
            }
        }
        // A kill that came too late must not be the next move's end.
        eventually("the end of the mover", || (scene.mover_pid() != Some(pid)).then_some(()));
    }
    assert!(failed > 0, "no kill came in time");
    assert_eq!(scene.moves(put(x, 64 * MIB), Some(&source)).unwrap(), 64 * MIB);
    let sink = scene.file("out", b"");
    scene.moves(get(x, 64 * MIB), Some(&sink)).unwrap();
    assert!(fs::read(scene.pond.path("out")).unwrap() == pattern(64 * MIB));
}

#[test]
fn a_mover_that_hangs_is_replaced_while_others_are_served() {
    let options = Options::new()
        .soft()
        .flag("--mover-seconds", "1")
        .env("MILLPOND_MOVER_FAULT", "hang-before-job:2");
    let scene = Scene::start(options);
    let x = scene.tensor("x", MIB);
    let source = scene.file("in", &pattern(MIB));
    assert_eq!(scene.moves(put(x, MIB), Some(&source)).unwrap(), MIB);
    let hangs = scene.send(put(x, MIB), Some(&source));
    let pid = scene.mover_pid();
    for _ in 0..100 {
        scene.pond.control().inspect("x").unwrap();
    }
    let failure = scene.answer(hangs).unwrap_err();
    assert_eq!(failure.kind, ErrorKind::Mover, "{failure}");
    assert_eq!(scene.moves(put(x, MIB), Some(&source)).unwrap(), MIB);
    assert_ne!(scene.mover_pid(), pid);
    let mut events = scene.pond.control().events(1).unwrap();
    let lost =
        std::iter::from_fn(|| events.next()?.ok()).find(|it| it.kind == EventKind::MoverLost);
    assert!(lost.is_some_and(|event| event.text.contains("nothing for too long")));
}

#[test]
fn a_mover_without_work_gives_its_memory_back() {
    let scene = Scene::start(Options::new().flag("--mover-idle-seconds", "1"));
    let x = scene.tensor("x", MIB);
    let source = scene.file("in", &pattern(MIB));
    scene.moves(put(x, MIB), Some(&source)).unwrap();
    let pid = scene.mover_pid().unwrap();
    eventually("no mover", || scene.mover_pid().is_none().then_some(()));
    assert!(Process::open(pid).is_err(), "its process is gone and reaped");
    scene.moves(put(x, MIB), Some(&source)).unwrap();
}

#[test]
fn a_killed_daemon_takes_its_mover_along() {
    let scene = Scene::start(Options::giving_back());
    let x = scene.tensor("x", 64 * MIB);
    let source = scene.file("in", &pattern(64 * MIB));
    for _ in 0..5 {
        let raw = Raw::connect(&scene.pond.runtime_dir());
        raw.be_welcome();
        raw.send_fds(&encoded(5, RequestBody::TensorMove(put(x, 64 * MIB))), &[source.as_fd()]);
        let pid = eventually("a mover", || scene.mover_pid());
        let mover = Process::open(pid).unwrap();
        scene.pond.kill_daemon();
        assert!(mover.wait(PATIENCE), "its mover lives on");
    }
    let raw = Raw::connect(&scene.pond.runtime_dir());
    raw.be_welcome();
    let scene = Scene { raw, ..scene };
    assert_eq!(scene.moves(put(x, 64 * MIB), Some(&source)).unwrap(), 64 * MIB);
    scene.pond.control().delete("x").unwrap();
    eventually("no slab", || (scene.pond.accounts().slabs == 0).then_some(()));
}

#[test]
fn what_is_not_a_file_is_refused_and_a_short_one_says_so() {
    let scene = Scene::start(Options::new());
    let x = scene.tensor("x", MIB);
    let (pipe, _end) = rustix::pipe::pipe().unwrap();
    let failure = scene.moves(put(x, MIB), Some(&File::from(pipe))).unwrap_err();
    assert_eq!(failure.kind, ErrorKind::File, "{failure}");
    let folder = File::open(scene.pond.runtime_dir()).unwrap();
    let failure = scene.moves(put(x, MIB), Some(&folder)).unwrap_err();
    assert_eq!(failure.kind, ErrorKind::File, "{failure}");
    let short = scene.file("short", &pattern(MIB - 1));
    let failure = scene.moves(put(x, MIB), Some(&short)).unwrap_err();
    assert_eq!(failure.kind, ErrorKind::File, "{failure}");
    assert!(failure.message.contains(&(MIB - 1).to_string()), "{failure}");
}
