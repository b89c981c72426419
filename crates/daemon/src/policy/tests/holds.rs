//! Tensors that are kept for processes without a connection.

mod machine;

use millpond_wire::message::{EventKind, Rename, TensorGrant, TensorHold, TensorState};
use millpond_wire::{ErrorKind, Token, Transport};

use super::*;

/// A tensor that is made to be held.
pub(super) fn held(name: &str, bytes: u64) -> TensorCreate {
    TensorCreate { hold: Some(Token::random()), ..spec(name, bytes) }
}

fn hold_of(tensor: TensorId, pid: Option<u32>, token: Token) -> TensorHold {
    TensorHold { target: Target::Id(tensor), pid, token }
}

impl Play {
    /// A process that has no connection.
    fn runs(&mut self, pid: u32, started: u64) {
        self.world.processes.insert(pid, started);
    }

    /// It ends, and everything is done that follows.
    fn ends(&mut self, pid: u32) {
        self.end_untold(pid);
        self.ends_are_told();
    }

    fn end_untold(&mut self, pid: u32) {
        self.world.processes.remove(&pid);
    }

    fn ends_are_told(&mut self) {
        let there = |it: &HolderProcess| self.world.processes.get(&it.pid).copied() == it.started;
        let gone: Vec<_> = self.world.holders.iter().filter(|it| !there(it)).copied().collect();
        for process in gone {
            self.pond.holder_gone(&mut self.world, process);
        }
        while self.pond.tick(&mut self.world) == Some(self.world.now) {}
    }

    fn hold(&mut self, conn: ConnId, tensor: TensorId, pid: Option<u32>) -> TensorGrant {
        self.hold_with(conn, tensor, pid, Token::random())
    }

    fn hold_with(
        &mut self,
        conn: ConnId,
        tensor: TensorId,
        pid: Option<u32>,
        token: Token,
    ) -> TensorGrant {
        match self.ask(conn, RequestBody::TensorHold(hold_of(tensor, pid, token))) {
            ReplyBody::Tensor(grant) => grant,
            other => panic!("not held: {other:?}"),
        }
    }

    fn unhold(&mut self, conn: ConnId, tensor: TensorId, pid: Option<u32>) -> TensorInfo {
        self.unhold_with(conn, tensor, pid, Token::random())
    }

    fn unhold_with(
        &mut self,
        conn: ConnId,
        tensor: TensorId,
        pid: Option<u32>,
        token: Token,
    ) -> TensorInfo {
        match self.ask(conn, RequestBody::TensorUnhold(hold_of(tensor, pid, token))) {
            ReplyBody::Tensor(grant) => grant.info,
            other => panic!("not given up: {other:?}"),
        }
    }

    fn refused_hold(&mut self, conn: ConnId, tensor: TensorId, pid: Option<u32>) -> Failure {
        self.refused(conn, RequestBody::TensorHold(hold_of(tensor, pid, Token::random())))
    }

    fn refused_unhold(&mut self, conn: ConnId, tensor: TensorId, pid: Option<u32>) -> Failure {
        self.refused(conn, RequestBody::TensorUnhold(hold_of(tensor, pid, Token::random())))
    }

    fn holds_on(&self, tensor: TensorId) -> u64 {
        self.pond.holds.count_on(tensor)
    }
}

#[test]
fn a_create_is_the_first_hold_and_the_last_one_to_go_deletes() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (info, _) = play.create(conn, held("x", 40 * MIB));
    assert_eq!(info.holds, Some(1));
    let (plain, _) = play.create(conn, spec("plain", 100));
    assert_eq!(plain.holds, None);
    play.runs(7, 70);
    let grant = play.hold(conn, info.tensor, Some(7));
    assert_eq!((grant.info.holds, grant.lease, grant.existed), (Some(2), None, false));
    play.world.did.clear();
    assert_eq!(play.unhold(conn, info.tensor, None).holds, Some(1));
    assert_eq!(play.world.did[0], Did::Journal("hold"), "journal, then reply");
    let last = play.unhold(conn, info.tensor, Some(7));
    assert_eq!((last.holds, last.state), (Some(0), TensorState::Deleted));
    assert!(!play.exists(info.tensor) && play.world.holders.is_empty());
    let why = play.told(EventKind::TensorDeleted);
    assert_eq!(why, ["its last hold was given up by user 1"]);
    let failure = play.refused(conn, get("x", 1, Mode::ReadOnly, 0));
    assert!(failure.message.contains("its last hold was given up"), "{failure}");
    play.check_held();
}

#[test]
fn a_handle_comes_with_a_hold_and_with_a_peek_and_no_descriptor_does() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let create = TensorCreate { hold: Some(Token::random()), ..hosts::ipc("x", 100) };
    let (info, _) = play.create_ipc(conn, create);
    let grant = play.hold(conn, info.tensor, None);
    assert!(matches!(grant.backing.transport, Transport::Ipc(_)) && grant.event.is_some());
    let number = play.next_number;
    let peek = RequestBody::TensorPeek(Target::Name("x".parse().unwrap()));
    let ReplyBody::Tensor(peeked) = play.ask(conn, peek) else { panic!("no handle") };
    assert_eq!((peeked.backing, peeked.event), (grant.backing, grant.event));
    assert_eq!((peeked.lease, peeked.info.holds), (None, Some(2)));
    assert!(play.world.came_with[&number].is_empty());
    assert_eq!(play.pond.leases.len(), 0);
    play.check_held();
}

#[test]
fn only_what_was_made_to_be_held_is_held_and_nothing_ephemeral() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (plain, _) = play.create(conn, spec("plain", 100));
    let failure = play.refused_hold(conn, plain.tensor, None);
    assert_eq!(failure.kind, ErrorKind::Invalid);
    assert!(failure.message.contains("'plain' was not made to be held"), "{failure}");
    assert_eq!(play.refused_unhold(conn, plain.tensor, None).kind, ErrorKind::Invalid);
    let peek = RequestBody::TensorPeek(Target::Id(plain.tensor));
    assert_eq!(play.refused(conn, peek).kind, ErrorKind::Invalid);
    let create = TensorCreate { ephemeral: true, ..held("x", 100) };
    let failure = play.refused(conn, RequestBody::TensorCreate(create));
    assert_eq!(failure.kind, ErrorKind::Invalid);
    let (x, _) = play.create(conn, held("x", 100));
    for (name, hold) in [("plain", Some(Token::random())), ("x", None)] {
        let create = TensorCreate { hold, ..spec(name, 100) };
        let failure = play.refused(conn, RequestBody::TensorCreate(create));
        assert_eq!(failure.kind, ErrorKind::Exists, "{failure}");
    }
    assert_eq!(play.holds_on(x.tensor), 1);
    assert_eq!(play.refused_hold(conn, TensorId::random(), None).kind, ErrorKind::NotFound);
}

#[test]
fn the_same_create_holds_once_more_and_a_repeat_does_not() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let first = held("x", 100);
    let (info, _) = play.create(conn, first.clone());
    assert_eq!(play.create(conn, first).0.holds, Some(1));
    let again = held("x", 100);
    let (found, _) = play.create(conn, again.clone());
    assert_eq!((found.tensor, found.holds), (info.tensor, Some(2)));
    assert_eq!(play.create(conn, again.clone()).0.holds, Some(2));
    let leased = TensorCreate { lease: Some(LeaseId(1)), ..held("x", 100) };
    assert_eq!(play.create(conn, leased.clone()).0.holds, Some(3));
    assert_eq!(play.create(conn, leased).0.holds, Some(3));
    play.restart();
    let (conn, _) = play.client(1);
    assert_eq!(play.create(conn, again.clone()).0.holds, Some(3));
    // Also when the name means something else by now.
    let rename =
        Rename { object: info.tensor.into(), name: "y".parse().unwrap(), token: Token::random() };
    assert_eq!(play.ask(conn, RequestBody::Rename(rename)), ReplyBody::Done);
    let (repeated, _) = play.create(conn, again.clone());
    assert_eq!((repeated.tensor, repeated.holds), (info.tensor, Some(3)));
    // What it found is gone: a repeat makes no other tensor.
    for _ in 0..3 {
        play.unhold(conn, info.tensor, None);
    }
    let failure = play.refused(conn, RequestBody::TensorCreate(again));
    assert_eq!(failure.kind, ErrorKind::NotFound);
    assert_eq!(play.pond.catalog.len(), 1, "the lease of an earlier client keeps it");
}

#[test]
fn a_token_is_for_one_request() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (x, _) = play.create(conn, held("x", 100));
    let (y, _) = play.create(conn, held("y", 100));
    let token = Token::random();
    play.hold_with(conn, x.tensor, None, token);
    for body in [
        RequestBody::TensorHold(hold_of(y.tensor, None, token)),
        RequestBody::TensorUnhold(hold_of(x.tensor, None, token)),
        RequestBody::TensorCreate(TensorCreate { hold: Some(token), ..spec("y", 100) }),
        RequestBody::TensorCreate(TensorCreate { hold: Some(token), ..spec("z", 100) }),
    ] {
        assert_eq!(play.refused(conn, body).kind, ErrorKind::Invalid);
    }
    assert_eq!((play.holds_on(x.tensor), play.holds_on(y.tensor)), (2, 1));
}

#[test]
fn a_repeat_changes_nothing_also_after_restarts_and_compactions() {
    for compacted in [false, true] {
        let mut play = Play::new();
        let (mut conn, _) = play.client(1);
        play.runs(7, 70);
        let (info, _) = play.create(conn, held("x", 100));
        let [hold, unhold, last] = [Token::random(), Token::random(), Token::random()];
        play.hold_with(conn, info.tensor, Some(7), hold);
        play.unhold_with(conn, info.tensor, None, unhold);
        for _ in 0..2 {
            assert_eq!(play.hold_with(conn, info.tensor, Some(7), hold).info.holds, Some(1));
            assert_eq!(play.unhold_with(conn, info.tensor, None, unhold).holds, Some(1));
            if compacted {
                play.world.records = play.pond.snapshot();
            }
            play.restart();
            conn = play.client(1).0;
        }
        let told = play.unhold_with(conn, info.tensor, Some(7), last);
        assert!(!play.exists(info.tensor));
        for _ in 0..2 {
            assert_eq!(play.unhold_with(conn, info.tensor, Some(7), last), told);
            if compacted {
                play.world.records = play.pond.snapshot();
            }
            play.restart();
            conn = play.client(1).0;
        }
        let failure = play.refused_unhold(conn, info.tensor, Some(7));
        assert_eq!(failure.kind, ErrorKind::NotFound);
        play.check_held();
    }
}

#[test]
fn one_is_given_up_of_the_process_and_else_of_nobody_and_never_of_another() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    play.runs(7, 70);
    play.runs(8, 80);
    let (info, _) = play.create(conn, held("x", 100));
    play.hold(conn, info.tensor, Some(7));
    play.hold(conn, info.tensor, Some(7));
    assert_eq!(play.unhold(conn, info.tensor, Some(7)).holds, Some(2));
    // The process has none, so it is nobody's.
    assert_eq!(play.unhold(conn, info.tensor, Some(8)).holds, Some(1));
    let failure = play.refused_unhold(conn, info.tensor, Some(8));
    assert_eq!(failure.kind, ErrorKind::NotFound);
    assert!(failure.message.contains("tensor 'x'"), "{failure}");
    assert!(failure.message.contains("process 7 (1, of user 1)"), "{failure}");
    assert_eq!(play.refused_unhold(conn, info.tensor, None).kind, ErrorKind::NotFound);
    assert_eq!(play.unhold(conn, info.tensor, Some(7)).holds, Some(0));
    play.check_held();
}

#[test]
fn when_a_process_ends_all_its_holds_end_and_everybody_is_told() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    play.runs(7, 70);
    let (x, _) = play.create(conn, held("x", 40 * MIB));
    let (y, _) = play.create(conn, held("y", 40 * MIB));
    for tensor in [x.tensor, x.tensor, y.tensor] {
        play.hold(conn, tensor, Some(7));
    }
    play.unhold(conn, y.tensor, None);
    assert_eq!(play.world.holders.len(), 1, "one for all of them");
    play.ends(7);
    assert_eq!((play.holds_on(x.tensor), play.exists(y.tensor)), (1, false));
    let mut told = play.told(EventKind::HoldEnded);
    told.sort();
    assert_eq!(told, ["process 7 is gone; it had 1 hold", "process 7 is gone; it had 2 holds"]);
    let why = play.told(EventKind::TensorDeleted);
    assert_eq!(why, ["process 7, which held it last, is gone"]);
    assert!(play.world.holders.is_empty());
    let slab = play.pond.catalog.get(x.tensor).unwrap().slab;
    assert!(play.pond.slabs.get(slab).unwrap().tainted, "a process died with it");
    play.check_held();
    play.restart();
    assert_eq!((play.holds_on(x.tensor), play.exists(y.tensor)), (1, false));
}

#[test]
fn a_process_that_is_not_there_holds_as_nobody_does() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (info, _) = play.create(conn, held("x", 40 * MIB));
    play.hold(conn, info.tensor, Some(7));
    play.unhold(conn, info.tensor, None);
    play.runs(7, 70);
    play.ends(7);
    play.restart();
    assert_eq!(play.holds_on(info.tensor), 1);
    let (conn, _) = play.client(1);
    play.runs(7, 71);
    play.hold(conn, info.tensor, Some(7));
    assert_eq!(play.holds_on(info.tensor), 2);
    play.ends(7);
    assert_eq!(play.holds_on(info.tensor), 1, "that of the process that was there");
    play.delete(conn, info.tensor);
    assert!(!play.exists(info.tensor), "nobody would ever give it up");
    play.check_held();
}

#[test]
fn a_delete_ends_the_holds_of_nobody_and_processes_keep_the_memory() {
    for compacted in [false, true] {
        let mut play = Play::new();
        let (conn, _) = play.client(1);
        play.runs(7, 70);
        let (info, _) = play.create(conn, held("x", 40 * MIB));
        play.hold(conn, info.tensor, None);
        play.hold(conn, info.tensor, Some(7));
        play.delete(conn, info.tensor);
        assert_eq!(play.holds_on(info.tensor), 1);
        assert_eq!(play.refused_hold(conn, info.tensor, None).kind, ErrorKind::NotFound);
        let peek = RequestBody::TensorPeek(Target::Id(info.tensor));
        assert_eq!(play.refused(conn, peek).kind, ErrorKind::NotFound);
        let (other, _) = play.create(conn, held("x", 40 * MIB));
        assert_ne!((other.tensor, other.slab), (info.tensor, info.slab));
        if compacted {
            play.world.records = play.pond.snapshot();
        }
        play.restart();
        assert_eq!((play.holds_on(info.tensor), play.holds_on(other.tensor)), (1, 1));
        assert!(play.exists(info.tensor));
        play.check_held();
        play.ends(7);
        assert!(!play.exists(info.tensor) && play.exists(other.tensor));
        play.check_held();
    }
}

#[test]
fn memory_goes_when_the_last_hold_and_the_last_lease_have_ended() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let create = TensorCreate { lease: Some(LeaseId(1)), ..held("x", 40 * MIB) };
    let (info, _) = play.create(conn, create);
    assert_eq!(play.unhold(conn, info.tensor, None).state, TensorState::Deleted);
    assert!(play.exists(info.tensor), "it is leased");
    play.check_held();
    play.release(conn, 1);
    assert!(!play.exists(info.tensor));
    play.check_held();
}

#[test]
fn a_replaced_tensor_ends_as_a_deleted_one_does() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (old, _) = play.create(conn, held("x", 40 * MIB));
    let (new, _) = play.create(conn, TensorCreate { name: None, ..held("unused", 100) });
    let name = Some("x".parse().unwrap());
    let body = RequestBody::TensorPublish(TensorPublish {
        tensor: new.tensor,
        token: Token::random(),
        name,
        replace: true,
    });
    assert!(matches!(play.ask(conn, body), ReplyBody::Published { .. }));
    assert!(!play.exists(old.tensor));
    play.restart();
    assert!(!play.exists(old.tensor));
    assert_eq!(play.holds_on(new.tensor), 1);
    play.check_held();
}

#[test]
fn what_is_held_is_neither_collected_nor_does_it_linger_away() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let life = Life { linger_ms: Some(10), ..Life::default() };
    let (info, _) = play.create(conn, TensorCreate { life, zero: true, ..held("x", 100) });
    play.later(1000);
    let collect = RequestBody::Collect { unleased_for_ms: Some(0), dry_run: false };
    let ReplyBody::Collected { tensors, .. } = play.ask(conn, collect) else { panic!("no answer") };
    assert!(tensors.is_empty() && play.is_alive(info.tensor));
    play.restart();
    play.later(1000);
    assert!(play.is_alive(info.tensor));
}

#[test]
fn a_host_that_dies_takes_the_holds_of_nobody_with_it() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    play.runs(7, 70);
    let ipc = |name| TensorCreate { hold: Some(Token::random()), ..hosts::ipc(name, 100) };
    let (x, host) = play.create_ipc(conn, ipc("x"));
    let (y, _) = play.create_ipc(conn, ipc("y"));
    play.hold(conn, y.tensor, Some(7));
    play.pond.process_gone(&mut play.world, ClientId(host.0));
    assert!(!play.exists(x.tensor));
    assert_eq!((play.exists(y.tensor), play.holds_on(y.tensor)), (true, 1));
    let told = play.unhold(conn, y.tensor, Some(7));
    assert_eq!((told.state, told.holds), (TensorState::Orphan, Some(0)));
    assert!(!play.exists(y.tensor));
    play.check_held();
}

#[test]
fn a_new_daemon_watches_processes_again_and_one_with_another_start_is_gone() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (info, _) = play.create(conn, held("x", 40 * MIB));
    for pid in [7, 8, 9] {
        play.runs(pid, 10 * u64::from(pid));
        play.hold(conn, info.tensor, Some(pid));
    }
    play.unhold(conn, info.tensor, None);
    play.end_untold(8);
    play.runs(9, 99);
    play.restart();
    play.ends_are_told();
    assert_eq!(play.holds_on(info.tensor), 1, "process 7 has it");
    assert_eq!(play.told(EventKind::HoldEnded).len(), 2);
    let process = HolderProcess { pid: 7, started: Some(70) };
    assert_eq!(Vec::from_iter(play.world.holders.clone()), [process]);
    play.check_held();
    play.ends(7);
    assert!(!play.exists(info.tensor));
    play.check_held();
}

#[test]
fn a_number_that_is_used_again_is_another_process() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (info, _) = play.create(conn, held("x", 100));
    play.runs(7, 70);
    play.hold(conn, info.tensor, Some(7));
    // The next one of that number holds before the end of the first is told.
    play.runs(7, 71);
    play.hold(conn, info.tensor, Some(7));
    assert_eq!(play.holds_on(info.tensor), 3);
    play.ends_are_told();
    assert_eq!(play.holds_on(info.tensor), 2);
    play.ends(7);
    assert_eq!(play.holds_on(info.tensor), 1);
    play.check_held();
}

#[test]
fn a_journal_that_fails_is_not_answered_with_yes_and_what_must_end_ends_later() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    play.runs(7, 70);
    let (x, _) = play.create(conn, held("x", 40 * MIB));
    let (y, _) = play.create(conn, held("y", 40 * MIB));
    play.hold(conn, y.tensor, Some(7));
    play.unhold(conn, y.tensor, None);
    play.world.journal_fails = true;
    play.runs(8, 80);
    let token = Token::random();
    let body = RequestBody::TensorHold(hold_of(x.tensor, Some(8), token));
    assert_eq!(play.refused(conn, body).kind, ErrorKind::Internal);
    assert_eq!(play.world.holders.len(), 1, "nothing is held for it");
    let again =
        RequestBody::TensorCreate(TensorCreate { hold: Some(token), ..spec("x", 40 * MIB) });
    assert_eq!(play.refused(conn, again).kind, ErrorKind::Internal);
    assert_eq!(play.refused_unhold(conn, x.tensor, None).kind, ErrorKind::Internal);
    assert_eq!(play.holds_on(x.tensor), 1);
    play.end_untold(7);
    let process = HolderProcess { pid: 7, started: Some(70) };
    play.pond.holder_gone(&mut play.world, process);
    play.later(10);
    assert_eq!(play.holds_on(y.tensor), 1, "it is not durable that it ended");
    play.check_held();
    play.world.journal_fails = false;
    play.later(2000);
    assert!(!play.exists(y.tensor));
    assert_eq!(play.hold_with(conn, x.tensor, Some(8), token).info.holds, Some(2));
    play.check_held();
}

/// The daemon died between the end of the last hold and the delete.
#[test]
fn what_nobody_holds_any_more_is_deleted_by_the_next_daemon() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (info, _) = play.create(conn, held("x", 40 * MIB));
    play.unhold(conn, info.tensor, None);
    let deleted = |record: &Record| matches!(record, Record::TensorDeleted(_));
    let at = play.world.records.iter().position(deleted).unwrap();
    play.world.records.truncate(at);
    play.world.held.insert(Held::Slab(info.slab), 1);
    play.restart();
    assert!(!play.exists(info.tensor));
    play.check_held();
}

#[test]
fn a_tensor_whose_last_hold_has_ended_is_given_to_nobody() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (info, _) = play.create(conn, held("x", 40 * MIB));
    let reader = TensorCreate { lease: Some(LeaseId(1)), ..held("x", 40 * MIB) };
    play.create(conn, reader);
    play.unhold(conn, info.tensor, None);
    play.world.tensor_stays = true;
    assert_eq!(play.unhold(conn, info.tensor, None).state, TensorState::Deleted);
    assert!(play.is_alive(info.tensor), "its delete could not be recorded");
    assert_eq!(play.refused_hold(conn, info.tensor, None).kind, ErrorKind::NotFound);
    let create = RequestBody::TensorCreate(held("x", 40 * MIB));
    assert_eq!(play.refused(conn, create).kind, ErrorKind::NotFound);
    // Whatever else happens to it, the delete is still to come.
    play.release(conn, 1);
    play.world.tensor_stays = false;
    play.later(2000);
    assert!(!play.exists(info.tensor));
    play.check_held();
}

#[test]
fn others_hold_what_is_shared_with_them_and_give_up_only_their_own() {
    let mut play = Play::new();
    let (owner, _) = play.client(1);
    let (other, _) = play.client(2);
    let operator = play.operator();
    let (private, _) = play.create(owner, held("private", 100));
    assert_eq!(play.refused_hold(other, private.tensor, None).kind, ErrorKind::NotFound);
    assert_eq!(play.refused_unhold(other, private.tensor, None).kind, ErrorKind::NotFound);
    let failure = play.refused_hold(operator, private.tensor, None);
    assert_eq!(failure.kind, ErrorKind::Denied);
    let peek = RequestBody::TensorPeek(Target::Id(private.tensor));
    assert_eq!(play.refused(operator, peek).kind, ErrorKind::Denied);
    let shared = TensorCreate { audience: Audience::Everybody, ..held("shared", 100) };
    let (shared, _) = play.create(owner, shared);
    assert_eq!(play.refused_unhold(other, shared.tensor, None).kind, ErrorKind::NotFound);
    play.hold(other, shared.tensor, None);
    play.hold(other, shared.tensor, None);
    assert_eq!(play.unhold(other, shared.tensor, None).holds, Some(2));
    assert_eq!(play.unhold(owner, shared.tensor, None).holds, Some(1), "first its own");
    play.check_held();
    assert_eq!(play.unhold(operator, shared.tensor, None).holds, Some(0), "then another's");
    assert_eq!(play.unhold(operator, private.tensor, None).holds, Some(0));
    play.check_held();
}

#[test]
fn a_user_has_only_so_many_holds_and_holders() {
    let mut play = Play::new();
    play.cap(Resource::Holds, 3);
    play.cap(Resource::Holders, 1);
    let (conn, _) = play.client(1);
    let (x, _) = play.create(conn, held("x", 100));
    for pid in [7, 8] {
        play.runs(pid, 70);
    }
    play.hold(conn, x.tensor, Some(7));
    play.hold(conn, x.tensor, Some(7));
    let failure = play.refused_hold(conn, x.tensor, Some(8));
    assert_eq!(failure.kind, ErrorKind::TooMany);
    assert_eq!(failure.limit.as_ref().unwrap().key, "limits.holders_per_user");
    assert_eq!(play.world.holders.len(), 1);
    let (y, _) = play.create(conn, held("y", 100));
    let failure = play.refused(conn, RequestBody::TensorCreate(held("z", 100)));
    assert_eq!(failure.limit.as_ref().unwrap().key, "limits.holds_per_user");
    assert_eq!(play.refused_hold(conn, y.tensor, Some(7)).kind, ErrorKind::TooMany);
    play.hold(conn, y.tensor, None);
    play.world.no_holders = true;
    let failure = play.refused_hold(conn, x.tensor, Some(7));
    assert_eq!(failure.kind, ErrorKind::TooMany, "{failure}");
    play.check_held();
    play.world.no_holders = false;
    play.ends(7);
    play.hold(conn, x.tensor, Some(8));
    play.check_held();
}

#[test]
fn a_process_with_very_many_holds_ends_in_steps() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    play.runs(7, 70);
    let tensors: Vec<TensorId> = (0..600)
        .map(|number| play.create(conn, held(&format!("t{number}"), 100)).0.tensor)
        .collect();
    for tensor in &tensors {
        play.hold(conn, *tensor, Some(7));
        play.unhold(conn, *tensor, None);
    }
    play.end_untold(7);
    play.pond.holder_gone(&mut play.world, HolderProcess { pid: 7, started: Some(70) });
    let left = |play: &Play| tensors.iter().filter(|tensor| play.exists(**tensor)).count();
    assert_eq!(left(&play), 600);
    for expected in [344, 88, 0] {
        play.later(0);
        assert_eq!(left(&play), expected);
        assert_eq!(play.ask(conn, RequestBody::Ping), ReplyBody::Done);
    }
    play.check_held();
}
