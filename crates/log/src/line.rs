//! Lines that the log writes by itself, in the shape of the others.

use std::borrow::Cow;
use std::fmt::Write;

use millpond_wire::characters::{flaw, shown};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// As `tracing-subscriber` writes them for people.
    #[default]
    Text,
    /// One JSON object for each line.
    Json,
}

impl Style {
    /// A line of the log about itself.
    pub(crate) fn line(self, level: &str, message: &str) -> Vec<u8> {
        let mut now = String::new();
        // Without a clock the line still says what it has to say.
        let _ = SystemTime.format_time(&mut Writer::new(&mut now));
        let mut line = String::new();
        // Writing to a text does not fail.
        let _ = match self {
            Style::Text => {
                write!(line, "{now} {level:>5} millpond_log: {}", shown(message))
            }
            Style::Json => {
                let message = serde_json::Value::from(message);
                write!(
                    line,
                    r#"{{"timestamp":"{now}","level":"{level}","fields":{{"message":{message}}},"target":"millpond_log"}}"#
                )
            }
        };
        line.push('\n');
        line.into_bytes()
    }

    /// A line as it is written: characters that nobody sees, or that turn the line, by their numbers.
    /// What is ASCII is the formatter's business, which has escaped it.
    pub(crate) fn visible(self, line: &[u8]) -> Cow<'_, [u8]> {
        let is_flawed = |character: char| !character.is_ascii() && flaw(character).is_some();
        let text = match std::str::from_utf8(line) {
            Ok(text) if text.chars().any(is_flawed) => text,
            _ => return line.into(),
        };
        let mut visible = String::with_capacity(text.len() + 8);
        for character in text.chars() {
            match self {
                _ if !is_flawed(character) => visible.push(character),
                Style::Text => visible.extend(character.escape_default()),
                // As JSON has it, so that a reader finds the same text.
                Style::Json => {
                    for unit in character.encode_utf16(&mut [0; 2]) {
                        let _ = write!(visible, "\\u{unit:04x}");
                    }
                }
            }
        }
        visible.into_bytes().into()
    }

    pub(crate) fn dropped(self, lines: u64) -> Vec<u8> {
        let what = if lines == 1 { "line was" } else { "lines were" };
        self.line("WARN", &format!("{lines} log {what} dropped: the log could not be written"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_nobody_sees_are_in_the_log_by_their_numbers() {
        for (character, shown) in [
            ('\u{202e}', r"\u{202e}"),
            ('\u{200b}', r"\u{200b}"),
            ('\u{e0041}', r"\u{e0041}"),
            ('\u{9b}', r"\u{9b}"),
        ] {
            let line = format!("INFO tensor 'a{character}b' слой\n");
            let expected = format!("INFO tensor 'a{shown}b' слой\n");
            assert_eq!(&*Style::Text.visible(line.as_bytes()), expected.as_bytes());
            let own = String::from_utf8(Style::Text.line("WARN", &line)).unwrap();
            assert!(own.contains(&format!("a{shown}b")), "{own}");
        }
        for line in [&b"plain\n"[..], "слой\n".as_bytes(), b"\xff\n"] {
            assert!(matches!(Style::Text.visible(line), Cow::Borrowed(_)));
        }
    }

    #[test]
    fn both_shapes_are_those_of_the_other_lines() {
        let text = String::from_utf8(Style::Text.dropped(1)).unwrap();
        assert!(
            text.ends_with(
                "Z  WARN millpond_log: 1 log line was dropped: the log could not be written\n"
            ),
            "{text}"
        );
        let json = Style::Json.line("ERROR", "a \"quoted\"\nword");
        let value: serde_json::Value = serde_json::from_slice(&json).unwrap();
        assert_eq!(value["level"], "ERROR");
        assert_eq!(value["fields"]["message"], "a \"quoted\"\nword");
        let json = Style::Json.visible("{\"a\":\"x\u{202e}\u{e0041}é\"}\n".as_bytes()).into_owned();
        assert_eq!(json, "{\"a\":\"x\\u202e\\udb40\\udc41é\"}\n".as_bytes());
        let value: serde_json::Value = serde_json::from_slice(&json).unwrap();
        assert_eq!(value["a"], "x\u{202e}\u{e0041}é");
        assert_eq!(
            Style::Text.line("ERROR", "a\nb").iter().filter(|byte| **byte == b'\n').count(),
            1
        );
    }
}
