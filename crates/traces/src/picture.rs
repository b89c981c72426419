//! What elasticity is worth, as a picture: the first token and who is refused over the load, for each
//! number of models.

use crate::arrivals::Pattern;
use crate::cell::{Place, Row};
use crate::report::Report;
use crate::svg::{Scale, Svg};
use crate::way::Way;

const WIDTH: f64 = 1080.0;
const HEIGHT: f64 = 764.0;
const MARGIN: f64 = 28.0;
/// Where panels begin, and what is between two of them.
const LEFT: f64 = 92.0;
const TOP: f64 = 176.0;
const GAP: f64 = 44.0;
/// Heights of the two rows of panels, and what is between them.
const FIRST: f64 = 310.0;
const SECOND: f64 = 150.0;
const BETWEEN: f64 = 52.0;

/// Milliseconds that are shown.
const TIMES: [f64; 2] = [5.0, 12_000.0];
const TICKS: [(f64, &str); 4] =
    [(10.0, "10 ms"), (100.0, "100 ms"), (1000.0, "1 s"), (10_000.0, "10 s")];

/// Lines: way, class, colours for light and dark, pattern.
const LINES: [(Way, &str, &str, &str, &str); 5] = [
    (Way::StaticEqual, "equal", "#868e96", "#8b949e", "7 4"),
    (Way::StaticByLoad, "load", "#c2255c", "#faa2c1", "2 4"),
    (Way::Elastic, "elastic", "#0b7285", "#3bc9db", "none"),
    (Way::ElasticFine, "fine", "#2b8a3e", "#69db7c", "none"),
    (Way::Oracle, "oracle", "#1f2328", "#e6edf3", "1 5"),
];

/// Draws the bursts of a report.
#[must_use]
pub fn draw(report: &Report) -> String {
    let label = "Time to the first token and refused requests over the load, for static splits, \
                 elastic caches and an ideal";
    let mut svg = Svg::new(WIDTH, HEIGHT, label);
    for (_, class, light, dark, _) in LINES {
        svg.colour(class, light, dark);
    }
    let is_shown = |place: &Place| place.pattern == Pattern::Bursty && place.models > 1;
    let places: Vec<Place> = report.places().into_iter().filter(is_shown).collect();
    let mut counts: Vec<usize> = places.iter().map(|place| place.models).collect();
    counts.dedup();
    head(&mut svg, report);
    let panels = counts.len().max(1) as f64;
    let width = (WIDTH - LEFT - MARGIN - GAP * (panels - 1.0)) / panels;
    for (number, models) in counts.iter().enumerate() {
        let left = LEFT + number as f64 * (width + GAP);
        let of_models = |row: &&Row| row.place.models == *models && is_shown(&row.place);
        let rows: Vec<&Row> = report.rows.iter().filter(of_models).collect();
        column(&mut svg, &rows, *models, [left, left + width], number == 0);
    }
    svg.finish()
}

fn head(svg: &mut Svg, report: &Report) {
    let title = "What elastic memory is worth: several models, one card, requests in bursts";
    svg.text("title", [MARGIN, 42.0], "start", title);
    let about = format!(
        "{}; mean of {} traces of {} s, whose requests are refused after {} s without a block",
        report.device,
        report.seeds,
        report.seconds,
        report.patience_us / 1_000_000
    );
    svg.text("small", [MARGIN, 66.0], "start", &about);
    let mut x = MARGIN;
    for (way, class, _, _, dashes) in LINES {
        line(svg, class, dashes, &format!("M{x:.1},90.0L{:.1},90.0", x + 34.0));
        svg.text("", [x + 42.0, 95.0], "start", way.title());
        x += 74.0 + 7.6 * way.title().len() as f64;
    }
}

/// One number of models: times above, refused requests below.
fn column(svg: &mut Svg, rows: &[&Row], models: usize, [left, right]: [f64; 2], is_first: bool) {
    let most = rows.iter().map(|row| row.place.load_percent).max().unwrap_or(100);
    let least = rows.iter().map(|row| row.place.load_percent).min().unwrap_or(0);
    let x = Scale::linear([least as f64, (most as f64).max(least as f64 + 1.0)], [left, right]);
    let (bottom, second) = (TOP + FIRST, TOP + FIRST + BETWEEN);
    let times = Scale::logarithmic(TIMES, [bottom, TOP]);
    let refused = Scale::linear([0.0, 600.0], [second + SECOND, second]);
    svg.text("heading", [left, TOP - 18.0], "start", &format!("{models} models"));
    for (value, name) in TICKS {
        svg.rule("grid", [left, times.at(value)], [right, times.at(value)]);
        if is_first {
            svg.text("small", [left - 10.0, times.at(value) + 4.0], "end", name);
        }
    }
    for permille in [0.0, 200.0, 400.0, 600.0] {
        let y = refused.at(permille);
        svg.rule(if permille > 0.0 { "grid" } else { "axis" }, [left, y], [right, y]);
        if is_first {
            let name = format!("{} %", permille / 10.0);
            svg.text("small", [left - 10.0, y + 4.0], "end", &name);
        }
    }
    svg.rule("axis", [left, bottom], [right, bottom]);
    if is_first {
        svg.text("small", [MARGIN, TOP - 44.0], "start", "mean time to the first token");
        svg.text("small", [MARGIN, second - 14.0], "start", "requests that are refused");
    }
    let mut loads: Vec<u64> = rows.iter().map(|row| row.place.load_percent).collect();
    loads.dedup();
    for load in loads {
        let at = [x.at(load as f64), second + SECOND + 20.0];
        svg.text("small", at, "middle", &load.to_string());
    }
    if is_first {
        let at = [WIDTH / 2.0, HEIGHT - 18.0];
        let words = "load: what requests would hold if none had to wait, in percent of the memory for blocks";
        svg.text("small", at, "middle", words);
    }
    for (way, class, _, _, dashes) in LINES {
        let of_way: Vec<&&Row> = rows.iter().filter(|row| row.way == way).collect();
        let path = |y: &dyn Fn(&Row) -> f64| {
            let point =
                |row: &&&Row| format!("{:.1},{:.1}", x.at(row.place.load_percent as f64), y(row));
            format!("M{}", of_way.iter().map(point).collect::<Vec<_>>().join("L"))
        };
        line(svg, class, dashes, &path(&|row| times.at(row.first_token_us.mean as f64 / 1000.0)));
        let part = |row: &Row| row.refused as f64 * 1000.0 / row.requests.max(1) as f64;
        line(svg, class, dashes, &path(&|row| refused.at(part(row))));
    }
}

fn line(svg: &mut Svg, class: &str, dashes: &str, path: &str) {
    svg.add(format_args!(
        "<path class=\"line {class}\" stroke-dasharray=\"{dashes}\" d=\"{path}\"/>"
    ));
}
