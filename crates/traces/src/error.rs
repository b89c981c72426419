//! What can go wrong here.

use thiserror::Error;

/// A trace, a simulation or a replay that cannot be.
#[derive(Debug, Error)]
pub enum TraceError {
    /// A line of a trace that is no model and no request.
    #[error("line {line} {why}")]
    Line {
        /// Its number, from 1 on.
        line: u64,
        /// What is wrong with it.
        why: String,
    },
    /// Choose fewer models, a larger card, or a smaller `--shrink`.
    #[error("{what} does not fit: it needs {needed} bytes, and there are {available}")]
    NoRoom {
        /// What has no room.
        what: String,
        /// What it takes at least.
        needed: u64,
        /// What there is.
        available: u64,
    },
    /// Choose a number of models that there are.
    #[error("there are 1 to {most} models, not {asked}")]
    Models {
        /// What was asked for.
        asked: usize,
        /// How many are known.
        most: usize,
    },
    /// At the end of a run somebody still had memory: a fault of this program.
    #[error("{blocks} blocks and {bytes} bytes are left after the last request")]
    Left {
        /// Blocks that nobody has given back.
        blocks: u64,
        /// Memory that nobody has given back.
        bytes: u64,
    },
    /// A request that nobody ever served or refused: a fault of this program.
    #[error("request {request} was neither served nor refused")]
    Unserved {
        /// Its place in the trace.
        request: usize,
    },
    /// Choose a way that real memory can have.
    #[error("'{0}' cannot be replayed: no memory is like that")]
    NoReplay(&'static str),
    /// A cache that failed for another reason than want of room.
    #[error(transparent)]
    Cache(#[from] millpond_elastic::ElasticError),
    /// The pond, or the way to it.
    #[error(transparent)]
    Pond(#[from] millpond::Error),
    /// The bare driver.
    #[error(transparent)]
    Driver(#[from] millpond_cuda::CudaError),
    /// A file.
    #[error(transparent)]
    File(#[from] std::io::Error),
}

impl From<millpond_elastic::GeometryError> for TraceError {
    fn from(error: millpond_elastic::GeometryError) -> Self {
        Self::Cache(error.into())
    }
}
