//! Why a host ends.

use std::io;

use millpond_cuda::{CudaError, DriverError};
use millpond_wire::trust::TrustError;

use crate::channel::ChannelError;

/// Why there is no host, or none any more.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    #[error(
        "standard input is not a host's channel: this command is started by Millpond itself, \
         use `millpond serve`"
    )]
    NotAChannel,
    /// The daemon does not follow the protocol.
    #[error("expected {expected} on the host's channel")]
    Unexpected {
        /// What should have come.
        expected: &'static str,
    },
    #[error(transparent)]
    Channel(#[from] ChannelError),
    /// Another user can change the driver's library.
    #[error(transparent)]
    Untrusted(#[from] TrustError),
    /// There is no driver, or no such GPU.
    #[error(transparent)]
    Driver(#[from] DriverError),
    /// A driver call failed before there was any memory.
    #[error(transparent)]
    Cuda(#[from] CudaError),
    /// The context is lost, and the memory of all slabs with it.
    #[error("the memory of {slabs} slabs is lost: {source}")]
    Lost { slabs: usize, source: CudaError },
    /// The system said no.
    #[error("{what}: {source}")]
    Io { what: &'static str, source: io::Error },
}

impl HostError {
    pub(crate) fn io<E: Into<io::Error>>(what: &'static str) -> impl FnOnce(E) -> Self {
        move |error| HostError::Io { what, source: error.into() }
    }
}
