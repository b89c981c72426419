//! `/etc/vcuda/config.yaml`, read strictly.
//!
//! YAML has many ways to write `memory_limit: 1G`, and this reader knows the plainest: `key: value`
//! lines, comments and one `---`. It refuses a file that it does not understand to the end, because a
//! form that it skipped would be a limit that does not hold. Refused: a YAML parser, which is large
//! and needs a heap. `millpond doctor` has one and explains the file.

use core::ffi::CStr;
use core::fmt;

use millpond_ledger::{BadSize, Size, parse_size};

/// The file of vcuda-hook.
pub const CONFIG_FILE: &CStr = c"/etc/vcuda/config.yaml";
/// The same, for messages.
pub const CONFIG_FILE_NAME: &str = "/etc/vcuda/config.yaml";
/// The longest file that is read; it fits on the stack of any thread.
pub const CONFIG_FILE_BYTES: usize = 4095;

/// What a key states.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Key {
    Limit,
    Name,
}

/// Every key that the file may have.
const KEYS: [(&str, Key); 5] = [
    ("memory_limit", Key::Limit),
    ("memoryLimit", Key::Limit),
    ("device_name", Key::Name),
    ("target_device_name", Key::Name),
    ("target_device", Key::Name),
];

/// The keys that state the limit, and those that state the name.
pub const LIMIT_KEYS: [&str; 2] = [KEYS[0].0, KEYS[1].0];
pub const NAME_KEYS: [&str; 3] = [KEYS[2].0, KEYS[3].0, KEYS[4].0];

/// What the file states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConfigFile<'a> {
    pub memory_limit: Option<Size>,
    pub device_name: Option<&'a [u8]>,
}

/// What was not understood, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotUnderstood<'a> {
    /// Lines count from 1.
    pub line: u32,
    /// The line, or the value in it.
    pub text: &'a [u8],
    pub problem: Problem,
}

/// Why a line was not understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    Character,
    Comment,
    Indented,
    Key,
    Colon,
    NoValue,
    Value,
    Twice,
    Octal,
    Size(BadSize),
    /// The file has no key at all.
    Nothing,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Character => "a tab, a byte order mark or another character outside of ASCII",
            Self::Comment => "a comment with a character that may end a line of YAML",
            Self::Indented => "an indented line; keys begin in the first column",
            Self::Key => "not a `key: value` line with a known key",
            Self::Colon => "no space after the colon",
            Self::NoValue => "no value on the line of its key",
            Self::Value => "not a plain or quoted value",
            Self::Twice => "stated a second time",
            Self::Octal => "a leading zero, which may mean octal",
            Self::Nothing => "the file has no known key",
            Self::Size(why) => return why.fmt(f),
        })
    }
}

/// Reads the whole file.
pub fn parse_config_file(file: &[u8]) -> Result<ConfigFile<'_>, NotUnderstood<'_>> {
    let mut found = ConfigFile::default();
    let mut begun = false;
    for (line, number) in file.split(|byte| *byte == b'\n').zip(1..) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let refused = |(problem, text): (Problem, _)| NotUnderstood { line: number, text, problem };
        let whole = |problem| refused((problem, line));
        if is_blank(line).map_err(whole)? {
            continue;
        }
        match line.first() {
            Some(b' ') => return Err(whole(Problem::Indented)),
            Some(b'!'..=b'~') => {}
            _ => return Err(whole(Problem::Character)),
        }
        if !begun && before_spaces(line) == b"---" {
            begun = true;
            continue;
        }
        begun = true;
        let (key, rest) = key_of(line).ok_or(whole(Problem::Key))?;
        let text = value(rest).map_err(whole)?;
        match key {
            Key::Limit if found.memory_limit.is_none() => {
                found.memory_limit = Some(size(text).map_err(|why| refused((why, text)))?);
            }
            Key::Name if found.device_name.is_none() => found.device_name = Some(text),
            _ => return Err(whole(Problem::Twice)),
        }
    }
    if found == ConfigFile::default() {
        return Err(NotUnderstood { line: 1, text: b"", problem: Problem::Nothing });
    }
    Ok(found)
}

/// Whether a line has no content: spaces and a comment at most.
fn is_blank(line: &[u8]) -> Result<bool, Problem> {
    match after_spaces(line) {
        [] => Ok(true),
        comment @ [b'#', ..] if is_comment(comment) => Ok(true),
        [b'#', ..] => Err(Problem::Comment),
        _ => Ok(false),
    }
}

/// Spaces alone: what else is blank means more in YAML.
fn after_spaces(mut text: &[u8]) -> &[u8] {
    while let [b' ', rest @ ..] = text {
        text = rest;
    }
    text
}

fn before_spaces(mut text: &[u8]) -> &[u8] {
    while let [rest @ .., b' '] = text {
        text = rest;
    }
    text
}

/// Whether every version of YAML reads this comment to the end of the line and no further.
fn is_comment(text: &[u8]) -> bool {
    core::str::from_utf8(text).is_ok_and(|text| {
        text.chars().all(|letter| {
            matches!(letter, '\t' | ' '..='~' | '\u{a0}'..='\u{2027}' | '\u{202a}'..='\u{d7ff}'
                | '\u{e000}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}' | '\u{10000}'..)
        })
    })
}

/// The key of a line, and what is behind its colon.
fn key_of(line: &[u8]) -> Option<(Key, &[u8])> {
    KEYS.into_iter().find_map(|(name, key)| {
        let rest = line.strip_prefix(name.as_bytes())?;
        Some((key, after_spaces(rest).strip_prefix(b":")?))
    })
}

/// The value behind a colon, without quotes.
fn value(text: &[u8]) -> Result<&[u8], Problem> {
    if is_blank(text)? {
        return Err(Problem::NoValue);
    }
    let Some(text) = text.strip_prefix(b" ") else { return Err(Problem::Colon) };
    let is_printable = |byte: &u8| matches!(byte, b' '..=b'~');
    let (value, rest) = match after_spaces(text) {
        [quote @ (b'"' | b'\''), inside @ ..] => {
            let end = inside.iter().position(|byte| byte == quote).ok_or(Problem::Value)?;
            let (value, rest) = inside.split_at_checked(end).unwrap_or((inside, b""));
            if value.contains(&b'\\') {
                return Err(Problem::Value);
            }
            (value, rest.get(1..).unwrap_or(b""))
        }
        plain @ [first, ..] if first.is_ascii_alphanumeric() => {
            let end = plain.windows(2).position(|pair| pair == b" #").unwrap_or(plain.len());
            let (value, rest) = plain.split_at_checked(end).unwrap_or((plain, b""));
            let (zero, next) = (value.first(), value.get(1));
            if zero == Some(&b'0') && next.is_some_and(u8::is_ascii_digit) {
                return Err(Problem::Octal);
            }
            if value.contains(&b':') || value.contains(&b'#') {
                return Err(Problem::Value);
            }
            (before_spaces(value), rest)
        }
        _ => return Err(Problem::Value),
    };
    if !value.iter().all(is_printable) {
        return Err(Problem::Character);
    }
    // A comment has a space before it.
    match rest {
        [] | [b' ', ..] if is_blank(rest)? => {}
        _ => return Err(Problem::Value),
    }
    if value.is_empty() { Err(Problem::NoValue) } else { Ok(value) }
}

fn size(text: &[u8]) -> Result<Size, Problem> {
    parse_size(text).map_err(Problem::Size)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `crates/cli/src/config_file.rs` compares many more files with YAML.
    #[test]
    fn plain_lines_are_understood() {
        let size = |bytes| Some(Size::Bytes(bytes));
        for (file, limit, name) in [
            ("memory_limit: 1g", size(1 << 30), None),
            ("---\r\nmemoryLimit :   '1 GiB'  # one\r\n\r\n", size(1 << 30), None),
            (
                "  # \u{4e2d}\n\ntarget_device: Tiny (9000)\nmemory_limit: 50%\n",
                Some(Size::Permille(500)),
                Some("Tiny (9000)"),
            ),
            ("target_device_name: \"a: #b\"#", None, Some("a: #b")),
        ] {
            let found = parse_config_file(file.as_bytes());
            if file.ends_with('#') {
                assert_eq!(found.unwrap_err().problem, Problem::Value, "{file}");
                continue;
            }
            let name = name.map(str::as_bytes);
            assert_eq!(found, Ok(ConfigFile { memory_limit: limit, device_name: name }), "{file}");
        }
    }

    #[test]
    fn what_is_not_understood_is_named_with_its_line() {
        for (file, line, problem) in [
            ("", 1, Problem::Nothing),
            ("# memory_limit: 1g\n", 1, Problem::Nothing),
            ("\n{memory_limit: 1g}", 2, Problem::Key),
            ("memory-limit: 1g", 1, Problem::Key),
            ("memory_limit: 1g\n---", 2, Problem::Key),
            ("\u{feff}memory_limit: 1g", 1, Problem::Character),
            ("memory_limit: 1g\t", 1, Problem::Character),
            ("memory_limit:\n  1g", 1, Problem::NoValue),
            ("memory_limit: # none", 1, Problem::NoValue),
            ("memory_limit: \"\"", 1, Problem::NoValue),
            ("device_name: X\n memory_limit: 1g", 2, Problem::Indented),
            ("memory_limit:1g", 1, Problem::Colon),
            ("memory_limit: &a 1g", 1, Problem::Value),
            ("memory_limit: \"1g\\n\"", 1, Problem::Value),
            ("memory_limit: 010", 1, Problem::Octal),
            ("memory_limit: 1g\nmemoryLimit: 2g", 2, Problem::Twice),
            ("# a\u{2028}b\nmemory_limit: 1g", 1, Problem::Comment),
            ("memory_limit: lots", 1, Problem::Size(BadSize::NotANumber)),
            ("memory_limit: 0", 1, Problem::Size(BadSize::Zero)),
        ] {
            let found = parse_config_file(file.as_bytes()).unwrap_err();
            assert_eq!((found.line, found.problem), (line, problem), "{file}");
        }
    }
}
