//! Several users of one pond: whose names, memory and limits are whose.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests too")]

use millpond_tests::{Options, Raw, Said, Town, eventually_equal};
use millpond_wire::message::{MoveWork, ReplyBody, RequestBody, Target, TensorGet, TensorMove};
use millpond_wire::{ErrorKind, LeaseId, Mode, TensorId, Token};
use serde_json::Value;

const MIB: u64 = 1 << 20;

/// A command that makes a tensor of zeroes.
fn create<'a>(name: &'a str, shape: &'a str, share: &'a str) -> Vec<&'a str> {
    vec!["tensor", "create", name, "--dtype", "u8", "--shape", shape, "--zero", "--share", share]
}

/// What a command with `--json` was refused with.
fn refusal(said: &Said) -> (String, String) {
    let error = said.error();
    let text = |field: &str| error[field].as_str().unwrap().to_owned();
    (text("kind"), text("message"))
}

fn shape(said: &Said) -> Value {
    said.json()["shape"].clone()
}

#[test]
fn a_bare_name_is_the_callers_own_and_a_tilde_names_another_user() {
    let Some(town) = Town::start(Options::new()) else { return };
    let (alice, bob) = (town.citizen(1), town.citizen(2));
    let _ = alice.cli(&create("x", "1", "everybody")).ok();
    let absent = refusal(&bob.cli(&["tensor", "inspect", "x", "--json"]));
    assert_eq!(absent.0, "not_found", "{}", absent.1);
    let _ = bob.cli(&create("x", "2", "user")).ok();
    let of_alice = format!("~{}/x", alice.user);
    for (who, name, expected) in [
        (&alice, "x", 1),
        (&bob, "x", 2),
        (&bob, of_alice.as_str(), 1),
        (&alice, of_alice.as_str(), 1),
    ] {
        let found = shape(&who.cli(&["tensor", "inspect", name, "--json"]));
        assert_eq!(found, serde_json::json!([expected]), "{name} of user {}", who.user);
    }
}

#[test]
fn a_private_tensor_of_another_user_is_as_if_it_were_not_there() {
    let Some(town) = Town::start(Options::new()) else { return };
    let (alice, bob) = (town.citizen(1), town.citizen(2));
    let _ = alice.cli(&create("secret", "1", "user")).ok();
    let there = format!("~{}/secret", alice.user);
    let absent = format!("~{}/absent", alice.user);
    for command in ["inspect", "rm"] {
        let (kind, message) = refusal(&bob.cli(&["tensor", command, &there, "--json"]));
        let (other, expected) = refusal(&bob.cli(&["tensor", command, &absent, "--json"]));
        assert_eq!((kind.as_str(), other.as_str()), ("not_found", "not_found"));
        assert_eq!(message.replace("secret", "absent"), expected, "the two can be told apart");
    }
    assert!(!bob.cli(&["tensor", "ls", "--json"]).ok().contains("secret"));
    assert!(alice.cli(&["tensor", "ls", "--json"]).ok().contains("secret"));
}

#[test]
fn what_is_shared_can_be_read_by_others_and_deleted_by_its_owner_alone() {
    let Some(town) = Town::start(Options::new()) else { return };
    let (alice, bob) = (town.citizen(1), town.citizen(2));
    let _ = alice.cli(&create("shared", "16", "everybody")).ok();
    let name = format!("~{}/shared", alice.user);
    assert_eq!(bob.cli(&["tensor", "get", &name, "-o", "-", "--format", "raw"]).ok().len(), 16);
    assert_eq!(refusal(&bob.cli(&["tensor", "rm", &name, "--json"])).0, "denied");
    let _ = alice.cli(&["tensor", "rm", "shared"]).ok();
    assert_eq!(refusal(&bob.cli(&["tensor", "inspect", &name, "--json"])).0, "not_found");
}

#[test]
fn only_public_writers_make_names_under_public() {
    let bob = Town::start(Options::new()).map(|town| {
        // Root is one always, and nobody else is without the setting.
        let alice = town.citizen(1);
        let refused =
            refusal(&alice.cli(&[&create("public/a", "1", "everybody")[..], &["--json"]].concat()));
        assert_eq!(refused.0, "denied", "{}", refused.1);
        let _ = town.pond().cli(&create("public/root", "1", "everybody")).ok();
        let _ = alice.cli(&["tensor", "inspect", "public/root"]).ok();
        town.citizen(2).user.to_string()
    });
    let Some(bob) = bob else { return };
    let options = Options::new().flag("--public-writers", &bob);
    let Some(town) = Town::start(options) else { return };
    let (alice, bob) = (town.citizen(1), town.citizen(2));
    let _ = bob.cli(&create("public/b", "1", "everybody")).ok();
    let refused = alice.cli(&[&create("public/a", "1", "everybody")[..], &["--json"]].concat());
    assert_eq!(refusal(&refused).0, "denied");
    assert_eq!(refusal(&alice.cli(&["tensor", "rm", "public/b", "--json"])).0, "denied");
}

#[test]
fn a_user_who_has_reached_a_cap_keeps_nobody_else_from_anything() {
    let options = Options::new().env("MILLPOND_LIMITS_TENSORS_PER_USER", "3");
    let Some(town) = Town::start(options) else { return };
    let (alice, bob) = (town.citizen(1), town.citizen(2));
    for name in ["one", "two", "three"] {
        let _ = bob.cli(&create(name, "1", "user")).ok();
    }
    let fourth = bob.cli(&[&create("four", "1", "user")[..], &["--json"]].concat());
    assert_eq!(refusal(&fourth).0, "too_many");
    let _ = alice.cli(&create("one", "1", "user")).ok();
    // Root sees both, a user sees one.
    let users = |said: Said| -> Vec<(u64, u64)> {
        let said = said.json();
        let users = said["users"].as_array().unwrap().iter();
        let has = |user: &Value| {
            let resources = user["resources"].as_array().unwrap();
            let tensors = resources.iter().find(|one| one["name"] == "tensors").unwrap();
            (user["user"].as_u64().unwrap(), tensors["has"].as_u64().unwrap())
        };
        users.map(has).filter(|(_, tensors)| *tensors > 0).collect()
    };
    let all = users(town.pond().cli(&["status", "--users", "--json"]));
    assert_eq!(all, [(u64::from(alice.user), 1), (u64::from(bob.user), 3)]);
    let own = users(alice.cli(&["status", "--users", "--json"]));
    assert_eq!(own, [(u64::from(alice.user), 1)]);
}

#[test]
fn the_operator_deletes_what_is_private_and_neither_maps_nor_moves_it() {
    let Some(town) = Town::start(Options::new()) else { return };
    let alice = town.citizen(1);
    let made = alice.cli(&[&create("private", "16", "user")[..], &["--json"]].concat()).json();
    let tensor = TensorId(made["id"].as_str().unwrap().parse().unwrap());
    let operator = Raw::connect_admin(&town.pond().runtime_dir());
    operator.be_welcome();
    let ask = |number, body| {
        operator.send(number, body);
        operator.receive().unwrap().0.body
    };
    let denied = |body: ReplyBody| match body {
        ReplyBody::Failure(failure) => failure.kind == ErrorKind::Denied,
        other => panic!("not refused: {other:?}"),
    };
    let (lease, mode, wait_ms) = (LeaseId(1), Mode::ReadOnly, 0);
    let get = TensorGet { target: Target::Id(tensor), lease, mode, wait_ms };
    assert!(denied(ask(2, RequestBody::TensorGet(get))));
    let zero =
        TensorMove { token: Token::random(), tensor, offset: 0, bytes: 16, work: MoveWork::Zero };
    assert!(denied(ask(3, RequestBody::TensorMove(zero))));
    assert_eq!(ask(4, RequestBody::TensorDelete { tensor }), ReplyBody::Done);
    let gone = alice.cli(&["tensor", "inspect", "private", "--json"]);
    assert_eq!(refusal(&gone).0, "not_found");
}

/// A process that has a lease and hangs up for good, as the next daemon sees it.
#[test]
fn a_process_that_is_silent_over_a_restart_keeps_what_its_user_has_borrowed_and_nothing_else() {
    let Some(town) = Town::start(Options::giving_back()) else { return };
    let (alice, bob) = (town.citizen(1), town.citizen(2));
    let bytes = (40 * MIB).to_string();
    for name in ["borrowed", "other"] {
        let _ = alice.cli(&create(name, &bytes, "everybody")).ok();
    }
    let mut silent = bob.worker();
    silent.ask(&format!("hoard 1 1 ~{}/borrowed", alice.user));
    eventually_equal("leases", &1, || town.pond().accounts().leases);
    town.pond().kill_daemon();
    assert_eq!(town.pond().accounts().slab_bytes, 80 * MIB);
    for name in ["other", "borrowed"] {
        let _ = alice.cli(&["tensor", "rm", name]).ok();
    }
    assert_eq!(town.pond().accounts().slab_bytes, 40 * MIB, "bob may still read one of them");
    silent.kill();
    eventually_equal("slabs", &0, || town.pond().accounts().slab_bytes);
}
