//! Cards for tests.

use millpond_overview::{Card, Segment, SegmentKind};

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
