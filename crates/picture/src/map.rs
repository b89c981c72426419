//! Cards to scale.
//!
//! A card is a frame whose width is its memory. Columns are what belongs together (models, tensors, what the
//! pond keeps, groups, others, free), each as wide as its bytes, and inside a column each segment has an area
//! of its bytes. So the axis below is true for the columns, and areas are true everywhere.

use std::collections::BTreeMap;

use millpond_overview::{Card, Segment, SegmentKind};
use millpond_view::units;

use crate::label;
use crate::style;
use crate::svg::{Anchor, Rect, Svg, float};
use crate::treemap::squarify;

const WIDTH: f64 = 1000.0;
const MARGIN: f64 = 24.0;
const FRAME_WIDTH: f64 = WIDTH - 2.0 * MARGIN;
const FRAME_HEIGHT: f64 = 300.0;
/// Title, facts and the names of columns.
const HEADER: f64 = 94.0;
/// The axis and the space to the next card.
const FOOTER: f64 = 52.0;
const LEGEND_ROW: f64 = 22.0;
const LEGEND_COLUMNS: usize = 4;
/// A cell that is thinner has no line around it, which would be all that is seen of it.
const TINY: f64 = 3.0;
const FONT: f64 = 12.0;
const SMALL: f64 = 11.0;

/// What belongs together, from left to right.
pub(crate) const COLUMNS: [(&str, &[SegmentKind]); 7] = [
    ("models", &[SegmentKind::Version, SegmentKind::SharedSlabs]),
    ("tensors", &[SegmentKind::Tensor, SegmentKind::Tensors, SegmentKind::Ipc]),
    ("kept", &[SegmentKind::SlabRoom, SegmentKind::Recycled, SegmentKind::Unlisted]),
    ("pond's processes", &[SegmentKind::HostContext, SegmentKind::MoverContext]),
    (
        "groups",
        &[SegmentKind::Group, SegmentKind::Cache, SegmentKind::CacheIdle, SegmentKind::Contexts],
    ),
    ("others", &[SegmentKind::Other]),
    ("free", &[SegmentKind::Free]),
];

/// The cards as one SVG, a thousand pixels wide: light or dark as its reader prefers, with all names
/// escaped, and with what each segment is under the mouse.
#[must_use]
pub fn map(cards: &[Card]) -> String {
    let mut svg = Svg::default();
    let mut y = MARGIN;
    for card in cards {
        draw_card(&mut svg, card, y);
        y += HEADER + FRAME_HEIGHT + FOOTER;
    }
    if cards.is_empty() {
        svg.text("muted", (MARGIN, y + FONT), Anchor::Start, "The pond has no GPU.");
        y += 2.0 * FONT;
    }
    let totals = totals(cards);
    y = legend(&mut svg, &totals, y);
    let kinds: Vec<_> =
        totals.keys().map(|kind| (style::class(*kind), style::of_kind(*kind))).collect();
    let about = cards.iter().map(summary).collect::<Vec<_>>().join(" ");
    svg.document((WIDTH, y + MARGIN), &style::sheet(&kinds), "GPU memory, to scale", &about)
}

/// A card in words, for whoever does not see it.
fn summary(card: &Card) -> String {
    let mut text = format!("{}: {}.", name(card), usage(card));
    for (title, kinds) in COLUMNS {
        let bytes = column_bytes(card, kinds);
        if bytes > 0 {
            text += &format!(" {title}: {}.", units::bytes(bytes));
        }
    }
    text
}

fn name(card: &Card) -> String {
    format!("GPU {} · {}", card.index, card.name)
}

fn usage(card: &Card) -> String {
    let total = units::bytes(card.total_bytes);
    match card.used_bytes {
        Some(used) => format!("{} of {total} in use", units::bytes(used)),
        None => format!("{total}, in use: not known"),
    }
}

fn column_bytes(card: &Card, kinds: &[SegmentKind]) -> u64 {
    let all = card.segments.iter().filter(|it| kinds.contains(&it.kind));
    all.fold(0, |sum, segment| sum.saturating_add(segment.bytes))
}

fn draw_card(svg: &mut Svg, card: &Card, top: f64) {
    header(svg, card, top);
    let frame = Rect { x: MARGIN, y: top + HEADER, width: FRAME_WIDTH, height: FRAME_HEIGHT };
    let scale = FRAME_WIDTH / float(card.total_bytes).max(1.0);
    let mut x = frame.x;
    let mut free_from = frame.x;
    for (title, kinds) in COLUMNS {
        let bytes = column_bytes(card, kinds);
        let column = Rect { x, width: float(bytes) * scale, ..frame };
        if bytes > 0 {
            column_title(svg, title, bytes, column);
            draw_column(svg, card, kinds, column);
        }
        x += column.width;
        if kinds.iter().all(|kind| kind.is_pond()) {
            free_from = x;
        }
    }
    pond_bracket(svg, card, frame, free_from);
    svg.rect("frame", frame);
    axis(svg, card, frame);
}

fn header(svg: &mut Svg, card: &Card, top: f64) {
    let right = MARGIN + FRAME_WIDTH;
    let usage = usage(card);
    let room = FRAME_WIDTH - label::width(&usage, FONT) - 24.0;
    let title = label::fitting(&name(card), 18.0, room).unwrap_or_default();
    svg.text("title", (MARGIN, top + 18.0), Anchor::Start, &title);
    svg.text("strong", (right, top + 16.0), Anchor::End, &usage);
    let pond = units::bytes(card.slab_bytes);
    let capacity = units::bytes(card.capacity_bytes);
    let facts = format!("{} · the pond has {pond} of at most {capacity}", card.device);
    svg.text("muted", (MARGIN, top + 38.0), Anchor::Start, &facts);
    let (class, aside) = match (card.excess_bytes, readings(card)) {
        (0, readings) => ("muted", readings),
        (excess, _) => {
            let excess = units::bytes(excess);
            ("warning", format!("the books have {excess} more than the card says"))
        }
    };
    svg.text(class, (right, top + 38.0), Anchor::End, &aside);
}

/// What the card says of itself, as far as it says anything.
fn readings(card: &Card) -> String {
    let Some(readings) = card.readings else { return String::new() };
    let busy = readings.utilisation_ratio.map(|it| format!("{:.0} % busy", it * 100.0));
    let warm = readings.temperature_celsius.map(|it| format!("{it:.0} °C"));
    let power = match (readings.power_watts, readings.power_limit_watts) {
        (Some(power), Some(limit)) => Some(format!("{power:.0} W of {limit:.0} W")),
        (power, _) => power.map(|it| format!("{it:.0} W")),
    };
    [busy, warm, power].into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

fn column_title(svg: &mut Svg, title: &str, bytes: u64, column: Rect) {
    let y = column.y - 10.0;
    let size = units::bytes(bytes);
    let long = format!("{title} {size}");
    let text =
        [long.as_str(), title].into_iter().find(|it| label::width(it, FONT) + 6.0 <= column.width);
    if let Some(text) = text {
        svg.text("strong", (column.x + 1.0, y), Anchor::Start, text);
    }
}

/// A line over everything that lies in the pond's slabs.
fn pond_bracket(svg: &mut Svg, card: &Card, frame: Rect, to: f64) {
    let y = frame.y - 28.0;
    let text = format!("pond {}", units::bytes(card.slab_bytes.min(card.total_bytes)));
    if to - frame.x < 8.0 {
        return;
    }
    svg.line("line", (frame.x, y + 4.0), (to, y + 4.0));
    svg.line("line", (frame.x, y + 4.0), (frame.x, y + 8.0));
    svg.line("line", (to, y + 4.0), (to, y + 8.0));
    if label::width(&text, SMALL) <= to - frame.x {
        svg.text("small muted", (frame.x + 1.0, y), Anchor::Start, &text);
    }
}

fn draw_column(svg: &mut Svg, card: &Card, kinds: &[SegmentKind], column: Rect) {
    let mut segments: Vec<&Segment> =
        card.segments.iter().filter(|it| kinds.contains(&it.kind)).collect();
    segments.sort_by_key(|segment| std::cmp::Reverse(segment.bytes));
    let bytes: Vec<f64> = segments.iter().map(|segment| float(segment.bytes)).collect();
    for (segment, rect) in segments.iter().zip(squarify(&bytes, column)) {
        draw_segment(svg, card, segment, rect);
    }
}

fn draw_segment(svg: &mut Svg, card: &Card, segment: &Segment, rect: Rect) {
    svg.raw("<g>");
    svg.title(&about(card, segment));
    let class = style::class(segment.kind);
    let is_tiny = rect.width.min(rect.height) < TINY;
    if segment.kind == SegmentKind::Free {
        svg.rect("cell free", rect);
    } else if is_tiny {
        svg.rect(&format!("cell tiny f-{class}"), rect);
    } else {
        svg.rect(&format!("cell f-{class}"), rect);
        hatch(svg, segment.kind, rect);
    }
    svg.raw("</g>");
    let inside = children(svg, card, segment, rect);
    caption(svg, segment, &class, Rect { height: rect.height - inside, ..rect });
}

fn hatch(svg: &mut Svg, kind: SegmentKind, rect: Rect) {
    if let Some(id) = style::of_kind(kind).pattern.id() {
        svg.raw(format_args!("<rect class=\"pattern\" fill=\"url(#{id})\" {rect}/>"));
    }
}

/// Draws what a segment consists of at its lower end, and returns how high that is.
fn children(svg: &mut Svg, card: &Card, segment: &Segment, rect: Rect) -> f64 {
    let inside = segment.children.iter().fold(0u64, |sum, it| sum.saturating_add(it.bytes));
    if inside == 0 || segment.bytes == 0 {
        return 0.0;
    }
    let height = rect.height * (float(inside) / float(segment.bytes)).min(1.0);
    let area = Rect { y: rect.y + rect.height - height, height, ..rect };
    let mut parts: Vec<&Segment> = segment.children.iter().collect();
    parts.sort_by_key(|part| std::cmp::Reverse(part.bytes));
    let bytes: Vec<f64> = parts.iter().map(|part| float(part.bytes)).collect();
    for (part, rect) in parts.iter().zip(squarify(&bytes, area)) {
        draw_segment(svg, card, part, rect);
    }
    height
}

/// The name of a segment, and its size under it, where there is room.
fn caption(svg: &mut Svg, segment: &Segment, class: &str, rect: Rect) {
    let room = rect.inset(5.0);
    if room.height < SMALL || room.width < 24.0 {
        return;
    }
    let Some(name) = label::fitting(&segment.label, FONT, room.width) else { return };
    let classes = |kind: &str| format!("label {kind} t-{class}");
    let baseline = room.y + FONT - 2.0;
    svg.text(&classes("strong"), (room.x, baseline), Anchor::Start, &name);
    let mut lines = vec![size(segment)];
    lines.extend(segment.owner.clone());
    lines.extend(holders(segment));
    for (place, line) in (1u8..).zip(&lines) {
        let down = f64::from(place) * (SMALL + 4.0);
        if down + FONT > room.height {
            break;
        }
        if let Some(line) = label::fitting(line, SMALL, room.width) {
            svg.text(&classes("small"), (room.x, baseline + down), Anchor::Start, &line);
        }
    }
}

fn size(segment: &Segment) -> String {
    let bytes = units::bytes(segment.bytes);
    match segment.limit_bytes {
        Some(limit) => format!("{bytes} of {}", units::bytes(limit)),
        None => bytes,
    }
}

/// How many use it, and how it is.
fn holders(segment: &Segment) -> Option<String> {
    let readers = segment.readers.filter(|readers| *readers > 0);
    let readers = readers.map(|readers| units::count(readers, "reader"));
    let state = segment.state.clone().filter(|state| state != "ready" && state != "ok");
    let said: Vec<String> = [readers, state].into_iter().flatten().collect();
    (!said.is_empty()).then(|| said.join(", "))
}

/// All that is known of a segment, a line for each fact.
fn about(card: &Card, segment: &Segment) -> String {
    let share = 100.0 * float(segment.bytes) / float(card.total_bytes).max(1.0);
    let mut lines = vec![
        segment.label.clone(),
        segment.kind.title().to_owned(),
        format!("{} ({share:.1} % of the card)", units::bytes(segment.bytes)),
    ];
    lines.extend(segment.limit_bytes.map(|limit| format!("limit: {}", units::bytes(limit))));
    lines.extend(segment.owner.as_ref().map(|owner| format!("owner: {owner}")));
    lines.extend(segment.state.as_ref().map(|state| format!("state: {state}")));
    lines.extend(segment.readers.map(|readers| units::count(readers, "reader")));
    lines.extend(segment.survives.as_ref().map(|it| format!("survives: {it}")));
    lines.extend(segment.id.clone());
    lines.join(" · ")
}

fn axis(svg: &mut Svg, card: &Card, frame: Rect) {
    let total = float(card.total_bytes).max(1.0);
    let y = frame.y + frame.height;
    let step = step(card.total_bytes);
    let mut at = 0u64;
    while at <= card.total_bytes {
        let x = frame.x + frame.width * float(at) / total;
        svg.line("line", (x, y), (x, y + 5.0));
        let anchor = if at == 0 { Anchor::Start } else { Anchor::Middle };
        let text = mark(at);
        if x + label::width(&text, SMALL) / 2.0 <= frame.x + frame.width + 4.0 {
            svg.text("small muted", (x, y + 18.0), anchor, &text);
        }
        let Some(next) = at.checked_add(step) else { break };
        at = next;
    }
    if card.capacity_bytes > 0 && card.capacity_bytes < card.total_bytes {
        let x = frame.x + frame.width * float(card.capacity_bytes) / total;
        svg.line("limit", (x, frame.y - 4.0), (x, y + 8.0));
        let text = format!("the pond may take {}", units::bytes(card.capacity_bytes));
        let anchor = if x > WIDTH / 2.0 { Anchor::End } else { Anchor::Start };
        svg.text("small muted", (x, y + 32.0), anchor, &text);
    }
}

/// A distance between marks that people count in: 1, 2, 4 … of a unit, for up to ten marks.
pub(crate) fn step(total: u64) -> u64 {
    (total / 10).checked_next_power_of_two().unwrap_or(1 << 63).max(1)
}

/// A number at a mark: steps are powers of two, so two places say it whole where one would round.
pub(crate) fn mark(bytes: u64) -> String {
    let short = units::bytes(bytes);
    let is_whole = |unit: u64| bytes >= unit && (bytes % unit).is_multiple_of(unit / 4);
    let (unit, name) = if is_whole(1 << 40) {
        (1u64 << 40, "TiB")
    } else if is_whole(1 << 30) {
        (1 << 30, "GiB")
    } else {
        return short;
    };
    match bytes % unit / (unit / 4) {
        1 => format!("{}.25 {name}", bytes / unit),
        3 => format!("{}.75 {name}", bytes / unit),
        _ => short,
    }
}

/// Bytes by kind, those inside groups apart.
fn totals(cards: &[Card]) -> BTreeMap<SegmentKind, u64> {
    let mut totals: BTreeMap<SegmentKind, u64> = BTreeMap::new();
    let mut add = |segment: &Segment| {
        let bytes = totals.entry(segment.kind).or_default();
        *bytes = bytes.saturating_add(segment.bytes);
    };
    for segment in cards.iter().flat_map(|card| &card.segments) {
        add(segment);
        segment.children.iter().for_each(&mut add);
    }
    totals
}

fn legend(svg: &mut Svg, totals: &BTreeMap<SegmentKind, u64>, top: f64) -> f64 {
    let column = FRAME_WIDTH / 4.0;
    let (mut x, mut y) = (0.0, top);
    for (place, (kind, bytes)) in totals.iter().enumerate() {
        if place > 0 && place.is_multiple_of(LEGEND_COLUMNS) {
            x = 0.0;
            y += LEGEND_ROW;
        }
        let swatch = Rect { x: MARGIN + x, y, width: 18.0, height: 13.0 };
        if *kind == SegmentKind::Free {
            svg.rect("free", swatch);
        } else {
            svg.rect(&format!("f-{}", style::class(*kind)), swatch);
            hatch(svg, *kind, swatch);
        }
        let text = format!("{} {}", kind.title(), units::bytes(*bytes));
        svg.text("small", (swatch.x + 25.0, y + 11.0), Anchor::Start, &text);
        x += column;
    }
    if totals.is_empty() { y } else { y + LEGEND_ROW }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::samples::{card, compare, segment, shown};

    /// Whether tags are closed in order, and nothing else is markup.
    pub(crate) fn is_well_formed(svg: &str) -> bool {
        let mut open = Vec::new();
        for part in svg.split('<').skip(1) {
            let Some((tag, text)) = part.split_once('>') else { return false };
            if text.contains('>') {
                return false;
            }
            let name = tag.split([' ', '/']).find(|word| !word.is_empty()).unwrap_or_default();
            if tag.starts_with('/') {
                if open.pop() != Some(name) {
                    return false;
                }
            } else if !tag.ends_with('/') {
                open.push(name);
            }
        }
        open.is_empty()
    }

    #[test]
    fn the_picture_of_the_documents_is_what_is_drawn() {
        let card = shown();
        let sum: u64 = card.segments.iter().map(|segment| segment.bytes).sum();
        assert_eq!(sum, card.total_bytes);
        compare("map.svg", &map(&[card]));
    }

    #[test]
    fn areas_are_bytes() {
        let mut all = card();
        all.segments.retain(|segment| segment.children.is_empty());
        let svg = map(&[all.clone()]);
        let cells: Vec<f64> = svg
            .lines()
            .filter(|line| line.starts_with("<rect class=\"cell"))
            .map(|line| {
                let number = |name: &str| -> f64 {
                    let (_, rest) = line.split_once(&format!(" {name}=\"")).unwrap();
                    rest.split('"').next().unwrap().parse().unwrap()
                };
                number("width") * number("height")
            })
            .collect();
        assert_eq!(cells.len(), all.segments.len());
        let scale = FRAME_WIDTH * FRAME_HEIGHT / float(all.total_bytes);
        let mut wanted: Vec<f64> =
            all.segments.iter().map(|segment| float(segment.bytes) * scale).collect();
        let mut cells = cells;
        wanted.sort_by(f64::total_cmp);
        cells.sort_by(f64::total_cmp);
        for (cell, wanted) in cells.iter().zip(&wanted) {
            assert!((cell - wanted).abs() < 5.0, "{cell} is not {wanted}");
        }
    }

    #[test]
    fn hostile_names_are_text() {
        let mut hostile = card();
        let name = "</title><script>alert(1)</script>&\"'\u{1b}[2J\u{202e}\u{ffff}";
        for segment in &mut hostile.segments {
            segment.label = name.to_owned();
            segment.owner = Some(name.to_owned());
            segment.state = Some(name.to_owned());
        }
        hostile.name = name.to_owned();
        hostile.device = name.to_owned();
        let svg = map(&[hostile]);
        assert!(is_well_formed(&svg), "{svg}");
        assert!(!svg.contains("<script") && !svg.contains('\u{1b}') && !svg.contains('\u{202e}'));
        assert!(svg.contains("&lt;script&gt;"));
    }

    #[test]
    fn what_is_drawn_is_said_too() {
        let svg = map(&[card(), card()]);
        assert!(is_well_formed(&svg));
        assert!(svg.contains("role=\"img\" aria-labelledby=\"title about\""));
        assert!(svg.contains("<desc id=\"about\">GPU 0 · NVIDIA H200: "), "{svg}");
        assert!(svg.contains("prefers-color-scheme: dark"));
        assert_eq!(svg, map(&[card(), card()]), "the same pond is the same file");
        assert!(is_well_formed(&map(&[])) && map(&[]).contains("no GPU"));
    }

    #[test]
    fn absurd_cards_are_drawn_as_well() {
        let mut absurd = card();
        absurd.total_bytes = u64::MAX;
        absurd.capacity_bytes = u64::MAX - 1;
        absurd.segments = vec![segment(SegmentKind::Tensor, "x", u64::MAX)];
        let huge = map(&[absurd.clone()]);
        absurd.total_bytes = 0;
        absurd.segments.clear();
        let empty = map(&[absurd]);
        for svg in [huge, empty] {
            assert!(is_well_formed(&svg) && !svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }

    #[test]
    fn marks_are_exact() {
        let shown = [0, 256 << 20, 5 << 28, 3 << 29, 7 << 28, 16 << 30, 5 << 38].map(mark);
        assert_eq!(
            shown,
            ["0 B", "256 MiB", "1.25 GiB", "1.5 GiB", "1.75 GiB", "16 GiB", "1.25 TiB"]
        );
        assert_eq!([step(0), step(2 << 30), step(u64::MAX)], [1, 256 << 20, 1 << 61]);
    }
}
