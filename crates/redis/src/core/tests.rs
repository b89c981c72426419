use serde_json::Value;

use super::*;
use crate::fake::{FakeStore, FakeTruth, a_tensor};
use crate::truth::Happened;

fn one(raw: Vec<u8>) -> Taken {
    Taken { commands: vec![Pushed { raw, gave: None }], ..Taken::default() }
}

fn core() -> Core<FakeTruth, FakeStore> {
    let keys = Arc::new(Keys::new("", "n1").unwrap());
    let mut core = Core::new(FakeTruth::new(), FakeStore::new("n1"), keys, Arc::default(), true);
    core.store.beats.insert("n1".into());
    core
}

/// Pushes commands as clients do, and carries them out.
fn play(core: &mut Core<FakeTruth, FakeStore>, commands: &[&str]) -> Vec<Value> {
    let before = core.store.replies.len();
    core.store.commands.extend(commands.iter().map(|raw| raw.as_bytes().to_vec()));
    core.drain(Source::Any).unwrap();
    answers(core, before)
}

fn answers(core: &Core<FakeTruth, FakeStore>, from: usize) -> Vec<Value> {
    core.store.replies[from..].iter().map(|(_, text)| serde_json::from_str(text).unwrap()).collect()
}

fn create(id: u32) -> String {
    format!(
        r#"{{"op":"create","name":"X","dtype":"f32","shape":[2,3],"id":{id},"reply":"tensor:reply:r"}}"#
    )
}

fn simple(op: &str, id: u32) -> String {
    format!(r#"{{"op":"{op}","name":"X","id":{id},"reply":"tensor:reply:r"}}"#)
}

fn code(answer: &Value) -> &str {
    answer["error"]["code"].as_str().unwrap_or("ok")
}

#[test]
fn a_tensor_is_made_held_given_up_and_gone() {
    let mut core = core();
    let said = play(&mut core, &[&create(1), &simple("get", 2)]);
    assert_eq!((code(&said[0]), code(&said[1])), ("ok", "ok"));
    assert_eq!(said[0]["tensor"]["refcount"], 1);
    assert_eq!(said[1]["tensor"]["ipc_handle"].as_str().unwrap().len(), 88);
    assert_eq!(core.store.field("X", "refcount"), Some("2"));
    assert_eq!(core.store.field("X", "node"), Some("n1"));
    let said = play(&mut core, &[&simple("delete", 3), &simple("delete", 4)]);
    assert_eq!((&said[0]["refcount"], &said[1]["refcount"]), (&1.into(), &0.into()));
    assert_eq!(said[1]["state"], "deleted");
    assert!(core.store.hashes.is_empty() && core.store.index["n1"].is_empty());
    assert!(core.store.processing.is_empty(), "all was acknowledged");
    assert_eq!(code(&play(&mut core, &[&simple("delete", 5)])[0]), "not_found");
}

#[test]
fn a_repeat_with_an_id_changes_nothing() {
    let mut core = core();
    play(&mut core, &[&create(1), &create(1), &simple("get", 2), &simple("get", 2)]);
    assert_eq!(core.store.field("X", "refcount"), Some("2"));
    play(&mut core, &[&create(9)]);
    assert_eq!(core.store.field("X", "refcount"), Some("3"), "another create is another hold");
}

#[test]
fn a_repeat_that_the_pond_has_forgotten_changes_nothing() {
    let mut core = core();
    let (get, delete) = (simple("get", 2), simple("delete", 3));
    let first = play(&mut core, &[&create(1), &get, &simple("get", 4), &delete]);
    core.truth.tokens.clear();
    let said = play(&mut core, &[&create(1), &get, &delete]);
    assert_eq!(core.truth.tensors["X"].holds, Some(2));
    assert_eq!(said.iter().map(code).collect::<Vec<_>>(), ["ok"; 3]);
    assert_eq!(said[2], first[3], "of a delete the same answer");
    assert_eq!(said[0]["tensor"]["refcount"], 2, "of what gives a tensor the tensor as it is");
    core.truth.tensors.clear();
    assert_eq!(code(&play(&mut core, &[&get])[0]), "not_found");
    let bare = r#"{"op":"get","name":"X","reply":"tensor:reply:r"}"#;
    core.truth.tensors.insert("X".into(), a_tensor("X", Some(1)));
    play(&mut core, &[bare, bare]);
    assert_eq!(core.truth.tensors["X"].holds, Some(3), "without an id nothing is remembered");
}

#[test]
fn a_key_of_another_application_is_left_alone() {
    let mut core = core();
    core.store.foreign.insert("X".into());
    let said = &play(&mut core, &[&create(1)])[0];
    assert_eq!(code(said), "exists");
    assert!(said["error"]["message"].as_str().unwrap().contains("'tensor:X'"), "{said}");
    assert!(core.truth.tensors.is_empty() && core.store.hashes.is_empty());
    core.truth.tensors.insert("X".into(), a_tensor("X", Some(1)));
    assert_eq!(core.repair().unwrap().others, 1);
    assert!(core.store.hashes.is_empty());
}

#[test]
fn what_a_dead_bridge_took_is_carried_out_once() {
    let mut core = core();
    core.truth.tensors.insert("X".into(), a_tensor("X", Some(1)));
    let raw = simple("get", 1).into_bytes();
    core.store.processing.push_back(raw.clone());
    core.recover(Source::Any).unwrap();
    assert_eq!(core.truth.tensors["X"].holds, Some(2));
    assert!(core.store.processing.is_empty());
    core.store.processing.push_back(raw);
    core.recover(Source::Any).unwrap();
    assert_eq!(core.truth.tensors["X"].holds, Some(2));
}

#[test]
fn a_connection_that_is_lost_repeats_writes_and_no_command() {
    let mut core = core();
    core.truth.tensors.insert("X".into(), a_tensor("X", Some(1)));
    // Without an id: a second try would be a second hold.
    let raw = br#"{"op":"get","name":"X","reply":"tensor:reply:r"}"#.to_vec();
    core.store.processing.push_back(raw.clone());
    core.store.lose = 1;
    core.work(Source::Any, one(raw)).unwrap();
    assert_eq!(core.truth.tensors["X"].holds, Some(2));
    assert_eq!(core.store.field("X", "refcount"), Some("2"));
    assert!(core.store.processing.is_empty() && core.repair_due);
}

#[test]
fn commands_that_went_with_a_lost_connection_are_found() {
    let mut core = core();
    core.truth.tensors.insert("X".into(), a_tensor("X", Some(1)));
    let first = simple("get", 1).into_bytes();
    core.store.processing.push_back(first.clone());
    core.store.commands.push_back(simple("get", 2).into_bytes());
    // The list that answers the first also takes the second, and its answer never comes.
    core.store.lose = 1;
    core.work(Source::Any, one(first)).unwrap();
    assert_eq!(core.truth.tensors["X"].holds, Some(3));
    assert!(core.store.processing.is_empty() && core.store.commands.is_empty());
}

#[test]
fn a_full_redis_is_waited_for_and_nothing_is_answered_twice() {
    let mut core = core();
    core.truth.tensors.insert("X".into(), a_tensor("X", Some(1)));
    core.store.full = 2;
    let said = play(&mut core, &[&simple("get", 1), &simple("info", 2)]);
    assert_eq!(said.len(), 2);
    assert_eq!(core.store.field("X", "refcount"), Some("2"));
}

#[test]
fn a_pond_that_is_away_is_waited_for() {
    let mut core = core();
    core.truth.tensors.insert("X".into(), a_tensor("X", Some(1)));
    core.repair_due = false;
    core.truth.away = 2;
    let said = play(&mut core, &[&simple("get", 1)]);
    assert_eq!(code(&said[0]), "ok");
    assert!(core.repair_due, "what happened meanwhile is looked for");
    core.truth.away = 1;
    core.stop.store(true, Ordering::Relaxed);
    core.store.commands.push_back(simple("get", 2).into_bytes());
    assert_eq!(core.drain(Source::Any), Err(Halt::Stop));
    assert_eq!(core.store.processing.len(), 1, "it is left for the next bridge");
}

#[test]
fn bad_commands_are_answered_and_never_stop_the_bridge() {
    let mut core = core();
    let large =
        format!(r#"{{"op":"get","name":"{}","reply":"tensor:reply:r"}}"#, "x".repeat(1 << 20));
    let commands = [
        "not json",
        r#"{"op":"explode","reply":"tensor:reply:r","id":1}"#,
        r#"{"op":"get","reply":"tensor:reply:r"}"#,
        r#"{"op":"create","name":"X","dtype":"f33","shape":[1],"reply":"tensor:reply:r"}"#,
        r#"{"op":"create","name":"X","dtype":"f32","shape":[-1],"reply":"tensor:reply:r"}"#,
        r#"{"op":"create","name":"X","dtype":"f32","shape":[1],"device":9,"reply":"tensor:reply:r"}"#,
        &large,
        &simple("get", 9),
    ];
    let said = play(&mut core, &commands);
    let codes: Vec<&str> = said.iter().map(code).collect();
    let expected = [
        "unknown_op",
        "missing_field",
        "invalid",
        "invalid",
        "no_device",
        "too_large",
        "not_found",
    ];
    assert_eq!(codes, expected);
    assert!(core.store.processing.is_empty());
}

#[test]
fn nobody_makes_the_bridge_write_elsewhere() {
    let mut core = core();
    let raw = r#"{"op":"create","name":"X","dtype":"f32","shape":[2],"reply":"tensor:cmd"}"#;
    assert!(play(&mut core, &[raw]).is_empty());
    assert!(core.truth.tensors.is_empty(), "such a command is not carried out");
    assert!(core.store.processing.is_empty());
}

#[test]
fn only_what_was_made_through_redis_is_handed_out() {
    let mut core = core();
    core.truth.tensors.insert("X".into(), a_tensor("X", None));
    let said = play(&mut core, &[&simple("get", 1), &simple("delete", 2), &create(3)]);
    assert_eq!(said.iter().map(code).collect::<Vec<_>>(), ["not_shared"; 3]);
    let clone = r#"{"op":"clone","name":"X","dst":"Y","device":1,"reply":"tensor:reply:r"}"#;
    assert_eq!(code(&play(&mut core, &[clone])[0]), "not_shared");
    let info = &play(&mut core, &[&simple("info", 4)])[0];
    assert_eq!(info["tensor"]["ipc_handle"], "");
}

#[test]
fn a_get_for_another_device_is_refused_before_anything_is_held() {
    let mut core = core();
    play(&mut core, &[&create(1)]);
    let get = |device: u32| {
        format!(r#"{{"op":"get","name":"X","device":{device},"reply":"tensor:reply:r"}}"#)
    };
    let said = play(&mut core, &[&get(1), &get(0), &get(7)]);
    assert_eq!(said.iter().map(code).collect::<Vec<_>>(), ["wrong_device", "ok", "no_device"]);
    assert_eq!(core.truth.tensors["X"].holds, Some(2));
}

#[test]
fn a_tensor_of_another_node_is_named_or_asked_for_there() {
    let mut core = core();
    core.store.put(&a_tensor("X", Some(1)), "n2");
    core.store.nodes.insert("n2".into());
    assert_eq!(code(&play(&mut core, &[&simple("get", 1)])[0]), "not_found", "n2 is dead");
    core.store.beats.insert("n2".into());
    let said = play(&mut core, &[&simple("get", 2), &create(3)]);
    for answer in &said {
        assert_eq!((code(answer), &answer["error"]["node"]), ("wrong_node", &"n2".into()));
    }
    assert!(core.truth.tensors.is_empty());
    assert!(play(&mut core, &[&simple("delete", 4), &simple("info", 5)]).is_empty());
    let forwarded: Vec<&str> = core.store.forwarded.iter().map(|(to, _)| to.as_str()).collect();
    assert_eq!(forwarded, ["n2", "n2"]);
    let list = &play(&mut core, &[r#"{"op":"list","reply":"tensor:reply:r"}"#])[0];
    assert_eq!((&list["tensors"][0]["node"], &list["truncated"]), (&"n2".into(), &false.into()));
}

#[test]
fn a_command_for_a_node_goes_there() {
    let mut core = core();
    let raw = r#"{"op":"get","name":"X","node":"n2","reply":"tensor:reply:r"}"#;
    let said = play(&mut core, &[raw]);
    assert_eq!((code(&said[0]), &said[0]["error"]["node"]), ("not_found", &"n2".into()));
    core.store.beats.insert("n2".into());
    assert!(play(&mut core, &[raw]).is_empty());
    assert_eq!(core.store.forwarded.len(), 1);
}

#[test]
fn events_are_shown_but_not_the_bridges_own() {
    let mut core = core();
    let (held, native) = (a_tensor("X", Some(1)), a_tensor("Y", None));
    core.truth.tensors.extend([("X".to_owned(), held.clone()), ("Y".to_owned(), native.clone())]);
    core.happened(Happened::Made(held.id)).unwrap();
    core.happened(Happened::Made(native.id)).unwrap();
    core.flush(None).unwrap();
    assert_eq!(core.store.field("Y", "ipc_handle"), Some(""));
    core.truth.tensors.remove("Y");
    core.happened(Happened::Ended(native.id, Some("Y".into()))).unwrap();
    core.flush(None).unwrap();
    assert!(!core.store.hashes.contains_key("Y") && core.store.hashes.contains_key("X"));
    core.is_mine(held.id);
    let calls = core.truth.calls;
    core.happened(Happened::Made(held.id)).unwrap();
    assert_eq!(core.truth.calls, calls);
    // What others end is news, whoever made it.
    core.truth.tensors.remove("X");
    core.happened(Happened::Ended(held.id, Some("X".into()))).unwrap();
    core.flush(None).unwrap();
    assert!(core.store.hashes.is_empty());
    core.happened(Happened::Everything).unwrap();
    assert!(core.repair_due);
}

#[test]
fn a_hash_whose_tensor_is_gone_goes_when_somebody_asks() {
    let mut core = core();
    play(&mut core, &[&create(1)]);
    core.truth.tensors.clear();
    assert_eq!(code(&play(&mut core, &[&simple("get", 2)])[0]), "not_found");
    assert!(core.store.hashes.is_empty());
}
