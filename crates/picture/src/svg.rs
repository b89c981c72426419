//! Writing SVG: the one place where text and numbers become markup.

use std::fmt::{self, Display, Write};

use millpond_wire::characters;

/// Text as markup has it: what a terminal would obey, XML cannot hold or a reader would not see is
/// written out.
pub(crate) struct Escaped<'a>(pub &'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in characters::shown(self.0).chars() {
            match character {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                // Neither a control nor a character: no document may hold them.
                '\u{fffe}' | '\u{ffff}' => f.write_char('\u{fffd}')?,
                other if other.is_control() => f.write_char('\u{fffd}')?,
                other => f.write_char(other)?,
            }
        }
        Ok(())
    }
}

/// A length with at most two places, without zeroes that say nothing.
pub(crate) struct Length(pub f64);

impl Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{:.2}", self.0);
        let text = text.trim_end_matches('0').trim_end_matches('.');
        f.write_str(if text == "-0" { "0" } else { text })
    }
}

/// A rectangle in pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Rect {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

impl Rect {
    pub(crate) fn area(&self) -> f64 {
        self.width * self.height
    }

    /// The same with a margin inside, which takes at most a third of it.
    pub(crate) fn inset(&self, by: f64) -> Self {
        let (x, y) = (by.min(self.width / 6.0), by.min(self.height / 6.0));
        Self {
            x: self.x + x,
            y: self.y + y,
            width: self.width - 2.0 * x,
            height: self.height - 2.0 * y,
        }
    }
}

impl Display for Rect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, width, height] = [self.x, self.y, self.width, self.height].map(Length);
        write!(f, "x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"")
    }
}

/// Where a text stands in relation to its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

impl Anchor {
    const fn word(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Middle => "middle",
            Self::End => "end",
        }
    }
}

/// A document that grows.
#[derive(Debug, Default)]
pub(crate) struct Svg {
    body: String,
}

impl Svg {
    /// Markup as it is: names of classes, numbers, never text from outside.
    pub(crate) fn raw(&mut self, markup: impl Display) {
        // Writing into memory does not fail.
        let _ = writeln!(self.body, "{markup}");
    }

    pub(crate) fn rect(&mut self, classes: &str, rect: Rect) {
        self.raw(format_args!("<rect class=\"{classes}\" {rect}/>"));
    }

    pub(crate) fn line(&mut self, classes: &str, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) {
        let [x1, y1, x2, y2] = [x1, y1, x2, y2].map(Length);
        self.raw(format_args!(
            "<line class=\"{classes}\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"/>"
        ));
    }

    pub(crate) fn text(&mut self, classes: &str, (x, y): (f64, f64), anchor: Anchor, text: &str) {
        let (x, y, text) = (Length(x), Length(y), Escaped(text));
        let anchor = match anchor {
            Anchor::Start => String::new(),
            other => format!(" text-anchor=\"{}\"", other.word()),
        };
        self.raw(format_args!(
            "<text class=\"{classes}\" x=\"{x}\" y=\"{y}\"{anchor}>{text}</text>"
        ));
    }

    /// What a mouse finds, and a screen reader: it belongs into a group with what it is about.
    pub(crate) fn title(&mut self, text: &str) {
        self.raw(format_args!("<title>{}</title>", Escaped(text)));
    }

    /// The whole document, with its name and what it shows in words.
    pub(crate) fn document(
        self,
        size: (f64, f64),
        style: &str,
        title: &str,
        about: &str,
    ) -> String {
        let (width, height) = (Length(size.0), Length(size.1));
        let (title, about, body) = (Escaped(title), Escaped(about), self.body);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-labelledby=\"title about\" \
             viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\">\n\
             <title id=\"title\">{title}</title>\n<desc id=\"about\">{about}</desc>\n\
             {style}<rect class=\"page\" width=\"{width}\" height=\"{height}\"/>\n{body}</svg>\n"
        )
    }
}

/// Bytes as a number that can be scaled. What is lost is far below a pixel.
#[expect(clippy::cast_precision_loss, reason = "a picture has a thousand pixels")]
pub(crate) fn float(bytes: u64) -> f64 {
    bytes as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_outside_is_never_markup() {
        let escaped = |text: &str| Escaped(text).to_string();
        assert_eq!(escaped("</text><script>&\"'"), "&lt;/text&gt;&lt;script&gt;&amp;&quot;&#39;");
        assert_eq!(escaped("a\u{1b}[2Jb\u{0}\n"), "a\\u{1b}[2Jb\\u{0}\\n");
        assert_eq!(escaped("x\u{202e}y"), "x\\u{202e}y");
        assert!(!escaped("\u{ffff}\u{fffe}").contains(['\u{ffff}', '\u{fffe}']));
        assert_eq!(escaped("модель 模型"), "модель 模型");
    }

    #[test]
    fn lengths_are_short() {
        let shown = [0.0, -0.001, 1.0, 1.5, 10.0, 123.456].map(|it| Length(it).to_string());
        assert_eq!(shown, ["0", "0", "1", "1.5", "10", "123.46"]);
    }
}
