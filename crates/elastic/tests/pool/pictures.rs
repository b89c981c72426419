//! Snapshots: as data, and as a picture.

use crate::model::Card;
use crate::support::{KIB, MIB, Pool, busy, pool, work_on};
use millpond_elastic::{Block, GraphMemory, PartKind, PoolSnapshot};

/// A pool that has a part of each kind.
fn everything() -> (Card, Pool, Vec<Block<Card>>, GraphMemory<Card>) {
    let (card, pool) = pool(100);
    let (one, two) = (card.stream(), card.stream());
    let mut blocks: Vec<_> = [512, 100 * KIB, 3 * MIB, 5 * MIB, 5 * MIB]
        .into_iter()
        .map(|bytes| busy(&card, &pool, bytes, &one).unwrap())
        .collect();
    let shared = busy(&card, &pool, 6 * MIB, &one).unwrap();
    shared.record_stream(&two);
    work_on(&card, &shared, &two);
    drop(shared);
    drop(blocks.remove(3));
    card.begin_capture(&two);
    let memory = pool.graph_memory(&two).unwrap().unwrap();
    drop(busy(&card, &pool, 4 * MIB, &two).unwrap());
    blocks.push(busy(&card, &pool, 2 * MIB, &two).unwrap());
    card.end_capture(&two);
    (card, pool, blocks, memory)
}

#[track_caller]
fn assert_covers(snapshot: &PoolSnapshot) {
    let stats = &snapshot.stats;
    let sum = |is: fn(&PartKind) -> bool| {
        snapshot.parts.iter().filter(|part| is(&part.kind)).map(|part| part.bytes).sum::<u64>()
    };
    assert_eq!(sum(|_| true), stats.held_bytes);
    assert_eq!(sum(|kind| matches!(kind, PartKind::Block { .. })), stats.in_use_bytes);
    assert_eq!(sum(|kind| matches!(kind, PartKind::Clean)), stats.clean_bytes);
    assert_eq!(sum(|kind| matches!(kind, PartKind::Waiting)), stats.waiting_bytes);
    let ends = |pair: &[millpond_elastic::PoolPart]| pair[0].offset + pair[0].bytes;
    assert!(snapshot.parts.windows(2).all(|pair| ends(pair) <= pair[1].offset));
}

#[test]
fn the_parts_of_a_snapshot_are_all_that_is_held_once() {
    let (_card, pool, blocks, _memory) = everything();
    let snapshot = pool.snapshot();
    assert_covers(&snapshot);
    let mut names: Vec<_> = snapshot.parts.iter().map(|part| part.kind.name()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names, ["block", "clean", "freed", "waiting"]);
    for block in &blocks {
        let found = snapshot.parts.iter().find(|part| part.offset == block.offset()).unwrap();
        assert_eq!(found.bytes, block.bytes());
        assert!(matches!(found.kind, PartKind::Block { .. }));
    }
    let of_graph = |kind: &PartKind| {
        matches!(
            kind,
            PartKind::Block { of_graph: true, .. } | PartKind::Freed { of_graph: true, .. }
        )
    };
    let bytes: u64 =
        snapshot.parts.iter().filter(|part| of_graph(&part.kind)).map(|part| part.bytes).sum();
    assert_eq!(bytes, 4 * MIB);
}

#[test]
fn a_snapshot_is_data_that_any_reader_reads() {
    let (_card, pool, ..) = everything();
    let snapshot = pool.snapshot();
    let read: serde_json::Value = serde_json::from_str(&snapshot.to_json()).unwrap();
    assert_eq!(read["base"], "0x10000000000");
    for (name, value) in snapshot.stats.fields() {
        assert_eq!(read["stats"][name], value, "{name}");
    }
    let fragmentation = read["stats"]["fragmentation"].as_f64().unwrap();
    assert!((fragmentation - snapshot.stats.fragmentation()).abs() < 0.0001);
    let parts = read["parts"].as_array().unwrap();
    assert_eq!(parts.len(), snapshot.parts.len());
    for (part, expected) in parts.iter().zip(&snapshot.parts) {
        assert_eq!(part["offset"], expected.offset);
        assert_eq!(part["bytes"], expected.bytes);
        assert_eq!(part["kind"], expected.kind.name());
        match expected.kind {
            PartKind::Block { asked, stream, of_graph } => {
                assert_eq!(part["asked"], asked);
                assert_eq!(part[if of_graph { "capture" } else { "stream" }], stream.to_string());
            }
            PartKind::Freed { stream, of_graph } => {
                assert_eq!(part[if of_graph { "capture" } else { "stream" }], stream.to_string());
            }
            PartKind::Clean | PartKind::Waiting => assert!(part.get("stream").is_none()),
        }
    }
}

/// The values of an attribute of a line, as numbers.
fn number(line: &str, attribute: &str) -> Option<f64> {
    let (_, rest) = line.split_once(&format!(" {attribute}=\""))?;
    rest.split_once('"')?.0.parse().ok()
}

#[track_caller]
fn assert_drawn(snapshot: &PoolSnapshot) {
    let svg = snapshot.to_svg();
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    for tag in ["text", "title", "style", "svg"] {
        let opened =
            svg.matches(&format!("<{tag}>")).count() + svg.matches(&format!("<{tag} ")).count();
        assert_eq!(opened, svg.matches(&format!("</{tag}>")).count(), "{tag}");
    }
    let first = svg.lines().next().unwrap();
    let (width, height) = (number(first, "width").unwrap(), number(first, "height").unwrap());
    assert!(first.contains(&format!("viewBox=\"0 0 {width} {height}\"")));
    let mut bytes_wide = 0.0;
    for line in svg.lines().filter(|line| line.starts_with("<rect ")) {
        let [x, y, wide, high] =
            ["x", "y", "width", "height"].map(|name| number(line, name).expect(line));
        assert!(x >= 0.0 && y >= 0.0 && wide >= 0.0 && high > 0.0, "{line}");
        assert!(x + wide <= width + 0.01 && y + high <= height + 0.01, "{line}");
        assert!(line.ends_with("/>") || line.ends_with("</rect>"), "{line}");
        bytes_wide += if line.contains("<title>") { wide } else { 0.0 };
    }
    // The widths of all parts are those of the held bytes.
    let row: u64 = held_of_a_row(snapshot);
    let expected = 816.0 * snapshot.stats.held_bytes as f64 / row as f64;
    let tolerance = 0.01 * (snapshot.parts.len() + 100) as f64;
    assert!((bytes_wide - expected).abs() < tolerance, "{bytes_wide} of {expected}");
}

fn held_of_a_row(snapshot: &PoolSnapshot) -> u64 {
    snapshot.stats.held_bytes.div_ceil(40).next_power_of_two().max(2 * MIB)
}

#[test]
fn a_picture_shows_every_part_inside_of_its_frame() {
    let (card, pool, blocks, memory) = everything();
    assert_drawn(&pool.snapshot());
    let large = pool.alloc(120 * MIB, &card.stream()).unwrap();
    let snapshot = pool.snapshot();
    assert_covers(&snapshot);
    assert_drawn(&snapshot);
    let svg = snapshot.to_svg();
    for class in ["block", "graph", "freed", "waiting", "clean"] {
        assert!(svg.matches(&format!("<rect class=\"{class}\"")).count() > 1, "{class}");
    }
    drop((large, blocks, memory));
}

#[test]
fn an_empty_pool_has_a_snapshot_and_a_picture_too() {
    let (_card, pool) = pool(100);
    let snapshot = pool.snapshot();
    assert!(snapshot.parts.is_empty() && snapshot.stats.fragmentation() == 0.0);
    assert_drawn(&snapshot);
    let read: serde_json::Value = serde_json::from_str(&snapshot.to_json()).unwrap();
    assert_eq!(read["parts"], serde_json::json!([]));
}
