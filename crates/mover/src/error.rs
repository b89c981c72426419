//! Why a mover ends.

use std::io;

use millpond_cuda::{CudaError, DriverError};
use millpond_wire::trust::TrustError;

use crate::channel::ChannelError;

/// Why there is no mover, or none any more. The daemon starts the next one.
#[derive(Debug, thiserror::Error)]
pub enum MoverError {
    #[error(
        "standard input is not a mover's channel: this command is started by Millpond itself, \
         use `millpond serve`"
    )]
    NotAChannel,
    /// The daemon does not follow the protocol.
    #[error("expected {expected} on the mover's channel")]
    Unexpected {
        /// What should have come.
        expected: &'static str,
    },
    #[error(transparent)]
    Channel(#[from] ChannelError),
    /// No ring can be made like this.
    #[error(
        "a ring of {threads} threads with {depth} buffers of {block_bytes} bytes is not allowed: \
         at most 64 threads, 16 buffers, 64 MiB in whole pages, 2 GiB together"
    )]
    Ring {
        threads: u16,
        /// Bytes of a buffer.
        block_bytes: u32,
        /// Buffers of a thread.
        depth: u8,
    },
    /// A wish for tests was not understood.
    #[error("{variable}='{value}' is not {expected}")]
    Fault {
        variable: &'static str,
        value: String,
        /// What it may hold.
        expected: &'static str,
    },
    /// Another user can change the driver's library.
    #[error(transparent)]
    Untrusted(#[from] TrustError),
    /// There is no driver, or no such GPU.
    #[error(transparent)]
    Driver(#[from] DriverError),
    /// A driver call failed.
    #[error(transparent)]
    Cuda(#[from] CudaError),
    /// The system said no.
    #[error("{what}: {source}")]
    Io { what: &'static str, source: io::Error },
}

impl MoverError {
    pub(crate) fn io<E: Into<io::Error>>(what: &'static str) -> impl FnOnce(E) -> Self {
        move |error| MoverError::Io { what, source: error.into() }
    }
}
