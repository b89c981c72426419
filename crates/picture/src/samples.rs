//! Cards for tests.

use std::fs;
use std::path::Path;

use millpond_overview::history::Series;
use millpond_overview::{Card, History, Readings, Segment, SegmentKind};

const GIB: u64 = 1 << 30;

pub(crate) fn segment(kind: SegmentKind, label: &str, bytes: u64) -> Segment {
    Segment {
        kind,
        bytes,
        label: label.to_owned(),
        id: None,
        user: Some(1000),
        owner: Some("alice".to_owned()),
        count: 1,
        readers: Some(3),
        state: Some("ready".to_owned()),
        survives: None,
        limit_bytes: None,
        children: Vec::new(),
    }
}

/// A card of 140 GiB with something of most kinds.
pub(crate) fn card() -> Card {
    let mut group = segment(SegmentKind::Group, "serving", 24 * GIB);
    group.limit_bytes = Some(32 * GIB);
    group.children = vec![
        segment(SegmentKind::Cache, "llama/kv in engine, pid 7", 12 * GIB),
        segment(SegmentKind::CacheIdle, "llama/kv in engine, pid 7", 4 * GIB),
        segment(SegmentKind::Contexts, "contexts", 2 * GIB),
    ];
    let segments = vec![
        segment(SegmentKind::Version, "llama-8b@v1", 15 * GIB),
        segment(SegmentKind::Version, "llama-8b@v2", 14 * GIB),
        segment(SegmentKind::SharedSlabs, "llama-8b: v1, v2", 2 * GIB),
        segment(SegmentKind::Tensor, "acts/x", 9 * GIB),
        segment(SegmentKind::Tensors, "120 tensors in acts", 3 * GIB),
        segment(SegmentKind::Ipc, "legacy/x", GIB),
        segment(SegmentKind::SlabRoom, "room", GIB),
        segment(SegmentKind::Recycled, "kept", 2 * GIB),
        segment(SegmentKind::HostContext, "context", GIB),
        group,
        segment(SegmentKind::Other, "other programs and the driver", 8 * GIB),
        segment(SegmentKind::Free, "free", 60 * GIB),
    ];
    Card {
        device: "GPU-07070707-0707-0707-0707-070707070707".to_owned(),
        index: 0,
        name: "NVIDIA H200".to_owned(),
        total_bytes: 140 * GIB,
        used_bytes: Some(80 * GIB),
        capacity_bytes: 130 * GIB,
        slab_bytes: 47 * GIB,
        other_bytes: 8 * GIB,
        free_bytes: 60 * GIB,
        excess_bytes: 0,
        drift_bytes: None,
        segments,
        readings: None,
    }
}

/// The same card with two groups and some tensors, as documents show it.
pub(crate) fn shown() -> Card {
    let mut card = card();
    let named = |kind, label: &str, mib: u64, owner: &str, readers: u64, state: &str| Segment {
        owner: Some(owner.to_owned()),
        readers: Some(readers),
        state: Some(state.to_owned()),
        ..segment(kind, label, mib << 20)
    };
    let mut serving = named(SegmentKind::Group, "serving", 24 << 10, "serve", 0, "ok");
    serving.limit_bytes = Some(32 * GIB);
    serving.children = vec![
        named(SegmentKind::Cache, "llama/kv in engine", 11 << 10, "serve", 0, "ok"),
        named(SegmentKind::CacheIdle, "llama/kv in engine", 4 << 10, "serve", 0, "ok"),
        named(SegmentKind::Contexts, "contexts", 1200, "serve", 0, "ok"),
    ];
    let mut training = named(SegmentKind::Group, "training", 14 << 10, "carol", 0, "ok");
    training.limit_bytes = Some(16 * GIB);
    training.children = vec![named(SegmentKind::Contexts, "contexts", 700, "carol", 0, "ok")];
    let mut segments = vec![
        named(SegmentKind::Version, "llama-8b@v7", 11_900, "serve", 8, "current"),
        named(SegmentKind::Version, "llama-8b@v8", 11_900, "serve", 1, "ready"),
        named(SegmentKind::SharedSlabs, "llama-8b: v7, v8", 3_400, "serve", 0, "ready"),
        named(SegmentKind::Version, "embed@v2", 2_600, "serve", 4, "current"),
        named(SegmentKind::Tensor, "acts/hidden", 6_144, "alice", 2, "ready"),
        named(SegmentKind::Tensor, "public/tokens", 4_096, "alice", 5, "ready"),
        named(SegmentKind::Tensor, "prefix/system-prompt", 3_072, "serve", 8, "ready"),
    ];
    for (place, mib) in (1u64..).zip([900, 760, 640, 512, 420, 380, 256, 256, 180, 128, 96, 64]) {
        let name = format!("rollout/{place}");
        segments.push(named(SegmentKind::Tensor, &name, mib, "carol", 1, "ready"));
    }
    segments.extend([
        named(SegmentKind::Tensors, "2,412 tensors in rollout", 1_900, "carol", 96, "ready"),
        named(SegmentKind::Ipc, "legacy/frames", 1_500, "bob", 1, "ready"),
        named(SegmentKind::SlabRoom, "room beside tensors in slabs", 800, "", 0, "ready"),
        named(SegmentKind::Recycled, "empty slabs, kept for their owners", 2_200, "", 0, "ready"),
        named(SegmentKind::HostContext, "context of the host with pid 4711", 520, "bob", 0, "open"),
        named(SegmentKind::MoverContext, "context of the mover with pid 4702", 540, "", 0, "ready"),
        serving,
        training,
        named(SegmentKind::Other, "other programs and the driver", 5_400, "", 0, "ready"),
    ]);
    for segment in &mut segments {
        let is_nobodys = segment.owner.as_deref() == Some("");
        segment.owner = segment.owner.take().filter(|_| !is_nobodys);
        segment.readers = segment.readers.filter(|readers| *readers > 0);
        segment.state = segment.state.take().filter(|state| state != "ready");
    }
    let used: u64 = segments.iter().map(|segment| segment.bytes).sum();
    card.slab_bytes = segments.iter().filter(|it| it.kind.is_pond()).map(|it| it.bytes).sum();
    card.total_bytes = 150_754_820_096;
    card.capacity_bytes = card.total_bytes / 20 * 19;
    card.used_bytes = Some(used);
    card.free_bytes = card.total_bytes - used;
    let free = Segment {
        owner: None,
        readers: None,
        state: None,
        ..segment(SegmentKind::Free, "free", card.free_bytes)
    };
    segments.push(free);
    card.segments = segments;
    card.readings = Some(Readings {
        utilisation_ratio: Some(0.64),
        temperature_celsius: Some(57.0),
        power_watts: Some(512.0),
        power_limit_watts: Some(700.0),
        ..Readings::default()
    });
    card
}

/// An hour of that card: the second version is loaded and becomes current, caches breathe, a training run
/// begins.
pub(crate) fn hour() -> Series {
    const END_UNIX_MS: u64 = 1_700_000_000_000;
    let mut history = History::new();
    let last = shown();
    for step in 0..=240u64 {
        let mut card = last.clone();
        // Smooth waves without a source of chance.
        let wave = |period: u64, phase: u64| {
            let at = (step + phase) % period;
            at.min(period - at) * 1000 / (period / 2)
        };
        for segment in &mut card.segments {
            let permille = match segment.label.as_str() {
                "llama-8b@v8" | "llama-8b: v7, v8" => (step.saturating_sub(90) * 40).min(1000),
                "llama-8b@v7" if step < 90 => 1285,
                "training" => match step {
                    0..130 => 0,
                    130..150 => (step - 130) * 40,
                    _ => 780 + wave(24, 3) * 220 / 1000,
                },
                "serving" => 480 + wave(62, 20) * 420 / 1000 + wave(17, 0) * 100 / 1000,
                "2,412 tensors in rollout" => wave(9, 0),
                "empty slabs, kept for their owners" => wave(48, 30),
                "acts/hidden" => 600 + wave(30, 8) * 400 / 1000,
                _ => 1000,
            };
            if segment.kind != SegmentKind::Free {
                segment.bytes = segment.bytes / 1000 * permille;
            }
        }
        let in_use = |it: &&Segment| it.kind != SegmentKind::Free;
        let used = card.segments.iter().filter(in_use).map(|it| it.bytes).sum();
        card.used_bytes = Some(used);
        card.free_bytes = card.total_bytes - used;
        let at = step * 15_000;
        history.record(at, END_UNIX_MS + at - 3_600_000, &[card]);
    }
    history.series(&last.device, 3_600_000, 1000).unwrap()
}

/// Compares a picture of the documents with what is drawn. `MILLPOND_BLESS=1 cargo test -p millpond-picture`
/// writes it anew.
#[track_caller]
pub(crate) fn compare(name: &str, is: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/pictures").join(name);
    if std::env::var_os("MILLPOND_BLESS").is_some() {
        fs::write(&file, is).unwrap();
    }
    let was = fs::read_to_string(&file).unwrap_or_default();
    assert!(was == is, "{} is not what is drawn", file.display());
}
