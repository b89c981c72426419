//! The one way to the buffer. Whatever is written here may come from others: nothing in it is obeyed by the
//! terminal, and nothing is wider than it may be.

use std::borrow::Cow;

use millpond_console::shown::printable;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::look::{Look, Tone};

/// Which side of its room a text stands on.
pub use millpond_console::table::Side;

/// A buffer with a look.
#[derive(Debug)]
pub struct Canvas<'a> {
    buffer: &'a mut Buffer,
    look: Look,
}

impl<'a> Canvas<'a> {
    pub fn new(buffer: &'a mut Buffer, look: Look) -> Self {
        Self { buffer, look }
    }

    pub const fn look(&self) -> &Look {
        &self.look
    }

    pub const fn area(&self) -> Rect {
        self.buffer.area
    }

    /// Writes a text into so many columns; the column behind it.
    pub fn put(&mut self, x: u16, y: u16, room: u16, text: &str, tone: Tone) -> u16 {
        let area = self.buffer.area;
        let room = room.min(area.right().saturating_sub(x));
        if room == 0 || y < area.top() || y >= area.bottom() || x < area.left() {
            return x;
        }
        let text = fitted(&self.look, text, room);
        let style = self.look.style(tone);
        let (end, _) = self.buffer.set_stringn(x, y, &text, usize::from(room), style);
        end
    }

    /// Writes a text to one side of its room.
    pub fn put_aside(&mut self, x: u16, y: u16, room: u16, text: &str, side: Side, tone: Tone) {
        let width = width(&fitted(&self.look, text, room));
        let from = match side {
            Side::Left => x,
            Side::Right => x.saturating_add(room.saturating_sub(width)),
        };
        self.put(from, y, room, text, tone);
    }

    /// Writes texts one behind the other; the column behind them.
    pub fn line<'t>(
        &mut self,
        x: u16,
        y: u16,
        room: u16,
        texts: impl IntoIterator<Item = (Cow<'t, str>, Tone)>,
    ) -> u16 {
        let end = x.saturating_add(room);
        let mut at = x;
        for (text, tone) in texts {
            at = self.put(at, y, end.saturating_sub(at), &text, tone);
        }
        at
    }

    /// Gives a tone to what is drawn already.
    pub fn tint(&mut self, area: Rect, tone: Tone) {
        let style = self.look.style(tone);
        self.buffer.set_style(area.intersection(self.buffer.area), style);
    }

    /// Makes room for something that lies above the rest.
    pub fn clear(&mut self, area: Rect) {
        for position in area.intersection(self.buffer.area).positions() {
            if let Some(cell) = self.buffer.cell_mut(position) {
                cell.reset();
            }
        }
    }

    /// A box with a title.
    pub fn frame(&mut self, area: Rect, title: &str) {
        let [top_left, top_right, bottom_left, bottom_right, across, down] = self.look.frame();
        if area.width < 2 || area.height < 2 {
            return;
        }
        self.clear(area);
        let (right, bottom) = (area.right() - 1, area.bottom() - 1);
        for x in area.left()..area.right() {
            self.put(x, area.top(), 1, across, Tone::Plain);
            self.put(x, bottom, 1, across, Tone::Plain);
        }
        for y in area.top()..area.bottom() {
            self.put(area.left(), y, 1, down, Tone::Plain);
            self.put(right, y, 1, down, Tone::Plain);
        }
        self.put(area.left(), area.top(), 1, top_left, Tone::Plain);
        self.put(right, area.top(), 1, top_right, Tone::Plain);
        self.put(area.left(), bottom, 1, bottom_left, Tone::Plain);
        self.put(right, bottom, 1, bottom_right, Tone::Plain);
        let room = area.width.saturating_sub(4);
        self.put(area.left() + 2, area.top(), room, &format!(" {title} "), Tone::Strong);
    }
}

/// Columns that a text takes.
pub fn width(text: &str) -> u16 {
    u16::try_from(text.width()).unwrap_or(u16::MAX)
}

/// A text that is harmless and no wider than its room.
fn fitted<'t>(look: &Look, text: &'t str, room: u16) -> Cow<'t, str> {
    let mut text = printable(text);
    if look.ascii && !text.is_ascii() {
        let plain = |character: char| match character {
            ' '..='~' => character.to_string(),
            other => other.escape_default().to_string(),
        };
        text = Cow::Owned(text.chars().map(plain).collect());
    }
    let room = usize::from(room);
    if text.width() <= room {
        return text;
    }
    let left = room.saturating_sub(look.cut().width());
    let mut taken = 0;
    let is_over = |(at, character): (usize, char)| {
        taken += character.width().unwrap_or(0);
        (taken > left).then_some(at)
    };
    let end = text.char_indices().find_map(is_over).unwrap_or(text.len());
    let mut cut = text.get(..end).unwrap_or_default().to_owned();
    cut.push_str(look.cut());
    Cow::Owned(cut)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::look::Colours;

    const PLAIN: Look = Look { ascii: false, colours: Colours::None };
    const ASCII: Look = Look { ascii: true, colours: Colours::None };

    #[test]
    fn a_text_is_harmless_and_fits() {
        for (text, room, shown) in [
            ("llama", 5, "llama"),
            ("llama", 4, "lla…"),
            ("llama", 1, "…"),
            ("模型/重み", 9, "模型/重み"),
            ("模型/重み", 4, "模…"),
            ("a\u{1b}[2J", 20, "a\\u{1b}[2J"),
            ("x\u{202e}gpj", 20, "x\\u{202e}gpj"),
        ] {
            assert_eq!(fitted(&PLAIN, text, room), shown);
            assert!(width(&fitted(&PLAIN, text, room)) <= room);
        }
        assert_eq!(fitted(&ASCII, "мир", 21), "\\u{43c}\\u{438}\\u{440}");
        assert_eq!(fitted(&ASCII, "llama", 3), "ll~");
    }

    #[test]
    fn nothing_is_written_outside() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 4, 2));
        let mut canvas = Canvas::new(&mut buffer, PLAIN);
        for (x, y) in [(0, 2), (4, 0), (9, 9), (3, 1)] {
            canvas.put(x, y, 9, "模模模", Tone::Plain);
        }
        canvas.frame(Rect::new(2, 1, 9, 9), "x");
        canvas.clear(Rect::new(3, 1, 9, 9));
    }
}
