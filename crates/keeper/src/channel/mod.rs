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
use std::time::{Duration, Instant};

use millpond_wire::limits;
use millpond_wire::socket::{self, SocketError};
use rustix::event::{PollFd, PollFlags, Timespec};

pub use key::{HoldKey, KeyError, KeyView};
pub use message::{CONFIG_BYTES, KEYS_PER_MESSAGE, Message, TEXT_BYTES};

/// Version of this protocol. Keeper and daemon of one pond may be of different programs, after an
/// upgrade; they understand each other if this is the same.
pub const VERSION: u32 = 1;

/// How long [`Channel::send`] waits for room: far longer than a living peer needs, short enough
/// for a person who waits.
pub const SEND_TIMEOUT: Duration = Duration::from_secs(2);
/// How long the first messages to a process that was just started may take: it has to be loaded
/// from a disk that may be busy.
pub const HANDOVER_TIMEOUT: Duration = Duration::from_secs(10);

/// Why a message could not be sent or taken.
#[derive(Debug, thiserror::Error)]
pub enum ChannelError {
    /// The peer closed its end, and everything it had sent was read.
    #[error("the other end of the channel hung up")]
    HungUp,
    /// The peer does not read, or does not answer.
    #[error("the other end of the channel did nothing for {seconds} s")]
    HungPeer {
        /// For how long.
        seconds: u64,
    },
    /// The bytes are not a message of this protocol.
    #[error("malformed channel message: {0}")]
    Malformed(&'static str),
    /// A key in it is none.
    #[error("malformed channel message")]
    Key(#[from] KeyError),
    /// A message came, or was to be sent, with another number of descriptors than it names.
    #[error("a channel message for {expected} descriptors has {found}")]
    Descriptors {
        /// How many it names.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// The socket said no.
    #[error("channel")]
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

/// One end of the channel.
#[derive(Debug)]
pub struct Channel {
    socket: OwnedFd,
}

impl Channel {
    /// Two connected ends: one to keep, one for the standard input of a new process.
    ///
    /// # Errors
    /// What the system says.
    pub fn pair() -> Result<(Channel, OwnedFd), ChannelError> {
        let (ours, theirs) = socket::pair()?;
        Ok((Channel::new(ours), theirs))
    }

    /// An end that was made before.
    #[must_use]
    pub fn new(socket: OwnedFd) -> Channel {
        Channel { socket }
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
        message.check_descriptors(fds.len())?;
        let bytes = message.encode()?;
        let deadline = Instant::now() + patience;
        loop {
            match socket::send(&self.socket, &bytes, fds, false) {
                Ok(()) => return Ok(()),
                Err(error) if error.is_later() => {}
                Err(error) => return Err(error.into()),
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || !self.wait(PollFlags::OUT, left)? {
                return Err(ChannelError::HungPeer { seconds: patience.as_secs() });
            }
            // "Too many descriptors in flight" leaves the socket writable: do not spin on it.
            std::thread::sleep(Duration::from_millis(1).min(left));
        }
    }

    /// Sends keys with their descriptors in as few messages as allowed.
    ///
    /// # Errors
    /// As [`Self::send`]; some of them may have been sent.
    pub fn send_keys<'fd>(
        &self,
        message: impl Fn(Vec<HoldKey>) -> Message,
        holds: impl IntoIterator<Item = (HoldKey, BorrowedFd<'fd>)>,
        patience: Duration,
    ) -> Result<(), ChannelError> {
        let mut holds = holds.into_iter();
        loop {
            let (keys, fds): (Vec<_>, Vec<_>) = holds.by_ref().take(KEYS_PER_MESSAGE).unzip();
            if keys.is_empty() {
                return Ok(());
            }
            self.send_within(&message(keys), &fds, patience)?;
        }
    }

    /// Takes one message if one is there.
    ///
    /// # Errors
    /// [`ChannelError::HungUp`] at the end. After [`ChannelError::Malformed`],
    /// [`ChannelError::Key`] or [`ChannelError::Descriptors`] that one message is gone, its
    /// descriptors are closed, and the channel goes on.
    pub fn try_receive(&self) -> Result<Option<(Message, Vec<OwnedFd>)>, ChannelError> {
        let mut buffer = vec![0; limits::MESSAGE_BYTES];
        let Some(received) = socket::receive(&self.socket, &mut buffer, false)? else {
            return Ok(None);
        };
        buffer.truncate(received.bytes);
        let message = Message::decode(&buffer)?;
        message.check_descriptors(received.fds.len())?;
        Ok(Some((message, received.fds)))
    }

    /// Waits for one message.
    ///
    /// # Errors
    /// As [`Self::try_receive`].
    pub fn receive(&self) -> Result<(Message, Vec<OwnedFd>), ChannelError> {
        loop {
            if let Some(received) = self.try_receive()? {
                return Ok(received);
            }
            self.wait(PollFlags::IN, Duration::from_secs(3600))?;
        }
    }

    /// Waits for one message, not longer than `patience`.
    ///
    /// # Errors
    /// [`ChannelError::HungPeer`] when none came; else as [`Self::try_receive`].
    pub fn receive_within(
        &self,
        patience: Duration,
    ) -> Result<(Message, Vec<OwnedFd>), ChannelError> {
        let deadline = Instant::now() + patience;
        loop {
            if let Some(received) = self.try_receive()? {
                return Ok(received);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(ChannelError::HungPeer { seconds: patience.as_secs() });
            }
            self.wait(PollFlags::IN, left)?;
        }
    }

    /// Whether the socket became ready; an interruption counts as ready, the caller looks again.
    fn wait(&self, flags: PollFlags, patience: Duration) -> Result<bool, ChannelError> {
        let timeout = Timespec::try_from(patience).ok();
        match rustix::event::poll(&mut [PollFd::new(&self.socket, flags)], timeout.as_ref()) {
            Ok(ready) => Ok(ready > 0),
            Err(rustix::io::Errno::INTR) => Ok(true),
            Err(errno) => Err(ChannelError::Socket(SocketError::Io {
                what: "waiting for the channel".to_owned(),
                source: errno.into(),
            })),
        }
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

#[cfg(test)]
mod tests;
