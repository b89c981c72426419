//! What is shown of a card is what is on it: nothing twice, and nothing under another's name.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

use std::collections::BTreeMap;

use millpond_overview::{Card, Collector, Options as Collect, SegmentKind};
use millpond_tests::place::{bytes, size, unit};
use millpond_tests::{
    Budget, Options, Place, Tenant, binaries, checkpoint, eventually, eventually_equal, is_soft,
};

/// Of every context on the software driver.
const CONTEXT: u64 = 16 << 20;
const VARIABLE: &str = "MILLPOND_SOFT_CONTEXT_BYTES";

fn card(collector: &mut Collector) -> Card {
    collector.collect().unwrap().cards.remove(0)
}

fn by_kind(card: &Card) -> BTreeMap<SegmentKind, u64> {
    let mut all = BTreeMap::new();
    for segment in &card.segments {
        *all.entry(segment.kind).or_default() += segment.bytes;
    }
    all
}

/// A program that the pond does not know.
fn stranger(place: &Place) -> Tenant {
    let mut command = place.bare(binaries::tenant());
    command.env(VARIABLE, size(CONTEXT));
    let tenant = Budget::spawn(command);
    tenant.ready().unwrap();
    tenant
}

#[test]
fn memory_that_a_mover_has_mapped_is_in_its_slabs_and_not_in_its_context() {
    let place = Place::with(Options::giving_back().env(VARIABLE, &size(CONTEXT)));
    let mut collector =
        Collector::connect(Some(&place.pond.runtime_dir()), "test", Collect::default()).unwrap();
    // A page that the daemon keeps, and what the driver itself takes.
    let empty = eventually("a reading of the card", || card(&mut collector).used_bytes);

    let folder = place.pond.path("checkpoint");
    let _ = checkpoint::write(&folder, &checkpoint::tensors(48, 3), 1 << 30);
    let _ = place.cli(&["load", "m", folder.to_str().unwrap()]).ok();
    let large = 32 * unit();
    for transport in ["vmm", "mempool", "ipc"] {
        let (name, size) = (format!("acts/{transport}"), size(large));
        let create = ["tensor", "create", &name, "--dtype", "u8", "--shape", &size];
        let _ = place.cli(&[&create[..], &["--transport", transport, "--zero"]].concat()).ok();
    }
    let mut stranger = stranger(&place);
    let foreign = 24 * unit();
    assert!(stranger.takes("linear", foreign));

    let status = place.pond.status();
    let (mover, host) = (&status.movers[0], &status.hosts[0]);
    let contexts = [mover.context_bytes, host.context_bytes];
    if is_soft() {
        assert_eq!(contexts, [CONTEXT; 2]);
        let others = empty + foreign + CONTEXT;
        eventually_equal("every byte has its place", &([CONTEXT; 2], others, 0), || {
            let card = card(&mut collector);
            let parts = by_kind(&card);
            let of = |kind| parts.get(&kind).copied().unwrap_or_default();
            let contexts = [of(SegmentKind::MoverContext), of(SegmentKind::HostContext)];
            (contexts, card.other_bytes, card.excess_bytes)
        });
    }
    let card = card(&mut collector);
    let parts = by_kind(&card);
    assert_eq!(parts.get(&SegmentKind::MoverContext).copied().unwrap_or_default(), contexts[0]);
    assert_eq!(parts.get(&SegmentKind::HostContext).copied().unwrap_or_default(), contexts[1]);
    // On a card the driver's own memory is others' too, and a context that nobody could measure.
    assert!(card.other_bytes >= foreign, "{card:?}");
    assert!(card.other_bytes <= foreign + empty + 2 * (1 << 30), "{card:?}");
    assert_eq!(card.excess_bytes, 0, "{card:?}");
    let slabs: u64 = card.segments.iter().filter(|it| it.kind.is_pond()).map(|it| it.bytes).sum();
    assert_eq!(slabs, card.slab_bytes);
    let shown = place.json(&["status"])["movers"][0].clone();
    assert_eq!(bytes(&shown["context_bytes"]), contexts[0], "{shown}");
}

/// A group's programs are charged for their contexts, and what they have mapped of the pond is not theirs.
#[test]
fn a_group_has_what_its_programs_took_and_no_slab_twice() {
    let place = Place::with(Options::giving_back().env(VARIABLE, &size(CONTEXT)));
    let mut collector =
        Collector::connect(Some(&place.pond.runtime_dir()), "test", Collect::default()).unwrap();
    let large = 32 * unit();
    let mut owner = place.pond.worker();
    owner.ask(&format!("put x {large} 7"));
    owner.finish();
    let limit = size(64 * unit() + (1 << 30));
    place.limit("serving", &limit);
    let mut client = place.client(&["--group", "serving"]);
    // Its context is there before, and is charged whatever a card takes for one.
    client.ask(&format!("shared take first linear {}", unit()));
    let charged_is = |least: u64| {
        eventually("the group's account", || {
            let account = place.account("serving");
            Some(bytes(&account["process_bytes"])).filter(|bytes| *bytes >= least)
        })
    };
    let before = charged_is(unit());
    client.ask("map x");
    client.ask(&format!("shared take own linear {}", 8 * unit()));
    let mut stranger = stranger(&place);
    assert!(stranger.takes("linear", 24 * unit()));

    let charged = charged_is(before + 8 * unit());
    assert!(charged < before + large, "what is mapped is not charged: {charged} after {before}");
    let card = card(&mut collector);
    let parts = by_kind(&card);
    assert_eq!(card.excess_bytes, 0, "{card:?}");
    assert!(card.other_bytes >= 24 * unit() && card.other_bytes < 24 * unit() + (2 << 30));
    assert!(parts[&SegmentKind::Group] >= charged && parts[&SegmentKind::Group] < before + large);
    assert_eq!(parts[&SegmentKind::Tensor], large);
}
