//! Bytes are moved by a process that may die, hang or lie.

use millpond_mover::channel::{FromMover, Why, Work};
use millpond_wire::message::{EventKind, MoveWork, PartSpec, TensorMove, VersionStage};
use millpond_wire::{Audience, ErrorKind, LeaseId, Piece, PiecesKind, Run, Token, VersionId};

use super::*;

const FILE: u64 = 900;
pub(super) const PIDFD: u64 = 901;

fn what(tensor: TensorId, work: MoveWork, bytes: u64) -> TensorMove {
    TensorMove { token: Token::random(), tensor, offset: 0, bytes, work }
}

pub(super) fn put(tensor: TensorId, bytes: u64) -> TensorMove {
    what(tensor, MoveWork::Put { file_offset: 0 }, bytes)
}

impl Play {
    /// Asks for a move; its answer comes later.
    pub(super) fn start_move(&mut self, conn: ConnId, what: TensorMove) -> u64 {
        let number = self.next_number;
        self.next_number += 1;
        let fd = what.work.has_file().then_some(FILE);
        let body = RequestBody::TensorMove(what);
        self.pond.message(&mut self.world, conn, Ok(Request { number, body }), fd);
        number
    }

    fn refused_move(&mut self, conn: ConnId, what: TensorMove) -> ErrorKind {
        let number = self.start_move(conn, what);
        match self.answer(number) {
            Some(ReplyBody::Failure(failure)) => failure.kind,
            other => panic!("not refused: {other:?}"),
        }
    }

    /// The mover that was asked for runs and is ready.
    pub(super) fn mover_runs(&mut self) {
        assert_eq!(self.world.movers_wanted.pop(), Some(GPU));
        self.pond.mover_started(&mut self.world, GPU, 77, PIDFD);
        self.says(FromMover::Ready { context_bytes: 0 });
    }

    pub(super) fn says(&mut self, said: FromMover) {
        self.pond.mover_said(&mut self.world, GPU, said, None);
    }

    /// The jobs that the mover was given since the last time.
    fn jobs(&mut self) -> Vec<(u64, Work)> {
        let told = std::mem::take(&mut self.world.told);
        let job = |(message, _): &(ToMover, Option<u64>)| match message {
            ToMover::Job(job) => Some((job.job, job.work.clone())),
            _ => None,
        };
        told.iter().filter_map(job).collect()
    }

    pub(super) fn mover_client(&self) -> Option<ClientId> {
        let movers = self.pond.clients.iter().filter(|(_, client)| client.mover);
        movers.map(|(id, _)| id).next()
    }

    pub(super) fn mover_dies(&mut self) {
        let client = self.mover_client().expect("a mover");
        self.pond.process_gone(&mut self.world, client);
    }
}

#[test]
fn a_put_is_mapped_moved_answered_and_unmapped() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (info, _) = play.create(conn, spec("x", 40 * MIB));
    let first = play.start_move(conn, put(info.tensor, MIB));
    let second = play.start_move(conn, TensorMove { offset: MIB, ..put(info.tensor, MIB) });
    play.mover_runs();
    assert!(
        matches!(play.world.told[0], (ToMover::Map { slab, .. }, Some(_)) if slab == info.slab)
    );
    assert!(matches!(play.world.told[1], (ToMover::Job(_), Some(FILE))));
    let jobs = play.jobs();
    assert_eq!(jobs.len(), 2, "the next one waits in the mover, not here");
    // While it works, its lease keeps the memory, and the next daemon knows about it.
    assert_eq!(play.pond.leases.count_on(info.tensor), 1);
    assert!(play.world.held.values().any(|fd| *fd == PIDFD));
    play.delete(conn, info.tensor);
    play.says(FromMover::Done { job: jobs[0].0, hashes: Vec::new() });
    assert_eq!(play.answer(first), Some(ReplyBody::Moved { bytes: MIB, hashes: vec![] }));
    assert!(play.exists(info.tensor) && play.world.told.is_empty());
    play.says(FromMover::Done { job: jobs[1].0, hashes: Vec::new() });
    assert_eq!(play.answer(second), Some(ReplyBody::Moved { bytes: MIB, hashes: vec![] }));
    assert!(!play.exists(info.tensor));
    assert!(matches!(play.world.told[..], [(ToMover::Unmap { slab }, None)] if slab == info.slab));
    play.check_held();
}

#[test]
fn a_mover_without_work_is_ended_and_the_next_one_starts_when_it_is_gone() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (info, _) = play.create(conn, spec("x", MIB));
    play.start_move(conn, put(info.tensor, 10));
    play.mover_runs();
    let job = play.jobs()[0].0;
    play.says(FromMover::Done { job, hashes: Vec::new() });
    play.world.told.clear();
    play.world.now += 499;
    assert_eq!(play.pond.tick(&mut play.world), Some(500));
    assert!(play.world.told.is_empty());
    play.world.now += 1;
    play.pond.tick(&mut play.world);
    assert!(matches!(play.world.told[..], [(ToMover::Stop, None)]));
    let late = play.start_move(conn, put(info.tensor, 10));
    assert!(play.world.movers_wanted.is_empty());
    play.mover_dies();
    play.mover_runs();
    let job = play.jobs()[0].0;
    play.says(FromMover::Done { job, hashes: Vec::new() });
    assert_eq!(play.answer(late), Some(ReplyBody::Moved { bytes: 10, hashes: vec![] }));
    assert!(play.world.killed.is_empty());
}

fn staging(lease: Option<LeaseId>) -> VersionStage {
    VersionStage {
        version: VersionId::random(),
        model: "m".parse().unwrap(),
        tag: None,
        device: None,
        audience: Audience::User,
        parts: vec![PartSpec { bytes: 4 * MIB, shared: None }],
        lease,
    }
}

#[test]
fn a_version_that_its_maker_does_not_map_starts_the_mover_ahead() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let stage = staging(None);
    play.start(conn, RequestBody::VersionStage(stage.clone()));
    assert_eq!(play.world.movers_wanted, [GPU], "before its slabs are there");
    let ReplyBody::Version(staged) = play.ask(conn, RequestBody::VersionStage(stage)) else {
        panic!("not staged")
    };
    // The move finds it on its way, or there.
    let number = play.start_move(conn, put(staged.parts[0].tensor, MIB));
    play.mover_runs();
    assert!(play.world.movers_wanted.is_empty());
    let job = play.jobs()[0].0;
    play.says(FromMover::Done { job, hashes: Vec::new() });
    assert_eq!(play.answer(number), Some(ReplyBody::Moved { bytes: MIB, hashes: vec![] }));
}

#[test]
fn a_version_that_its_maker_maps_starts_no_mover() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    play.ask(conn, RequestBody::VersionStage(staging(Some(LeaseId(3)))));
    assert!(play.world.movers_wanted.is_empty());
}

#[test]
fn moves_that_are_expected_start_one_mover_and_no_second() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    for device in [None, Some(GPU), None] {
        let expected = RequestBody::MovesExpected { device, name: None };
        assert_eq!(play.ask(conn, expected), ReplyBody::Done);
    }
    assert_eq!(play.world.movers_wanted, [GPU]);
    play.mover_runs();
    assert_eq!(play.pond.mover_list()[0].pid, 77, "it is shown before it has work");
    play.ask(conn, RequestBody::MovesExpected { device: None, name: None });
    play.ask(conn, RequestBody::VersionStage(staging(None)));
    assert!(play.world.movers_wanted.is_empty());
    // One that nobody has used ends in time, however often somebody expects something.
    play.world.told.clear();
    play.world.now += 400;
    play.ask(conn, RequestBody::MovesExpected { device: None, name: None });
    play.world.now += 100;
    play.pond.tick(&mut play.world);
    assert!(matches!(play.world.told[..], [(ToMover::Stop, None)]));
}

#[test]
fn moves_on_a_gpu_that_is_not_there_start_no_mover() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let elsewhere = RequestBody::MovesExpected { device: Some(GpuUuid([9; 16])), name: None };
    assert_eq!(play.refused(conn, elsewhere).kind, ErrorKind::NoDevice);
    play.pond.gpus.forget_driver();
    assert_eq!(
        play.ask(conn, RequestBody::MovesExpected { device: Some(GPU), name: None }),
        ReplyBody::Done
    );
    assert!(play.world.movers_wanted.is_empty(), "the driver has not said which GPUs there are");
}

#[test]
fn a_mover_that_was_started_ahead_and_gets_no_work_is_shown_and_ended() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    play.ask(conn, RequestBody::VersionStage(staging(None)));
    play.mover_runs();
    let shown = play.pond.mover_list();
    assert_eq!((shown[0].pid, shown[0].moves), (77, 0));
    // The next version finds it.
    play.ask(conn, RequestBody::VersionStage(staging(None)));
    assert!(play.world.movers_wanted.is_empty());
    play.world.told.clear();
    play.world.now += 500;
    play.pond.tick(&mut play.world);
    assert!(matches!(play.world.told[..], [(ToMover::Stop, None)]));
    play.mover_dies();
    assert!(play.world.movers_wanted.is_empty() && play.mover_client().is_none());
    assert!(play.world.killed.is_empty());
}

#[test]
fn a_mover_that_cannot_be_started_ahead_is_tried_again_for_the_move() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let ReplyBody::Version(staged) = play.ask(conn, RequestBody::VersionStage(staging(None)))
    else {
        panic!("not staged")
    };
    assert_eq!(play.world.movers_wanted.pop(), Some(GPU));
    play.pond.mover_not_started(&mut play.world, GPU, "no room");
    play.start_move(conn, put(staged.parts[0].tensor, MIB));
    play.mover_runs();
    assert_eq!(play.jobs().len(), 1);
}

#[test]
fn a_dead_movers_jobs_fail_when_it_is_gone_and_its_slabs_are_not_recycled() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (info, _) = play.create(conn, spec("x", 100));
    let number = play.start_move(conn, put(info.tensor, 10));
    play.mover_runs();
    play.pond.mover_hung_up(&mut play.world, GPU);
    assert_eq!(play.answer(number), None, "it may still write");
    play.mover_dies();
    let Some(ReplyBody::Failure(failure)) = play.answer(number) else { panic!("no answer") };
    assert_eq!(failure.kind, ErrorKind::Mover);
    let (next, _) = play.create(conn, spec("y", 100));
    assert_ne!(next.slab, info.slab);
    play.check_held();
}

#[test]
fn a_mover_that_hangs_is_killed_after_a_time_that_its_work_explains() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (info, _) = play.create(conn, spec("x", 40 * MIB));
    let number = play.start_move(conn, put(info.tensor, 40 * MIB));
    play.mover_runs();
    play.world.now += 1001;
    let again = play.pond.tick(&mut play.world).unwrap();
    assert!(again > play.world.now && play.world.killed.is_empty());
    play.world.now = again;
    play.pond.tick(&mut play.world);
    assert_eq!(play.world.killed, [PIDFD]);
    assert_eq!(play.answer(number), None);
    // And if even that does not end it, nobody waits for it.
    play.world.now += 1000;
    play.pond.tick(&mut play.world);
    let Some(ReplyBody::Failure(failure)) = play.answer(number) else { panic!("no answer") };
    assert_eq!(failure.kind, ErrorKind::Mover);
    play.delete(conn, info.tensor);
    assert!(play.exists(info.tensor), "it may still write there");
    play.mover_dies();
    assert!(!play.exists(info.tensor));
    play.check_held();
}

#[test]
fn more_work_is_no_sign_of_life() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (info, _) = play.create(conn, spec("x", MIB));
    play.start_move(conn, put(info.tensor, 10));
    play.mover_runs();
    for _ in 0..5 {
        play.world.now += 300;
        play.pond.tick(&mut play.world);
        play.start_move(conn, put(info.tensor, 10));
    }
    assert_eq!(play.world.killed, [PIDFD]);
}

#[test]
fn a_mover_that_cannot_start_is_an_answer() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (info, _) = play.create(conn, spec("x", 100));
    let number = play.start_move(conn, put(info.tensor, 10));
    play.pond.mover_not_started(&mut play.world, GPU, "no such file");
    let Some(ReplyBody::Failure(failure)) = play.answer(number) else { panic!("no answer") };
    assert!(failure.message.contains("no such file"), "{failure}");
    play.world.movers_wanted.clear();
    let number = play.start_move(conn, put(info.tensor, 10));
    assert_eq!(play.world.movers_wanted, [GPU], "the next move tries again");
    play.pond.mover_started(&mut play.world, GPU, 77, PIDFD);
    play.world.movers_wanted.clear();
    play.says(FromMover::Failed { text: "no context".into() });
    let Some(ReplyBody::Failure(failure)) = play.answer(number) else { panic!("no answer") };
    assert!(failure.message.contains("no context"), "{failure}");
}

#[test]
fn a_repeat_joins_the_move_that_is_under_way() {
    let mut play = Play::new();
    let (conn, client) = play.client(1);
    let (info, _) = play.create(conn, spec("x", 100));
    let what = put(info.tensor, 10);
    play.start_move(conn, what.clone());
    play.mover_runs();
    let job = play.jobs()[0].0;
    play.pond.hung_up(&mut play.world, conn);
    let conn = play.connect(1);
    play.hello(conn, client, false);
    let again = play.start_move(conn, what);
    assert!(play.jobs().is_empty());
    play.says(FromMover::Done { job, hashes: Vec::new() });
    assert_eq!(play.answer(again), Some(ReplyBody::Moved { bytes: 10, hashes: vec![] }));
}

#[test]
fn the_token_of_anothers_move_joins_nothing() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (other, _) = play.client(2);
    let (info, _) = play.create(conn, spec("x", 100));
    let (theirs, _) = play.create(other, spec("x", 100));
    let what = put(info.tensor, 10);
    let mine = play.start_move(conn, what.clone());
    let guessed = TensorMove { token: what.token, ..put(theirs.tensor, 10) };
    assert_eq!(play.refused_move(other, what), ErrorKind::NotFound);
    play.start_move(other, guessed);
    play.mover_runs();
    let jobs = play.jobs();
    assert_eq!(jobs.len(), 2);
    play.says(FromMover::Done { job: jobs[0].0, hashes: Vec::new() });
    assert_eq!(play.answer(mine), Some(ReplyBody::Moved { bytes: 10, hashes: vec![] }));
}

#[test]
fn a_copy_says_where_both_lie_and_lets_both_go() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    play.create(conn, spec("first", 100));
    let (from, _) = play.create(conn, TensorCreate { zero: true, ..spec("from", 100) });
    let (to, _) = play.create(conn, spec("to", 40 * MIB));
    let copy = MoveWork::Copy { from: from.tensor, from_offset: 7 };
    let number = play.start_move(conn, TensorMove { offset: 5, ..what(to.tensor, copy, 10) });
    play.mover_runs();
    let jobs = play.jobs();
    let Work::Copy { slab, offset, bytes, from: source, from_offset } = jobs[0].1 else {
        panic!("{jobs:?}")
    };
    assert_eq!((slab, offset, bytes), (to.slab, 5, 10));
    assert_eq!((source, from_offset), (from.slab, from.offset + 7));
    assert!(from.offset > 0);
    play.delete(conn, from.tensor);
    play.delete(conn, to.tensor);
    assert!(play.exists(from.tensor) && play.exists(to.tensor), "the mover has both");
    play.says(FromMover::Done { job: jobs[0].0, hashes: Vec::new() });
    assert_eq!(play.answer(number), Some(ReplyBody::Moved { bytes: 10, hashes: vec![] }));
    assert!(!play.exists(from.tensor) && !play.exists(to.tensor));
    let unmapped = |(told, _): &(ToMover, Option<u64>)| match told {
        ToMover::Unmap { slab } => Some(*slab),
        _ => None,
    };
    let unmapped: HashSet<SlabId> = play.world.told.iter().filter_map(unmapped).collect();
    assert_eq!(unmapped, HashSet::from([from.slab, to.slab]));
    play.check_held();
}

#[test]
fn a_move_whose_lease_cannot_be_recorded_is_answered() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (info, _) = play.create(conn, spec("x", 100));
    let number = play.start_move(conn, put(info.tensor, 10));
    play.world.journal_fails = true;
    play.mover_runs();
    assert!(matches!(play.answer(number), Some(ReplyBody::Failure(_))));
    assert!(play.jobs().is_empty() && play.pond.is_idle());
}

#[test]
fn what_is_deleted_is_moved_only_by_who_holds_a_lease() {
    let mut play = Play::new();
    let (holder, _) = play.client(1);
    let (other, _) = play.client(1);
    let create = TensorCreate { lease: Some(LeaseId(1)), ..spec("x", 100) };
    let (info, _) = play.create(holder, create);
    play.delete(holder, info.tensor);
    let read = || what(info.tensor, MoveWork::Get { file_offset: 0 }, 1);
    for bad in [put(info.tensor, 1), read()] {
        assert_eq!(play.refused_move(other, bad), ErrorKind::NotFound);
    }
    let numbers = [put(info.tensor, 1), read()].map(|what| play.start_move(holder, what));
    play.mover_runs();
    assert_eq!(play.jobs().len(), 2);
    assert!(numbers.iter().all(|number| play.answer(*number).is_none()));
}

#[test]
fn a_mover_says_what_its_context_takes_and_the_next_one_says_it_anew() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (info, _) = play.create(conn, spec("x", 100));
    let context = |play: &Play| play.pond.mover_list()[0].context_bytes;
    for context_bytes in [500 * MIB, 300 * MIB] {
        play.start_move(conn, put(info.tensor, 10));
        assert_eq!(play.world.movers_wanted.pop(), Some(GPU));
        play.pond.mover_started(&mut play.world, GPU, 77, PIDFD);
        assert_eq!(context(&play), 0, "not known yet");
        play.says(FromMover::Ready { context_bytes });
        assert_eq!(context(&play), context_bytes);
        play.mover_dies();
    }
}

#[test]
fn a_mover_that_is_being_ended_gets_no_more_work_whatever_it_says() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (info, _) = play.create(conn, spec("x", 100));
    play.start_move(conn, put(info.tensor, 10));
    play.mover_runs();
    let job = play.jobs()[0].0;
    play.says(FromMover::JobFailed { job, why: Why::Driver, text: "no".into() });
    assert_eq!(play.world.killed, [PIDFD]);
    play.says(FromMover::Ready { context_bytes: 0 });
    play.start_move(conn, put(info.tensor, 10));
    assert!(play.jobs().is_empty());
    play.mover_dies();
    play.mover_runs();
    assert_eq!(play.jobs().len(), 1);
}

#[test]
fn a_request_that_a_repeat_on_its_own_connection_replaces_is_answered_too() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (info, _) = play.create(conn, spec("x", 100));
    let what = put(info.tensor, 10);
    let first = play.start_move(conn, what.clone());
    let second = play.start_move(conn, what);
    let Some(ReplyBody::Failure(failure)) = play.answer(first) else { panic!("no answer") };
    assert_eq!(failure.kind, ErrorKind::Invalid);
    play.mover_runs();
    let jobs = play.jobs();
    assert_eq!(jobs.len(), 1);
    play.says(FromMover::Done { job: jobs[0].0, hashes: Vec::new() });
    assert_eq!(play.answer(second), Some(ReplyBody::Moved { bytes: 10, hashes: vec![] }));
    assert_eq!(play.pond.parked.count_of(conn), 0);
}

#[test]
fn who_hangs_up_before_its_move_began_is_forgotten() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (info, _) = play.create(conn, spec("x", 100));
    play.start_move(conn, put(info.tensor, 10));
    play.pond.hung_up(&mut play.world, conn);
    play.mover_runs();
    assert!(play.jobs().is_empty() && play.pond.is_idle());
}

#[test]
fn the_next_daemon_ends_the_movers_of_the_last_and_waits_for_their_end() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (info, _) = play.create(conn, spec("x", 100));
    play.start_move(conn, put(info.tensor, 10));
    play.mover_runs();
    play.restart();
    assert_eq!(play.world.killed, [PIDFD]);
    let (conn, _) = play.client(1);
    play.start_move(conn, put(info.tensor, 10));
    assert!(play.world.movers_wanted.is_empty(), "the old one may still write");
    play.delete(conn, info.tensor);
    assert!(play.exists(info.tensor));
    play.mover_dies();
    assert_eq!(play.world.movers_wanted, [GPU]);
    play.check_held();
}

#[test]
fn a_mover_that_rests_is_not_known_to_the_next_daemon() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (info, _) = play.create(conn, spec("x", 100));
    play.start_move(conn, put(info.tensor, 10));
    play.mover_runs();
    let job = play.jobs()[0].0;
    play.says(FromMover::Done { job, hashes: Vec::new() });
    play.restart();
    assert!(play.world.killed.is_empty() && play.mover_client().is_none());
}

#[test]
fn what_cannot_be_moved_is_refused_at_once() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (other, _) = play.client(2);
    let (writing, _) = play.create(conn, spec("x", 100));
    let (ready, _) = play.create(conn, TensorCreate { zero: true, ..spec("y", 100) });
    let get = MoveWork::Get { file_offset: 0 };
    let copy = |from: &TensorInfo, from_offset| MoveWork::Copy { from: from.tensor, from_offset };
    for (what, kind) in [
        (put(writing.tensor, 101), ErrorKind::Invalid),
        (TensorMove { offset: u64::MAX, ..put(writing.tensor, 1) }, ErrorKind::Invalid),
        (what(writing.tensor, get, 1), ErrorKind::NotReady),
        (what(ready.tensor, copy(&writing, 0), 1), ErrorKind::NotReady),
        (what(ready.tensor, copy(&ready, 1), 2), ErrorKind::Invalid),
        (what(TensorId::random(), MoveWork::Zero, 1), ErrorKind::NotFound),
    ] {
        assert_eq!(play.refused_move(conn, what.clone()), kind, "{what:?}");
    }
    assert_eq!(play.refused_move(other, put(ready.tensor, 1)), ErrorKind::NotFound);
    let none = play.start_move(conn, put(ready.tensor, 0));
    assert_eq!(play.answer(none), Some(ReplyBody::Moved { bytes: 0, hashes: vec![] }));
    assert!(play.world.movers_wanted.is_empty());
}

/// A mover ends itself over such a job, and with it everybody's moves.
#[test]
fn pieces_that_no_mover_takes_are_refused_before_they_are_sent() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    play.create(conn, spec("first", 100));
    let (ready, _) = play.create(conn, TensorCreate { zero: true, ..spec("x", 4 * MIB) });
    let (small, _) = play.create(conn, TensorCreate { zero: true, ..spec("y", 100) });
    assert!(small.offset > 0);
    let piece = |offset, bytes| Piece { offset, bytes };
    let run = |file_offset, bytes| Run { file_offset, bytes };
    let pieces = |tensor: &TensorInfo, kind, pieces: Vec<Piece>, runs: Vec<Run>| {
        let bytes = pieces.iter().map(|piece| piece.bytes).sum();
        what(tensor.tensor, MoveWork::Pieces { kind, pieces, runs }, bytes)
    };
    let together = vec![piece(0, 4 * MIB); 65];
    let last = u64::try_from(i64::MAX).unwrap();
    for bad in [
        pieces(&ready, PiecesKind::Hash, together, vec![]),
        pieces(&ready, PiecesKind::HashFile, vec![piece(0, 2)], vec![run(last - 1, 2)]),
        pieces(&small, PiecesKind::HashFile, vec![piece(u64::MAX - 2, 2)], vec![run(0, 2)]),
    ] {
        assert_eq!(play.refused_move(conn, bad), ErrorKind::Invalid);
    }
    assert!(play.world.movers_wanted.is_empty());
    let good = pieces(&ready, PiecesKind::Load, vec![piece(0, 2)], vec![run(last - 2, 2)]);
    play.start_move(conn, good);
    play.mover_runs();
    let jobs = play.jobs();
    let Work::Pieces(sent) = &jobs[0].1 else { panic!("{jobs:?}") };
    assert_eq!((sent.pieces.len(), sent.runs.len(), sent.check()), (1, 1, Ok(())));
}

#[test]
fn one_user_cannot_fill_the_queue_of_all() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (other, _) = play.client(2);
    let (mine, _) = play.create(conn, spec("x", 40 * MIB));
    let (theirs, _) = play.create(other, spec("x", 100));
    play.start_move(conn, put(mine.tensor, 40 * MIB));
    assert_eq!(play.refused_move(conn, put(mine.tensor, 40 * MIB)), ErrorKind::TooMany);
    for _ in 0..7 {
        play.start_move(conn, put(mine.tensor, 1));
    }
    assert_eq!(play.refused_move(conn, put(mine.tensor, 1)), ErrorKind::TooMany);
    let number = play.start_move(other, put(theirs.tensor, 1));
    assert_eq!(play.answer(number), None);
}

#[test]
fn a_bad_file_is_the_users_business_and_a_bad_driver_the_movers_end() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (info, _) = play.create(conn, spec("x", 100));
    let file = play.start_move(conn, put(info.tensor, 10));
    let driver = play.start_move(conn, put(info.tensor, 10));
    play.mover_runs();
    let jobs = play.jobs();
    let fails = |job, why| FromMover::JobFailed { job, why, text: "no".into() };
    play.says(fails(jobs[0].0, Why::File));
    let Some(ReplyBody::Failure(failure)) = play.answer(file) else { panic!("no answer") };
    assert_eq!(failure.kind, ErrorKind::File);
    play.says(fails(jobs[1].0, Why::Driver));
    assert_eq!(play.world.killed, [PIDFD]);
    assert_eq!(play.answer(driver), None);
    play.mover_dies();
    let Some(ReplyBody::Failure(failure)) = play.answer(driver) else { panic!("no answer") };
    assert_eq!(failure.kind, ErrorKind::Mover);
    let kinds: Vec<EventKind> = play.pond.events.kept().map(|event| event.kind).collect();
    assert!(kinds.contains(&EventKind::MoverStarted) && kinds.contains(&EventKind::MoverLost));
}

/// The first move on `x` and fifteen others are with the mover, another one and a second on `x`
/// wait. Returns who waits with that, `x`, and the jobs.
fn a_second_move_waits(play: &mut Play) -> (ConnId, TensorInfo, Vec<u64>) {
    let ((first, _), (second, _)) = (play.client(1), play.client(1));
    let (x, _) = play.create(first, spec("x", 40 * MIB));
    play.start_move(first, put(x.tensor, MIB));
    play.cap(Resource::Moves, 100);
    let (other, _) = play.create(first, spec("y", 40 * MIB));
    for _ in 0..16 {
        play.start_move(first, put(other.tensor, MIB));
    }
    play.start_move(second, put(x.tensor, MIB));
    play.mover_runs();
    let jobs: Vec<u64> = play.jobs().into_iter().map(|(job, _)| job).collect();
    assert_eq!(jobs.len(), 16);
    (second, x, jobs)
}

fn done(job: u64) -> FromMover {
    FromMover::Done { job, hashes: Vec::new() }
}

fn maps(told: &[(ToMover, Option<u64>)], of: SlabId) -> usize {
    let is_map = |message: &ToMover| matches!(message, ToMover::Map { slab, .. } if *slab == of);
    told.iter().filter(|(message, _)| is_map(message)).count()
}

fn unmaps(told: &[(ToMover, Option<u64>)], of: SlabId) -> usize {
    let is_unmap = |message: &ToMover| matches!(message, ToMover::Unmap { slab } if *slab == of);
    told.iter().filter(|(message, _)| is_unmap(message)).count()
}

#[test]
fn a_slab_stays_mapped_for_a_move_that_waits() {
    let mut play = Play::new();
    let (_, x, jobs) = a_second_move_waits(&mut play);
    play.says(done(jobs[0]));
    play.says(done(jobs[1]));
    assert_eq!((maps(&play.world.told, x.slab), unmaps(&play.world.told, x.slab)), (0, 0));
    let last = play.jobs().last().unwrap().0;
    play.says(done(last));
    assert_eq!(unmaps(&play.world.told, x.slab), 1);
}

/// Or the mover would keep memory that everybody else has given back.
#[test]
fn what_stayed_mapped_for_a_move_that_never_began_is_unmapped() {
    let mut play = Play::new();
    let (second, x, jobs) = a_second_move_waits(&mut play);
    play.says(done(jobs[0]));
    assert_eq!(unmaps(&play.world.told, x.slab), 0);
    play.pond.hung_up(&mut play.world, second);
    assert_eq!(unmaps(&play.world.told, x.slab), 1, "nobody waits with it any more");

    let mut play = Play::new();
    let (second, x, jobs) = a_second_move_waits(&mut play);
    play.says(done(jobs[0]));
    play.delete(second, x.tensor);
    play.says(done(jobs[1]));
    assert_eq!(unmaps(&play.world.told, x.slab), 1, "its tensor is gone");

    let mut play = Play::new();
    let (_, x, jobs) = a_second_move_waits(&mut play);
    play.says(done(jobs[0]));
    play.pond.drain(&mut play.world);
    assert_eq!(unmaps(&play.world.told, x.slab), 1, "the pond shuts down");
}

/// It may have failed because the slab could not be mapped.
#[test]
fn after_a_job_that_failed_a_slab_is_mapped_again() {
    let mut play = Play::new();
    let (_, x, jobs) = a_second_move_waits(&mut play);
    let text = "no such slab".to_owned();
    play.says(FromMover::JobFailed { job: jobs[0], why: Why::Range, text });
    play.says(done(jobs[1]));
    assert_eq!((unmaps(&play.world.told, x.slab), maps(&play.world.told, x.slab)), (1, 1));
}
