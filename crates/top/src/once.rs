//! One picture without a terminal: as text, as data, or as a drawing.

use std::path::Path;
use std::sync::Arc;

use millpond_console::error::{Outcome, failed};
use millpond_console::printer::Printer;
use millpond_overview::Overview;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::layout::{LEAST_COLUMNS, LEAST_ROWS};
use crate::source::{Way, once};
use crate::state::State;
use crate::svg;
use crate::view;
use crate::view::look::{Colours, Look};

/// What a terminal has where nobody says.
const COLUMNS: u16 = 80;
const ROWS: u16 = 24;

/// Prints or draws one picture.
pub fn run(way: &Way, state: State, look: Look, svg: Option<&Path>, printer: &Printer) -> Outcome {
    let overview = once(way)?;
    if printer.is_json() {
        return printer.json(&overview);
    }
    let size = (columns(printer), rows());
    match svg {
        Some(file) => {
            let look = Look { colours: Colours::Many, ..look };
            let drawn = svg::of(&drawn(state, overview, size, look));
            std::fs::write(file, drawn)
                .map_err(|error| failed(format!("writing '{}'", file.display()), error))
        }
        None => {
            let look = Look { colours: Colours::None, ..look };
            let text = view::text(&drawn(state, overview, size, look));
            // The last row is about keys.
            let lines: Vec<&str> = text.trim_end().lines().collect();
            let kept = lines.len().saturating_sub(1);
            printer.line(lines.get(..kept).unwrap_or_default().join("\n").trim_end())
        }
    }
}

fn drawn(mut state: State, overview: Overview, size: (u16, u16), look: Look) -> Buffer {
    state.resized(size);
    state.ticked(overview.at_unix_ms);
    state.received(Arc::new(overview));
    let mut buffer = Buffer::empty(Rect::new(0, 0, size.0, size.1));
    view::draw(&mut buffer, &state, look);
    buffer
}

fn columns(printer: &Printer) -> u16 {
    let columns = printer.width().and_then(|columns| u16::try_from(columns).ok());
    columns.unwrap_or(COLUMNS).max(LEAST_COLUMNS)
}

fn rows() -> u16 {
    let said = std::env::var("LINES").ok().and_then(|rows| rows.parse().ok());
    said.unwrap_or(ROWS).clamp(LEAST_ROWS, 1000)
}
