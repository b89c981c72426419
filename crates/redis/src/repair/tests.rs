use std::sync::Arc;

use millpond_wire::TensorId;

use super::*;
use crate::fake::{FakeStore, FakeTruth, a_tensor};
use crate::keys::Keys;

fn core(names: &[&str]) -> Core<FakeTruth, FakeStore> {
    let keys = Arc::new(Keys::new("", "n1").unwrap());
    let mut core = Core::new(FakeTruth::new(), FakeStore::new("n1"), keys, Arc::default(), true);
    for name in names {
        core.truth.tensors.insert((*name).to_owned(), a_tensor(name, Some(1)));
    }
    core
}

fn names(core: &Core<FakeTruth, FakeStore>) -> Vec<&str> {
    core.store.hashes.keys().map(String::as_str).collect()
}

#[test]
fn an_empty_redis_is_filled_and_a_right_one_is_left_alone() {
    let mut core = core(&["a", "b"]);
    let done = core.repair().unwrap();
    assert_eq!((done.written, done.removed), (2, 0));
    assert_eq!(names(&core), ["a", "b"]);
    assert_eq!(core.store.field("a", "ipc_handle").unwrap().len(), 88);
    assert_eq!(core.repair().unwrap(), Repaired::default());
    core.truth.epoch = 2;
    assert_eq!(core.repair().unwrap().written, 2, "another daemon serves");
}

#[test]
fn what_others_wrote_is_written_over_and_what_is_gone_goes() {
    let mut core = core(&["a", "b"]);
    core.repair().unwrap();
    let hash = core.store.hashes.get_mut("a").unwrap();
    hash.insert("refcount".into(), "99".into());
    hash.insert("ipc_handle".into(), "evil".into());
    core.store.hashes.remove("b");
    core.store.put(&a_tensor("gone", Some(1)), "n1");
    let done = core.repair().unwrap();
    assert_eq!((done.written, done.removed), (2, 1));
    assert_eq!(names(&core), ["a", "b"]);
    assert_eq!(core.store.field("a", "refcount"), Some("1"));
    assert!(!core.store.index["n1"].contains("gone"));
}

#[test]
fn a_living_nodes_hash_is_left_alone_and_a_dead_ones_is_taken() {
    let mut core = core(&["a", "b"]);
    core.store.put(&a_tensor("a", Some(7)), "n2");
    core.store.put(&a_tensor("b", Some(7)), "n3");
    core.store.beats.insert("n2".into());
    let done = core.repair().unwrap();
    assert_eq!((done.written, done.others), (1, 1));
    assert_eq!(
        (core.store.field("a", "node"), core.store.field("b", "node")),
        (Some("n2"), Some("n1"))
    );
}

#[test]
fn what_cannot_have_a_hash_has_none() {
    let mut core = core(&["cmd", "nodes", "reply:x", "{b}", "index:n1", "fine"]);
    let mut over = a_tensor("over", Some(0));
    over.state = TensorState::Deleted;
    core.truth.tensors.insert("over".into(), over);
    core.repair().unwrap();
    assert_eq!(names(&core), ["fine"]);
}

#[test]
fn of_two_with_one_name_the_living_one_is_shown() {
    let (mut dead, living) = (a_tensor("a", Some(2)), a_tensor("a", Some(1)));
    dead.state = TensorState::Deleted;
    for all in [vec![dead.clone(), living.clone()], vec![living.clone(), dead.clone()]] {
        assert_eq!(shown(all), std::slice::from_ref(&living));
    }
    assert_eq!(shown(vec![dead.clone()]), [dead], "processes hold it");
}

#[test]
fn many_are_compared_some_at_a_time() {
    let all: Vec<String> = (0..1000).map(|number| format!("t/{number:04}")).collect();
    let mut core = core(&all.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(core.repair().unwrap().written, 1000);
    let lists = core.store.lists;
    core.repair().unwrap();
    assert!(core.store.lists - lists < 20, "{}", core.store.lists - lists);
}

#[test]
fn of_several_tensors_with_one_name_the_one_that_can_be_had_is_shown_and_else_the_newest() {
    let with = |state, created_unix_ms, holds| Tensor {
        state,
        created_unix_ms,
        ..a_tensor("x", Some(holds))
    };
    let (old, new) = (with(TensorState::Orphan, 1, 1), with(TensorState::Orphan, 2, 1));
    let (over, ready) = (with(TensorState::Deleted, 9, 0), with(TensorState::Ready, 3, 1));
    let first = |all: &[&Tensor]| {
        let left = shown(all.iter().map(|tensor| (*tensor).clone()).collect());
        assert!(left.len() <= 1);
        left.first().map(|tensor| tensor.id)
    };
    assert_eq!(first(&[&old, &new, &over]), Some(new.id));
    assert_eq!(first(&[&new, &ready, &old]), Some(ready.id));
    assert_eq!(first(&[&over]), None);
}

#[test]
fn a_pond_that_cannot_say_hides_nothing_and_is_asked_again() {
    let mut core = core(&["a"]);
    core.repair().unwrap();
    let id = core.truth.tensors["a"].id;
    let ended = |core: &mut Core<FakeTruth, FakeStore>| {
        core.happened(Happened::Ended(id, Some("a".into()))).unwrap();
        core.flush(None).unwrap();
    };
    core.truth.refuse = Some(ErrorKind::Later);
    ended(&mut core);
    assert!(names(&core) == ["a"] && core.repair_due);
    core.repair_due = false;
    core.happened(Happened::Made(TensorId::random())).unwrap();
    assert!(core.repair_due, "one that could not be looked at yet");
    core.truth.refuse = None;
    core.repair_due = false;
    core.happened(Happened::Made(TensorId::random())).unwrap();
    assert!(!core.repair_due, "one that is gone already");
    core.truth.tensors.clear();
    ended(&mut core);
    assert!(names(&core).is_empty());
}
