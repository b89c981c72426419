//! One line on standard error, straight by `write`, when the log level wants it.

use core::fmt::{self, Write};

/// How much is said. Standard error belongs to the program: warnings and errors alone are said
/// unless more is asked for.
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
    /// Whether lines of this level are said.
    pub(crate) fn is_said(self) -> bool {
        self <= crate::settings::log_level()
    }

    /// Reads a level's name, or HAMi's number for it.
    pub(crate) fn parse(text: &[u8]) -> Option<Self> {
        [
            (&b"off"[..], Self::Off),
            (b"none", Self::Off),
            (b"error", Self::Error),
            (b"err", Self::Error),
            (b"critical", Self::Error),
            (b"0", Self::Error),
            (b"1", Self::Error),
            (b"warn", Self::Warn),
            (b"warning", Self::Warn),
            (b"2", Self::Warn),
            (b"info", Self::Info),
            (b"3", Self::Info),
            (b"debug", Self::Debug),
            (b"4", Self::Debug),
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
    if !level.is_said() {
        return;
    }
    let mut line = Line::new();
    let _ = write!(line, "millpond: {text}");
    if let Some(end) = line.bytes.get_mut(line.len) {
        *end = b'\n';
        line.len += 1;
    }
    write(line.as_bytes());
}

/// Writes to standard error, unless the program would wait for that or be ended by it.
fn write(bytes: &[u8]) {
    // SAFETY: every pointer is to a value on this stack; errno is the program's and stays.
    unsafe {
        let errno = *libc::__errno_location();
        let mut stderr = libc::pollfd { fd: 2, events: libc::POLLOUT, revents: 0 };
        // A pipe without a reader, or without room, is not ready.
        if libc::poll(&raw mut stderr, 1, 0) == 1 && stderr.revents == libc::POLLOUT {
            let (mut broken, mut before, mut pending) = core::mem::zeroed();
            libc::sigemptyset(&raw mut broken);
            libc::sigaddset(&raw mut broken, libc::SIGPIPE);
            libc::sigprocmask(libc::SIG_BLOCK, &raw const broken, &raw mut before);
            libc::sigpending(&raw mut pending);
            let was_pending = libc::sigismember(&raw const pending, libc::SIGPIPE) == 1;
            let written = libc::write(2, bytes.as_ptr().cast(), bytes.len());
            // The reader has gone since: the signal is this line's, and goes with it.
            if written < 0 && *libc::__errno_location() == libc::EPIPE && !was_pending {
                let now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
                libc::sigtimedwait(&raw const broken, core::ptr::null_mut(), &raw const now);
            }
            libc::sigprocmask(libc::SIG_SETMASK, &raw const before, core::ptr::null_mut());
        }
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
