//! Where the bytes of a tensor come from.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::fd::AsFd;
use std::path::Path;
use std::time::SystemTime;

use super::Lease;
use crate::{Error, Result};

/// What `statfs` says of file systems in user space: whoever serves one could let a mover hang.
const FUSE: i64 = 0x6573_5546;

/// Where the bytes of a tensor come from.
///
/// ```no_run
/// # fn main() -> Result<(), millpond::Error> {
/// use millpond::{Dtype, Pond, PutSpec, Source};
///
/// let pond = Pond::connect()?;
/// let spec = PutSpec::new("weights/w0", Dtype::Bf16, [4096, 4096]);
/// pond.put(spec, Source::open("w0.bin")?, |_| {})?;
/// # Ok(())
/// # }
/// ```
pub struct Source<'a> {
    pub(super) label: String,
    pub(super) origin: Origin<'a>,
}

pub(super) enum Origin<'a> {
    /// One that the mover can read by itself.
    File {
        file: File,
        begin: u64,
    },
    Reader(Box<dyn Read + 'a>),
    Tensor(Box<Lease>),
    Zeroes,
}

impl<'a> Source<'a> {
    /// The file at this path, or what comes out of it if it is a pipe or the like.
    ///
    /// # Errors
    /// `file` if it cannot be opened, or is a folder.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let label = format!("'{}'", path.display());
        let file = File::open(path)
            .map_err(|error| Error::in_file(format_args!("opening {label}"), &error))?;
        Self::file(file, label)
    }

    /// An open file from where it stands. `label` is what messages call it.
    ///
    /// # Errors
    /// `file` if it is a folder, or the system does not say what it is.
    pub fn file(mut file: File, label: impl Into<String>) -> Result<Self> {
        let label = label.into();
        let failed = |error| Error::in_file(format_args!("looking at {label}"), &error);
        let metadata = file.metadata().map_err(failed)?;
        if metadata.is_dir() {
            return Err(Error::file(format!("{label} is a folder, not a file")));
        }
        // Files of the kernel's own (/proc, /sys) have no length before they are read.
        let plain = metadata.is_file() && metadata.len() > 0 && !is_fuse(&file);
        let origin = if plain {
            let begin = file.stream_position().map_err(failed)?;
            Origin::File { file, begin }
        } else {
            Origin::Reader(Box::new(file))
        };
        Ok(Self { label, origin })
    }

    /// Whatever can be read, to its end. `label` is what messages call it.
    pub fn reader(reader: impl Read + 'a, label: impl Into<String>) -> Self {
        Self { label: label.into(), origin: Origin::Reader(Box::new(reader)) }
    }

    /// Another tensor.
    #[must_use]
    pub fn tensor(lease: Lease) -> Self {
        let label = format!("tensor '{}'", super::shown(lease.info()));
        Self { label, origin: Origin::Tensor(Box::new(lease)) }
    }

    /// Zeroes.
    #[must_use]
    pub fn zeroes() -> Self {
        Self { label: "zeroes".to_owned(), origin: Origin::Zeroes }
    }

    /// Takes back bytes that were read from it: they are part of the tensor after all.
    #[must_use]
    pub fn put_back(mut self, bytes: Vec<u8>) -> Self {
        self.origin = match self.origin {
            Origin::File { file, begin } => {
                Origin::File { file, begin: begin.saturating_sub(bytes.len() as u64) }
            }
            Origin::Reader(reader) => {
                Origin::Reader(Box::new(io::Cursor::new(bytes).chain(reader)))
            }
            other => other,
        };
        self
    }

    /// How many bytes it has from where it stands, where that is known beforehand.
    #[must_use]
    pub fn length(&self) -> Option<u64> {
        match &self.origin {
            Origin::File { file, begin } => {
                Some(file.metadata().ok()?.len().saturating_sub(*begin))
            }
            Origin::Tensor(lease) => Some(lease.info().bytes),
            Origin::Reader(_) | Origin::Zeroes => None,
        }
    }
}

/// The next bytes, as for a header that stands before a tensor's own; what was read is not part of
/// the tensor. A tensor, or zeroes, have none.
impl Read for Source<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.origin {
            Origin::File { file, begin } => {
                let some = std::os::unix::fs::FileExt::read_at(file, buffer, *begin)?;
                *begin += some as u64;
                Ok(some)
            }
            Origin::Reader(reader) => reader.read(buffer),
            Origin::Tensor(_) | Origin::Zeroes => Ok(0),
        }
    }
}

impl fmt::Debug for Source<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source").field("label", &self.label).finish_non_exhaustive()
    }
}

/// Whether somebody in user space serves this file.
pub(crate) fn is_fuse(file: &impl AsFd) -> bool {
    rustix::fs::fstatfs(file).is_ok_and(|found| found.f_type == FUSE)
}

/// What must be the same after a file was read.
pub(super) type Extent = (u64, Option<SystemTime>);

/// Checks that a file has exactly the bytes of a tensor.
pub(super) fn extent(
    file: &File,
    begin: u64,
    label: &str,
    name: &str,
    wanted: u64,
) -> Result<Extent> {
    let extent = look(file, label)?;
    let have = extent.0.saturating_sub(begin);
    if have == wanted {
        return Ok(extent);
    }
    Err(Error::file(if have < wanted {
        format!("{label} has only {have} of the {wanted} bytes that tensor '{name}' takes")
    } else {
        let more = have - wanted;
        let plural = if more == 1 { "" } else { "s" };
        format!("{label} has {more} byte{plural} more than the {wanted} that tensor '{name}' takes")
    }))
}

/// Checks that a file was not written while it was read.
pub(super) fn unchanged(file: File, before: Extent, label: &str) -> Result<()> {
    if look(&file, label)? == before {
        return Ok(());
    }
    Err(Error::file(format!("{label} was changed while it was read")))
}

fn look(file: &File, label: &str) -> Result<Extent> {
    let metadata = file
        .metadata()
        .map_err(|error| Error::in_file(format_args!("looking at {label}"), &error))?;
    Ok((metadata.len(), metadata.modified().ok()))
}
