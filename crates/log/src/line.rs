//! Lines that the log writes by itself, in the shape of the others.

use std::fmt::Write;

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
                write!(line, "{now} {level:>5} millpond_log: {}", one_line(message))
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

    pub(crate) fn dropped(self, lines: u64) -> Vec<u8> {
        let what = if lines == 1 { "line was" } else { "lines were" };
        self.line("WARN", &format!("{lines} log {what} dropped: the log could not be written"))
    }
}

/// A message may have line ends of its own; a line of the log has one.
fn one_line(message: &str) -> String {
    let mut line = String::with_capacity(message.len());
    for character in message.chars() {
        if character.is_control() {
            line.extend(character.escape_default());
        } else {
            line.push(character);
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(
            Style::Text.line("ERROR", "a\nb").iter().filter(|byte| **byte == b'\n').count(),
            1
        );
    }
}
