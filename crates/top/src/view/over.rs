//! What lies above the list: help, details, questions.

use millpond_console::shown::wrap;
use millpond_view::units;
use ratatui::layout::Rect;

use super::canvas::{Canvas, width};
use super::look::{Part, Tone};
use crate::details;
use crate::keys::BINDINGS;
use crate::layout::Layout;
use crate::state::{LimitInput, Mode, State};

/// A question is no wider, so that it is read at once.
const QUESTION_COLUMNS: u16 = 64;
/// Columns of the keys in the help, and of labels in details.
const KEY_COLUMNS: u16 = 16;
const LABEL_COLUMNS: u16 = 12;

/// Lines of a text, each of pieces.
type Lines = Vec<Vec<(String, Tone)>>;

pub fn draw(canvas: &mut Canvas<'_>, state: &State, layout: &Layout) {
    let area = canvas.area();
    match state.mode() {
        Mode::Browse | Mode::Filter { .. } => {}
        Mode::Help { top } => {
            let inside = Rect { y: area.y + 1, height: area.height - 2, ..area };
            let lines = help(canvas);
            scrolled(canvas, inside, "Keys", lines, *top);
        }
        Mode::Details(details) => {
            let top = area.y + layout.panes_at;
            let height = layout.footer_at.saturating_sub(layout.panes_at);
            let inside = Rect { y: top, height, ..area };
            let line = |(label, text): details::Line| {
                let label = format!("{label:<columns$}", columns = usize::from(LABEL_COLUMNS));
                vec![(label, Tone::Faint), (text, Tone::Plain)]
            };
            let lines = details::lines(state, details).into_iter().map(line).collect();
            scrolled(canvas, inside, &details.title, lines, details.top);
        }
        Mode::Ask(action) => {
            let mut lines = said(&action.question(), Tone::Strong);
            lines.push(Vec::new());
            lines.extend(action.effect().iter().flat_map(|text| said(text, Tone::Plain)));
            lines.push(Vec::new());
            lines.push(keys(&[("y", "do it"), ("n", "leave it as it is")]));
            question(canvas, "Sure?", lines);
        }
        Mode::Limit(input) => question(canvas, "Limit", limit(input)),
        Mode::Refused(refusal) => {
            let mut lines = said(&refusal.message, Tone::Strong);
            if let Some(hint) = &refusal.hint {
                lines.push(Vec::new());
                lines.extend(said(&format!("hint: {hint}"), Tone::Plain));
            }
            lines.push(Vec::new());
            lines.push(keys(&[("any key", "closes this")]));
            question(canvas, "Not done", lines);
        }
    }
}

fn limit(input: &LimitInput) -> Lines {
    let gpu = input.gpu.map(|gpu| format!(" on GPU {gpu}")).unwrap_or_default();
    let now = input.limit_bytes.map_or_else(|| "no limit".to_owned(), units::bytes);
    let used = units::bytes(input.used_bytes);
    let mut lines = said(&format!("A limit for group {}{gpu}", input.group), Tone::Strong);
    lines.extend(said(&format!("Now: {now}. In use: {used}."), Tone::Plain));
    lines.push(Vec::new());
    lines.push(vec![
        ("10G, 50% or none: ".to_owned(), Tone::Plain),
        (format!("{}_", input.text), Tone::Strong),
    ]);
    if let Some(wrong) = &input.wrong {
        lines.extend(said(wrong, Tone::Bad));
    }
    lines.push(Vec::new());
    lines.push(keys(&[("Enter", "goes on"), ("Esc", "leaves it as it is")]));
    lines
}

fn help(canvas: &Canvas<'_>) -> Lines {
    let line = |keys: &str, text: &str| {
        let keys = format!("{keys:<columns$}", columns = usize::from(KEY_COLUMNS));
        vec![(keys, Tone::Strong), (text.to_owned(), Tone::Plain)]
    };
    let mut lines: Lines =
        BINDINGS.iter().map(|binding| line(binding.shown, binding.describe)).collect();
    lines.push(Vec::new());
    lines.push(vec![("What the bars are made of".to_owned(), Tone::Strong)]);
    for part in Part::ALL {
        let name = format!(" {:<columns$}", part.word(), columns = usize::from(KEY_COLUMNS) - 2);
        lines.push(vec![
            (canvas.look().part(part).to_owned(), Tone::Part(part)),
            (name, Tone::Plain),
            (part.describe().to_owned(), Tone::Plain),
        ]);
    }
    lines
}

/// A text in lines of a question.
fn said(text: &str, tone: Tone) -> Lines {
    let text = millpond_console::shown::printable(text);
    let lines = wrap(&text, usize::from(QUESTION_COLUMNS - 4));
    lines.into_iter().map(|line| vec![(line, tone)]).collect()
}

fn keys(keys: &[(&str, &str)]) -> Vec<(String, Tone)> {
    let pieces = keys.iter().flat_map(|(key, does)| {
        [((*key).to_owned(), Tone::Strong), (format!(" {does}    "), Tone::Plain)]
    });
    pieces.collect()
}

/// A box in the middle, as high as its lines.
fn question(canvas: &mut Canvas<'_>, title: &str, lines: Lines) {
    let area = canvas.area();
    let width = QUESTION_COLUMNS.min(area.width);
    let height = u16::try_from(lines.len() + 2).unwrap_or(u16::MAX).min(area.height);
    let inside = Rect {
        x: area.x + (area.width - width) / 2,
        y: area.y + (area.height - height) / 2,
        width,
        height,
    };
    scrolled(canvas, inside, title, lines, 0);
}

/// A box with lines from one on; the last ones stay on the screen.
fn scrolled(canvas: &mut Canvas<'_>, area: Rect, title: &str, lines: Lines, top: usize) {
    let room = area.width.saturating_sub(4);
    canvas.frame(area, title);
    let height = usize::from(area.height.saturating_sub(2));
    let top = top.min(lines.len().saturating_sub(height));
    let is_cut = lines.len() > height;
    if is_cut {
        let last = (top + height).min(lines.len());
        let text = format!(" {}-{last} of {}, Esc closes ", top + 1, lines.len());
        let x = area.right().saturating_sub(width(&text) + 2);
        canvas.put(x, area.bottom().saturating_sub(1), room, &text, Tone::Faint);
    }
    for (line, y) in lines.into_iter().skip(top).take(height).zip(area.y + 1..) {
        canvas.line(area.x + 2, y, room, line.into_iter().map(|(text, tone)| (text.into(), tone)));
    }
}
