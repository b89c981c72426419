//! A log file that several processes append to and any of them rotates.
//!
//! Before each line the path is looked at: when it leads to another file, this process has not
//! noticed yet that somebody rotated (another process of the pond, or logrotate), and opens the new
//! one. The one that finds the file full takes a lock on the *file*, not on the path, looks once more,
//! and moves the names. Renaming the full file is the last step, so whoever opens the path after that
//! finds all older names in place.

use std::fs::{File, Metadata};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use millpond_wire::trust::{self, TrustError};
use rustix::fs::{FlockOperation, OFlags, flock};

use crate::target::{Sink, write_line};

/// Rotated files that are kept: `.1` is the newest.
pub const KEPT: u32 = 3;
/// The log says who uses the pond, and names what they load: nobody else's to read.
const MODE: u32 = 0o600;
/// What is left of the mode of a file that is there already: an operator may let a group read it.
const LEFT: u32 = 0o640;

/// The name of an older log file; `0` is the file itself.
#[must_use]
pub fn rotated(path: &Path, number: u32) -> PathBuf {
    if number == 0 {
        return path.to_owned();
    }
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{number}"));
    name.into()
}

#[derive(Debug)]
pub struct LogFile {
    path: PathBuf,
    rotate_bytes: u64,
    file: Option<File>,
    torn: bool,
}

impl LogFile {
    /// Nothing is opened before the first line.
    #[must_use]
    pub fn new(path: PathBuf, rotate_bytes: u64) -> LogFile {
        LogFile { path, rotate_bytes, file: None, torn: false }
    }

    /// Appends a line.
    ///
    /// # Errors
    /// What the system says; the line is lost then, and the next one may be written.
    pub fn write(&mut self, line: &[u8]) -> io::Result<()> {
        let file = self.current(line.len())?;
        let mut torn = self.torn;
        let written = write_line(file.as_fd(), line, &mut torn);
        self.file = Some(file);
        self.torn = torn;
        written
    }

    /// The file that the path leads to now, with room for a line.
    fn current(&mut self, bytes: usize) -> io::Result<File> {
        let file = self.opened()?;
        if self.rotate_bytes == 0 || !self.is_full(&file.metadata()?, bytes) {
            return Ok(file);
        }
        // Failing to rotate is no reason to lose a line: the file grows until it can be rotated.
        if self.rotate(&file, bytes).unwrap_or(false) { self.opened() } else { Ok(file) }
    }

    fn opened(&mut self) -> io::Result<File> {
        if let Some(file) = self.file.take()
            && let Ok(at_path) = std::fs::metadata(&self.path)
            && is_same(&file.metadata()?, &at_path)
        {
            return Ok(file);
        }
        self.torn = false;
        open(&self.path)
    }

    /// An empty file takes every line. What is no regular file has no size.
    fn is_full(&self, found: &Metadata, bytes: usize) -> bool {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        found.is_file() && found.len() > 0 && found.len().saturating_add(bytes) > self.rotate_bytes
    }

    /// Whether the path leads to another file now. A process that stands still with the lock keeps
    /// nobody waiting.
    fn rotate(&self, full: &File, bytes: usize) -> io::Result<bool> {
        match flock(full, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(rustix::io::Errno::WOULDBLOCK) => return Ok(false),
            Err(errno) => return Err(errno.into()),
        }
        let moved = self.move_names(full, bytes);
        let _ = flock(full, FlockOperation::Unlock);
        moved
    }

    fn move_names(&self, full: &File, bytes: usize) -> io::Result<bool> {
        let found = full.metadata()?;
        // A link stays: renaming it would leave its target as it is.
        let at_path = match std::fs::symlink_metadata(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
            at_path => at_path?,
        };
        if !is_same(&found, &at_path) {
            return Ok(!at_path.is_symlink());
        }
        // Somebody may have emptied it in place.
        if !self.is_full(&found, bytes) {
            return Ok(false);
        }
        for number in (0..KEPT).rev() {
            let (from, to) = (rotated(&self.path, number), rotated(&self.path, number + 1));
            match std::fs::rename(from, to) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(true)
    }
}

impl Sink for LogFile {
    fn write(&mut self, line: &[u8]) -> io::Result<()> {
        LogFile::write(self, line)
    }
}

fn is_same(one: &Metadata, other: &Metadata) -> bool {
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// Only where no other user can have it lead elsewhere or write it. Without blocking, for a path that leads to a pipe:
/// there a line is lost rather than waited for.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let real = trust::way(path, "write").map_err(refused)?;
    let mut flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    if !trust::is_magic(&real) {
        flags |= OFlags::NOFOLLOW;
    }
    let file = File::options()
        .append(true)
        .create(true)
        .mode(MODE)
        .custom_flags(i32::try_from(flags.bits()).unwrap_or(0))
        .open(&real)?;
    let found = file.metadata()?;
    trust::own(path, &found).map_err(refused)?;
    let mode = found.mode() & 0o7777;
    if found.is_file() && mode & !LEFT != 0 {
        file.set_permissions(std::fs::Permissions::from_mode(mode & LEFT))?;
    }
    Ok(file)
}

fn refused(error: TrustError) -> io::Error {
    match error {
        TrustError::Io { source, .. } => source,
        error => io::Error::new(io::ErrorKind::PermissionDenied, error),
    }
}

/// Why a file is not written to, if that is because of another user.
#[must_use]
pub fn distrust(error: &io::Error) -> Option<&TrustError> {
    error.get_ref()?.downcast_ref()
}

pub(crate) fn is_short_of_room(error: &io::Error) -> bool {
    use io::ErrorKind::{QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded)
}

#[cfg(test)]
mod tests;
