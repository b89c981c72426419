//! Elastic caches on the command line: their process is this one, and tells the pond by hand.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::common;

use std::collections::BTreeSet;
use std::ffi::CString;

use common::{Place, until};
use millpond_ledger::Member;
use millpond_tests::Raw;
use millpond_wire::CacheId;
use millpond_wire::message::{CacheOpen, CacheSlot, ReplyBody, RequestBody};
use serde_json::Value;

const GRANULE: u64 = 2 << 20;
/// A ledger counts in these.
const UNIT: u64 = 4096;

/// Slots of caches, and the connection that their process has.
struct Engine {
    place: Place,
    raw: Raw,
    slots: Vec<Member>,
    ids: Vec<CacheId>,
}

impl Engine {
    /// A process without caches yet, beside a pond with the group `serving`.
    fn new(place: Place) -> Self {
        place.stdout(&["group", "set", "serving", "--limit", "256M"]);
        let raw = Raw::connect(&place.pond());
        raw.be_welcome();
        Self { place, raw, slots: Vec::new(), ids: Vec::new() }
    }

    /// A cache of 64 MiB in four segments that holds three pages, one of them idle.
    fn open(&mut self, name: &str) {
        let group = &self.place.json(&["group", "ls", "serving", "--json"])["groups"][0];
        let folder = CString::new(group["folder"].as_str().unwrap()).unwrap();
        let device = group["devices"][0]["device"].as_str().unwrap().parse().unwrap();
        let member = Member::attach_cache(&folder).unwrap();
        let millpond_wire::GpuUuid(uuid) = device;
        let index = member.device(uuid).unwrap();
        member.reserve(index, u32::try_from(3 * GRANULE / UNIT).unwrap()).unwrap();
        member.set_idle(index, GRANULE / UNIT);
        let slot = member.slot_index();
        let cache = CacheId::random();
        let open = CacheOpen {
            cache,
            group: "serving".parse().unwrap(),
            name: name.parse().unwrap(),
            device,
            slot: Some(CacheSlot {
                index: u32::try_from(slot.get()).unwrap(),
                serial: slot.serial(),
            }),
            reserved_bytes: 64 << 20,
            granule_bytes: GRANULE,
            segments: 4,
            min_bytes: GRANULE,
            weight: 2,
        };
        self.raw.send(7, RequestBody::CacheOpen(Box::new(open)));
        let answer = self.raw.receive().unwrap().0.body;
        assert!(matches!(answer, ReplyBody::Done), "{answer:?}");
        self.slots.push(member);
        self.ids.push(cache);
    }
}

/// The first JSON of the page's section.
fn documented() -> Value {
    let page = include_str!("../../../docs/cli.md");
    let section = page.split("\n## ").find(|part| part.starts_with("elastic ls, inspect\n"));
    let block = section.unwrap().split("```json\n").nth(1).unwrap().split("```").next().unwrap();
    serde_json::from_str(block).unwrap()
}

fn fields(object: &Value) -> BTreeSet<String> {
    object.as_object().unwrap().keys().cloned().collect()
}

#[test]
fn caches_are_listed_with_what_they_hold_until_their_process_hangs_up() {
    let place = Place::new();
    let _serving = place.serve();
    let mut engine = Engine::new(place);
    engine.open("llama-7b/kv");
    engine.open("gpt2/kv");
    let Engine { place, raw, slots, .. } = engine;

    let listed = place.json(&["elastic", "ls", "--json"]);
    assert_eq!(fields(&listed["caches"][0]), fields(&documented()["caches"][0]));
    let names = |listed: &Value| -> Vec<String> {
        let caches = listed["caches"].as_array().unwrap().iter();
        caches.map(|cache| cache["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&listed), ["gpt2/kv", "llama-7b/kv"]);
    let first = &listed["caches"][0];
    for (field, bytes) in [
        ("reserved_bytes", 64 << 20),
        ("held_bytes", 3 * GRANULE),
        ("committed_bytes", 2 * GRANULE),
        ("idle_bytes", GRANULE),
        ("min_bytes", GRANULE),
        ("wanted_bytes", 0),
    ] {
        assert_eq!(first[field], bytes, "{field}");
    }
    assert_eq!((&first["pid"], &first["program"]), (&std::process::id().into(), &"raw".into()));

    let table = place.stdout(&["elastic", "ls", "--group", "serving"]);
    for part in ["COMMITTED", "WAITS", "llama-7b/kv", "64 MiB", "4 MiB", "2 MiB"] {
        assert!(table.contains(part), "{part} in {table}");
    }
    assert_eq!(place.stdout(&["elastic", "list", "-q"]), "gpt2/kv\nllama-7b/kv\n");

    let shown = place.json(&["ps", "--group", "serving", "--json"]);
    let of_cache = |name: &str| {
        let slots = shown["processes"].as_array().unwrap();
        slots.iter().find(|slot| slot["cache"] == name).unwrap()["devices"][0].clone()
    };
    assert_eq!(of_cache("gpt2/kv")["charged_bytes"], 3 * GRANULE);
    assert_eq!(of_cache("llama-7b/kv")["idle_bytes"], GRANULE);
    let table = place.stdout(&["ps", "--group", "serving"]);
    assert!(table.contains("CACHE") && table.contains("llama-7b/kv"), "{table}");
    assert_eq!(place.stdout(&["ps", "--group", "serving", "-q"]).lines().count(), 1, "one process");

    drop((raw, slots));
    until("the caches are gone", || {
        names(&place.json(&["elastic", "ls", "--json"])).is_empty().then_some(())
    });
    let kinds = "cache_opened,cache_closed";
    let told = place.stdout(&["events", "--kind", kinds]);
    assert_eq!(told.matches("cache_opened").count(), 2, "{told}");
    assert_eq!(told.matches("cache_closed").count(), 2, "{told}");
    let ran = place.run(&["elastic", "ls"]);
    assert_eq!((ran.code, ran.stdout.lines().count()), (Some(0), 1), "{}", ran.stdout);
    assert!(ran.stderr.starts_with("no caches; `millpond.elastic("), "{}", ran.stderr);
    assert!(ran.stderr.contains("docs/elastic.md"), "{}", ran.stderr);
    let ran = place.run(&["elastic", "ls", "-q"]);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""));
}

#[test]
fn a_cache_is_inspected_by_name_or_identity_and_an_unknown_one_has_a_way_out() {
    let place = Place::new();
    let _serving = place.serve();
    let mut engine = Engine::new(place);
    engine.open("llama-7b/kv");
    engine.open("state");
    engine.open("state");
    let Engine { place, raw: _raw, slots: _slots, ids } = engine;

    let whole = ids[0].to_string();
    for word in ["llama-7b/kv", whole.as_str(), &whole[..8]] {
        let shown = place.json(&["elastic", "inspect", word, "--json"]);
        assert_eq!(shown["cache"], whole.as_str(), "{word}");
        assert_eq!(fields(&shown), fields(&documented()["caches"][0]));
    }
    let shown = place.stdout(&["elastic", "inspect", "llama-7b/kv", "--group", "serving"]);
    assert!(shown.contains("64 MiB (67,108,864 bytes), 4 segments of 16 MiB"), "{shown}");
    assert_eq!(place.stdout(&["elastic", "inspect", "llama-7b/kv", "-q"]), format!("{whole}\n"));

    let ran = place.run(&["elastic", "inspect", "lama-7b/kv"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(3), ""));
    assert!(ran.stderr.starts_with("error: no cache 'lama-7b/kv'\n"), "{}", ran.stderr);
    assert!(ran.stderr.ends_with("hint: did you mean 'llama-7b/kv'?\n"), "{}", ran.stderr);

    let ran = place.run(&["elastic", "inspect", "state"]);
    assert_eq!(ran.code, Some(64), "{}", ran.stderr);
    assert!(ran.stderr.contains("'state' is the name of 2 caches"), "{}", ran.stderr);
    for id in &ids[1..] {
        assert!(ran.stderr.contains(&id.to_string()), "{id} in {}", ran.stderr);
    }
    let words = place.stdout(&["elastic", "ls", "-q"]);
    for word in words.lines() {
        place.stdout(&["elastic", "inspect", word]);
    }

    for words in [&["elastic", "ls"][..], &["elastic", "inspect", "state"]] {
        let ran = place.run(&[words, &["--group", "servin"]].concat());
        assert_eq!(ran.code, Some(3), "{}", ran.stderr);
        assert!(ran.stderr.contains("no group 'servin'"), "{}", ran.stderr);
        assert!(ran.stderr.contains("similar: serving"), "{}", ran.stderr);
    }
}

#[test]
fn a_group_says_whether_it_ends_silent_processes() {
    let place = Place::new();
    let _serving = place.serve();
    let made = place.json(&["group", "set", "serving", "--limit", "256M", "--json"]);
    assert_eq!(made["ends_silent"], false);
    for (word, ends) in [("yes", true), ("no", false)] {
        let set = place.json(&["group", "set", "serving", "--end-silent", word, "--json"]);
        assert_eq!(set["ends_silent"], ends);
        let listed = place.json(&["group", "ls", "serving", "--json"]);
        assert_eq!(listed["groups"][0]["ends_silent"], ends);
        let table = place.stdout(&["group", "ls", "serving"]);
        assert!(table.contains("END-SILENT") && table.contains(&format!("  {word}  ")), "{table}");
    }
    let ran = place.run(&["group", "set", "serving"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("`--end-silent`"), "{}", ran.stderr);
    let ran = place.run(&["group", "set", "nobody", "--end-silent", "yes"]);
    assert_eq!(ran.code, Some(3), "a setting alone makes no group: {}", ran.stderr);
}
