//! Text of others on a terminal: harmless, and as wide as it is.
//!
//! Names of programs, sources and reasons are whatever a client said. A terminal must not obey them.

use std::borrow::Cow;

/// Columns that a terminal gives to characters from here to there: two, as for Chinese, Japanese and
/// Korean, and pictures. What is not listed has one.
const WIDE: [(char, char); 11] = [
    ('\u{1100}', '\u{115f}'),
    ('\u{2e80}', '\u{303e}'),
    ('\u{3041}', '\u{a4cf}'),
    ('\u{ac00}', '\u{d7a3}'),
    ('\u{f900}', '\u{faff}'),
    ('\u{fe30}', '\u{fe6f}'),
    ('\u{ff00}', '\u{ff60}'),
    ('\u{ffe0}', '\u{ffe6}'),
    ('\u{1f300}', '\u{1f64f}'),
    ('\u{1f680}', '\u{1faff}'),
    ('\u{20000}', '\u{3fffd}'),
];

/// Characters that are drawn into the one before them.
const JOINED: [(char, char); 4] = [
    ('\u{300}', '\u{36f}'),
    ('\u{200b}', '\u{200f}'),
    ('\u{20d0}', '\u{20ff}'),
    ('\u{fe00}', '\u{fe0f}'),
];

/// The text with nothing in it that a terminal would obey, that turns its direction, or that nobody
/// would see.
pub fn printable(text: &str) -> Cow<'_, str> {
    millpond_wire::characters::shown(text)
}

/// How many columns of a terminal a character takes.
pub fn columns_of(character: char) -> usize {
    let is_in = |ranges: &[(char, char)]| {
        ranges.iter().any(|(first, last)| (*first..=*last).contains(&character))
    };
    if is_in(&JOINED) {
        0
    } else if is_in(&WIDE) {
        2
    } else {
        1
    }
}

/// How many columns of a terminal a text takes.
pub fn columns(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

/// A text in lines of at most so many columns, cut between words. A word that is longer has a line
/// of its own.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let Some(line) = lines.last_mut() else { break };
        if line.is_empty() {
            line.push_str(word);
        } else if columns(line) + 1 + columns(word) <= width {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_is_not_given_orders() {
        assert_eq!(printable("acts/x модель 模型"), "acts/x модель 模型");
        assert_eq!(printable("a\u{1b}[2Jb\nc\t\u{7f}"), "a\\u{1b}[2Jb\\nc\\t\\u{7f}");
        assert_eq!(printable("x\u{202e}y\u{9b}"), "x\\u{202e}y\\u{9b}");
        assert_eq!(printable("a\u{200b}b\u{feff}\u{e0041}"), "a\\u{200b}b\\u{feff}\\u{e0041}");
    }

    #[test]
    fn long_texts_are_cut_between_words() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("模型 模型 a", 7), ["模型", "模型 a"]);
        assert_eq!(wrap("a /a/very/long/path b", 5), ["a", "/a/very/long/path", "b"]);
        assert_eq!((wrap("", 5), wrap("a  b", 9)), (vec![String::new()], vec!["a  b".to_owned()]));
    }

    #[test]
    fn wide_characters_take_two_columns_and_accents_none() {
        assert_eq!(columns("acts/x"), 6);
        assert_eq!(columns("модель"), 6);
        assert_eq!(columns("模型/重み"), 9);
        assert_eq!(columns("e\u{301}t"), 2);
        assert_eq!(columns("🚀"), 2);
    }
}
