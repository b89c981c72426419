//! A snapshot as a picture: every page that the pool holds, row by row, with its blocks and gaps.

use super::snapshot::{PartKind, PoolPart, PoolSnapshot};
use crate::size::Bytes;
use std::fmt::Write as _;

const WIDTH: f64 = 960.0;
const MARGIN: f64 = 24.0;
const HEADER: f64 = 96.0;
/// Where the bars begin: the offsets stand before them.
const BARS: f64 = 120.0;
const ROW: f64 = 22.0;
const BAR: f64 = 16.0;
/// Rows of a picture. With more memory each has more bytes.
const ROWS: u64 = 40;
/// A row of less would show nothing but frames.
const SMALLEST_ROW: u64 = 2 << 20;

const STYLE: &str = "\
text { font-family: system-ui, -apple-system, 'Segoe UI', 'Liberation Sans', Arial, sans-serif; fill: #1f2328; }
.page { fill: #ffffff; stroke: #d1d9e0; }
.title { font-size: 20px; font-weight: 600; }
.small { font-size: 12px; fill: #59636e; }
.offset { font-size: 12px; fill: #59636e; }
.track { fill: none; stroke: #d1d9e0; }
.block { fill: #0b7285; stroke: #ffffff; stroke-width: 0.5; }
.graph { fill: #5f3dc4; stroke: #ffffff; stroke-width: 0.5; }
.freed { fill: #f08c00; stroke: #ffffff; stroke-width: 0.5; }
.waiting { fill: #c92a2a; stroke: #ffffff; stroke-width: 0.5; }
.clean { fill: #dee5ec; stroke: #ffffff; stroke-width: 0.5; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; }
  .page { fill: #0d1117; stroke: #3d444d; }
  .small, .offset { fill: #9198a1; }
  .track { stroke: #3d444d; }
  .block { fill: #3bc9db; stroke: #0d1117; }
  .graph { fill: #b197fc; stroke: #0d1117; }
  .freed { fill: #ffa94d; stroke: #0d1117; }
  .waiting { fill: #ff8787; stroke: #0d1117; }
  .clean { fill: #2b3440; stroke: #0d1117; }
}";

const LEGEND: [(&str, &str); 5] = [
    ("block", "in use"),
    ("graph", "a graph's"),
    ("freed", "free for its stream"),
    ("waiting", "waits for another stream"),
    ("clean", "free for all"),
];

impl PoolSnapshot {
    /// The snapshot as an SVG: rows of equal size with blocks and gaps to scale, in the order of their
    /// addresses. Addresses without memory are left out.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let rows = self.rows();
        let mut svg = String::new();
        // Writing to a text cannot fail.
        let _ = self.write_svg(&mut svg, &rows);
        svg
    }

    fn write_svg(&self, svg: &mut String, rows: &Rows) -> std::fmt::Result {
        let height = HEADER + float(rows.count.max(1)) * ROW + MARGIN;
        writeln!(
            svg,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
             height=\"{height}\" role=\"img\" aria-label=\"Blocks and gaps of a stream-ordered pool\">"
        )?;
        writeln!(svg, "<style>\n{STYLE}\n</style>")?;
        writeln!(
            svg,
            "<rect class=\"page\" x=\"0.5\" y=\"0.5\" width=\"{}\" height=\"{}\" rx=\"8\"/>",
            WIDTH - 1.0,
            height - 1.0
        )?;
        writeln!(
            svg,
            "<text class=\"title\" x=\"{MARGIN}\" y=\"36\">Blocks and gaps of a stream-ordered pool</text>"
        )?;
        let percent = self.stats.fragmentation() * 100.0;
        writeln!(
            svg,
            "<text class=\"small\" x=\"{MARGIN}\" y=\"56\">{}; fragmentation {percent:.1} %; a row is {}</text>",
            self.stats,
            Bytes(rows.bytes)
        )?;
        let mut x = MARGIN;
        for (class, label) in LEGEND {
            writeln!(
                svg,
                "<rect class=\"{class}\" x=\"{x}\" y=\"68\" width=\"12\" height=\"12\"/>"
            )?;
            writeln!(svg, "<text class=\"small\" x=\"{}\" y=\"78\">{label}</text>", x + 18.0)?;
            x += 44.0 + 6.5 * float(label.len() as u64);
        }
        for row in 0..rows.count {
            let y = HEADER + float(row) * ROW;
            let width = WIDTH - MARGIN - BARS;
            writeln!(
                svg,
                "<rect class=\"track\" x=\"{BARS}\" y=\"{y}\" width=\"{width}\" height=\"{BAR}\"/>"
            )?;
        }
        self.write_parts(svg, rows)?;
        svg.push_str("</svg>\n");
        Ok(())
    }

    /// How much a row shows, and how many there are.
    fn rows(&self) -> Rows {
        let held: u64 = self.parts.iter().map(|part| part.bytes).sum();
        let bytes = held.div_ceil(ROWS).next_power_of_two().max(SMALLEST_ROW);
        Rows { bytes, count: held.div_ceil(bytes) }
    }

    fn write_parts(&self, svg: &mut String, rows: &Rows) -> std::fmt::Result {
        let scale = (WIDTH - MARGIN - BARS) / float(rows.bytes);
        let mut shown = 0;
        for part in &self.parts {
            let mut left = part.bytes;
            while left > 0 {
                let (row, at) = (shown / rows.bytes, shown % rows.bytes);
                let bytes = left.min(rows.bytes - at);
                let y = HEADER + float(row) * ROW;
                if at == 0 {
                    let offset = Bytes(part.offset + part.bytes - left);
                    let x = BARS - 8.0;
                    writeln!(
                        svg,
                        "<text class=\"offset\" x=\"{x}\" y=\"{}\" text-anchor=\"end\">{offset}</text>",
                        y + 12.5
                    )?;
                }
                let (x, width) = (BARS + float(at) * scale, float(bytes) * scale);
                writeln!(
                    svg,
                    "<rect class=\"{}\" x=\"{x:.2}\" y=\"{y}\" width=\"{width:.2}\" height=\"{BAR}\"><title>{}</title></rect>",
                    class(&part.kind),
                    Title(part)
                )?;
                shown += bytes;
                left -= bytes;
            }
        }
        Ok(())
    }
}

struct Rows {
    bytes: u64,
    count: u64,
}

/// What a part says when a pointer rests on it.
struct Title<'a>(&'a PoolPart);

impl std::fmt::Display for Title<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let PoolPart { offset, bytes, kind } = self.0;
        write!(f, "{} at offset {offset:#x}, {}", kind.name(), Bytes(*bytes))?;
        match kind {
            PartKind::Block { asked, stream, of_graph: false } => {
                write!(f, ", {} asked for, stream {stream}", Bytes(*asked))
            }
            PartKind::Block { asked, stream, of_graph: true } => {
                write!(f, ", {} asked for, capture {stream}", Bytes(*asked))
            }
            PartKind::Freed { stream, of_graph: false } => write!(f, ", stream {stream}"),
            PartKind::Freed { stream, of_graph: true } => write!(f, ", capture {stream}"),
            PartKind::Clean | PartKind::Waiting => Ok(()),
        }
    }
}

const fn class(kind: &PartKind) -> &'static str {
    match kind {
        PartKind::Block { of_graph: true, .. } | PartKind::Freed { of_graph: true, .. } => "graph",
        PartKind::Block { .. } => "block",
        PartKind::Freed { .. } => "freed",
        PartKind::Waiting => "waiting",
        PartKind::Clean => "clean",
    }
}

#[allow(clippy::cast_precision_loss, reason = "places in a picture")]
const fn float(count: u64) -> f64 {
    count as f64
}
