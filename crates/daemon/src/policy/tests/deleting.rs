//! Deletes on condition that nobody uses the tensor.

use millpond_wire::message::TensorState;
use millpond_wire::{ErrorKind, Holder, Token, caps};

use super::holds::held;
use super::*;

fn zeroed(name: &str) -> TensorCreate {
    TensorCreate { zero: true, ..spec(name, 100) }
}

impl Play {
    fn refused_delete(&mut self, conn: ConnId, tensor: TensorId) -> Failure {
        let records = self.world.records.len();
        let failure = self.delete_unused(conn, tensor).expect_err("it is used");
        assert_eq!(self.world.records.len(), records, "a refusal changes nothing");
        failure
    }

    fn state_of(&mut self, conn: ConnId, tensor: TensorId) -> TensorState {
        match self.ask(conn, RequestBody::TensorInspect(Target::Id(tensor))) {
            ReplyBody::Details { info, .. } => info.state,
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn what_nobody_uses_is_gone_at_once_and_a_repeat_gets_the_same_answer() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (info, _) = play.create(conn, zeroed("x"));
    play.world.did.clear();
    play.delete_unused(conn, info.tensor).unwrap();
    assert!(!play.exists(info.tensor));
    assert_eq!(play.world.did[0], Did::Journal("deleted"), "journal, then reply");
    play.delete_unused(conn, info.tensor).unwrap();
    play.restart();
    let (conn, _) = play.client(1);
    play.delete_unused(conn, info.tensor).unwrap();
    play.check_held();
}

#[test]
fn a_lease_refuses_also_ones_own_and_the_refusal_names_every_process_once() {
    let mut play = Play::new();
    let (owner, own) = play.client(1);
    let create = TensorCreate { audience: Audience::Everybody, ..zeroed("x") };
    let (info, _) = play.create(owner, create);
    let (other, others) = play.client(2);
    play.get(owner, "x", 1);
    play.get(owner, "x", 2);
    play.get(other, "~1/x", 1);
    let failure = play.refused_delete(owner, info.tensor);
    assert_eq!(failure.kind, ErrorKind::InUse);
    assert_eq!(failure.message, "tensor 'x' is in use: 3 leases");
    let used_by = |user, client| Holder {
        user,
        bytes: info.bytes,
        tensors: 1,
        cache: None,
        pid: Some(play.pids[&client]),
    };
    let mut holders = failure.holders.clone();
    holders.sort_by_key(|holder| holder.user);
    assert_eq!(holders, [used_by(1, own), used_by(2, others)]);
    // New leases are still granted.
    play.get(other, "~1/x", 2);
    for lease in [1, 2] {
        play.release(other, lease);
        play.release(owner, lease);
        let left = play.delete_unused(owner, info.tensor);
        assert_eq!(left.is_ok(), lease == 2, "{left:?}");
    }
    assert!(!play.exists(info.tensor));
}

#[test]
fn the_end_of_a_process_makes_what_it_had_unused() {
    let mut play = Play::new();
    let (owner, _) = play.client(1);
    let (info, _) = play.create(owner, zeroed("x"));
    let (reader, client) = play.client(1);
    play.get(reader, "x", 1);
    play.pond.hung_up(&mut play.world, reader);
    assert_eq!(play.refused_delete(owner, info.tensor).kind, ErrorKind::InUse, "it lives");
    play.pond.process_gone(&mut play.world, client);
    play.delete_unused(owner, info.tensor).unwrap();
    assert!(!play.exists(info.tensor));
    play.check_held();
}

#[test]
fn a_hold_refuses_too_of_a_process_and_of_nobody() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (info, _) = play.create(conn, held("x", 100));
    play.world.processes.insert(7, 70);
    let hold = millpond_wire::message::TensorHold {
        target: Target::Id(info.tensor),
        pid: Some(7),
        token: Token::random(),
    };
    assert!(matches!(play.ask(conn, RequestBody::TensorHold(hold)), ReplyBody::Tensor(_)));
    let failure = play.refused_delete(conn, info.tensor);
    assert_eq!(failure.kind, ErrorKind::InUse);
    assert_eq!(failure.message, "tensor 'x' is in use: 2 holds");
    let pids: BTreeSet<_> = failure.holders.iter().map(|holder| holder.pid).collect();
    assert_eq!(pids, BTreeSet::from([None, Some(7)]));
}

#[test]
fn what_was_deleted_and_is_still_used_is_in_use() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (info, _) = play.create(conn, zeroed("x"));
    play.get(conn, "x", 1);
    play.delete(conn, info.tensor);
    assert_eq!(play.refused_delete(conn, info.tensor).kind, ErrorKind::InUse);
    play.delete(conn, info.tensor);
    play.release(conn, 1);
    play.delete_unused(conn, info.tensor).unwrap();
}

#[test]
fn after_a_restart_nobody_is_taken_for_gone_who_has_not_claimed() {
    for claims in [false, true] {
        let mut play = Play::new();
        let (conn, client) = play.client(1);
        let (info, _) = play.create(conn, zeroed("x"));
        let (_, token) = play.get(conn, "x", 1);
        play.restart();
        let (other, _) = play.client(1);
        assert_eq!(play.refused_delete(other, info.tensor).kind, ErrorKind::Later);
        let conn = play.connect(1);
        play.hello(conn, client, true);
        let (lease, target, mode) = (LeaseId(1), info.tensor.into(), Mode::ReadOnly);
        let claim = LeaseClaim { lease, target, mode, token };
        play.claim(conn, claims.then_some(claim).into_iter().collect());
        if claims {
            assert_eq!(play.refused_delete(other, info.tensor).kind, ErrorKind::InUse);
            play.release(conn, 1);
        }
        play.delete_unused(other, info.tensor).unwrap();
        assert!(!play.exists(info.tensor));
        play.check_held();
    }
}

#[test]
fn the_refusal_names_no_more_than_fit_and_counts_all() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (info, _) = play.create(conn, zeroed("x"));
    let readers = caps::FAILURE_LIST + 4;
    for _ in 0..readers {
        let (reader, _) = play.client(1);
        play.get(reader, "x", 1);
    }
    let failure = play.refused_delete(conn, info.tensor);
    assert_eq!(failure.holders.len(), caps::FAILURE_LIST);
    assert_eq!(failure.message, format!("tensor 'x' is in use: {readers} leases"));
}

#[test]
fn who_may_not_delete_learns_nothing_of_its_users() {
    let mut play = Play::new();
    let (owner, _) = play.client(1);
    let (other, _) = play.client(2);
    let create = TensorCreate { audience: Audience::Everybody, ..zeroed("shared") };
    let (shared, _) = play.create(owner, create);
    let (own, _) = play.create(owner, zeroed("own"));
    play.get(owner, "shared", 1);
    play.get(owner, "own", 2);
    let failure = play.refused_delete(other, shared.tensor);
    assert_eq!((failure.kind, failure.holders.len()), (ErrorKind::Denied, 0));
    assert_eq!(play.refused_delete(other, own.tensor).kind, ErrorKind::NotFound);
    assert_eq!(play.state_of(owner, shared.tensor), TensorState::Ready);
    // The operator is told.
    let operator = play.operator();
    assert_eq!(play.refused_delete(operator, own.tensor).holders.len(), 1);
}
