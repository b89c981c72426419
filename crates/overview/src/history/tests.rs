use proptest::prelude::*;

use super::*;
use crate::samples::{self, GIB, GPU, Parts};
use crate::{Segment, SegmentKind};

const HOUR: u64 = 3_600_000;

/// A card with a group that has so much, and a tensor of each of so many users.
fn card(group_bytes: u64, users: u32) -> Card {
    let mut device = samples::device(100 * GIB);
    device.slab_bytes = u64::from(users) << 20;
    device.tensor_bytes = device.slab_bytes;
    device.physical_used_bytes = Some(device.slab_bytes + group_bytes);
    let mut parts = Parts::new(device);
    parts.groups = vec![samples::group("serving", group_bytes, Some(20 * GIB))];
    parts.tensors = (0..users)
        .map(|user| samples::tensor(user.into(), &format!("x{user}"), user, 1 << 20))
        .collect();
    parts.card()
}

fn device() -> String {
    GPU.to_string()
}

#[test]
fn a_history_has_holders_with_their_limits_and_what_they_had() {
    let mut history = History::new();
    for second in 0..30 {
        history.record(second * 1000, 5_000_000 + second * 1000, &[card((1 + second) * GIB, 1)]);
    }
    let series = history.series(&device(), HOUR, 1000).unwrap();
    assert_eq!((series.total_bytes, series.points.len()), (100 * GIB, 30));
    let group = &series.holders[0];
    assert_eq!((group.holder.kind, group.limit_bytes), (Some(SegmentKind::Group), Some(20 * GIB)));
    assert_eq!((series.points[0].bytes[0], series.points[29].bytes[0]), (GIB, 30 * GIB));
    assert_eq!(series.holders[1].holder.label, "tensors of user 0");
    assert_eq!(history.series(&device(), 9_000, 1000).unwrap().points.len(), 10);
    assert_eq!(history.series("GPU-other", HOUR, 1000), None);
    let text = serde_json::to_string(&series).unwrap();
    assert_eq!(serde_json::from_str::<Series>(&text).unwrap(), series);
}

#[test]
fn the_last_minutes_are_fine_a_day_is_coarse_and_peaks_stay() {
    let mut history = History::new();
    let day = 24 * 3600;
    for second in 0..day + 3600 {
        let peak = if second % 1000 == 7 { 50 } else { 1 };
        history.record(second * 1000, second * 1000, &[card(peak * GIB, 1)]);
    }
    assert!(history.fine.len() <= FINE_SAMPLES && history.coarse.len() <= COARSE_SAMPLES);
    let all = history.series(&device(), 48 * HOUR, 100_000).unwrap();
    let first = all.points[0].monotonic_ms / 1000;
    assert!(first.abs_diff(3600) <= 15, "a day back: {first}");
    let times: Vec<u64> = all.points.iter().map(|point| point.monotonic_ms).collect();
    assert!(times.is_sorted_by(|a, b| a < b), "no moment twice");
    let peaks = |series: &Series| series.points.iter().filter(|it| it.bytes[0] == 50 * GIB).count();
    assert_eq!(peaks(&all), 86, "each of the day");
    let thin = history.series(&device(), 48 * HOUR, 200).unwrap();
    assert!(thin.points.len() <= 200);
    assert_eq!(peaks(&thin), 86);
    assert_eq!(thin.points.last(), all.points.last());
}

#[test]
fn a_day_of_ever_new_holders_takes_what_it_says() {
    let mut history = History::new();
    // Fifteen seconds apart, so that the coarse ring is full sooner.
    for step in 0..u64::try_from(COARSE_SAMPLES).unwrap() + 100 {
        let users = 40;
        let mut one = card(GIB, users);
        for (place, segment) in one.segments.iter_mut().enumerate() {
            if segment.kind == SegmentKind::Tensor {
                segment.owner = Some(format!("user-{step}-{place}-{}", "x".repeat(500)));
            }
        }
        history.record(step * COARSE_MS, step, &[one]);
    }
    let samples = history.fine.len() + history.coarse.len() + 1;
    let most = samples * SAMPLE_BYTES + (600 << 10);
    assert!(history.held_bytes() <= most, "{} of {most}", history.held_bytes());
    let series = history.series(&device(), 24 * HOUR, 100).unwrap();
    assert!(series.holders.iter().any(|it| it.holder.kind.is_none()), "the rest is one holder");
}

#[test]
fn what_no_sample_mentions_is_forgotten() {
    let mut history = History::new();
    history.record(0, 0, &[card(GIB, 5)]);
    for second in 0..700 {
        history.record(1000 + second * 1000, 0, &[card(GIB, 0)]);
    }
    let day_later = 25 * HOUR;
    history.record(day_later, 0, &[card(GIB, 0)]);
    history.record(day_later + COARSE_MS, 0, &[card(GIB, 0)]);
    let known: Vec<_> = history.series(&device(), HOUR, 10).unwrap().holders;
    assert_eq!(known.len(), 1);
    assert_eq!(history.holders.known(), 1, "tensors of users who are gone");
}

#[test]
fn a_clock_that_jumps_moves_labels_only() {
    let mut history = History::new();
    for (second, wall) in [(0, 9_000_000), (1, 100), (2, u64::MAX), (3, 0)] {
        history.record(second * 1000, wall, &[card(second * GIB, 0)]);
    }
    let series = history.series(&device(), HOUR, 10).unwrap();
    let times: Vec<_> = series.points.iter().map(|point| point.monotonic_ms).collect();
    assert_eq!(times, [0, 1000, 2000, 3000]);
    history.record(3000, 1, &[card(0, 0)]);
    history.record(10, 1, &[card(0, 0)]);
    assert_eq!(history.series(&device(), HOUR, 10).unwrap(), series, "twice, and backwards");
}

#[test]
fn the_smallest_holders_are_one_and_nothing_is_lost() {
    let mut history = History::new();
    let one = card(GIB, 100);
    history.record(0, 0, std::slice::from_ref(&one));
    let series = history.series(&device(), HOUR, 10).unwrap();
    assert_eq!(series.holders.len(), MOST_HOLDERS);
    let used: u64 =
        one.segments.iter().filter(|it| it.kind != SegmentKind::Free).map(|it| it.bytes).sum();
    assert_eq!(series.points[0].bytes.iter().sum::<u64>(), used);
}

proptest! {
    #[test]
    fn what_is_recorded_adds_up(
        steps in proptest::collection::vec((0u64..40_000, 0u64..60, 0u32..30), 1..60)
    ) {
        let mut history = History::new();
        let mut now = 0;
        for (pause, gib, users) in steps {
            now += pause;
            let card = card(gib * GIB, users);
            let in_use = |segment: &&Segment| segment.kind != SegmentKind::Free;
            let used: u64 = card.segments.iter().filter(in_use).map(|it| it.bytes).sum();
            let before = history.fine.back().map(|it| it.monotonic_ms);
            history.record(now, now, &[card]);
            let series = history.series(&device(), HOUR, usize::MAX).unwrap();
            let last = series.points.last().unwrap();
            if before.is_none_or(|before| now >= before + 500) {
                prop_assert_eq!(last.bytes.iter().sum::<u64>(), used);
            }
            prop_assert!(series.points.iter().all(|it| it.bytes.len() == series.holders.len()));
        }
    }
}
