//! Memory of each model over time, as a picture: one panel for each way that was replayed.

use crate::report::{Report, Timeline};
use crate::svg::{Scale, Svg};

const WIDTH: f64 = 1080.0;
const MARGIN: f64 = 28.0;
const LEFT: f64 = 76.0;
const TOP: f64 = 128.0;
const PANEL: f64 = 230.0;
const BETWEEN: f64 = 62.0;

/// Colours of models for light and dark; after the last the first comes again.
const COLOURS: [[&str; 2]; 8] = [
    ["#0b7285", "#3bc9db"],
    ["#e8590c", "#ffa94d"],
    ["#5f3dc4", "#b197fc"],
    ["#2b8a3e", "#69db7c"],
    ["#c2255c", "#faa2c1"],
    ["#1864ab", "#74c0fc"],
    ["#846a00", "#ffe066"],
    ["#495057", "#adb5bd"],
];

/// Draws what a replay has held: areas stand on each other, and what blocks use is darker.
#[must_use]
pub fn draw(report: &Report) -> String {
    let count = report.timelines.len().max(1) as f64;
    let height = TOP + count * (PANEL + BETWEEN);
    let mut svg = Svg::new(WIDTH, height, "Memory of each model over time, under one limit");
    for (number, [light, dark]) in COLOURS.iter().enumerate() {
        svg.colour(&format!("m{number}"), light, dark);
    }
    svg.text("title", [MARGIN, 42.0], "start", "One trace, real memory: who holds what over time");
    let requests = report.rows.first().map_or(0, |row| row.requests);
    let about =
        format!("{}; {requests} requests; darker is in use, lighter is held", report.device);
    svg.text("small", [MARGIN, 66.0], "start", &about);
    let names = report.timelines.first().map_or(&[][..], |timeline| &timeline.models);
    let mut x = MARGIN;
    for (number, name) in names.iter().enumerate() {
        let class = number % COLOURS.len();
        svg.add(format_args!(
            "<rect class=\"m{class}-area\" x=\"{x:.1}\" y=\"80\" width=\"14\" height=\"14\" rx=\"2\"/>"
        ));
        svg.text("small", [x + 20.0, 92.0], "start", name);
        x += 40.0 + 7.0 * name.len() as f64;
    }
    for (number, timeline) in report.timelines.iter().enumerate() {
        let top = TOP + number as f64 * (PANEL + BETWEEN);
        panel(&mut svg, report, timeline, top);
    }
    svg.finish()
}

fn panel(svg: &mut Svg, report: &Report, timeline: &Timeline, top: f64) {
    let end = timeline.samples.last().map_or(1, |last| last.at_ms).max(1) as f64;
    let (right, bottom) = (WIDTH - MARGIN, top + PANEL);
    let x = Scale::linear([0.0, end], [LEFT, right]);
    let y = Scale::linear([0.0, timeline.limit_bytes as f64 * 1.05], [bottom, top]);
    let row = report.rows.iter().find(|row| row.way == timeline.way);
    let said = row.map_or_else(String::new, |row| {
        format!(
            ": first block after {} ms on average, {} refused",
            (row.first_block_us.mean + 500) / 1000,
            row.refused
        )
    });
    let heading = format!("{}{said}", timeline.way.title());
    svg.text("heading", [LEFT, top - 10.0], "start", &heading);
    for model in 0..timeline.models.len() {
        let sum = |bytes: &[u64], count: usize| bytes.iter().take(count).sum::<u64>() as f64;
        let below = |moment: usize| sum(&timeline.samples[moment].held_bytes, model);
        let held = |moment: usize| sum(&timeline.samples[moment].held_bytes, model + 1);
        let used = |moment: usize| {
            below(moment)
                + timeline.samples[moment].used_bytes.get(model).copied().unwrap_or(0) as f64
        };
        let class = model % COLOURS.len();
        for (opacity, above) in [("0.35", &held as &dyn Fn(usize) -> f64), ("1", &used)] {
            let path = area(timeline, &x, &y, &below, above);
            svg.add(format_args!(
                "<path class=\"m{class}-area\" fill-opacity=\"{opacity}\" d=\"{path}\"/>"
            ));
        }
    }
    let limit = y.at(timeline.limit_bytes as f64);
    svg.rule("limit", [LEFT, limit], [right, limit]);
    svg.rule("axis", [LEFT, bottom], [right, bottom]);
    let (unit, name) =
        if timeline.limit_bytes >= 2 << 30 { (1 << 30, "GiB") } else { (1 << 20, "MiB") };
    for part in [0, 1, 2] {
        let bytes = timeline.limit_bytes / 2 * part;
        let words = format!("{} {name}", bytes / unit);
        svg.text("small", [LEFT - 8.0, y.at(bytes as f64) + 4.0], "end", &words);
    }
    for part in 0..=4 {
        let at = end * f64::from(part) / 4.0;
        let words = format!("{:.1} s", at / 1000.0);
        svg.text("small", [x.at(at), bottom + 20.0], "middle", &words);
    }
}

/// What lies between two lines that change only where a moment says so.
fn area(
    timeline: &Timeline,
    x: &Scale,
    y: &Scale,
    below: &dyn Fn(usize) -> f64,
    above: &dyn Fn(usize) -> f64,
) -> String {
    let steps = |line: &dyn Fn(usize) -> f64| {
        let mut points: Vec<String> = Vec::new();
        for (number, moment) in timeline.samples.iter().enumerate() {
            let at = x.at(moment.at_ms as f64);
            if number > 0 {
                points.push(format!("{at:.1},{:.1}", y.at(line(number - 1))));
            }
            points.push(format!("{at:.1},{:.1}", y.at(line(number))));
        }
        points.dedup();
        points
    };
    let (mut points, mut back) = (steps(above), steps(below));
    back.reverse();
    points.append(&mut back);
    format!("M{}Z", points.join("L"))
}
