//! The files of a checkpoint, and moves of their bytes.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;

use millpond_weights::pieces::PieceBatch;
use millpond_weights::{Checkpoint, CheckpointError, PlannedTensor};
use millpond_wire::{ContentHash, PiecesKind, TensorId};
use rustix::fs::MemfdFlags;

use super::residency;
use crate::link::Link;
use crate::transfer::{is_fuse, moves};
use crate::{Error, Result};

/// The checkpoint's files as the mover gets them.
pub(super) struct Files {
    open: Vec<OwnedFd>,
    cold: bool,
}

impl Files {
    pub(super) fn open(checkpoint: &Checkpoint, planned: &[PlannedTensor]) -> Result<Self> {
        // Reads past the cache want whole blocks; scattered ones would read most blocks twice.
        let strided = planned.iter().any(|tensor| tensor.runs.len() > 1);
        let mut files = Self { open: Vec::new(), cold: false };
        for source in &checkpoint.files {
            if is_fuse(&source.file) {
                return Err(Error::file(format!(
                    "'{}' is on a file system in user space (FUSE), which a mover does not read; \
                     copy it to a disk first",
                    source.path.display()
                )));
            }
            let direct = if strided {
                None
            } else {
                residency::past_the_cache(&source.file, &source.path, source.bytes)
            };
            files.cold |= direct.is_some();
            let buffered = || {
                let copy = source.file.try_clone();
                copy.map(OwnedFd::from).map_err(|error| in_file(&source.path, &error))
            };
            files.open.push(direct.map_or_else(buffered, Ok)?);
        }
        Ok(files)
    }

    /// Whether some are read past the page cache.
    pub(super) fn is_cold(&self) -> bool {
        self.cold
    }
}

/// Makes the move of a batch, and says what its pieces are.
pub(super) fn move_batch(
    link: &Arc<Link>,
    tensor: TensorId,
    kind: PiecesKind,
    batch: &PieceBatch,
    files: &Files,
) -> Result<Vec<ContentHash>> {
    let pieces = batch.pieces.iter().map(|(piece, ..)| *piece).collect();
    let missing = || Error::system("reading a checkpoint", "a file was not opened");
    let file = files.open.get(batch.file).ok_or_else(missing)?;
    if !batch.is_scattered() {
        return moves::pieces(link, tensor, kind, pieces, batch.runs.clone(), Some(file));
    }
    let failed = |error| Error::system("bringing scattered bytes together", error);
    let source = file.try_clone().map(File::from).map_err(failed)?;
    let together = rustix::fs::memfd_create("millpond-gathered", MemfdFlags::CLOEXEC)
        .map_err(|errno| failed(errno.into()))?;
    let together = File::from(together);
    let run = batch.gather(&source, &together).map_err(failed)?;
    moves::pieces(link, tensor, kind, pieces, vec![run], Some(&together.into()))
}

pub(super) fn unreadable(error: CheckpointError) -> Error {
    if let Some(hint) = error.hint() {
        return Error::file_with_hint(error.to_string(), hint);
    }
    match &error {
        CheckpointError::Io { path, error } if error.kind() == std::io::ErrorKind::NotFound => {
            let message = format!("'{}' not found", path.display());
            Error::File { message, reason: Some(error.kind()) }
        }
        CheckpointError::Io { path, error } => Error::in_file(path.display(), error),
        _ => Error::file(error.to_string()),
    }
}

fn in_file(path: &Path, error: &std::io::Error) -> Error {
    Error::in_file(format_args!("opening '{}'", path.display()), error)
}
