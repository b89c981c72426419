//! What can be wrong with a channel.

use std::error::Error;

use millpond_wire::socket::SocketError;

use crate::version::Versions;

/// Why a message could not be sent or taken.
#[derive(Debug, thiserror::Error)]
pub enum ChannelError {
    /// The peer closed its end, and everything it had sent was read.
    #[error("the other end of the channel hung up")]
    HungUp,
    /// The peer does not read, or does not answer.
    #[error("the other end of the channel did nothing for {seconds} s")]
    HungPeer { seconds: u64 },
    /// The kernel lets this user have no more descriptors on their way. That says nothing about the
    /// peer: they may be anybody's.
    #[error(
        "too many descriptors of this user are on their way to processes that do not read them"
    )]
    InFlight,
    /// The bytes are not a message of this channel.
    #[error("malformed channel message: {0}")]
    Malformed(&'static str),
    /// A field of the message breaks a rule of its own.
    #[error("malformed channel message")]
    Invalid(#[source] Box<dyn Error + Send + Sync>),
    /// The peer is of another program, whose messages mean something else.
    #[error("the other end speaks version {theirs} of the channel, this program {ours}")]
    Version { theirs: u32, ours: Versions },
    /// A message came, or was to be sent, with another number of descriptors than it names.
    #[error("a channel message for {expected} descriptors has {found}")]
    Descriptors { expected: usize, found: usize },
    /// The socket said no.
    #[error("the channel: {0}")]
    Socket(#[source] SocketError),
}

impl From<SocketError> for ChannelError {
    fn from(error: SocketError) -> ChannelError {
        match error {
            SocketError::HungUp => ChannelError::HungUp,
            other => ChannelError::Socket(other),
        }
    }
}
