//! From state to a buffer. Nothing here keeps anything.

pub mod canvas;
mod cards;
mod footer;
mod header;
pub mod look;
mod over;
mod table;

use ratatui::buffer::Buffer;

use self::canvas::{Canvas, width};
use self::look::{Look, Tone};
use crate::layout::{LEAST_COLUMNS, LEAST_ROWS};
use crate::state::State;

/// Draws everything on an empty buffer.
pub fn draw(buffer: &mut Buffer, state: &State, look: Look) {
    let mut canvas = Canvas::new(buffer, look);
    let area = canvas.area();
    // The terminal may have shrunk since the state was told its size.
    let fits = area.width >= LEAST_COLUMNS && area.height >= LEAST_ROWS;
    let Some(layout) = state.layout().filter(|_| fits) else {
        too_small(&mut canvas);
        return;
    };
    header::draw(&mut canvas, state);
    footer::draw(&mut canvas, state, &layout);
    match state.overview() {
        Some(overview) => {
            header::alerts(&mut canvas, state, &layout);
            cards::draw(&mut canvas, overview, &layout);
            table::panes(&mut canvas, state, &layout);
            table::draw(&mut canvas, state, overview, &layout);
        }
        None => header::waiting(&mut canvas, state),
    }
    over::draw(&mut canvas, state, &layout);
}

/// Better than a picture that nobody can read.
fn too_small(canvas: &mut Canvas<'_>) {
    let area = canvas.area();
    let lines = [
        "millpond top".to_owned(),
        format!("needs {LEAST_COLUMNS} columns, {LEAST_ROWS} rows"),
        format!("here are {} and {}", area.width, area.height),
        "q quits".to_owned(),
    ];
    let count = u16::try_from(lines.len()).unwrap_or(0);
    let top = area.y + area.height.saturating_sub(count) / 2;
    for (line, y) in lines.iter().zip(top..) {
        let x = area.x + area.width.saturating_sub(width(line)) / 2;
        canvas.put(x, y, area.width, line, Tone::Plain);
    }
}

/// What is drawn as text: a line for each row, without blanks at their ends.
pub fn text(buffer: &Buffer) -> String {
    let area = buffer.area;
    let mut text = String::new();
    for y in area.top()..area.bottom() {
        let begin = text.len();
        let mut skip = 0;
        for x in area.left()..area.right() {
            let symbol = buffer.cell((x, y)).map_or(" ", |cell| cell.symbol());
            // A wide character has the cell behind it, too.
            if skip == 0 {
                text.push_str(symbol);
                skip = width(symbol).saturating_sub(1);
            } else {
                skip -= 1;
            }
        }
        text.truncate(begin + text.get(begin..).unwrap_or_default().trim_end().len());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests;
