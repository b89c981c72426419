//! Parts of pictures: elements, texts, scales. Colours follow the reader's choice of light or dark.

use crate::chance::ln;
use std::fmt::{Arguments, Write as _};

/// Colours that every picture has.
const STYLE: &str = "\
text { font-family: system-ui, -apple-system, 'Segoe UI', 'Liberation Sans', Arial, sans-serif; font-size: 14px; fill: #1f2328; }
.page { fill: #ffffff; stroke: #d1d9e0; }
.title { font-size: 21px; font-weight: 600; }
.small { font-size: 13px; fill: #59636e; }
.heading { font-size: 15px; font-weight: 600; }
.grid { stroke: #d1d9e0; stroke-width: 1; }
.axis { stroke: #59636e; stroke-width: 1; }
.limit { stroke: #d9480f; stroke-width: 2; stroke-dasharray: 6 4; }
.line { fill: none; stroke-width: 2.5; stroke-linejoin: round; }";

const DARK: &str = "\
  text { fill: #e6edf3; }
  .page { fill: #0d1117; stroke: #3d444d; }
  .small { fill: #9198a1; }
  .grid { stroke: #2a313c; }
  .axis { stroke: #9198a1; }
  .limit { stroke: #ff922b; }";

/// A picture that is being drawn.
#[derive(Debug)]
pub struct Svg {
    width: f64,
    height: f64,
    label: String,
    /// Classes with a colour for light and one for dark, for lines and for areas.
    colours: Vec<[String; 3]>,
    body: String,
}

impl Svg {
    /// An empty page. The label says what is to be seen to those who do not see it.
    #[must_use]
    pub fn new(width: f64, height: f64, label: &str) -> Self {
        let (label, colours, body) = (label.to_owned(), Vec::new(), String::new());
        Self { width, height, label, colours, body }
    }

    /// Gives a class its colours.
    pub fn colour(&mut self, class: &str, light: &str, dark: &str) {
        self.colours.push([class, light, dark].map(str::to_owned));
    }

    /// Any element.
    pub fn add(&mut self, element: Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.body, "{element}");
    }

    /// A text at a place; `anchor` is `start`, `middle` or `end`.
    pub fn text(&mut self, class: &str, [x, y]: [f64; 2], anchor: &str, words: &str) {
        let words = escape(words);
        self.add(format_args!(
            "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{words}</text>"
        ));
    }

    /// A straight line.
    pub fn rule(&mut self, class: &str, [x1, y1]: [f64; 2], [x2, y2]: [f64; 2]) {
        self.add(format_args!(
            "<line class=\"{class}\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>"
        ));
    }

    /// The whole file.
    #[must_use]
    pub fn finish(self) -> String {
        let Self { width, height, label, colours, body } = self;
        let rules = |at: usize| {
            let rule = |colour: &[String; 3]| {
                let [class, value] = [&colour[0], &colour[at]];
                format!("  .{class} {{ stroke: {value}; }} .{class}-area {{ fill: {value}; }}\n")
            };
            colours.iter().map(rule).collect::<String>()
        };
        let (light, dark, label) = (rules(1), rules(2), escape(&label));
        let (inner_width, inner_height) = (width - 1.0, height - 1.0);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
             width=\"{width}\" height=\"{height}\" role=\"img\" aria-label=\"{label}\">\n\
             <style>\n{STYLE}\n{light}@media (prefers-color-scheme: dark) {{\n{DARK}\n{dark}}}\n</style>\n\
             <rect class=\"page\" x=\"0.5\" y=\"0.5\" width=\"{inner_width}\" height=\"{inner_height}\" rx=\"8\"/>\n\
             {body}</svg>\n"
        )
    }
}

/// From numbers to places on a page.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    from: [f64; 2],
    to: [f64; 2],
    is_logarithmic: bool,
}

impl Scale {
    /// Equal steps for equal differences.
    #[must_use]
    pub fn linear(from: [f64; 2], to: [f64; 2]) -> Self {
        Self { from, to, is_logarithmic: false }
    }

    /// Equal steps for equal ratios; numbers are above 0.
    #[must_use]
    pub fn logarithmic(from: [f64; 2], to: [f64; 2]) -> Self {
        Self { from, to, is_logarithmic: true }
    }

    /// Where a number is; outside of the scale, at its end.
    #[must_use]
    pub fn at(&self, value: f64) -> f64 {
        let [low, high] = self.from;
        let value = value.clamp(low, high);
        let part = match self.is_logarithmic {
            true => ln(value / low) / ln(high / low),
            false => (value - low) / (high - low),
        };
        self.to[0] + part * (self.to[1] - self.to[0])
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_end_where_they_end() {
        let scale = Scale::logarithmic([1.0, 100.0], [200.0, 0.0]);
        assert_eq!(
            [0.1, 1.0, 10.0, 100.0, 1e9].map(|value| scale.at(value).round()),
            [200.0, 200.0, 100.0, 0.0, 0.0]
        );
        assert!((Scale::linear([0.0, 4.0], [10.0, 20.0]).at(1.0) - 12.5).abs() < 1e-9);
    }

    #[test]
    fn texts_cannot_leave_their_element() {
        let mut svg = Svg::new(10.0, 10.0, "\"<&>");
        svg.text("small", [1.0, 2.0], "start", "</text><b>\u{7}");
        let text = svg.finish();
        assert!(text.contains("aria-label=\"&quot;&lt;&amp;&gt;\""), "{text}");
        assert!(text.contains("&lt;/text&gt;&lt;b&gt; <"), "{text}");
    }
}
