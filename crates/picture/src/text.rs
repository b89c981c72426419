//! A card as text: a bar of letters to scale, and a line for each segment.

use millpond_console::table::{Side, Table};
use millpond_overview::{Card, Segment, SegmentKind};
use millpond_view::units;

/// Letters of the bar; the table explains them.
const BAR: usize = 76;
/// Tensors with a line of their own.
const TENSORS: usize = 20;

/// The card in lines of at most `width` columns, without colour.
#[must_use]
pub fn text(card: &Card, width: usize) -> String {
    let total = units::bytes(card.total_bytes);
    let used = match card.used_bytes {
        Some(used) => format!("{} of {total} in use", units::bytes(used)),
        None => format!("{total}, in use: not known"),
    };
    let bar = bar(card, BAR.min(width.saturating_sub(4)).max(8));
    let mut lines = vec![format!("GPU {}  {}  {used}", card.index, card.name), format!("[{bar}]")];
    if card.excess_bytes > 0 {
        let excess = units::bytes(card.excess_bytes);
        lines.push(format!("warning: the books have {excess} more than the card says"));
    }
    lines.push(table(card).render_within(width));
    lines.join("\n")
}

/// The letter of a kind.
const fn letter(kind: SegmentKind) -> char {
    match kind {
        SegmentKind::Version => 'M',
        SegmentKind::SharedSlabs => 'S',
        SegmentKind::Tensor => 'T',
        SegmentKind::Tensors => 't',
        SegmentKind::Ipc => 'I',
        SegmentKind::SlabRoom => 'r',
        SegmentKind::Recycled => 'k',
        SegmentKind::Unlisted => 'u',
        SegmentKind::HostContext => 'h',
        SegmentKind::MoverContext => 'm',
        SegmentKind::Group => 'G',
        SegmentKind::Cache => 'C',
        SegmentKind::CacheIdle => 'c',
        SegmentKind::Contexts => 'x',
        SegmentKind::Other => 'o',
        SegmentKind::Free => '.',
    }
}

/// Each place stands for the segment that its middle lies in.
fn bar(card: &Card, places: usize) -> String {
    let places = u128::try_from(places).unwrap_or(1);
    let mut segments = card.segments.iter();
    let (mut current, mut end) = (None, 0u128);
    (0..places)
        .map(|place| {
            let middle = u128::from(card.total_bytes) * (2 * place + 1) / (2 * places);
            while end <= middle {
                let Some(next) = segments.next() else { break };
                end += u128::from(next.bytes);
                current = Some(next.kind);
            }
            current.map_or(' ', letter)
        })
        .collect()
}

fn table(card: &Card) -> Table {
    let mut table = Table::new(&[
        ("", Side::Left),
        ("WHAT", Side::Left),
        ("NAME", Side::Left),
        ("SIZE", Side::Right),
        ("CARD", Side::Right),
        ("OWNER", Side::Left),
        ("READERS", Side::Right),
        ("STATE", Side::Left),
    ])
    .dispensable(&["STATE", "READERS", "OWNER", "CARD"]);
    let mut tensors = 0;
    let (mut more, mut more_bytes) = (0u64, 0u64);
    for segment in &card.segments {
        if matches!(segment.kind, SegmentKind::Tensor | SegmentKind::Ipc) {
            tensors += 1;
            if tensors > TENSORS {
                more += segment.count;
                more_bytes = more_bytes.saturating_add(segment.bytes);
                continue;
            }
        }
        table.row(row(card, segment, 0));
        for part in &segment.children {
            table.row(row(card, part, 1));
        }
    }
    if more > 0 {
        let what = format!("{} more", units::count(more, "tensor"));
        let mut cells = vec!["T".to_owned(), "tensors".to_owned(), what];
        cells.extend([units::bytes(more_bytes), share(card, more_bytes)]);
        cells.extend(vec!["-".to_owned(); 3]);
        table.row(cells);
    }
    table
}

fn row(card: &Card, segment: &Segment, depth: usize) -> Vec<String> {
    let dash = || "-".to_owned();
    let size = match segment.limit_bytes {
        Some(limit) => format!("{} of {}", units::bytes(segment.bytes), units::bytes(limit)),
        None => units::bytes(segment.bytes),
    };
    vec![
        letter(segment.kind).to_string(),
        format!("{}{}", "  ".repeat(depth), segment.kind.title()),
        segment.label.clone(),
        size,
        share(card, segment.bytes),
        segment.owner.clone().or(segment.user.map(|user| user.to_string())).unwrap_or_else(dash),
        segment.readers.map_or_else(dash, units::thousands),
        segment.state.clone().unwrap_or_else(dash),
    ]
}

/// In percent of the card, rounded down to tenths.
fn share(card: &Card, bytes: u64) -> String {
    let tenths = u128::from(bytes) * 1000 / u128::from(card.total_bytes).max(1);
    format!("{}.{} %", tenths / 10, tenths % 10)
}
