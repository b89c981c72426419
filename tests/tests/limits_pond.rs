//! Limits and the pond's own memory: its owner's group pays for it, once, whoever maps it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

use millpond_tests::place::{bytes, limit, size, unit};
use millpond_tests::{Place, binaries, checkpoint, eventually, eventually_equal};
use serde_json::Value;

/// A group that pays for this user's tensors and models.
fn group_of_this_user(place: &Place, group: &str, bytes: u64) {
    let user = rustix::process::getuid().as_raw().to_string();
    let said = place.cli(&["group", "set", group, "--limit", &size(bytes), "--user", &user]);
    assert!(said.ok().contains(group), "{said:?}");
}

fn column(process: &Value, name: &str) -> u64 {
    bytes(&process["devices"][0][name])
}

/// The only process of a group.
fn only(place: &Place, group: &str) -> Value {
    eventually("one process in the group", || {
        let mut processes = place.processes(group);
        (processes.len() == 1).then(|| processes.remove(0))
    })
}

#[test]
fn a_mapped_tensor_is_shown_to_the_importer_and_charged_to_the_owner() {
    let place = Place::new();
    let (small, large) = (limit(64), 128 * unit());
    group_of_this_user(&place, "owners", limit(256));
    let mut owner = place.pond.worker();
    let hash = owner.ask(&format!("put x {large} 7"));
    assert_eq!(bytes(&place.account("owners")["pond_bytes"]), large);

    // Twice what the importer may have of its own, and it has it all the same.
    let mut client = place.client(&["--limit", &size(small), "--group", "readers"]);
    assert_eq!(client.ask("get x"), hash);
    let process = only(&place, "readers");
    assert_eq!(column(&process, "shared_bytes"), large, "{process}");
    let own = column(&process, "charged_bytes") - column(&process, "context_bytes");
    assert_eq!(own, 0, "{process}");
    let account = place.account("readers");
    assert_eq!(bytes(&account["pond_bytes"]), 0, "{account}");
    assert_eq!(bytes(&place.account("owners")["pond_bytes"]), large, "charged once");
    assert!(place.cli(&["ps", "--group", "readers"]).ok().contains("SHARED"));

    // What it has of its own is limited as ever: NVML's reading does not count what is shared.
    let mut tenant = place.tenant(&["--group", "readers"]);
    assert!(tenant.takes("linear", 32 * unit()));
    assert!(!tenant.takes("linear", 64 * unit()));
    drop(tenant);

    client.ask("drop x");
    client.ask("flush");
    eventually_equal("nothing is shared any more", &0, || {
        column(&only(&place, "readers"), "shared_bytes")
    });
    client.kill();
    assert_eq!(bytes(&place.account("owners")["pond_bytes"]), large, "the tensor stays");
}

#[test]
fn a_client_that_dies_with_a_mapping_leaves_the_owners_charge_and_no_other() {
    let place = Place::new();
    let large = 128 * unit();
    group_of_this_user(&place, "owners", limit(256));
    place.pond.worker().ask(&format!("put x {large} 7"));
    let mut client = place.client(&["--limit", &size(limit(64)), "--group", "readers"]);
    client.ask("map x");
    client.kill();
    eventually("nobody to be in the group", || place.processes("readers").is_empty().then_some(()));
    assert_eq!(bytes(&place.account("readers")["used_bytes"]), 0);
    assert_eq!(bytes(&place.account("owners")["pond_bytes"]), large);
    // The tensor is there for the next one.
    let mut next = place.client(&["--limit", &size(limit(64))]);
    next.ask("get x");
}

#[test]
fn what_a_client_makes_is_the_ponds_and_its_owner_pays() {
    let place = Place::new();
    group_of_this_user(&place, "owners", limit(96));
    let mut client = place.client(&["--limit", &size(limit(64)), "--group", "writers"]);
    client.ask(&format!("make x {} 3", 80 * unit()));
    let process = only(&place, "writers");
    assert_eq!(column(&process, "shared_bytes"), 80 * unit(), "{process}");
    assert_eq!(bytes(&place.account("owners")["pond_bytes"]), 80 * unit());
    let refused = client.try_ask(&format!("make y {} 3", 80 * unit())).unwrap_err();
    assert!(refused.contains("owners"), "{refused}");
    let process = only(&place, "writers");
    assert_eq!(column(&process, "shared_bytes"), 80 * unit(), "{process}");
}

#[test]
fn an_attached_model_is_shared_and_its_versions_are_the_owners() {
    let place = Place::new();
    group_of_this_user(&place, "owners", limit(256));
    let mut owner = place.pond.worker();
    owner.ask("model make m v1 8 5");
    let held = bytes(&place.account("owners")["pond_bytes"]);
    assert!(held >= 8 * millpond_tests::tool::TENSOR_BYTES, "{held}");
    let mut client = place.client(&["--limit", &size(limit(64)), "--group", "readers"]);
    client.ask("model attach m");
    client.ask("model hash m w0");
    let process = only(&place, "readers");
    assert_eq!(column(&process, "shared_bytes"), held, "{process}");
    let own = column(&process, "charged_bytes") - column(&process, "context_bytes");
    assert_eq!(own, 0, "{process}");
    assert_eq!(bytes(&place.account("owners")["pond_bytes"]), held, "charged once");
}

#[test]
fn beyond_the_owners_limit_nothing_is_made_and_the_error_says_what_to_do() {
    let place = Place::new();
    // Without room for a context: the pond has none.
    let (whole, part) = (96 * unit(), 64 * unit());
    group_of_this_user(&place, "team", whole);
    let create = |name: &str, bytes: u64| {
        place.cli(&["tensor", "create", name, "--dtype", "u8", "--shape", &size(bytes)])
    };
    let told = |said: &millpond_tests::Said| {
        let names = ["'team'", "limit is", "held by", "hint", "millpond group set team"];
        for part in names {
            assert!(said.stderr.contains(part), "{part}: {said:?}");
        }
    };
    let used = whole - part;
    assert!(create("x", used).ok().contains('x'));
    let refused = create("y", part + unit());
    assert_eq!(refused.code, Some(7), "{refused:?}");
    told(&refused);
    // A file of bytes, and a checkpoint.
    let file = place.pond.path("bytes");
    std::fs::write(&file, vec![7; usize::try_from(part + unit()).unwrap()]).unwrap();
    let put = ["tensor", "put", "y", file.to_str().unwrap(), "--dtype", "u8"];
    let refused = place.cli(&put);
    assert_eq!(refused.code, Some(7), "{refused:?}");
    told(&refused);
    let folder = place.pond.path("checkpoint");
    let count = part / (1 << 20) + 16;
    let _ = checkpoint::write(&folder, &checkpoint::tensors(count, 3), 1 << 30);
    let load = ["load", "m", folder.to_str().unwrap()];
    let refused = place.cli(&load);
    assert_eq!(refused.code, Some(7), "{refused:?}");
    told(&refused);
    assert_eq!(bytes(&place.account("team")["pond_bytes"]), used, "nothing is left of the three");

    // The way out: delete something, or a larger limit.
    assert!(place.cli(&["tensor", "rm", "x"]).ok().contains('x'));
    eventually_equal("there is room", &0, || bytes(&place.account("team")["pond_bytes"]));
    assert_eq!(place.cli(&put).code, Some(0));
    assert_eq!(place.cli(&load).code, Some(7), "both do not fit");
    place.limit("team", &size(4 * whole));
    let loaded = place.cli(&load);
    assert_eq!(loaded.code, Some(0), "{loaded:?}");
}

#[test]
fn the_ponds_memory_is_nobody_elses_in_any_group_or_none() {
    let place = Place::new();
    place.limit("team", &size(limit(256)));
    let others = || {
        eventually("a reading of the card", || {
            place.json(&["status"])["devices"][0]["other_bytes"].as_u64()
        })
    };
    let before = others();
    let mut owner = place.pond.worker();
    owner.ask(&format!("put ungrouped {} 3", 64 * unit()));
    group_of_this_user(&place, "owners", limit(256));
    owner.ask(&format!("put grouped {} 3", 64 * unit()));
    // A program without a limit is: it is there when the card is read again.
    let mut stranger = millpond_tests::Budget::spawn(place.bare(binaries::tenant()));
    stranger.ready().unwrap();
    assert!(stranger.takes("linear", 32 * unit()));
    let after = eventually("the stranger", || {
        Some(others()).filter(|after| *after >= before + 32 * unit())
    });
    assert!(after < before + 64 * unit(), "{before}, {after}");
}
