//! Where the bytes of a tensor go.

use std::fmt;
use std::fs::File;
use std::io::{Seek, Write};

use rustix::fs::FallocateFlags;
use rustix::io::Errno;

use super::source::is_fuse;
use crate::{Error, Result};

/// Where the bytes of a tensor go.
pub struct Sink<'a> {
    pub(super) label: String,
    pub(super) place: Place<'a>,
}

pub(super) enum Place<'a> {
    /// One that the mover can write by itself.
    File {
        file: File,
        begin: u64,
    },
    Writer(Box<dyn Write + 'a>),
}

impl<'a> Sink<'a> {
    /// An open file from where it stands, or a pipe or the like. `label` is what messages call it.
    ///
    /// # Errors
    /// `file` if the system does not say what it is.
    pub fn file(mut file: File, label: impl Into<String>) -> Result<Self> {
        let label = label.into();
        let failed = |error| Error::in_file(format_args!("looking at {label}"), &error);
        let appends = rustix::fs::fcntl_getfl(&file)
            .is_ok_and(|flags| flags.contains(rustix::fs::OFlags::APPEND));
        // Writes to a place are not possible where everything is appended.
        let plain = file.metadata().map_err(failed)?.is_file() && !appends && !is_fuse(&file);
        let place = if plain {
            let begin = file.stream_position().map_err(failed)?;
            Place::File { file, begin }
        } else {
            Place::Writer(Box::new(file))
        };
        Ok(Self { label, place })
    }

    /// Whatever can be written. `label` is what messages call it.
    pub fn writer(writer: impl Write + 'a, label: impl Into<String>) -> Self {
        Self { label: label.into(), place: Place::Writer(Box::new(writer)) }
    }
}

impl fmt::Debug for Sink<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sink").field("label", &self.label).finish_non_exhaustive()
    }
}

/// Takes the room that the bytes need, where the file system can, so that a full disk is known
/// before anything is moved.
pub(crate) fn make_room(file: &File, begin: u64, bytes: u64, label: &str) -> Result<()> {
    let made = rustix::io::retry_on_intr(|| {
        rustix::fs::fallocate(file, FallocateFlags::empty(), begin, bytes)
    });
    match made {
        Err(errno @ (Errno::NOSPC | Errno::DQUOT | Errno::FBIG)) => {
            let what = format!("making room for {bytes} bytes in {label}");
            Err(Error::in_file(what, &errno.into()))
        }
        // Not every file system can; then it is seen when it is written.
        _ => Ok(()),
    }
}
