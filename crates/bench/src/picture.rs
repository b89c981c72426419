//! The numbers as a picture: for each row a bar for what was measured and one for its limit.
//!
//! Each row has its own scale, because a listing and a round trip have nothing in common but their
//! distance from their limits. Colours follow the reader's choice of light or dark.

use std::fmt::Write as _;

use super::rows::group;
use crate::json::{BenchJson, RowJson};

const WIDTH: f64 = 960.0;
const MARGIN: f64 = 24.0;
const HEADER: f64 = 92.0;
const HEADING: f64 = 34.0;
const ROW: f64 = 38.0;
const BAR: f64 = 11.0;
/// Where the bars begin, and how long the longest is.
const BARS: f64 = 326.0;
const BARS_WIDTH: f64 = 390.0;
/// Where the last column ends: how many times its limit a number is.
const RATIO: f64 = WIDTH - MARGIN;

/// Characters of a label in one line, and lines.
const LABEL_CHARACTERS: usize = 42;
const LABEL_LINES: usize = 2;
/// Characters of the line under the title.
const TITLE_CHARACTERS: usize = 90;

const STYLE: &str = "\
text { font-family: system-ui, -apple-system, 'Segoe UI', 'Liberation Sans', Arial, sans-serif; fill: #1f2328; }
.page { fill: #ffffff; stroke: #d1d9e0; }
.title { font-size: 20px; font-weight: 600; }
.small { font-size: 12px; fill: #59636e; }
.heading { font-size: 14px; font-weight: 600; }
.label { font-size: 13px; }
.number { font-size: 12px; font-weight: 600; }
.track { fill: #eff2f5; }
.own { fill: #0b7285; }
.raw { fill: #a5b1bd; }
.goal { stroke: #d9480f; stroke-width: 2; }
.missed { fill: #c92a2a; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; }
  .page { fill: #0d1117; stroke: #3d444d; }
  .small { fill: #9198a1; }
  .track { fill: #1b222b; }
  .own { fill: #3bc9db; }
  .raw { fill: #636e7b; }
  .goal { stroke: #ff922b; }
  .missed { fill: #ff8787; }
}";

/// An SVG of all rows that stand beside a limit or a goal.
pub fn draw(result: &BenchJson) -> String {
    let shown = |row: &&RowJson| row.floor.is_some() || row.goal_value.is_some();
    let rows: Vec<&RowJson> = result.rows.iter().filter(shown).collect();
    let mut body = String::new();
    let mut y = HEADER;
    let mut last = "";
    for row in rows {
        if group(row.name) != last {
            last = group(row.name);
            y += HEADING;
            text(&mut body, "heading", MARGIN, y - 10.0, "start", heading(last));
        }
        draw_row(&mut body, row, y);
        y += ROW;
    }
    let height = y + MARGIN;
    let mut svg = String::new();
    line(
        &mut svg,
        format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
             width=\"{WIDTH}\" height=\"{height}\" role=\"img\" \
             aria-label=\"Millpond beside the raw limits of the machine\">"
        ),
    );
    line(&mut svg, format_args!("<style>\n{STYLE}\n</style>"));
    line(
        &mut svg,
        format_args!(
            "<rect class=\"page\" x=\"0.5\" y=\"0.5\" width=\"{}\" height=\"{}\" rx=\"8\"/>",
            WIDTH - 1.0,
            height - 1.0
        ),
    );
    draw_header(&mut svg, result);
    svg.push_str(&body);
    svg.push_str("</svg>\n");
    svg
}

fn draw_header(svg: &mut String, result: &BenchJson) {
    text(svg, "title", MARGIN, 38.0, "start", "Millpond beside the raw limits of this machine");
    let quick = if result.quick { ", quick" } else { "" };
    let about = match result.software_driver {
        true => format!("the software driver in place of a GPU{quick}"),
        false => format!("{}, {}{quick}", result.device_name, result.driver),
    };
    text(svg, "small", MARGIN, 58.0, "start", &cut(&about, TITLE_CHARACTERS));
    for (x, class, word) in [
        (MARGIN, "own", "measured, median"),
        (MARGIN + 150.0, "raw", "the limit, measured in the same run"),
    ] {
        bar(svg, class, x, 72.0, 22.0);
        text(svg, "small", x + 28.0, 82.0, "start", word);
    }
    let x = MARGIN + 402.0;
    tick(svg, x, 70.0, 15.0);
    text(svg, "small", x + 8.0, 82.0, "start", "goal");
    let each = "one scale a row; times and sizes: less is better";
    text(svg, "small", RATIO, 82.0, "end", each);
}

fn draw_row(svg: &mut String, row: &RowJson, y: f64) {
    let lines = wrap(&row.what);
    let first = if lines.len() == 1 { y + 17.0 } else { y + 10.0 };
    for (line, baseline) in lines.iter().zip([first, first + 15.0]) {
        text(svg, "label", MARGIN, baseline, "start", line);
    }
    let values = [Some(row.median), row.floor, row.goal_value];
    let longest = values.into_iter().flatten().fold(f64::MIN_POSITIVE, f64::max);
    let length = |value: f64| (value / longest * BARS_WIDTH).max(1.0);
    for (class, value, top) in [("own", Some(row.median), y), ("raw", row.floor, y + BAR + 2.0)] {
        let Some(value) = value else { continue };
        bar(svg, "track", BARS, top, BARS_WIDTH);
        bar(svg, class, BARS, top, length(value));
        let words = if class == "own" { "number" } else { "small" };
        let x = BARS + BARS_WIDTH + 10.0;
        text(svg, words, x, top + BAR - 1.0, "start", &row.unit.show(value));
    }
    if let Some(goal) = row.goal_value {
        tick(svg, BARS + length(goal), y - 2.0, BAR + 4.0);
    }
    if let Some(ratio) = row.ratio {
        text(svg, "number", RATIO, y + BAR - 1.0, "end", &times(ratio));
    }
    let (class, verdict) = match (row.met, &row.goal) {
        (Some(true), _) => ("small", "goal met"),
        (Some(false), _) => ("small missed", "goal missed"),
        (None, Some(_)) => ("small", "not judged"),
        (None, None) => return,
    };
    text(svg, class, RATIO, y + 2.0 * BAR + 1.0, "end", verdict);
}

/// A ratio with as many digits as matter.
fn times(ratio: f64) -> String {
    let places = if ratio < 10.0 { 2 } else { 0 };
    format!("{ratio:.places$}x")
}

/// A group's name in words.
fn heading(group: &str) -> &str {
    match group {
        "request" => "Requests",
        "create" => "Creating tensors",
        "get" => "Getting tensors",
        "attach" => "Attaching",
        "move" => "Moving bytes",
        "list" => "Listing",
        "death" => "Deaths",
        "memory" => "An idle pond",
        "recovery" => "Recovery",
        "crowd" => "Many clients and tensors",
        "connections" => "Connections",
        other => other,
    }
}

fn bar(svg: &mut String, class: &str, x: f64, y: f64, width: f64) {
    line(
        svg,
        format_args!(
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width:.1}\" height=\"{BAR}\" rx=\"2\"/>"
        ),
    );
}

fn tick(svg: &mut String, x: f64, y: f64, height: f64) {
    let end = y + height;
    line(
        svg,
        format_args!("<line class=\"goal\" x1=\"{x:.1}\" y1=\"{y}\" x2=\"{x:.1}\" y2=\"{end}\"/>"),
    );
}

fn text(svg: &mut String, class: &str, x: f64, y: f64, anchor: &str, words: &str) {
    let words = escape(words);
    line(
        svg,
        format_args!(
            "<text class=\"{class}\" x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{words}</text>"
        ),
    );
}

fn line(svg: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = writeln!(svg, "{text}");
}

/// Text as XML has it; what XML cannot have at all becomes a blank.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            character if character.is_control() => escaped.push(' '),
            character => escaped.push(character),
        }
    }
    escaped
}

/// In at most two lines, broken between words; what does not fit ends with dots.
fn wrap(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    for word in text.split_whitespace() {
        let full = lines.len() == LABEL_LINES;
        let Some(last) = lines.last_mut() else { break };
        let together = last.chars().count() + 1 + word.chars().count();
        if last.is_empty() {
            last.push_str(word);
        } else if together <= LABEL_CHARACTERS || full {
            last.push(' ');
            last.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines.iter().map(|line| cut(line, LABEL_CHARACTERS)).collect()
}

fn cut(text: &str, characters: usize) -> String {
    if text.chars().count() <= characters {
        return text.to_owned();
    }
    let start: String = text.chars().take(characters.saturating_sub(3)).collect();
    format!("{}...", start.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Unit;
    use crate::row::Goal;

    fn result(what: &str) -> BenchJson {
        let row = |name, unit| {
            RowJson::value(name, what, unit, 150.0)
                .beside_value("raw", 100.0)
                .goal(Goal { ratio: Some(2.0), ..Goal::default() }, false)
        };
        BenchJson {
            driver: "soft 1 <&> \"quoted\"".to_owned(),
            software_driver: false,
            device: "GPU-0".to_owned(),
            device_name: "H<200>".to_owned(),
            quick: true,
            rows: vec![
                row("request/ping", Unit::Microseconds),
                row("create/one", Unit::PerSecond),
                RowJson::value("memory/keeper", "neither limit nor goal", Unit::Bytes, 1.0),
            ],
            met: true,
        }
    }

    /// Every element closed in order, every attribute quoted, no bare ampersand.
    fn assert_well_formed(svg: &str) {
        let mut open: Vec<&str> = Vec::new();
        let mut rest = svg;
        while let Some(start) = rest.find('<') {
            assert!(!rest[..start].contains('>'), "{}", &rest[..start]);
            let end = start + rest[start..].find('>').unwrap();
            let tag = &rest[start + 1..end];
            let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap();
            match (tag.starts_with('/'), tag.ends_with('/')) {
                (true, _) => assert_eq!(open.pop(), Some(name)),
                (false, false) => open.push(name),
                (false, true) => {}
            }
            assert!(tag.matches('"').count().is_multiple_of(2), "{tag}");
            rest = &rest[end + 1..];
        }
        assert!(open.is_empty() && rest.trim().is_empty());
        for part in svg.split('&').skip(1) {
            assert!(["amp;", "lt;", "gt;", "quot;"].iter().any(|name| part.starts_with(name)));
        }
    }

    fn texts<'a>(svg: &'a str, class: &str) -> Vec<&'a str> {
        let start = format!("<text class=\"{class}\"");
        let content = |line: &'a str| line.split_once('>')?.1.strip_suffix("</text>");
        svg.lines().filter(|line| line.starts_with(&start)).filter_map(content).collect()
    }

    #[test]
    fn it_is_xml_and_has_what_stands_beside_something() {
        let svg = draw(&result("round trip & more <here>"));
        assert_well_formed(&svg);
        assert_eq!(texts(&svg, "label"), ["round trip &amp; more &lt;here&gt;"; 2]);
        assert_eq!(texts(&svg, "heading"), ["Requests", "Creating tensors"]);
        assert!(svg.contains("goal met") && svg.contains("goal missed"));
        assert!(svg.contains("prefers-color-scheme: dark"));
    }

    #[test]
    fn long_labels_stay_in_their_column() {
        let long = "a label with many words that nobody would ever write ".repeat(9);
        let unbroken = "x".repeat(300);
        for what in [long.as_str(), &unbroken] {
            let mut shown = result(what);
            shown.device_name = unbroken.clone();
            let svg = draw(&shown);
            assert_well_formed(&svg);
            let labels = texts(&svg, "label");
            assert!(!labels.is_empty() && labels.len() <= 2 * LABEL_LINES);
            assert!(labels.iter().all(|label| label.chars().count() <= LABEL_CHARACTERS));
            assert!(texts(&svg, "small")[0].chars().count() <= TITLE_CHARACTERS);
        }
        // A wide letter of this size is 7 pixels wide on average.
        let column = BARS - MARGIN;
        assert!(LABEL_CHARACTERS as f64 * 7.1 <= column);
    }

    #[test]
    fn bars_stay_in_their_column() {
        let svg = draw(&result("x"));
        for part in svg.split("width=\"").skip(3) {
            let width: f64 = part.split('"').next().unwrap().parse().unwrap();
            assert!(width <= BARS_WIDTH + 0.1, "{width}");
        }
    }
}
