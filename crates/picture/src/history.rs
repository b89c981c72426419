//! Memory over time: who had how much, as areas on top of each other.

use millpond_overview::SegmentKind;
use millpond_overview::history::{Point, Series, SeriesHolder};
use millpond_view::units;

use crate::label;
use crate::map::{mark, step};
use crate::style::{self, Paint};
use crate::svg::{Anchor, Length, Rect, Svg, float};

const WIDTH: f64 = 1000.0;
const MARGIN: f64 = 24.0;
const HEADER: f64 = 64.0;
/// Where numbers of the axis stand.
const AXIS: f64 = 66.0;
/// Where the names of limits stand.
const LIMITS: f64 = 128.0;
const HEIGHT: f64 = 300.0;
const FONT: f64 = 12.0;
const SMALL: f64 = 11.0;
const LEGEND_ROW: f64 = 22.0;
const LEGEND_COLUMNS: usize = 3;
/// A pause that is longer than this many times the usual distance of points is a gap.
const GAP: u64 = 4;
/// Labels of the time axis.
const TIMES: u64 = 6;

/// A history as SVG, a thousand pixels wide: an area for each holder, limits as dashed lines, what the card
/// says as a line, times in UTC.
#[must_use]
pub fn history(series: &Series) -> String {
    let series = &stacked(series);
    let mut svg = Svg::default();
    let frame = Rect {
        x: MARGIN + AXIS,
        y: MARGIN + HEADER,
        width: WIDTH - 2.0 * MARGIN - AXIS - LIMITS,
        height: HEIGHT,
    };
    let looks = looks(series);
    header(&mut svg, series);
    let scale = Scale::new(series, frame);
    grid(&mut svg, &scale);
    for stretch in stretches(series) {
        areas(&mut svg, series, &looks, &scale, stretch);
        reading(&mut svg, series, &scale, stretch);
    }
    limits(&mut svg, series, &scale);
    times(&mut svg, series, &scale);
    svg.rect("frame", frame);
    if series.points.is_empty() {
        let middle = (frame.x + frame.width / 2.0, frame.y + frame.height / 2.0);
        svg.text("muted", middle, Anchor::Middle, "There is no sample of this time.");
    }
    let bottom = legend(&mut svg, series, &looks, frame.y + frame.height + 48.0);
    let kinds: Vec<_> = looks.iter().map(|look| (look.class.clone(), look.paint)).collect();
    let title = format!("Memory of GPU {} over time", series.index);
    svg.document((WIDTH, bottom + MARGIN), &style::sheet(&kinds), &title, &summary(series))
}

/// The holders in the order in which they lie on each other: the pond's below, groups on top, so that the room
/// up to a group's limit is mostly drawn over nothing.
fn stacked(series: &Series) -> Series {
    let rank = |kind: Option<SegmentKind>| match kind {
        Some(kind) if kind.is_pond() => (0, Some(kind)),
        Some(SegmentKind::Group) => (3, None),
        None => (2, None),
        kind => (1, kind),
    };
    let mut order: Vec<usize> = (0..series.holders.len()).collect();
    // Within a rank the largest come first, as they are.
    order.sort_by_key(|place| series.holders.get(*place).map(|one| rank(one.holder.kind)));
    let holders = order.iter().filter_map(|place| series.holders.get(*place).cloned()).collect();
    let mut stacked = Series { holders, ..series.clone() };
    for point in &mut stacked.points {
        let bytes = |place: &usize| point.bytes.get(*place).copied().unwrap_or(0);
        point.bytes = order.iter().map(bytes).collect();
    }
    stacked
}

/// How a holder is painted, under a class of its own.
struct Look {
    class: String,
    paint: Paint,
}

/// Holders of one kind have one colour in several shades.
fn looks(series: &Series) -> Vec<Look> {
    let mut seen: Vec<Option<SegmentKind>> = Vec::new();
    let look = |(place, one): (usize, &SeriesHolder)| {
        let kind = one.holder.kind;
        let same = seen.iter().filter(|other| **other == kind).count();
        seen.push(kind);
        let paint = kind.map_or(style::REST, style::of_kind);
        Look { class: format!("holder{place}"), paint: paint.shade(same) }
    };
    series.holders.iter().enumerate().map(look).collect()
}

/// The last moment in words.
fn summary(series: &Series) -> String {
    let Some(last) = series.points.last() else { return "No samples.".to_owned() };
    let part = |(one, bytes): (&SeriesHolder, &u64)| {
        format!("{}: {}.", one.holder.label, units::bytes(*bytes))
    };
    let parts: Vec<_> = series.holders.iter().zip(&last.bytes).map(part).collect();
    format!("At {}: {}", clock(last.at_unix_ms, true), parts.join(" "))
}

fn header(svg: &mut Svg, series: &Series) {
    let title = format!("GPU {} · {}", series.index, series.name);
    let title = label::fitting(&title, 18.0, WIDTH / 2.0).unwrap_or_default();
    svg.text("title", (MARGIN, MARGIN + 18.0), Anchor::Start, &title);
    svg.text("muted", (MARGIN, MARGIN + 38.0), Anchor::Start, &series.device);
    let right = WIDTH - MARGIN;
    let (Some(first), Some(last)) = (series.points.first(), series.points.last()) else { return };
    let total = units::bytes(series.total_bytes);
    let used = last.used_bytes.map_or(format!("{total} in all"), |used| {
        format!("{} of {total} in use", units::bytes(used))
    });
    svg.text("strong", (right, MARGIN + 16.0), Anchor::End, &used);
    let long = units::long(last.monotonic_ms.saturating_sub(first.monotonic_ms));
    let until = format!("{long} until {} UTC", clock(last.at_unix_ms, true));
    svg.text("muted", (right, MARGIN + 38.0), Anchor::End, &until);
}

/// From moments and bytes to places.
struct Scale {
    frame: Rect,
    total_bytes: u64,
    first_ms: u64,
    span_ms: u64,
}

impl Scale {
    fn new(series: &Series, frame: Rect) -> Self {
        let first = series.points.first().map_or(0, |point| point.monotonic_ms);
        let last = series.points.last().map_or(0, |point| point.monotonic_ms);
        let span_ms = last.saturating_sub(first).max(1);
        Self { frame, total_bytes: series.total_bytes.max(1), first_ms: first, span_ms }
    }

    fn x(&self, monotonic_ms: u64) -> f64 {
        let since = float(monotonic_ms.saturating_sub(self.first_ms));
        self.frame.x + self.frame.width * (since / float(self.span_ms)).clamp(0.0, 1.0)
    }

    fn y(&self, bytes: u64) -> f64 {
        let part = (float(bytes) / float(self.total_bytes)).min(1.0);
        self.frame.y + self.frame.height * (1.0 - part)
    }
}

fn grid(svg: &mut Svg, scale: &Scale) {
    let step = step(scale.total_bytes / 3 * 4);
    let mut at = 0u64;
    while at <= scale.total_bytes {
        let y = scale.y(at);
        svg.line("grid", (scale.frame.x, y), (scale.frame.x + scale.frame.width, y));
        svg.text("small muted", (scale.frame.x - 8.0, y + 4.0), Anchor::End, &mark(at));
        let Some(next) = at.checked_add(step) else { break };
        at = next;
    }
}

/// Points without a gap between them: from the first to behind the last.
fn stretches(series: &Series) -> Vec<(usize, usize)> {
    let apart = |pair: &[Point]| match pair {
        [a, b] => b.monotonic_ms.saturating_sub(a.monotonic_ms),
        _ => 0,
    };
    let mut distances: Vec<u64> = series.points.windows(2).map(apart).collect();
    let each = distances.clone();
    distances.sort_unstable();
    let usual = distances.get(distances.len() / 2).copied().unwrap_or(0);
    // Coarse samples of a day before the fine ones of the last minutes are no gap.
    let longest = usual.saturating_mul(GAP).max(60_000);
    let (mut found, mut from) = (Vec::new(), 0);
    for (place, distance) in each.into_iter().enumerate() {
        if distance > longest {
            found.push((from, place + 1));
            from = place + 1;
        }
    }
    if from < series.points.len() {
        found.push((from, series.points.len()));
    }
    found
}

fn areas(
    svg: &mut Svg,
    series: &Series,
    looks: &[Look],
    scale: &Scale,
    (from, to): (usize, usize),
) {
    let points = series.points.get(from..to).unwrap_or_default();
    let mut below = vec![0u64; points.len()];
    for (place, (one, look)) in series.holders.iter().zip(looks).enumerate() {
        let bytes = |point: &Point| point.bytes.get(place).copied().unwrap_or(0);
        let above: Vec<u64> = points
            .iter()
            .zip(&below)
            .map(|(point, under)| under.saturating_add(bytes(point)))
            .collect();
        if above != below {
            let upper = points.iter().zip(&above);
            let upper = upper.map(|(point, bytes)| corner(scale, point, *bytes));
            let lower = points.iter().zip(&below).rev();
            let lower = lower.map(|(point, bytes)| corner(scale, point, *bytes));
            let path = upper.chain(lower).collect::<Vec<_>>().join(" L");
            svg.raw("<g>");
            let peak = points.iter().map(bytes).max().unwrap_or(0);
            let last = points.last().map_or(0, bytes);
            svg.title(&format!(
                "{} · now {} · at most {}",
                one.holder.label,
                units::bytes(last),
                units::bytes(peak)
            ));
            svg.raw(format_args!("<path class=\"cell f-{}\" d=\"M{path} Z\"/>", look.class));
            if let Some(id) = look.paint.pattern.id() {
                let class = "class=\"pattern\"";
                svg.raw(format_args!("<path {class} fill=\"url(#{id})\" d=\"M{path} Z\"/>"));
            }
            svg.raw("</g>");
        }
        below = above;
    }
}

fn corner(scale: &Scale, point: &Point, bytes: u64) -> String {
    let (x, y) = (scale.x(point.monotonic_ms), scale.y(bytes));
    // A tenth of a pixel is not seen, and a day has many points.
    let [x, y] = [x, y].map(|it| Length((it * 10.0).round() / 10.0));
    format!("{x} {y}")
}

/// What the card itself says.
fn reading(svg: &mut Svg, series: &Series, scale: &Scale, (from, to): (usize, usize)) {
    let points = series.points.get(from..to).unwrap_or_default();
    let place = |point: &Point| Some(corner(scale, point, point.used_bytes?));
    let path: Vec<_> = points.iter().filter_map(place).collect();
    if path.len() > 1 {
        svg.raw("<g>");
        svg.title("in use, as the card says");
        svg.raw(format_args!("<path class=\"reading\" d=\"M{}\"/>", path.join(" L")));
        svg.raw("</g>");
    }
}

/// What the pond may take, from the bottom; and what each group may, from where it begins.
fn limits(svg: &mut Svg, series: &Series, scale: &Scale) {
    let right = scale.frame.x + scale.frame.width;
    // Where each line ends, and what it is.
    let mut labels: Vec<(u64, String)> = Vec::new();
    if series.capacity_bytes < series.total_bytes {
        let y = scale.y(series.capacity_bytes);
        svg.line("limit", (scale.frame.x, y), (right, y));
        labels.push((series.capacity_bytes, "the pond's capacity".to_owned()));
    }
    for (place, one) in series.holders.iter().enumerate() {
        let Some(limit) = one.limit_bytes else { continue };
        let below = |point: &Point| -> u64 {
            let under = point.bytes.iter().take(place);
            under.fold(0, |sum: u64, bytes| sum.saturating_add(*bytes))
        };
        let top = |point: &Point| below(point).saturating_add(limit);
        for (from, to) in stretches(series) {
            let points = series.points.get(from..to).unwrap_or_default();
            let corner = |point: &Point| corner(scale, point, top(point));
            let path: Vec<_> = points.iter().map(corner).collect();
            svg.raw(format_args!("<path class=\"limit\" d=\"M{}\"/>", path.join(" L")));
        }
        let end = series.points.last().map_or(0, top).min(series.total_bytes);
        labels.push((end, format!("limit of {}", one.holder.label)));
    }
    labels.sort();
    let mut lowest = f64::INFINITY;
    for (bytes, text) in labels {
        let y = scale.y(bytes);
        // From below: a label is moved up where another one is in its way.
        let label_y = (y + 4.0).min(lowest - SMALL - 2.0);
        lowest = label_y;
        let text = label::fitting(&text, SMALL, LIMITS).unwrap_or_default();
        svg.text("small muted", (right + 6.0, label_y), Anchor::Start, &text);
    }
}

fn times(svg: &mut Svg, series: &Series, scale: &Scale) {
    let Some(last) = series.points.last() else { return };
    let y = scale.frame.y + scale.frame.height;
    for place in 0..=TIMES {
        let since_ms = scale.span_ms / TIMES * place;
        let x = scale.x(scale.first_ms.saturating_add(since_ms));
        // By the clock of now: distances are those of the clock that does not jump.
        let ago = scale.span_ms.saturating_sub(since_ms);
        let text = clock(last.at_unix_ms.saturating_sub(ago), scale.span_ms < 3_600_000);
        svg.line("line", (x, y), (x, y + 5.0));
        svg.text("small muted", (x, y + 18.0), Anchor::Middle, &text);
    }
}

/// The time of a day in UTC.
fn clock(unix_ms: u64, with_seconds: bool) -> String {
    let seconds = unix_ms / 1000 % 86_400;
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    if with_seconds {
        format!("{hours:02}:{minutes:02}:{:02}", seconds % 60)
    } else {
        format!("{hours:02}:{minutes:02}")
    }
}

fn legend(svg: &mut Svg, series: &Series, looks: &[Look], top: f64) -> f64 {
    let column = (WIDTH - 2.0 * MARGIN) / 3.0;
    let (mut x, mut y) = (0.0, top);
    let last = series.points.last();
    for (place, (one, look)) in series.holders.iter().zip(looks).enumerate() {
        if place > 0 && place.is_multiple_of(LEGEND_COLUMNS) {
            x = 0.0;
            y += LEGEND_ROW;
        }
        let swatch = Rect { x: MARGIN + x, y, width: 18.0, height: 13.0 };
        svg.rect(&format!("f-{}", look.class), swatch);
        if let Some(id) = look.paint.pattern.id() {
            svg.raw(format_args!("<rect class=\"pattern\" fill=\"url(#{id})\" {swatch}/>"));
        }
        let bytes = last.and_then(|point| point.bytes.get(place)).copied().unwrap_or(0);
        let size = match one.limit_bytes {
            Some(limit) => format!("{} of {}", units::bytes(bytes), units::bytes(limit)),
            None => units::bytes(bytes),
        };
        let room = column - 36.0 - label::width(&size, FONT) - 12.0;
        let text = label::fitting(&one.holder.label, SMALL, room).unwrap_or_default();
        let text = format!("{text} {size}");
        svg.text("small", (swatch.x + 25.0, y + 11.0), Anchor::Start, &text);
        x += column;
    }
    if series.holders.is_empty() { y } else { y + LEGEND_ROW }
}

#[cfg(test)]
mod tests {
    use millpond_overview::History;

    use super::*;
    use crate::map::tests::is_well_formed;
    use crate::samples::{card, compare, hour};

    fn series(seconds: u64) -> Series {
        let mut history = History::new();
        for second in 0..seconds {
            let mut card = card();
            let by = second << 26;
            card.segments[0].bytes += by;
            card.free_bytes -= by;
            card.used_bytes = card.used_bytes.map(|used| used + by);
            card.segments.last_mut().unwrap().bytes -= by;
            history.record(second * 1000, 1_700_000_000_000 + second * 1000, &[card]);
        }
        history.series(&card().device, 3_600_000, 500).unwrap()
    }

    #[test]
    fn the_picture_of_the_documents_is_what_is_drawn() {
        compare("history.svg", &history(&hour()));
    }

    #[test]
    fn every_holder_has_an_area_and_every_limit_a_line() {
        let series = series(120);
        let svg = history(&series);
        assert!(is_well_formed(&svg), "{svg}");
        assert_eq!(svg.matches("<path class=\"cell f-holder").count(), series.holders.len());
        assert!(
            svg.contains("limit of serving") && svg.contains("the pond&#39;s capacity"),
            "{svg}"
        );
        assert!(svg.contains("119 seconds until 22:15:19 UTC"), "{svg}");
        assert_eq!(svg, history(&series));
    }

    #[test]
    fn a_pause_is_a_gap_and_nothing_is_drawn_over_it() {
        let mut gap = series(120);
        for point in gap.points.iter_mut().skip(60) {
            point.monotonic_ms += 600_000;
        }
        assert_eq!(stretches(&gap), [(0, 60), (60, 120)]);
        let areas = history(&gap).matches("<path class=\"cell f-holder0").count();
        assert_eq!(areas, 2);
    }

    #[test]
    fn no_points_one_point_and_absurd_ones_are_drawn_as_well() {
        let mut none = series(3);
        none.points.clear();
        let mut absurd = series(3);
        absurd.total_bytes = 0;
        absurd.points[1].bytes.fill(u64::MAX);
        absurd.points[2].monotonic_ms = 0;
        absurd.points[2].bytes.clear();
        absurd.holders[0].holder.label = "</svg><script>".to_owned();
        for series in [none, series(1), absurd] {
            let svg = history(&series);
            assert!(is_well_formed(&svg) && !svg.contains("NaN") && !svg.contains("inf"), "{svg}");
            assert!(!svg.contains("<script"));
        }
    }
}
