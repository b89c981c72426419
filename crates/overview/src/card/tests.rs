use millpond::{GpuUuid, TransportKind};
use millpond_view::{self as view, Text};
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::samples::{self, GIB, GPU, Parts};
use crate::{Sees, SharedSlab, TensorGroup};

fn bytes_of(card: &Card, kind: SegmentKind) -> u64 {
    card.segments.iter().filter(|it| it.kind == kind).map(|it| it.bytes).sum()
}

fn sum(card: &Card) -> u128 {
    card.segments.iter().map(|segment| u128::from(segment.bytes)).sum()
}

/// A card with something of every kind.
fn full() -> Parts {
    let mut device = samples::device(100 * GIB);
    device.slab_bytes = 40 * GIB;
    device.tensor_bytes = 30 * GIB;
    device.recycled_bytes = 4 * GIB;
    device.physical_used_bytes = Some(70 * GIB);
    let mut parts = Parts::new(device);
    parts.models = vec![samples::model(vec![
        samples::version("llama", "v1", 12 * GIB, 2 * GIB),
        samples::version("llama", "v2", 8 * GIB, 2 * GIB),
    ])];
    parts.shared_slabs = vec![SharedSlab {
        device: GPU.to_string(),
        model: "llama".into(),
        versions: vec!["v1".into(), "v2".into()],
        user: 1000,
        bytes: 2 * GIB,
    }];
    let mut ipc = samples::tensor(2, "ipc/x", 1000, GIB);
    ipc.transport = Text(TransportKind::Ipc);
    parts.tensors = vec![samples::tensor(1, "acts/x", 1000, 6 * GIB), ipc];
    parts.tensor_groups = vec![TensorGroup {
        device: GPU.to_string(),
        user: Some(7),
        prefix: Some("acts".into()),
        count: 500,
        bytes: 3 * GIB,
        lease_count: 9,
        ipc_bytes: GIB,
    }];
    parts.hosts = vec![samples::host(GIB)];
    parts.movers = vec![samples::mover(GIB)];
    parts.groups = vec![samples::group("serving", 16 * GIB, Some(20 * GIB))];
    parts
}

#[test]
fn every_byte_has_one_place() {
    let card = full().card();
    let of = |kind| bytes_of(&card, kind) / GIB;
    assert_eq!(sum(&card), u128::from(100 * GIB));
    assert_eq!([of(SegmentKind::Version), of(SegmentKind::SharedSlabs)], [16, 2]);
    assert_eq!(
        [of(SegmentKind::Tensor), of(SegmentKind::Tensors), of(SegmentKind::Ipc)],
        [6, 2, 2]
    );
    assert_eq!([of(SegmentKind::SlabRoom), of(SegmentKind::Recycled)], [6, 4]);
    assert_eq!(of(SegmentKind::Unlisted), 2);
    assert_eq!([of(SegmentKind::HostContext), of(SegmentKind::MoverContext)], [1, 1]);
    assert_eq!(
        [of(SegmentKind::Group), card.other_bytes / GIB, card.free_bytes / GIB],
        [16, 12, 30]
    );
    assert_eq!(card.excess_bytes, 0);
    let group = card.segments.iter().find(|it| it.kind == SegmentKind::Group).unwrap();
    assert_eq!((group.owner.as_deref(), group.state.as_deref()), (Some("alice"), Some("ok")));
    assert_eq!(group.children[0].kind, SegmentKind::Contexts);
    let kinds: Vec<_> = card.segments.iter().map(|it| it.kind).collect();
    assert!(kinds.is_sorted(), "an order that stays: {kinds:?}");
}

#[test]
fn a_context_that_nobody_has_measured_is_in_what_others_have() {
    let mut parts = full();
    let before = parts.card().other_bytes;
    parts.movers = vec![samples::mover(0)];
    let card = parts.card();
    assert_eq!(bytes_of(&card, SegmentKind::MoverContext), 0);
    assert_eq!((card.other_bytes, card.excess_bytes), (before + GIB, 0));
    parts.movers = vec![view::Mover { device: Text(GpuUuid([8; 16])), ..samples::mover(GIB) }];
    assert_eq!(parts.card(), card, "a mover of another GPU");
}

#[test]
fn books_beyond_the_card_are_a_number_and_no_segment() {
    let mut parts = full();
    parts.device.physical_used_bytes = Some(50 * GIB);
    let card = parts.card();
    assert_eq!(sum(&card), u128::from(100 * GIB));
    assert_eq!((card.excess_bytes, card.other_bytes), (8 * GIB, 0));
    assert_eq!(bytes_of(&card, SegmentKind::Group), 8 * GIB, "what is left of the card's reading");
    parts.device.physical_used_bytes = Some(0);
    let card = parts.card();
    assert_eq!(card.free_bytes, 60 * GIB, "the pond's own slabs are believed");
    assert_eq!(card.excess_bytes, 40 * GIB + 18 * GIB);
    parts.device.total_bytes = 0;
    let card = parts.card();
    assert_eq!((card.segments.len(), card.total_bytes), (0, 0));
}

#[test]
fn without_a_reading_of_the_card_the_books_are_all_there_is() {
    let mut parts = full();
    parts.device.physical_used_bytes = None;
    let card = parts.card();
    assert_eq!((card.used_bytes, card.other_bytes), (None, 0));
    assert_eq!(card.free_bytes, (100 - 40 - 18) * GIB);
}

#[test]
fn who_sees_only_their_own_sees_the_rest_as_others() {
    let mut parts = full();
    parts.sees = Sees::Own;
    parts.models.clear();
    parts.shared_slabs.clear();
    let card = parts.card();
    let unlisted = card.segments.iter().find(|it| it.kind == SegmentKind::Unlisted).unwrap();
    assert_eq!((unlisted.bytes, unlisted.label.as_str()), (20 * GIB, "slabs of other users"));
}

#[test]
fn a_card_is_found_by_index_or_uuid() {
    let card = full().card();
    let mut other = full();
    other.device.index = 1;
    other.device.device = Text(millpond::GpuUuid([0x12; 16]));
    let cards = [card.clone(), other.card()];
    let bare = card.device.strip_prefix("GPU-").unwrap().to_uppercase();
    for text in ["0", "gpu0", "cuda:0", &card.device, &bare, "GPU-0707", "0707"] {
        assert_eq!(Card::find(&cards, text), Some(&card), "{text}");
    }
    assert_eq!(Card::find(&cards, "1212"), Some(&cards[1]), "no GPU has this index");
    for text in ["2", "gpu", "GPU-", "", "GPU-00", "GPU-00000000-0000-0000-0000-000000000000"] {
        assert_eq!(Card::find(&cards, text), None, "{text}");
    }
    assert_eq!(Card::find(&[card.clone(), card.clone()], "GPU-0707"), None, "more than one");
}

#[test]
fn every_kind_has_its_word() {
    for kind in SegmentKind::ALL {
        assert_eq!(serde_json::to_value(kind).unwrap(), kind.word());
    }
    assert!(SegmentKind::ALL.is_sorted());
}

/// Small numbers, numbers of a card, and absurd ones.
fn amount() -> impl Strategy<Value = u64> {
    prop_oneof![0..100u64, 0..200 * GIB, any::<u64>(), Just(u64::MAX)]
}

prop_compose! {
    fn any_parts()(
        numbers in vec(amount(), 5),
        physical in proptest::option::of(amount()),
        tensors in vec((any::<u128>(), ".{0,12}", any::<u32>(), amount(), any::<bool>()), 0..8),
        groups in vec((any::<Option<u32>>(), amount(), amount()), 0..4),
        versions in vec((amount(), amount(), any::<bool>()), 0..4),
        shared in vec(amount(), 0..3),
        hosts in vec(amount(), 0..3),
        movers in vec(amount(), 0..3),
        programs in vec((amount(), proptest::option::of(amount())), 0..4),
        caches in vec((amount(), amount()), 0..4),
        own in any::<bool>(),
    ) -> Parts {
        let mut device = samples::device(numbers[0]);
        device.capacity_bytes = numbers[1];
        device.slab_bytes = numbers[2];
        device.tensor_bytes = numbers[3];
        device.recycled_bytes = numbers[4];
        device.physical_used_bytes = physical;
        let mut parts = Parts::new(device);
        parts.sees = if own { Sees::Own } else { Sees::Everything };
        parts.tensors = tensors.into_iter().map(|(number, name, user, bytes, ipc)| {
            let mut tensor = samples::tensor(number, &name, user, bytes);
            if ipc {
                tensor.transport = Text(TransportKind::Ipc);
            }
            tensor
        }).collect();
        parts.tensor_groups = groups.into_iter().map(|(user, bytes, ipc_bytes)| TensorGroup {
            device: GPU.to_string(), user, prefix: None, count: 3, bytes, lease_count: 0, ipc_bytes,
        }).collect();
        let versions = versions.into_iter().map(|(slabs, shared, lost)| {
            view::Version { lost, ..samples::version("m", "v", slabs, shared) }
        }).collect::<Vec<_>>();
        parts.models = if versions.is_empty() { Vec::new() } else { vec![samples::model(versions)] };
        parts.shared_slabs = shared.into_iter().map(|bytes| SharedSlab {
            device: GPU.to_string(), model: "m".into(), versions: vec!["v".into()], user: 1, bytes,
        }).collect();
        parts.hosts = hosts.into_iter().map(samples::host).collect();
        parts.movers = movers.into_iter().map(samples::mover).collect();
        parts.groups = programs.into_iter().map(|(bytes, limit)| samples::group("g", bytes, limit)).collect();
        parts.caches = caches.into_iter().map(|(committed, idle)| samples::cache("g", committed, idle)).collect();
        parts
    }
}

proptest! {
    #[test]
    fn whatever_the_parts_are_the_segments_add_up_to_the_card(parts in any_parts()) {
        let card = parts.card();
        prop_assert_eq!(sum(&card), u128::from(card.total_bytes));
        for segment in &card.segments {
            prop_assert!(segment.bytes > 0);
            let inside: u128 = segment.children.iter().map(|it| u128::from(it.bytes)).sum();
            prop_assert!(inside <= u128::from(segment.bytes));
        }
        let kinds: Vec<_> = card.segments.iter().map(|it| it.kind).collect();
        prop_assert!(kinds.iter().map(|it| it.is_pond()).is_sorted_by(|a, b| a >= b), "the pond first");
        let pond: u128 = card.segments.iter().filter(|it| it.kind.is_pond()).map(|it| u128::from(it.bytes)).sum();
        prop_assert_eq!(pond, u128::from(parts.device.slab_bytes.min(card.total_bytes)));
        if let Some(used) = card.used_bytes.filter(|used| *used >= parts.device.slab_bytes) {
            prop_assert_eq!(card.total_bytes - card.free_bytes, used.min(card.total_bytes).max(parts.device.slab_bytes.min(card.total_bytes)));
        }
        prop_assert_eq!(&parts.card(), &card, "the same parts are the same card");
        let text = serde_json::to_string(&card).unwrap();
        prop_assert_eq!(serde_json::from_str::<Card>(&text).unwrap(), card);
    }
}
