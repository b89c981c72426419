//! Limits and the pond's own memory: its owner's group pays for it, once, whoever maps it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

use millpond_tests::place::{bytes, contexts, limit, size, unit};
use millpond_tests::{Place, binaries, checkpoint, eventually, eventually_equal, is_soft, skip};
use serde_json::Value;

/// A group that pays for this user's tensors and models.
fn group_of_this_user(place: &Place, group: &str, bytes: u64) {
    let user = rustix::process::getuid().as_raw().to_string();
    let said = place.cli(&["group", "set", group, "--limit", &size(bytes), "--user", &user]);
    assert!(said.ok().contains(group), "{said:?}");
}

/// A process that has nothing on a GPU is listed without it.
fn column(process: &Value, name: &str) -> u64 {
    process["devices"].get(0).map_or(0, |device| bytes(&device[name]))
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

/// What a group is charged with beside contexts and what no call has shown: by its processes, and by
/// the pond.
fn charged(place: &Place, group: &str) -> (u64, u64) {
    let account = place.account(group);
    let beside = bytes(&account["context_bytes"]) + bytes(&account["folded_bytes"]);
    let processes = bytes(&account["process_bytes"]) - beside;
    (processes, bytes(&account["pond_bytes"]))
}

#[test]
fn memory_that_a_limited_program_gives_to_the_pond_is_charged_once() {
    for kind in ["virtual", "linear"] {
        let place = Place::new();
        let (large, rest) = (40 * unit(), 24 * unit());
        group_of_this_user(&place, "team", limit(64));
        let mut client = place.client(&["--group", "team"]);
        client.ask(&format!("shared take x-own {kind} {large}"));
        assert_eq!(charged(&place, "team"), (large, 0), "{kind}");
        client.ask("shared free x-own");
        // Twice does not fit, and need not.
        client.ask(&format!("shared adopt x {kind} {large} 3"));
        assert_eq!(charged(&place, "team"), (0, large), "{kind}");
        assert_eq!(column(&only(&place, "team"), "shared_bytes"), large, "{kind}");
        let take = |client: &mut millpond_tests::Worker, name: &str, bytes: u64| {
            client.try_ask(&format!("shared take {name} linear {bytes}"))
        };
        take(&mut client, "y", rest).unwrap();
        let refused = take(&mut client, "z", 16 * unit()).unwrap_err();
        assert!(refused.contains("OUT_OF_MEMORY"), "{refused}");
        assert_eq!(charged(&place, "team"), (rest, large), "{kind}");
        let mut reader = place.pond.worker();
        assert_eq!(reader.ask("get x"), millpond_tests::content::hash_of(large, 3));

        // Deleted while a reader has it, it is the pond's; then the program's again, which has it still.
        place.pond.control().delete("x").unwrap();
        assert_eq!(charged(&place, "team"), (rest, large), "{kind}");
        reader.ask("drop-all");
        reader.ask("flush");
        eventually_equal("the program pays again", &(rest + large, 0), || charged(&place, "team"));
        let refused = take(&mut client, "z", 16 * unit()).unwrap_err();
        assert!(refused.contains("OUT_OF_MEMORY"), "{refused}");
        client.ask("shared free x");
        eventually_equal("it was freed", &(rest, 0), || charged(&place, "team"));
        assert_eq!(column(&only(&place, "team"), "shared_bytes"), 0, "{kind}");
        client.ask(&format!("shared adopt x {kind} {large} 5"));

        // Killed: what survives is the pond's alone, and what does not is nobody's.
        client.kill();
        let left = if kind == "virtual" { large } else { 0 };
        eventually_equal("what is left", &(0, left), || charged(&place, "team"));
        // With room for what a context is taken for.
        place.limit("team", &size(limit(128)));
        let mut next = place.tenant(&["--group", "team"]);
        assert!(next.takes("linear", 128 * unit() - left) && !next.takes("linear", 16 * unit()));
    }
}

#[test]
fn what_the_pond_refuses_stays_the_programs() {
    let place = Place::new();
    let large = 40 * unit();
    group_of_this_user(&place, "owners", 16 * unit());
    // Limited by another group than the one that would pay: that one must have room.
    let mut client = place.client(&["--group", "makers", "--limit", &size(limit(64))]);
    let refused = client.try_ask(&format!("shared adopt x virtual {large} 3")).unwrap_err();
    assert!(refused.contains("owners"), "{refused}");
    eventually_equal("the memory is freed", &(0, 0), || charged(&place, "makers"));
    assert_eq!(column(&only(&place, "makers"), "shared_bytes"), 0);
    place.limit("owners", &size(large));
    client.ask(&format!("shared adopt x virtual {large} 3"));
    assert_eq!((charged(&place, "makers"), charged(&place, "owners")), ((0, 0), (0, large)));
    // Memory of a pool stays charged to its maker, and so it must fit twice.
    place.limit("owners", &size(2 * large));
    client.ask(&format!("shared adopt y pool {} 3", 16 * unit()));
    let (makers, owners) = (charged(&place, "makers"), charged(&place, "owners"));
    assert!(makers.0 >= 16 * unit() && owners.1 >= large + 16 * unit(), "{makers:?}, {owners:?}");
}

#[test]
fn what_a_program_has_given_to_the_pond_is_neither_drift_nor_folded_in() {
    let place = Place::new();
    let large = 40 * unit();
    group_of_this_user(&place, "team", contexts(3, 256));
    let mut client = place.client(&["--group", "team"]);
    client.ask(&format!("shared adopt x virtual {large} 3"));
    client.ask(&format!("shared adopt y linear {large} 3"));
    // A host of the pond is no member: what it has is the pond's.
    place.pond.worker().ask(&format!("shared make h ipc {large} 3"));
    let held = charged(&place, "team");
    assert!(held.0 == 0 && held.1 >= 3 * large, "{held:?}");
    // Whoever has what it did not charge shows that every slot was compared with the card.
    let mut sneak = place.pond.worker();
    let folder = place.group_folder("team");
    sneak.ask(&format!("member attach {}", folder.display()));
    sneak.ask(&format!("member sneak {}", 4 * unit()));
    let of = |pid: u32| {
        let processes = place.processes("team");
        processes.into_iter().find(|process| process["pid"] == pid).unwrap()
    };
    let own = client.pid();
    let begun = std::time::Instant::now();
    let folded = eventually("the fold", || {
        let folded = of(sneak.pid())["devices"][0]["folded_bytes"].as_u64();
        folded.filter(|bytes| *bytes >= 4 * unit()).map(Some).or_else(|| {
            // A card may not show the processes of a container, however often it is read.
            (!is_soft() && begun.elapsed().as_secs() > 10).then_some(None)
        })
    });
    if folded.is_none() {
        skip("the card shows no processes");
        return;
    }
    let process = of(own);
    assert_eq!(column(&process, "shared_bytes"), 2 * large, "{process}");
    assert!(column(&process, "physical_bytes") >= 2 * large, "{process}");
    let drift = process["devices"][0]["drift_bytes"].as_i64().unwrap();
    if is_soft() {
        assert_eq!((column(&process, "folded_bytes"), drift), (0, 0), "{process}");
        let device = place.json(&["status"])["devices"][0].clone();
        assert_eq!(device["drift_bytes"].as_i64(), Some(0), "{device}");
        assert!(bytes(&device["other_bytes"]) < 4 * unit(), "nobody else has anything: {device}");
    } else {
        // Modules, and what a context is charged more than it takes.
        assert!(
            column(&process, "folded_bytes") < large && drift.unsigned_abs() < large,
            "{process}"
        );
    }
    assert_eq!(charged(&place, "team").1, held.1);
}

/// Memory that a mover or a host makes is its owner's as well, and so is the context of the host.
#[test]
fn memory_of_every_transport_is_charged_to_its_owner_and_shown_to_who_opens_it() {
    let place = Place::new();
    let large = 128 * unit();
    group_of_this_user(&place, "owners", limit(512));
    let charged = || bytes(&place.account("owners")["pond_bytes"]);
    for transport in ["mempool", "ipc"] {
        let mut owner = place.pond.worker();
        let hash = owner.ask(&format!("shared make x {transport} {large} 7"));
        let context: u64 = place.pond.status().hosts.iter().map(|host| host.context_bytes).sum();
        let slab = place.pond.control().inspect("x").unwrap().info.slab_bytes;
        eventually_equal(transport, &(slab + context), charged);

        // Twice what it may have of its own, and it has it all the same.
        let mut client = place.client(&["--limit", &size(limit(64)), "--group", "readers"]);
        assert_eq!(client.ask("get x"), hash, "{transport}");
        let process = only(&place, "readers");
        assert!(column(&process, "shared_bytes") >= large, "{process}");
        let own = column(&process, "charged_bytes") - column(&process, "context_bytes");
        assert_eq!(own, 0, "{process}");
        client.ask("drop x");
        client.ask("flush");
        eventually_equal("nothing is shared any more", &0, || {
            column(&only(&place, "readers"), "shared_bytes")
        });
        client.finish();
        owner.finish();
        place.pond.control().delete("x").unwrap();
        eventually_equal("all of it is given back", &0, charged);
    }
    // What is too much is refused before it is made, and the host is not kept for it.
    let mut owner = place.pond.worker();
    let refused = owner.try_ask(&format!("shared make y ipc {} 7", limit(600))).unwrap_err();
    assert!(refused.contains("owners"), "{refused}");
    owner.finish();
    eventually_equal("nothing is charged", &0, charged);
}
