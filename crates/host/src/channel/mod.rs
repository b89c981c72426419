//! The channel between daemon and host: one `SOCK_SEQPACKET` socket pair.
//!
//! ```text
//! daemon → host   Start or Hello                    then Allocate, Free, Stop
//! host → daemon   Ready, or Holds and HoldsEnd      then an answer for each Allocate and Free
//! ```
//!
//! `Start` is said once, by the daemon that starts the host; each later daemon says `Hello`. What comes
//! before the `HoldsEnd` of its own epoch was meant for a daemon before it, and is as true.
//!
//! The ends differ: the daemon never waits for a host, the host has nothing else to do.

mod from_host;
mod to_host;

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use millpond_channel::End;
use millpond_channel::version::Versions;
pub use millpond_channel::{ChannelError, SEND_TIMEOUT};
use millpond_wire::caps;

pub use from_host::{FromHost, Handle, Holding, NO_EVENT, Why};
pub use to_host::{SLAB_UNIT_BYTES, ToHost};

/// The versions of this protocol that a program speaks, in the first message of each side. A host
/// lives on when its daemon is replaced by one of another program, so there can be several.
pub const VERSIONS: Versions = Versions { oldest: 1, newest: 1 };

/// Holdings in one message, so that it fits a datagram with room for more fields.
pub const HOLDINGS_PER_MESSAGE: usize = 256;

/// The daemon's longest message has two numbers, a slab and a flag; the rest is for other versions.
const TO_HOST_BYTES: usize = 128;
/// The host's longest message: all holdings that it may have, and what is before them. A text is
/// shorter.
const FROM_HOST_BYTES: usize = HOLDINGS_PER_MESSAGE * from_host::HOLDING_BYTES + 64;
const _: () = assert!(FROM_HOST_BYTES <= caps::MESSAGE_BYTES);
const _: () = assert!(caps::TEXT_BYTES + 64 <= FROM_HOST_BYTES);

/// How long the host waits before it tries again what the system has refused for now.
const AGAIN: Duration = Duration::from_millis(10);

/// The daemon's end. It never waits for long.
#[derive(Debug)]
pub struct DaemonEnd(End<ToHost, FromHost>);

impl DaemonEnd {
    /// Two connected ends: one to keep, one for the standard input of a host.
    ///
    /// # Errors
    /// What the system says.
    pub fn pair() -> Result<(DaemonEnd, OwnedFd), ChannelError> {
        let (ours, theirs) = End::pair()?;
        Ok((DaemonEnd(ours), theirs))
    }

    /// An end that a daemon before this one has used.
    #[must_use]
    pub fn new(socket: OwnedFd) -> DaemonEnd {
        DaemonEnd(End::new(socket))
    }

    /// A second descriptor of this end. The host lives while there is one, in whatever process.
    ///
    /// # Errors
    /// What the system says.
    pub fn try_clone_fd(&self) -> io::Result<OwnedFd> {
        self.as_fd().try_clone_to_owned()
    }

    /// Sends one message. Waits for room, but not longer than [`SEND_TIMEOUT`].
    ///
    /// # Errors
    /// [`ChannelError::HungPeer`] without room; nothing was sent then.
    pub fn send(&self, message: &ToHost) -> Result<(), ChannelError> {
        self.send_within(message, SEND_TIMEOUT)
    }

    /// As [`Self::send`] with another patience.
    ///
    /// # Errors
    /// As [`Self::send`].
    pub fn send_within(&self, message: &ToHost, patience: Duration) -> Result<(), ChannelError> {
        self.0.send_within(message, &[], patience)
    }

    /// Takes one message if one is there.
    ///
    /// # Errors
    /// [`ChannelError::HungUp`] at the end. After an error about the message, that one message is gone.
    pub fn try_receive(&self) -> Result<Option<FromHost>, ChannelError> {
        Ok(self.0.try_receive()?.map(|(message, _)| message))
    }

    /// Waits for one message, not longer than `patience`.
    ///
    /// # Errors
    /// [`ChannelError::HungPeer`] when none came; else as [`Self::try_receive`].
    pub fn receive_within(&self, patience: Duration) -> Result<FromHost, ChannelError> {
        self.0.receive_within(patience).map(|(message, _)| message)
    }
}

impl AsFd for DaemonEnd {
    /// Readable when the host has said something, or is gone.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// The host's end.
#[derive(Debug)]
pub struct HostEnd(End<FromHost, ToHost>);

impl HostEnd {
    /// The end that a process was started with.
    #[must_use]
    pub fn new(socket: OwnedFd) -> HostEnd {
        HostEnd(End::new(socket))
    }

    /// Sends one message. Waits for room as long as it takes: without a daemon that is until the next
    /// one reads.
    ///
    /// # Errors
    /// [`ChannelError::HungUp`], when nobody has the other end any more.
    pub fn send(&self, message: &FromHost) -> Result<(), ChannelError> {
        loop {
            match self.0.send(message) {
                Err(ChannelError::Socket(error)) if error.is_later() => std::thread::sleep(AGAIN),
                result => return result,
            }
        }
    }

    /// Waits for one message.
    ///
    /// # Errors
    /// [`ChannelError::HungUp`] at the end. After an error about the message, that one message is gone.
    pub fn receive(&self) -> Result<ToHost, ChannelError> {
        self.0.receive().map(|(message, _)| message)
    }

    /// Waits until nobody has the daemon's end any more, and reads nothing.
    ///
    /// # Errors
    /// What the system says.
    pub fn wait_for_hang_up(&self) -> Result<(), ChannelError> {
        self.0.wait_for_hang_up()
    }
}

#[cfg(test)]
mod tests;
