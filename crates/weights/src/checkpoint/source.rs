//! One file of a checkpoint.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::PathBuf;

use super::error::CheckpointError;
use super::formats::OtherFormat;
use crate::header::{self, Header, HeaderError, LENGTH_BYTES};

/// A safetensors file, open for reading.
#[derive(Debug)]
pub struct SourceFile {
    /// As it was named.
    pub path: PathBuf,
    /// For reading at offsets; its position is not used.
    pub file: File,
    pub bytes: u64,
    /// Where the header ends and the data begin.
    pub data_start: u64,
    state: State,
}

/// What is different when somebody has written to the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct State {
    device: u64,
    inode: u64,
    bytes: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl State {
    fn of(metadata: &fs::Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            bytes: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }
}

impl SourceFile {
    /// Opens a file and reads its header.
    pub(super) fn open(path: PathBuf) -> Result<(Self, Header), CheckpointError> {
        let file = match open_regular(&path) {
            Ok(Some(file)) => file,
            Ok(None) => return Err(CheckpointError::NotRegular(path)),
            Err(error) => return Err(CheckpointError::Io { path, error }),
        };
        let state = match file.metadata() {
            Ok(metadata) => State::of(&metadata),
            Err(error) => return Err(CheckpointError::Io { path, error }),
        };
        let (header, header_bytes) = match read_header(&file, state.bytes) {
            Ok(read) => read,
            Err(Refused::Io(error)) => return Err(CheckpointError::Io { path, error }),
            Err(Refused::Header(error)) => {
                return Err(match OtherFormat::of(&file) {
                    Some(format) => CheckpointError::OtherFormat { path, format },
                    None => CheckpointError::Header { path, error },
                });
            }
        };
        let data_start = LENGTH_BYTES + header_bytes;
        let source = Self { path, file, bytes: state.bytes, data_start, state };
        Ok((source, header))
    }

    /// Whether the file is still what it was when it was opened.
    ///
    /// # Errors
    /// [`CheckpointError::Changed`] where somebody has written to it.
    pub fn check_unchanged(&self) -> Result<(), CheckpointError> {
        let metadata = self
            .file
            .metadata()
            .map_err(|error| CheckpointError::Io { path: self.path.clone(), error })?;
        if State::of(&metadata) == self.state {
            Ok(())
        } else {
            Err(CheckpointError::Changed(self.path.clone()))
        }
    }
}

/// `None` for what is not a regular file. It never waits, as opening a pipe would.
pub(crate) fn open_regular(path: &PathBuf) -> io::Result<Option<File>> {
    if !fs::metadata(path)?.is_file() {
        return Ok(None);
    }
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    // Another one may have taken its place since.
    Ok(file.metadata()?.is_file().then_some(file))
}

enum Refused {
    Io(io::Error),
    Header(HeaderError),
}

impl From<io::Error> for Refused {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<HeaderError> for Refused {
    fn from(error: HeaderError) -> Self {
        Self::Header(error)
    }
}

fn read_header(file: &File, file_bytes: u64) -> Result<(Header, u64), Refused> {
    if file_bytes < LENGTH_BYTES {
        return Err(HeaderError::NoLength(file_bytes).into());
    }
    let mut first = [0; 8];
    file.read_exact_at(&mut first, 0)?;
    let header_bytes = header::header_bytes(first, file_bytes)?;
    let mut text = vec![0; usize::try_from(header_bytes).unwrap_or_default()];
    file.read_exact_at(&mut text, LENGTH_BYTES)?;
    let header = Header::parse(&text)?;
    let has = file_bytes - LENGTH_BYTES - header_bytes;
    if header.data_bytes != has {
        return Err(HeaderError::FileSize { needs: header.data_bytes, has }.into());
    }
    Ok((header, header_bytes))
}
