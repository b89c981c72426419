//! Characters that nobody sees, or that change how others are seen.
//!
//! Two names that look alike must be one name, and a text of a client must not order a terminal
//! about. Categories are Unicode's; the tables are those of the `unicode-rs` crates, because the
//! standard library knows white space and control characters only.

use std::borrow::Cow;

use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

/// Letters, marks and symbols that are drawn as nothing, or only choose how another one is drawn.
const UNSEEN: [(char, char); 12] = [
    ('\u{34f}', '\u{34f}'),
    ('\u{115f}', '\u{1160}'),
    ('\u{17b4}', '\u{17b5}'),
    ('\u{180b}', '\u{180f}'),
    ('\u{2065}', '\u{2065}'),
    ('\u{2800}', '\u{2800}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{fe00}', '\u{fe0f}'),
    ('\u{ffa0}', '\u{ffa0}'),
    ('\u{fff0}', '\u{fff8}'),
    ('\u{1bca0}', '\u{1bca3}'),
    ('\u{e0000}', '\u{e0fff}'),
];

/// Why a character is in no new name, and is shown by its number: `None` for one that everybody
/// sees. An ordinary space is seen.
#[must_use]
pub fn flaw(character: char) -> Option<&'static str> {
    if character.is_ascii() {
        return character.is_ascii_control().then_some("a control character");
    }
    if UNSEEN.iter().any(|(first, last)| (*first..=*last).contains(&character)) {
        return Some("a character that is not seen");
    }
    match character.general_category() {
        GeneralCategory::Control => Some("a control character"),
        GeneralCategory::Format => Some("a formatting character"),
        GeneralCategory::PrivateUse => Some("a character for private use"),
        GeneralCategory::Unassigned => Some("no character"),
        GeneralCategory::Surrogate => Some("half a character"),
        GeneralCategory::SpaceSeparator
        | GeneralCategory::LineSeparator
        | GeneralCategory::ParagraphSeparator => Some("white space"),
        _ => None,
    }
}

/// A text for people: what they would not see, and what a terminal would obey, by its number.
#[must_use]
pub fn shown(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|character| flaw(character).is_some()) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match flaw(character) {
            Some(_) => shown.extend(character.escape_default()),
            None => shown.push(character),
        }
    }
    shown.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_seen_or_turns_the_line_is_found() {
        let turning = ('\u{202a}'..='\u{202e}').chain('\u{2066}'..='\u{2069}');
        let marks = ['\u{200e}', '\u{200f}', '\u{61c}', '\u{ad}', '\u{feff}', '\u{2060}'];
        let zero_width = '\u{200b}'..='\u{200d}';
        let selectors = ('\u{fe00}'..='\u{fe0f}').chain('\u{e0100}'..='\u{e01ef}');
        let tags = '\u{e0000}'..='\u{e007f}';
        let controls = ('\0'..='\u{1f}').chain('\u{7f}'..='\u{9f}');
        let others = ['\u{e000}', '\u{10fffd}', '\u{378}', '\u{ffff}', '\u{3000}', '\u{a0}'];
        let all = turning.chain(marks).chain(zero_width).chain(selectors).chain(tags);
        for character in all.chain(controls).chain(others) {
            assert!(flaw(character).is_some(), "U+{:04X}", u32::from(character));
        }
    }

    #[test]
    fn what_people_write_is_seen() {
        for character in "aZ09 ~!#слойモデル模型नमस्ते한국어ไทยעברתعربي🚀éñ€".chars()
        {
            assert_eq!(flaw(character), None, "U+{:04X}", u32::from(character));
        }
    }
}
