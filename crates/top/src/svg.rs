//! A buffer as a drawing, for pages: nobody draws by hand what a program shows.

use std::fmt::Write as _;

use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};

/// Size of a cell in the drawing.
const WIDTH: u32 = 8;
const HEIGHT: u32 = 17;
const PAD: u32 = 10;
const PAPER: &str = "#14171c";
const INK: &str = "#d7dae0";
const FAINT: &str = "#8a919d";

/// The drawing.
pub fn of(buffer: &Buffer) -> String {
    let area = buffer.area;
    let width = u32::from(area.width) * WIDTH + 2 * PAD;
    let height = u32::from(area.height) * HEIGHT + 2 * PAD;
    let mut svg = String::new();
    let _ = writeln!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"monospace\" font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" rx=\"6\" fill=\"{PAPER}\"/>"
    );
    for y in area.top()..area.bottom() {
        let cells: Vec<&Cell> =
            (area.left()..area.right()).filter_map(|x| buffer.cell((x, y))).collect();
        let row = u32::from(y - area.y);
        let mut begin = 0;
        while begin < cells.len() {
            let same = |cell: &&&Cell| cells.get(begin).is_some_and(|it| paint(it) == paint(cell));
            let count = cells.iter().skip(begin).take_while(same).count().max(1);
            let end = begin + count;
            piece(&mut svg, cells.get(begin..end).unwrap_or_default(), begin, row);
            begin = end;
        }
    }
    svg.push_str("</svg>\n");
    svg
}

/// What cells of one piece have in common.
#[derive(PartialEq, Eq)]
struct Paint {
    ink: String,
    paper: Option<String>,
    bold: bool,
}

fn paint(cell: &Cell) -> Paint {
    let faint = cell.modifier.contains(Modifier::DIM);
    let ink = colour(cell.fg).unwrap_or_else(|| (if faint { FAINT } else { INK }).to_owned());
    let bold = cell.modifier.contains(Modifier::BOLD);
    if cell.modifier.contains(Modifier::REVERSED) {
        return Paint { ink: PAPER.to_owned(), paper: Some(ink), bold };
    }
    Paint { ink, paper: None, bold }
}

fn piece(svg: &mut String, cells: &[&Cell], at: usize, row: u32) {
    let Some(first) = cells.first() else { return };
    let paint = paint(first);
    let column = |at: usize| PAD + u32::try_from(at).unwrap_or(0) * WIDTH;
    let y = PAD + row * HEIGHT;
    if let Some(paper) = &paint.paper {
        let (x, width) = (column(at), column(cells.len()) - PAD);
        let _ = writeln!(
            svg,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{HEIGHT}\" fill=\"{paper}\"/>"
        );
    }
    let weight = if paint.bold { " font-weight=\"bold\"" } else { "" };
    let base = y + 13;
    let mut begin = 0;
    // Each word has its place: a page counts several blanks as one.
    for word in cells.split(|cell| cell.symbol() == " ") {
        let (x, width) = (column(at + begin), column(word.len()) - PAD);
        begin += word.len() + 1;
        let text: String = word.iter().map(|cell| cell.symbol()).collect();
        if !text.is_empty() {
            let _ = writeln!(
                svg,
                "<text x=\"{x}\" y=\"{base}\" fill=\"{}\"{weight} textLength=\"{width}\" \
                 lengthAdjust=\"spacingAndGlyphs\">{}</text>",
                paint.ink,
                escaped(&text)
            );
        }
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// The colours of [`crate::view::look`], as a page has them.
fn colour(colour: Color) -> Option<String> {
    let Color::Indexed(index) = colour else { return None };
    let (red, green, blue) = match index {
        16..=231 => {
            let index = u32::from(index - 16);
            let level = |step: u32| if step == 0 { 0 } else { 55 + step * 40 };
            (level(index / 36), level(index / 6 % 6), level(index % 6))
        }
        232..=255 => {
            let level = 8 + u32::from(index - 232) * 10;
            (level, level, level)
        }
        _ => return None,
    };
    Some(format!("#{red:02x}{green:02x}{blue:02x}"))
}
