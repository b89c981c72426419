//! What can escape a preloaded library: that it does as docs/limits.md says, that it is seen, and
//! that the way to close it closes it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

use std::path::{Path, PathBuf};
use std::process::Command;

use millpond_tests::place::{bytes, limit, size, unit};
use millpond_tests::{Budget, Place, Tenant, binaries, eventually, is_soft, namespace, say, skip};

fn driver(place: &Place) -> PathBuf {
    if is_soft() {
        return place.libraries().join("libcuda.so.1");
    }
    place.json(&["coverage"])["library"].as_str().unwrap().into()
}

/// Compiles the program with the ways out, and the same as a library that is linked with the driver.
fn escape(place: &Place) -> Option<(PathBuf, PathBuf)> {
    let source = place.pond.path("escape.c");
    std::fs::write(&source, include_str!("../programs/escape.c")).unwrap();
    let (program, library) = (place.pond.path("escape"), place.pond.path("libescape.so"));
    let driver = driver(place);
    let compile = |arguments: &[&str], output: &Path| {
        let mut gcc = Command::new("gcc");
        gcc.args(["-O1", "-Wall", "-o"]).arg(output).arg(&source).args(arguments).status()
    };
    let Ok(first) = compile(&["-ldl"], &program) else {
        skip("there is no gcc");
        return None;
    };
    let linked = ["-shared", "-fPIC", "-DLINKED", driver.to_str().unwrap()];
    assert!(first.success() && compile(&linked, &library).unwrap().success());
    Some((program, library))
}

fn start(place: &Place, words: &[&str]) -> Tenant {
    place.tenant_by(&[&["run", "--group", "team-a", "--"], words].concat())
}

/// What holders have that no group and no pond accounts for, as the card was last read.
fn others(place: &Place) -> u64 {
    eventually("a reading of the card", || {
        place.json(&["status"])["devices"][0]["other_bytes"].as_u64()
    })
}

/// What the group's processes have beyond what calls have shown, folded in or not.
fn drift(place: &Place) -> u64 {
    let of = |process: &serde_json::Value| {
        let device = &process["devices"][0];
        let folded = device["folded_bytes"].as_u64().unwrap_or(0);
        folded + device["drift_bytes"].as_u64().unwrap_or(0)
    };
    place.processes("team-a").iter().map(of).sum()
}

/// Whether others have what they had. A card's own driver keeps some megabytes.
fn is_back(place: &Place, before: u64) -> bool {
    let noise = if is_soft() { 0 } else { 16 * unit() };
    others(place) <= before + noise
}

#[test]
fn a_child_that_loses_its_environment_escapes_and_is_seen_as_somebody_else() {
    let place = Place::new();
    place.limit("team-a", &size(limit(64)));
    let before = others(&place);
    let tenant = binaries::tenant().to_str().unwrap();
    // As `env -i` does, less what the software driver needs.
    let lost = ["env", "-u", "LD_PRELOAD", "-u", "MILLPOND_LEDGER", tenant];
    let mut child = start(&place, &lost);
    assert!(child.takes("linear", 128 * unit()), "nothing holds it back");
    assert_eq!(bytes(&place.account("team-a")["used_bytes"]), 0);
    assert!(place.processes("team-a").is_empty());
    eventually("it to be seen among others", || {
        (others(&place) >= before + 128 * unit()).then_some(())
    });
    assert!(place.cli(&["status"]).ok().contains("OTHERS"));
    // Nobody is promised what it holds.
    let total = place.pond.status().devices[0].total_bytes;
    place.limit("team-b", &size(total));
    eventually("the limit that others' memory leaves", || {
        let effective = bytes(&place.account("team-b")["effective_bytes"]);
        (effective <= total - 128 * unit()).then_some(())
    });
    child.kill();
    eventually("it to be forgotten", || is_back(&place, before).then_some(()));
}

#[test]
fn memory_whose_exporter_died_is_seen_while_an_importer_has_it() {
    let place = Place::new();
    place.limit("team-a", &size(limit(256)));
    let tenant = binaries::tenant().to_str().unwrap();
    let (mut owner, mut importer) = (start(&place, &[tenant]), start(&place, &[tenant]));
    let before = others(&place);
    let id = owner.ask(&format!("alloc linear {}", 64 * unit()));
    let handle = owner.ask(&format!("export {id}"));
    let opened = importer.ask(&format!("open {handle}"));
    let used = || bytes(&place.account("team-a")["used_bytes"]);
    let both =
        eventually("the owner's charge", || Some(used()).filter(|used| *used >= 64 * unit()));
    owner.kill();
    eventually("the end of the owner's charge", || (used() <= both - 64 * unit()).then_some(()));
    // Nobody pays for it now, and nobody is promised it.
    eventually("what nobody pays for", || {
        (drift(&place) + others(&place) >= before + 64 * unit()).then_some(())
    });
    importer.ask(&format!("free {opened}"));
    eventually("its end on the card", || is_back(&place, before).then_some(()));
}

#[test]
fn what_the_loader_reads_from_files_needs_no_environment() {
    let Some(way) = namespace::unshare(&["--mount"]) else {
        skip("`unshare --mount` is not permitted here");
        return;
    };
    let place = Place::without_a_pond();
    // Odd enough to be nobody else's.
    let limit = (1 << 30) + u64::from(std::process::id()) * 4096;
    let files = [
        ("ld.so.preload", binaries::preload().to_str().unwrap()),
        ("vcuda/config.yaml", &format!("memory_limit: {limit}\n")),
    ];
    let mut script = namespace::with_etc(&place.pond.path("etc"), &files);
    script += "exec env -i ";
    if is_soft() {
        let soft = ["LD_LIBRARY_PATH", "MILLPOND_SOFT_DIR", "MILLPOND_SOFT_MEMORY"];
        soft.iter().for_each(|name| script += &format!("{name}=\"${name}\" "));
    }
    script += "\"$@\"";
    let program = place.bare(binaries::tenant());
    let mut tenant = Budget::spawn(namespace::under(&way, &script, &program));
    if let Err(error) = tenant.ready() {
        panic!("{error}\n{}", tenant.kill());
    }
    assert_eq!(tenant.numbers("total"), [limit]);
    assert!(!tenant.takes("linear", limit + (2 << 20)));
    drop(tenant);
    let user = rustix::process::geteuid().as_raw();
    let _ = std::fs::remove_dir_all(format!("/dev/shm/millpond-{user}/limit-{limit}"));
}

#[test]
fn other_ways_to_the_driver_in_one_process_escape_and_are_seen() {
    let place = Place::new();
    place.limit("team-a", &size(limit(64)));
    let Some((program, library)) = escape(&place) else { return };
    // Before anything: what has just ended is off the card sooner than off the book.
    let before = others(&place);
    let program = program.to_str().unwrap();
    let mut plain = start(&place, &[program, "plain"]);
    assert!(!plain.takes("linear", 128 * unit()), "the ordinary way is limited");
    plain.kill();

    let copy = place.pond.path("libcuda-copy.so");
    std::fs::copy(driver(&place), &copy).unwrap();
    let (library, copy) = (library.to_str().unwrap(), copy.to_str().unwrap());
    let mut alone = start(&place, &[program, "copy", copy]);
    assert!(!alone.takes("linear", 128 * unit()), "a driver under another name is limited too");
    alone.kill();
    let mut ways = vec![("deepbind", library), ("dlmopen", "")];
    if is_soft() {
        ways.push(("twice", copy));
    } else {
        // A card's driver is not there twice in one process.
        let words = ["run", "--group", "team-a", "--", program, "twice", copy];
        let tenant = Budget::spawn(place.command(&words));
        assert_eq!(tenant.ready().unwrap_err(), "error 304 begin");
    }
    for (way, library) in ways {
        let mut tenant = start(&place, &[program, way, library]);
        assert!(tenant.takes("linear", 128 * unit()), "{way} is not enforced");
        say(&format!("observed: {way} -> takes what the limit does not allow"));
        eventually(&format!("the reading of {way}"), || {
            (drift(&place) + others(&place) >= before + 128 * unit()).then_some(())
        });
        tenant.kill();
        eventually("its end", || place.processes("team-a").is_empty().then_some(()));
        eventually("its end on the card", || is_back(&place, before).then_some(()));
    }
}
