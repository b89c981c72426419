//! Users share a mover: turns, rights, and what becomes of the moves of a client that is gone.

use millpond_mover::channel::{FromMover, Rights, Why};
use millpond_wire::message::{MoveWork, TensorMove};
use millpond_wire::{ErrorKind, PiecesKind, Run, Token};

use super::*;

const FILE: u64 = 900;

fn put(tensor: TensorId, bytes: u64) -> TensorMove {
    let work = MoveWork::Put { file_offset: 0 };
    TensorMove { token: Token::random(), tensor, offset: 0, bytes, work }
}

impl Play {
    fn wish(&mut self, conn: ConnId, what: TensorMove) -> u64 {
        let fd = what.work.has_file().then_some(FILE);
        self.start_with(conn, RequestBody::TensorMove(what), fd)
    }

    fn mover_is_ready(&mut self) {
        assert_eq!(self.world.movers_wanted.pop(), Some(GPU));
        self.pond.mover_started(&mut self.world, GPU, 77, 901);
        self.mover_says(FromMover::Ready { context_bytes: 0 });
    }

    fn mover_says(&mut self, said: FromMover) {
        self.pond.mover_said(&mut self.world, GPU, said, None);
    }

    /// Jobs, with their users, and jobs that were cancelled, since the last look.
    fn mover_was_told(&mut self) -> (Vec<(u64, u32)>, Vec<u64>) {
        let (mut jobs, mut cancelled) = (Vec::new(), Vec::new());
        for (message, _) in std::mem::take(&mut self.world.told) {
            match message {
                ToMover::Job(job) => jobs.push((job.job, job.by.user)),
                ToMover::Cancel { job } => cancelled.push(job),
                _ => {}
            }
        }
        (jobs, cancelled)
    }
}

#[test]
fn the_moves_of_one_user_do_not_keep_those_of_another_from_the_mover() {
    let mut play = Play::new();
    play.cap(Resource::Moves, 100);
    let ((one, _), (other, _)) = (play.client(1), play.client(2));
    let (first, _) = play.create(one, spec("x", 100));
    let (second, _) = play.create(other, spec("x", 100));
    for _ in 0..40 {
        play.wish(one, put(first.tensor, 10));
    }
    play.mover_is_ready();
    let begun = play.mover_was_told().0;
    assert_eq!(begun.len(), 16);
    let late = play.wish(other, put(second.tensor, 10));
    let jobs = play.mover_was_told().0;
    assert_eq!(jobs.iter().map(|(_, user)| *user).collect::<Vec<_>>(), [2]);
    play.mover_says(FromMover::Done { job: jobs[0].0, hashes: Vec::new() });
    assert!(matches!(play.answer(late), Some(ReplyBody::Moved { .. })));
    assert!(play.mover_was_told().0.is_empty(), "the first user has its share there");
    play.mover_says(FromMover::Done { job: begun[0].0, hashes: Vec::new() });
    assert_eq!(play.mover_was_told().0.len(), 1);
}

#[test]
fn a_job_has_its_callers_rights() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (info, _) = play.create(conn, spec("x", 100));
    if let Some(connection) = play.pond.clients.connection_mut(conn) {
        connection.caller.groups = [4, 27].into();
    }
    play.wish(conn, put(info.tensor, 10));
    play.mover_is_ready();
    let told = play.world.told.iter().find_map(|(message, _)| match message {
        ToMover::Job(job) => Some(job.by.clone()),
        _ => None,
    });
    let group = play.pond.clients.connection(conn).unwrap().caller.owner.group;
    assert_eq!(told, Some(Rights { user: 1, group, groups: vec![4, 27] }));
}

#[test]
fn the_moves_of_a_process_that_is_gone_are_dropped_or_stopped() {
    let mut play = Play::new();
    play.cap(Resource::Moves, 100);
    let ((conn, client), (other, _)) = (play.client(1), play.client(1));
    let (info, _) = play.create(conn, spec("x", 100));
    let (kept, _) = play.create(other, spec("y", 100));
    for _ in 0..20 {
        play.wish(conn, put(info.tensor, 10));
    }
    let waits = play.wish(other, put(kept.tensor, 10));
    play.mover_is_ready();
    let begun = play.mover_was_told().0;
    assert_eq!(begun.len(), 16);
    play.pond.process_gone(&mut play.world, client);
    let (_, cancelled) = play.mover_was_told();
    assert_eq!(cancelled, begun.iter().map(|(job, _)| *job).collect::<Vec<_>>());
    play.pond.hung_up(&mut play.world, conn);
    assert!(play.mover_was_told().1.is_empty(), "each is stopped once");
    for (job, _) in begun {
        let text = "cancelled".to_owned();
        play.mover_says(FromMover::JobFailed { job, why: Why::Cancelled, text });
    }
    let jobs = play.mover_was_told().0;
    assert_eq!(jobs.len(), 1, "only what another process wants is left");
    play.mover_says(FromMover::Done { job: jobs[0].0, hashes: Vec::new() });
    assert!(matches!(play.answer(waits), Some(ReplyBody::Moved { .. })));
    play.check_held();
}

#[test]
fn a_move_that_is_asked_again_waits_until_the_first_has_stopped() {
    let mut play = Play::new();
    let (conn, client) = play.client(1);
    let (info, _) = play.create(conn, spec("x", 100));
    let what = put(info.tensor, 10);
    play.wish(conn, what.clone());
    play.mover_is_ready();
    let job = play.mover_was_told().0[0].0;
    play.ask(conn, RequestBody::Goodbye);
    assert_eq!(play.mover_was_told().1, [job]);
    let again = play.connect(1);
    assert!(matches!(play.hello(again, client, false), ReplyBody::Welcome(_)));
    let repeat = play.wish(again, what);
    assert!(play.mover_was_told().0.is_empty(), "both would write");
    let text = "cancelled".to_owned();
    play.mover_says(FromMover::JobFailed { job, why: Why::Cancelled, text });
    let next = play.mover_was_told().0;
    assert_eq!(next.len(), 1);
    play.mover_says(FromMover::Done { job: next[0].0, hashes: Vec::new() });
    assert!(matches!(play.answer(repeat), Some(ReplyBody::Moved { .. })));
}

#[test]
fn who_may_not_write_so_large_a_file_has_none_written() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (info, _) = play.create(conn, TensorCreate { zero: true, ..spec("x", 4096) });
    play.world.file_limit = Some(4095);
    let get = |file_offset, bytes| {
        let work = MoveWork::Get { file_offset };
        TensorMove { token: Token::random(), tensor: info.tensor, offset: 0, bytes, work }
    };
    let pieces = vec![millpond_wire::Piece { offset: 0, bytes: 96 }];
    let runs = vec![Run { file_offset: 4000, bytes: 96 }];
    let work = MoveWork::Pieces { kind: PiecesKind::Save, pieces, runs };
    let save = TensorMove { work, ..get(0, 96) };
    for what in [get(0, 4096), get(4000, 96), get(u64::MAX, 1), save] {
        let number = play.wish(conn, what);
        let Some(ReplyBody::Failure(failure)) = play.answer(number) else { panic!("done") };
        assert_eq!(failure.kind, ErrorKind::File);
        assert!(failure.message.ends_with("your process may write files of 4 KiB"), "{failure}");
        assert!(failure.hint.is_some_and(|hint| hint.contains("ulimit -f")));
    }
    assert!(play.world.movers_wanted.is_empty());
    play.wish(conn, get(0, 4095));
    play.wish(conn, put(info.tensor, 4096));
    play.mover_is_ready();
    assert_eq!(play.mover_was_told().0.len(), 2);
}
