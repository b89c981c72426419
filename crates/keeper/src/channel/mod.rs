//! The channel between keeper and daemon: one `SOCK_SEQPACKET` socket pair.
//!
//! ```text
//! keeper → daemon   Start, Held…, Ready            then Ping, Stop, HandOver, UpgradeRefused
//! daemon → keeper   Serving, then Hold, Drop, Pong, Upgrade, HandedOver
//! daemon → new keeper   Adopt, Hold…, AdoptDone    then as above
//! ```

mod key;
mod message;

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use millpond_channel::End;
use millpond_channel::version::Versions;

pub use key::{HoldKey, Holding, KeyError, KeyView};
pub use message::{CONFIG_BYTES, KEYS_PER_MESSAGE, Message, TEXT_BYTES};

pub use millpond_channel::{ChannelError, SEND_TIMEOUT};

/// The versions of this protocol that this program speaks. Keeper and daemon of one pond may be of
/// different programs, after an upgrade; the newest version of both is spoken, and the first message
/// of either says which. Version 2 adds the backings of slabs.
pub const VERSIONS: Versions = Versions { oldest: 1, newest: 2 };

/// How long the first messages to a process that was just started may take: it has to be loaded
/// from a disk that may be busy.
pub const HANDOVER_TIMEOUT: Duration = Duration::from_secs(10);

/// One end of the channel.
#[derive(Debug)]
pub struct Channel {
    end: End<Message, Message>,
    version: u32,
}

impl Channel {
    /// Two connected ends: one to keep, one for the standard input of a new process.
    ///
    /// # Errors
    /// What the system says.
    pub fn pair() -> Result<(Channel, OwnedFd), ChannelError> {
        let (end, theirs) = End::pair()?;
        Ok((Channel { end, version: VERSIONS.newest }, theirs))
    }

    /// An end that was made before.
    #[must_use]
    pub fn new(socket: OwnedFd) -> Channel {
        Channel { end: End::new(socket), version: VERSIONS.newest }
    }

    /// The same end, which from now on sends what this version knows.
    #[must_use]
    pub fn speaking(self, version: u32) -> Channel {
        Channel { version, ..self }
    }

    /// Sends one message with its descriptors. When this returns, the message is the kernel's: it
    /// reaches the peer even if this process is killed at the next instruction.
    ///
    /// # Errors
    /// [`ChannelError::HungPeer`] after [`SEND_TIMEOUT`] without room; nothing was sent then.
    pub fn send(&self, message: &Message, fds: &[BorrowedFd<'_>]) -> Result<(), ChannelError> {
        self.send_within(message, fds, SEND_TIMEOUT)
    }

    /// As [`Self::send`] with another patience.
    ///
    /// # Errors
    /// As [`Self::send`].
    pub fn send_within(
        &self,
        message: &Message,
        fds: &[BorrowedFd<'_>],
        patience: Duration,
    ) -> Result<(), ChannelError> {
        self.end.send_within(&message.for_version(self.version), fds, patience)
    }

    /// Sends descriptors with their keys in as few messages as allowed.
    ///
    /// # Errors
    /// As [`Self::send`]; some of them may have been sent.
    pub fn send_holdings<'fd>(
        &self,
        message: impl Fn(Vec<Holding>) -> Message,
        holds: impl IntoIterator<Item = (Holding, BorrowedFd<'fd>)>,
        patience: Duration,
    ) -> Result<(), ChannelError> {
        let mut holds = holds.into_iter();
        loop {
            let (holdings, fds): (Vec<_>, Vec<_>) = holds.by_ref().take(KEYS_PER_MESSAGE).unzip();
            if holdings.is_empty() {
                return Ok(());
            }
            self.send_within(&message(holdings), &fds, patience)?;
        }
    }

    /// Takes one message if one is there.
    ///
    /// # Errors
    /// [`ChannelError::HungUp`] at the end. After an error about the message, that one message is gone,
    /// its descriptors are closed, and the channel goes on.
    pub fn try_receive(&self) -> Result<Option<(Message, Vec<OwnedFd>)>, ChannelError> {
        self.end.try_receive()
    }

    /// Waits for one message.
    ///
    /// # Errors
    /// As [`Self::try_receive`].
    pub fn receive(&self) -> Result<(Message, Vec<OwnedFd>), ChannelError> {
        self.end.receive()
    }

    /// Waits for one message, not longer than `patience`.
    ///
    /// # Errors
    /// [`ChannelError::HungPeer`] when none came; else as [`Self::try_receive`].
    pub fn receive_within(
        &self,
        patience: Duration,
    ) -> Result<(Message, Vec<OwnedFd>), ChannelError> {
        self.end.receive_within(patience)
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.end.as_fd()
    }
}

#[cfg(test)]
mod tests;
