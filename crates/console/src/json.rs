//! JSON that a terminal can show: what nobody sees, or a terminal would obey, is written by its
//! number. A program that reads the JSON gets the same text.

use std::io::{self, Write};

use millpond_wire::characters;
use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter};

/// In lines, for people.
pub(crate) fn pretty(value: &impl Serialize) -> serde_json::Result<String> {
    written(value, PrettyFormatter::new())
}

/// In one line.
pub(crate) fn compact(value: &impl Serialize) -> serde_json::Result<String> {
    written(value, CompactFormatter)
}

fn written(value: &impl Serialize, formatter: impl Formatter) -> serde_json::Result<String> {
    let mut bytes = Vec::new();
    value.serialize(&mut serde_json::Serializer::with_formatter(&mut bytes, Seen(formatter)))?;
    String::from_utf8(bytes).map_err(serde::ser::Error::custom)
}

/// Another formatter, with everything in its texts to be seen.
struct Seen<F>(F);

impl<F: Formatter> Formatter for Seen<F> {
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut rest = fragment;
        while let Some((at, unseen)) =
            rest.char_indices().find(|(_, character)| characters::flaw(*character).is_some())
        {
            let (seen, from) = rest.split_at(at);
            writer.write_all(seen.as_bytes())?;
            for unit in unseen.encode_utf16(&mut [0; 2]) {
                write!(writer, "\\u{unit:04x}")?;
            }
            rest = &from[unseen.len_utf8()..];
        }
        writer.write_all(rest.as_bytes())
    }

    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_array(writer)
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_array(writer)
    }

    fn begin_array_value<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.0.begin_array_value(writer, first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_array_value(writer)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object(writer)
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object(writer)
    }

    fn begin_object_key<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.0.begin_object_key(writer, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object_value(writer)
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object_value(writer)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_written_by_number_and_read_as_it_was() {
        let value = json!({
            "program": "a\u{9b}2Jb\u{202e}c\u{200b}\u{e0041}\u{1b}",
            "key\u{feff}": ["слой 模型 🚀", "\"\\\n", ""],
            "empty": {},
        });
        let one = compact(&value).unwrap();
        assert!(one.contains(r"a\u009b2Jb\u202ec\u200b\udb40\udc41\u001b"), "{one}");
        assert!(one.contains("слой 模型 🚀"), "{one}");
        for text in [one, pretty(&value).unwrap()] {
            let seen = |it: char| it == '\n' || characters::flaw(it).is_none();
            assert!(text.chars().all(seen), "{text:?}");
            assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
        }
        assert_eq!(pretty(&json!([1, {"a": 2}])).unwrap(), "[\n  1,\n  {\n    \"a\": 2\n  }\n]");
    }
}
