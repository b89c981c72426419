//! Colours and patterns: one table for light and dark, and for every kind.

use std::fmt::Write as _;

use millpond_overview::SegmentKind;

/// What lies over a colour, for whoever cannot tell it from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Pattern {
    None,
    Rising,
    Falling,
    Level,
    Upright,
    Dots,
    Grid,
}

impl Pattern {
    pub(crate) const ALL: [Self; 6] =
        [Self::Rising, Self::Falling, Self::Level, Self::Upright, Self::Dots, Self::Grid];

    pub(crate) const fn id(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Rising => Some("rising"),
            Self::Falling => Some("falling"),
            Self::Level => Some("level"),
            Self::Upright => Some("upright"),
            Self::Dots => Some("dots"),
            Self::Grid => Some("grid"),
        }
    }

    const fn path(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Rising => "M-1 7 L7 -1 M3 11 L11 3 M-5 3 L3 -5",
            Self::Falling => "M-1 1 L7 9 M3 -3 L11 5",
            Self::Level => "M0 2 H8 M0 6 H8",
            Self::Upright => "M2 0 V8 M6 0 V8",
            Self::Dots => "M2 1.2 v1.6 M6 5.2 v1.6",
            Self::Grid => "M0 4 H8 M4 0 V8",
        }
    }
}

/// How something is painted: fill and text, in light and in dark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Paint {
    pub light: (&'static str, &'static str),
    pub dark: (&'static str, &'static str),
    pub pattern: Pattern,
    /// How much of the page shines through: shades of one colour.
    pub opacity_percent: u8,
}

impl Paint {
    /// The same colour, lighter for each that was painted with it before.
    pub(crate) fn shade(self, before: usize) -> Self {
        const SHADES: [u8; 4] = [100, 76, 55, 38];
        let shade = SHADES.get(before % SHADES.len()).copied();
        Self { opacity_percent: shade.unwrap_or(100), ..self }
    }
}

const fn paint(
    light: (&'static str, &'static str),
    dark: (&'static str, &'static str),
    pattern: Pattern,
) -> Paint {
    Paint { light, dark, pattern, opacity_percent: 100 }
}

const WHITE: &str = "#ffffff";
const INK: &str = "#1f2328";
const NIGHT: &str = "#0d1117";
const PALE: &str = "#e6edf3";

/// How a kind of segment is painted. Blue, green, orange, purple and greys stay apart for the colour-blind;
/// what shares a colour differs in its pattern.
pub(crate) const fn of_kind(kind: SegmentKind) -> Paint {
    match kind {
        SegmentKind::Version => paint(("#1864ab", WHITE), ("#2474bd", WHITE), Pattern::None),
        SegmentKind::SharedSlabs => paint(("#a5d8ff", INK), ("#12395c", PALE), Pattern::Rising),
        SegmentKind::Tensor => paint(("#087f5b", WHITE), ("#12805f", WHITE), Pattern::Level),
        SegmentKind::Tensors => paint(("#96f2d7", INK), ("#0a4434", PALE), Pattern::Dots),
        SegmentKind::Ipc => paint(("#ffe066", INK), ("#c99a06", NIGHT), Pattern::Falling),
        SegmentKind::SlabRoom => paint(("#e9ecef", INK), ("#2b333d", PALE), Pattern::Rising),
        SegmentKind::Recycled => paint(("#dee2e6", INK), ("#333c47", PALE), Pattern::Dots),
        SegmentKind::Unlisted => paint(("#ced4da", INK), ("#495562", PALE), Pattern::Grid),
        SegmentKind::HostContext => paint(("#862e9c", WHITE), ("#8e3bb0", WHITE), Pattern::Upright),
        SegmentKind::MoverContext => paint(("#eebefa", INK), ("#45205a", PALE), Pattern::Grid),
        SegmentKind::Group => paint(("#d9480f", WHITE), ("#c2540c", WHITE), Pattern::None),
        SegmentKind::Cache => paint(("#ffc078", INK), ("#8a4b08", PALE), Pattern::Level),
        SegmentKind::CacheIdle => paint(("#ffe8cc", INK), ("#4d2c08", PALE), Pattern::Dots),
        SegmentKind::Contexts => paint(("#f783ac", INK), ("#8f2450", WHITE), Pattern::Upright),
        SegmentKind::Other => paint(("#868e96", WHITE), ("#5c6670", WHITE), Pattern::Falling),
        SegmentKind::Free => paint(("#ffffff", INK), (NIGHT, PALE), Pattern::None),
    }
}

/// All smaller holders of a history together.
pub(crate) const REST: Paint = paint(("#adb5bd", INK), ("#57606a", PALE), Pattern::Grid);

/// The class of a kind: its fill is `f-…`, its text `t-…`.
pub(crate) fn class(kind: SegmentKind) -> String {
    kind.word().replace('_', "-")
}

const LIGHT: &str = "\
text { font-family: system-ui, -apple-system, 'Segoe UI', 'Liberation Sans', Arial, sans-serif; fill: #1f2328; font-size: 12px; }
.page { fill: #ffffff; }
.title { font-size: 18px; font-weight: 600; }
.strong { font-weight: 600; }
.small { font-size: 11px; }
.muted { fill: #59636e; }
.warning { fill: #c92a2a; font-weight: 600; }
.frame { fill: none; stroke: #9aa4af; }
.cell { stroke: #ffffff; stroke-width: 0.6; }
.tiny { stroke: none; }
.free { fill: #ffffff; stroke: #9aa4af; stroke-dasharray: 3 3; }
.line { stroke: #9aa4af; fill: none; }
.grid { stroke: #d8dee4; fill: none; }
.limit { stroke: #1f2328; stroke-dasharray: 6 4; stroke-width: 1.4; fill: none; }
.reading { stroke: #1f2328; stroke-width: 1.6; fill: none; }
.hatch { stroke: #000000; stroke-opacity: 0.17; stroke-width: 1.2; fill: none; }
.pattern { pointer-events: none; }
.label { paint-order: stroke; stroke-width: 2.4px; stroke-linejoin: round; pointer-events: none; }
g:hover .cell { stroke: #1f2328; stroke-width: 1.6; }
";

const DARK: &str = "\
  text { fill: #e6edf3; }
  .page { fill: #0d1117; }
  .muted { fill: #9198a1; }
  .warning { fill: #ff8787; }
  .frame { stroke: #59636e; }
  .cell { stroke: #0d1117; }
  .tiny { stroke: none; }
  .free { fill: #0d1117; stroke: #59636e; }
  .line { stroke: #59636e; }
  .grid { stroke: #262c36; }
  .limit, .reading { stroke: #e6edf3; }
  .hatch { stroke: #ffffff; }
  g:hover .cell { stroke: #e6edf3; }
";

/// The style element and the patterns, for these kinds.
pub(crate) fn sheet(kinds: &[(String, Paint)]) -> String {
    let rules = |dark: bool, indent: &str| {
        let mut text = String::new();
        for (class, paint) in kinds {
            let (fill, ink) = if dark { paint.dark } else { paint.light };
            let opacity = match paint.opacity_percent {
                100 => String::new(),
                percent => format!(" fill-opacity: {}.{:02};", percent / 100, percent % 100),
            };
            let _ = writeln!(text, "{indent}.f-{class} {{ fill: {fill};{opacity} }}");
            let _ = writeln!(text, "{indent}.t-{class} {{ fill: {ink}; stroke: {fill}; }}");
        }
        text
    };
    let mut sheet = format!(
        "<style>\n{LIGHT}{}@media (prefers-color-scheme: dark) {{\n{DARK}{}}}\n</style>\n<defs>\n",
        rules(false, ""),
        rules(true, "  ")
    );
    for pattern in Pattern::ALL {
        let used = kinds.iter().any(|(_, paint)| paint.pattern == pattern);
        if let Some(id) = pattern.id().filter(|_| used) {
            let path = pattern.path();
            let _ = writeln!(
                sheet,
                "<pattern id=\"{id}\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\">\
                 <path class=\"hatch\" d=\"{path}\"/></pattern>"
            );
        }
    }
    sheet + "</defs>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_kinds_of_a_column_look_alike_without_colour() {
        let pairs = |kinds: &'static [SegmentKind]| {
            kinds
                .iter()
                .enumerate()
                .flat_map(|(at, a)| kinds[at + 1..].iter().map(move |b| (*a, *b)))
        };
        for (_, kinds) in crate::map::COLUMNS {
            for (a, b) in pairs(kinds) {
                let (x, y) = (of_kind(a), of_kind(b));
                let is_apart = x.pattern != y.pattern
                    || (lightness(x.light.0) - lightness(y.light.0)).abs() >= 8.0;
                assert!(is_apart, "{a:?} and {b:?}");
            }
        }
    }

    #[test]
    fn text_can_be_read_on_its_fill() {
        for kind in SegmentKind::ALL {
            for (fill, ink) in [of_kind(kind).light, of_kind(kind).dark] {
                assert!(contrast(fill, ink) >= 3.0, "{kind:?}: {ink} on {fill}");
            }
        }
    }

    fn channels(color: &str) -> [f64; 3] {
        [1, 3, 5].map(|at| f64::from(u8::from_str_radix(&color[at..at + 2], 16).unwrap()) / 255.0)
    }

    fn luminance(color: &str) -> f64 {
        let linear =
            |it: f64| if it <= 0.04045 { it / 12.92 } else { ((it + 0.055) / 1.055).powf(2.4) };
        let [red, green, blue] = channels(color).map(linear);
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }

    fn contrast(a: &str, b: &str) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    fn lightness(color: &str) -> f64 {
        let [red, green, blue] = channels(color);
        100.0 * (0.3 * red + 0.59 * green + 0.11 * blue)
    }
}
