//! What the channels between the processes of a pond share: keeper and daemon, daemon and mover,
//! daemon and host.
//!
//! A channel is one `SOCK_SEQPACKET` socket pair; a message is one datagram of a kind and its fields,
//! with the descriptors that it names. The messages themselves stay with the two sides that speak them.
//! They are written by hand and not with a schema language: they are few, and the keeper should carry
//! little.

pub mod child;
mod codec;
mod end;
mod error;
pub mod version;

use std::time::Duration;

pub use codec::{Reader, Writer};
pub use end::End;
pub use error::ChannelError;

/// How long a process of the pond waits for room in a channel: far longer than a living peer needs,
/// short enough for a person who waits.
pub const SEND_TIMEOUT: Duration = Duration::from_secs(2);

/// A message of a channel.
pub trait Frame: Sized {
    /// The longest, in bytes.
    const MAX_BYTES: usize;

    /// How many descriptors travel with this message.
    fn fds(&self) -> usize;

    /// # Errors
    /// [`ChannelError::Malformed`] if a field is longer than the channel allows.
    fn to_bytes(&self) -> Result<Vec<u8>, ChannelError>;

    /// Reads a message completely.
    ///
    /// # Errors
    /// [`ChannelError::Malformed`], [`ChannelError::Invalid`] or [`ChannelError::Version`].
    fn from_bytes(bytes: &[u8]) -> Result<Self, ChannelError>;
}
