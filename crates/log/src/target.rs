//! Where lines go.

use std::io;
use std::os::fd::BorrowedFd;
use std::path::PathBuf;

use crate::file::LogFile;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Standard error, as it was when the process started.
    StandardError,
    /// A file that several processes append to.
    File {
        path: PathBuf,
        /// The file is rotated before it grows beyond this; zero means never.
        rotate_bytes: u64,
    },
}

/// Takes lines, one at a time, from one thread.
pub(crate) trait Sink: Send {
    /// Writes a whole line.
    fn write(&mut self, line: &[u8]) -> io::Result<()>;
}

impl Target {
    pub(crate) fn open(self) -> Box<dyn Sink> {
        match self {
            Target::StandardError => Box::new(StandardError { torn: false }),
            Target::File { path, rotate_bytes } => Box::new(LogFile::new(path, rotate_bytes)),
        }
    }
}

/// Written without std's lock on it: a printer elsewhere must not wait for a writer that blocks.
struct StandardError {
    torn: bool,
}

impl Sink for StandardError {
    fn write(&mut self, line: &[u8]) -> io::Result<()> {
        write_line(rustix::stdio::stderr(), line, &mut self.torn)
    }
}

/// Writes a line to whatever it is. `torn` says whether the last line was written in part: then
/// this one begins on a line of its own.
pub(crate) fn write_line(fd: BorrowedFd<'_>, line: &[u8], torn: &mut bool) -> io::Result<()> {
    if *torn {
        write_all(fd, b"\n").map_err(|(_, error)| error)?;
        *torn = false;
    }
    write_all(fd, line).map_err(|(written, error)| {
        *torn = written > 0;
        error
    })
}

/// What was written before the failure counts.
fn write_all(fd: BorrowedFd<'_>, mut bytes: &[u8]) -> Result<(), (usize, io::Error)> {
    let mut written = 0;
    while !bytes.is_empty() {
        match rustix::io::write(fd, bytes) {
            Ok(0) => return Err((written, io::ErrorKind::WriteZero.into())),
            Ok(count) => {
                written += count;
                bytes = bytes.get(count..).unwrap_or_default();
            }
            Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err((written, errno.into())),
        }
    }
    Ok(())
}
