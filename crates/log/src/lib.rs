//! The log of keeper, daemon and mover.
//!
//! Key decision: a process that logs hands a complete line to a bounded queue and goes on. One
//! thread writes the lines to standard error or to a file. A line that does not fit the queue, or
//! that the target refuses, is dropped and counted; the count is written as soon as the target takes
//! lines again. So neither a full disk nor a reader that went away can stop or end a pond.
//!
//! Refused: standard error without blocking, because its description is shared with the shell and
//! with every other program of the terminal; a wait for room in the queue, because the thread that
//! logs is the one that serves; and `tracing-appender`, which rotates by time and bounds no bytes.

#![forbid(unsafe_code)]

mod file;
mod line;
mod panics;
mod queue;
mod service;
mod target;
mod writer;

use std::io::{self, Write};
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use tracing_subscriber::fmt::MakeWriter;

pub use file::{KEPT, LogFile, distrust, rotated};
pub use line::Style;
pub use panics::{die, end_on_panic};
pub use queue::{QUEUE_BYTES, QUEUE_LINES};
pub use service::start_service;
pub use target::Target;
pub use writer::Log;

/// How long a process that ends in order waits for its last lines. Long enough for a slow disk, short
/// enough that nobody notices a reader that went away.
pub const FLUSH_WITHIN: Duration = Duration::from_millis(500);

static INSTALLED: OnceLock<Log> = OnceLock::new();

/// Starts the log of this process, once: a second call returns the first log.
pub fn install(target: Target, style: Style) -> &'static Log {
    INSTALLED.get_or_init(|| Log::start(target, style))
}

/// Waits until everything that was logged is written, for at most that long. Whether it is; `true`
/// in a process without a log.
pub fn flush(within: Duration) -> bool {
    INSTALLED.get().is_none_or(|log| log.flush(within))
}

/// Says an error in the log, if that is a file: for what standard error is told in other words.
pub fn error_in_file(message: &str) {
    if let Some(log) = INSTALLED.get() {
        log.error_in_file(message);
    }
}

/// Opens a log file and closes it again, to tell whoever chose the path why that is not possible. A
/// full disk is not a reason: lines are lost until there is room.
///
/// # Errors
/// What the system says.
pub fn check_file(path: &Path) -> io::Result<()> {
    match file::open(path) {
        Err(error) if !file::is_short_of_room(&error) => Err(error),
        _ => Ok(()),
    }
}

/// Takes one line of `tracing-subscriber`, which formats an event completely before it writes.
#[derive(Debug)]
pub struct LineWriter<'log>(&'log Log);

impl Write for LineWriter<'_> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.0.push(line);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'log> MakeWriter<'log> for Log {
    type Writer = LineWriter<'log>;

    fn make_writer(&'log self) -> Self::Writer {
        LineWriter(self)
    }
}
