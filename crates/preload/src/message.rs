//! One line on standard error, straight by `write`, when the log level wants it.

use core::fmt::{self, Write};

/// How much is said. Standard error belongs to the program, so only errors are said unless asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Off,
    /// The limit cannot be kept, or no memory is given.
    Error,
    /// Something is not as it should be.
    Warn,
    Info,
    Debug,
    Trace,
}

impl Level {
    /// Reads a level's name.
    pub(crate) fn parse(text: &[u8]) -> Option<Self> {
        [
            (&b"off"[..], Self::Off),
            (b"error", Self::Error),
            (b"warn", Self::Warn),
            (b"warning", Self::Warn),
            (b"info", Self::Info),
            (b"debug", Self::Debug),
            (b"trace", Self::Trace),
        ]
        .into_iter()
        .find_map(|(name, level)| text.eq_ignore_ascii_case(name).then_some(level))
    }
}

/// A line of limited length; what does not fit is left away.
pub(crate) struct Line {
    bytes: [u8; 400],
    len: usize,
}

impl Line {
    pub(crate) fn new() -> Self {
        Self { bytes: [0; 400], len: 0 }
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or(&[])
    }
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            // The last place is the line's end.
            if self.len + 1 >= self.bytes.len() {
                break;
            }
            if let Some(place) = self.bytes.get_mut(self.len) {
                *place = byte;
                self.len += 1;
            }
        }
        Ok(())
    }
}

pub(crate) fn say(level: Level, text: fmt::Arguments<'_>) {
    if level > crate::settings::log_level() {
        return;
    }
    let mut line = Line::new();
    let _ = write!(line, "millpond: {text}");
    if let Some(end) = line.bytes.get_mut(line.len) {
        *end = b'\n';
        line.len += 1;
    }
    // SAFETY: the buffer is valid; errno is the program's and stays.
    unsafe {
        let errno = *libc::__errno_location();
        let bytes = line.as_bytes();
        libc::write(2, bytes.as_ptr().cast(), bytes.len());
        *libc::__errno_location() = errno;
    }
}

/// Bytes of unknown origin as text: what is not printable becomes a question mark.
pub(crate) struct Shown<'a>(pub(crate) &'a [u8]);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for byte in self.0.iter().take(64) {
            f.write_char(match byte {
                b' '..=b'~' => char::from(*byte),
                _ => '?',
            })?;
        }
        Ok(())
    }
}
