//! A card to scale: whatever is on it, its parts add up, and agree with the driver's own count.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use millpond::{Dtype, TensorSpec, TransportKind};
use millpond_overview::{Card, Collector, Options as Collected, Sees, SegmentKind};
use millpond_tests::driver::tolerance;
use millpond_tests::place::{limit, size, unit};
use millpond_tests::{Options, Place, TestPond, Town, binaries, checkpoint, eventually};
use serde_json::Value;

fn collector(pond: &TestPond) -> Collector {
    let folder = pond.runtime_dir();
    Collector::connect(Some(&folder), "test", Collected::default()).unwrap()
}

fn bytes_of(card: &Card, kind: SegmentKind) -> u64 {
    card.segments.iter().filter(|it| it.kind == kind).map(|it| it.bytes).sum()
}

#[track_caller]
fn adds_up(card: &Card) {
    let sum: u64 = card.segments.iter().map(|segment| segment.bytes).sum();
    assert_eq!(sum, card.total_bytes, "{card:#?}");
}

/// A pond with something of nearly every kind, and a program in a group.
fn busy(place: &Place) -> millpond_tests::Tenant {
    let pond = place.pond.control();
    let mib = 1 << 20;
    for (name, bytes) in [("acts/x", 64 * mib), ("acts/y", 33 * mib), ("small", 5000)] {
        pond.reserve(TensorSpec::new(name, Dtype::U8, [bytes])).unwrap();
    }
    let ipc = TensorSpec::new("legacy", Dtype::U8, [3 * mib]).transport(TransportKind::Ipc);
    pond.reserve(ipc).unwrap();
    let folder = place.pond.path("model");
    let mut weights = checkpoint::tensors(8, 1);
    checkpoint::write(&folder, &weights, u64::MAX);
    let folder = folder.to_str().unwrap();
    let load = ["load", "llama@v1", folder, "--slab-bytes", "4MiB", "--activate"];
    let _ = place.cli(&load).ok();
    weights.insert("layer.007.weight".to_owned(), ((1 << 20) + 7, 99));
    let second = place.pond.path("second");
    checkpoint::write(&second, &weights, u64::MAX);
    let load = ["load", "llama@v2", second.to_str().unwrap(), "--slab-bytes", "4MiB"];
    let _ = place.cli(&load).ok();
    let mut tenant = place.tenant(&["--limit", &size(limit(64)), "--group", "serving"]);
    assert!(tenant.takes("vmm", 16 * unit()));
    tenant
}

#[test]
fn the_parts_of_a_card_add_up_and_agree_with_the_driver() {
    let place = Place::new();
    let _tenant = busy(&place);
    let mut collector = collector(&place.pond);
    assert_eq!(collector.sees(), Sees::Everything);
    // The book of groups is compared with the card every now and then; a slab is freed a moment later.
    let card = eventually("books and card to agree", || {
        let card = collector.collect().unwrap().cards.remove(0);
        adds_up(&card);
        let group = bytes_of(&card, SegmentKind::Group);
        let used = card.used_bytes?;
        let driver = place.pond.physical();
        let is_near = used.abs_diff(driver) <= tolerance() && card.excess_bytes == 0;
        (is_near && group >= 16 * unit()).then_some(card)
    });
    let used = card.used_bytes.unwrap();
    assert_eq!(card.total_bytes - card.free_bytes, used, "what is not free is in use");
    let pond: u64 = card.segments.iter().filter(|it| it.kind.is_pond()).map(|it| it.bytes).sum();
    assert_eq!(pond, card.slab_bytes);
    let status = place.pond.status();
    let device = &status.devices[0];
    let room = device.slab_bytes - device.tensor_bytes - device.recycled_bytes;
    assert_eq!(bytes_of(&card, SegmentKind::SlabRoom), room);
    assert_eq!(bytes_of(&card, SegmentKind::Recycled), device.recycled_bytes);
    assert_eq!(bytes_of(&card, SegmentKind::Unlisted), 0, "{card:#?}");
    assert_eq!(bytes_of(&card, SegmentKind::Ipc), 3 << 20);
    assert_eq!(bytes_of(&card, SegmentKind::Tensor), (97 << 20) + 5000);
    assert!(bytes_of(&card, SegmentKind::SharedSlabs) > 0, "two versions share slabs");
    let models: u64 = [SegmentKind::Version, SegmentKind::SharedSlabs]
        .map(|kind| bytes_of(&card, kind))
        .iter()
        .sum();
    let listed = bytes_of(&card, SegmentKind::Tensor) + bytes_of(&card, SegmentKind::Ipc);
    assert_eq!(models, device.tensor_bytes - listed, "no slab of a model counts twice");
}

#[test]
fn a_map_is_text_json_and_a_picture() {
    let place = Place::new();
    let _tenant = busy(&place);
    let hostile = "odd/<b>&\"'</svg>";
    place.pond.control().reserve(TensorSpec::new(hostile, Dtype::U8, [1 << 20])).unwrap();
    let _ = binaries::web();
    let text = place.cli(&["map"]);
    for word in ["GPU 0", "llama@v1", "acts/x", "serving", "legacy", hostile, "free"] {
        assert!(text.ok().contains(word), "{word} in {text:?}");
    }
    let map = place.json(&["map", "gpu0"]);
    assert_eq!(map["sees"], "everything");
    let card = &map["cards"][0];
    let bytes = |it: &Value| it["bytes"].as_u64().unwrap();
    let sum: u64 = card["segments"].as_array().unwrap().iter().map(bytes).sum();
    assert_eq!(Some(sum), card["total_bytes"].as_u64());

    let file = place.pond.path("map.svg");
    let said = place.cli(&["map", "0", "-o", file.to_str().unwrap()]);
    assert_eq!(said.ok(), "", "what was written is said on standard error");
    assert_drawn(&file, &["llama@v1", hostile]);
    let out = place.cli(&["map", "-o", "-"]);
    assert_eq!(out.ok(), std::fs::read_to_string(&file).unwrap(), "the same pond is the same file");
    let refused = place.cli(&["map", "gpu9", "--json"]).error();
    assert_eq!(refused["kind"], "no_device", "{refused}");
}

/// Parses a picture as XML, and looks for texts in it.
#[track_caller]
fn assert_drawn(file: &Path, texts: &[&str]) {
    let parse = "import sys, xml.etree.ElementTree as tree\n\
                 text = ''.join(tree.parse(sys.argv[1]).getroot().itertext())\n\
                 missing = [it for it in sys.argv[2:] if it not in text]\n\
                 sys.exit(str(missing) if missing else 0)";
    let mut python = Command::new("python3");
    let said = python.args(["-c", parse]).arg(file).args(texts).output().unwrap();
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
}

#[test]
fn beyond_the_thousandth_tensors_are_sums_and_nothing_is_lost() {
    let pond = TestPond::start(Options::new());
    for number in 0..1200u64 {
        let name = format!("acts/{}/{number}", number % 3);
        let spec = TensorSpec::new(&name, Dtype::U8, [1000 + number]);
        pond.control().reserve(spec).unwrap();
    }
    let overview = collector(&pond).collect().unwrap();
    assert_eq!((overview.tensors_total, overview.tensors_shown), (1200, 1000));
    assert_eq!(overview.tensors[0].bytes, 2199, "the largest first");
    let group = &overview.tensor_groups[0];
    assert_eq!((group.prefix.as_deref(), group.count), (Some("acts"), 200));
    let card = &overview.cards[0];
    adds_up(card);
    let tensors = bytes_of(card, SegmentKind::Tensor) + bytes_of(card, SegmentKind::Tensors);
    assert_eq!(tensors, (1000..2200).sum::<u64>());
    assert_eq!(bytes_of(card, SegmentKind::Unlisted), 0);
}

#[test]
fn who_may_not_watch_sees_the_slabs_of_others_and_no_name_of_theirs() {
    let Some(town) = Town::start(Options::new()) else { return };
    let (alice, bob) = (town.citizen(1), town.citizen(2));
    for (citizen, name) in [(&alice, "secret"), (&bob, "mine")] {
        let make =
            ["tensor", "create", name, "--dtype", "u8", "--shape", "4000000", "--zero", "--json"];
        let _ = citizen.cli(&make).ok();
    }
    bob.bring(binaries::web());
    let map = bob.cli(&["map", "--json"]).json();
    assert_eq!(map["sees"], "own");
    assert!(!map.to_string().contains("secret") && map.to_string().contains("mine"), "{map}");
    let segments = map["cards"][0]["segments"].as_array().unwrap();
    let others = segments.iter().find(|it| it["kind"] == "unlisted").unwrap();
    assert_eq!(others["label"], "slabs of other users");
    assert_eq!(others["bytes"].as_u64(), Some(4_000_000));
}

/// `millpond web`, with the address that it prints.
struct Web {
    child: Child,
    url: String,
}

impl Web {
    fn start(place: &Place) -> Self {
        let _ = binaries::web();
        let mut command = place.command(&["web", "--listen", "127.0.0.1:0"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        Self { child, url: url.trim().to_owned() }
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_history_is_a_table_json_and_a_picture_and_outlives_a_daemon() {
    let place = Place::new();
    let web = Web::start(&place);
    let words = ["history", "gpu0", "--url", &web.url];
    let _tenant = busy(&place);
    let peak = |series: &Value, label: &str| -> Option<u64> {
        let holders = series["holders"].as_array().unwrap();
        let place = holders.iter().position(|it| it["label"] == label)?;
        let points = series["points"].as_array().unwrap().iter();
        points.filter_map(|point| point["bytes"][place].as_u64()).max()
    };
    eventually("a sample with the model and the group", || {
        let series = place.json(&words);
        let group = peak(&series, "serving")?;
        (group >= 16 * unit() && peak(&series, "llama@v1")? > 0).then_some(())
    });
    place.pond.kill_daemon();
    let file = place.pond.path("history.svg");
    let drawn =
        place.cli(&[&words[..], &["--since", "10m", "-o", file.to_str().unwrap()]].concat());
    assert_eq!(drawn.ok(), "");
    assert_drawn(&file, &["serving", "llama@v1", "limit of serving"]);
    let table = place.cli(&words);
    assert!(table.ok().contains("HOLDER") && table.ok().contains("serving"), "{table:?}");
    let refused = place.cli(&["history", "gpu9", "--url", &web.url, "--json"]).error();
    assert_eq!(refused["kind"], "no_device", "{refused}");
    let url = web.url.clone();
    drop(web);
    let nobody = place.cli(&["history", "--url", &url, "--json"]).error();
    assert!(nobody["hint"].as_str().unwrap().contains("millpond web"), "{nobody}");
}
