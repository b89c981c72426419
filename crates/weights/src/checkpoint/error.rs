//! Why a checkpoint is refused.

use std::io;
use std::path::PathBuf;

use millpond_wire::caps;

use super::formats::OtherFormat;
use crate::header::HeaderError;
use crate::shown;

/// Why a checkpoint is refused. Nothing was allocated and nothing is open any more.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    #[error("{}: {error}", .path.display())]
    Io {
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// A pipe, a socket, a device.
    #[error("{}: not a regular file", .0.display())]
    NotRegular(PathBuf),
    /// Not a safetensors file, or a damaged one.
    #[error("{}: {error}", .path.display())]
    Header { path: PathBuf, error: HeaderError },
    /// A file, or a folder of files, in a format that is known and not read.
    #[error("{}: this is {}, not safetensors", .path.display(), .format.name())]
    OtherFormat { path: PathBuf, format: OtherFormat },
    /// Somebody wrote to a file since it was opened.
    #[error("{}: changed while it was read; load it again when it is complete", .0.display())]
    Changed(PathBuf),
    /// A folder without a checkpoint.
    #[error("{}: no *.safetensors file is in this folder", .0.display())]
    EmptyFolder(PathBuf),
    /// More than one index, and none with the usual name.
    #[error("{}: there are several *.safetensors.index.json in this folder; name the one to load", .0.display())]
    SeveralIndexes(PathBuf),
    /// The index cannot be read.
    #[error("{}: the index cannot be read: {error}", .path.display())]
    Index { path: PathBuf, error: String },
    /// The index names a file outside its folder.
    #[error("{}: the index names '{}', which is not a plain file name", .index.display(), shown(.shard))]
    ShardName { index: PathBuf, shard: String },
    /// The index names a file that is not there.
    #[error("{}: the index names {}, which does not exist", .index.display(), .shard.display())]
    MissingShard { index: PathBuf, shard: PathBuf },
    /// The index names a tensor that its file lacks.
    #[error("{}: the index says that tensor '{}' is in {}, where it is not", .index.display(), shown(.name), shown(.shard))]
    NotInShard { index: PathBuf, name: String, shard: String },
    /// One name in two files.
    #[error("tensor '{}' is in {} and in {}; name only the files that belong together", shown(.name), .first.display(), .second.display())]
    Duplicate {
        name: String,
        /// A file that has it.
        first: PathBuf,
        second: PathBuf,
    },
    #[error("the checkpoint has at least {count} tensors; at most {max} are possible", max = caps::TENSORS_PER_VERSION)]
    TooManyTensors { count: usize },
    /// More than [`caps::METADATA_BYTES`] of all files together.
    #[error("{}: with it the checkpoint has more metadata than can be kept", .path.display())]
    TooMuchMetadata {
        /// The file with which it is too much.
        path: PathBuf,
    },
    #[error("{}: it has no tensors", .path.display())]
    NoTensors {
        /// What was named first.
        path: PathBuf,
    },
}

impl CheckpointError {
    /// The way out, where there is one.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            CheckpointError::OtherFormat { path, format } => {
                Some(format.advice().replace("FILE", &path.display().to_string()))
            }
            _ => None,
        }
    }
}
