//! The channel between daemon and mover: one `SOCK_SEQPACKET` socket pair.
//!
//! ```text
//! daemon → mover   Start             then Map, Unmap, Job, Cancel, Stop
//! mover → daemon   Ready or Failed   then an answer for each Map, Unmap and Job
//! ```
//!
//! The ends differ: the daemon never waits for a mover, the mover has nothing else to do.

mod from_mover;
mod pieces;
mod rights;
mod to_mover;

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use millpond_channel::End;
use millpond_channel::version::Versions;
pub use millpond_channel::{ChannelError, SEND_TIMEOUT};
use millpond_wire::caps;

pub use from_mover::{FromMover, Why};
pub use millpond_wire::PiecesKind;
pub(crate) use pieces::FILE_END;
pub use pieces::Pieces;
pub use rights::Rights;
pub use to_mover::{Job, ToMover, Work};

/// The version of this protocol, in the first message of each side. A daemon starts its movers from the
/// file that it runs itself, so there is never a reason to speak another one.
pub const VERSIONS: Versions = Versions::only(5);

/// The daemon's longest message: all pieces and runs of a move, 16 bytes each, the groups of its user,
/// and what is before them.
const TO_MOVER_BYTES: usize =
    (caps::PIECES_PER_MOVE + caps::RUNS_PER_MOVE) * 16 + rights::RIGHTS_BYTES + 64;
/// The mover's longest message: the hashes of all pieces of a move, and what is before them. A text
/// is shorter.
const FROM_MOVER_BYTES: usize = caps::PIECES_PER_MOVE * 16 + 64;
const _: () = assert!(TO_MOVER_BYTES <= caps::MESSAGE_BYTES);
const _: () = assert!(caps::TEXT_BYTES + 64 <= FROM_MOVER_BYTES);

/// The daemon's end. It never waits for long.
#[derive(Debug)]
pub struct DaemonEnd(End<ToMover, FromMover>);

impl DaemonEnd {
    /// Two connected ends: one to keep, one for the standard input of a mover.
    ///
    /// # Errors
    /// What the system says.
    pub fn pair() -> Result<(DaemonEnd, OwnedFd), ChannelError> {
        let (ours, theirs) = End::pair()?;
        Ok((DaemonEnd(ours), theirs))
    }

    /// Sends one message, with its descriptor if it takes one. Waits for room, but not longer than
    /// [`SEND_TIMEOUT`].
    ///
    /// # Errors
    /// [`ChannelError::HungPeer`] without room; nothing was sent then.
    pub fn send(&self, message: &ToMover, fd: Option<BorrowedFd<'_>>) -> Result<(), ChannelError> {
        self.send_within(message, fd, SEND_TIMEOUT)
    }

    /// As [`Self::send`] with another patience.
    ///
    /// # Errors
    /// As [`Self::send`].
    pub fn send_within(
        &self,
        message: &ToMover,
        fd: Option<BorrowedFd<'_>>,
        patience: Duration,
    ) -> Result<(), ChannelError> {
        self.0.send_within(message, fd.as_slice(), patience)
    }

    /// Takes one message if one is there.
    ///
    /// # Errors
    /// [`ChannelError::HungUp`] at the end. After an error about the message, that one message is gone.
    pub fn try_receive(&self) -> Result<Option<(FromMover, Option<OwnedFd>)>, ChannelError> {
        Ok(self.0.try_receive()?.map(|(message, mut fds)| (message, fds.pop())))
    }

    /// Waits for one message, not longer than `patience`.
    ///
    /// # Errors
    /// [`ChannelError::HungPeer`] when none came; else as [`Self::try_receive`].
    pub fn receive_within(
        &self,
        patience: Duration,
    ) -> Result<(FromMover, Option<OwnedFd>), ChannelError> {
        self.0.receive_within(patience).map(|(message, mut fds)| (message, fds.pop()))
    }
}

impl AsFd for DaemonEnd {
    /// Readable when the mover has said something, or is gone.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// The mover's end. A message is one datagram, so all threads may send.
#[derive(Debug)]
pub struct MoverEnd(End<FromMover, ToMover>);

impl MoverEnd {
    /// The end that a process was started with.
    #[must_use]
    pub fn new(socket: OwnedFd) -> MoverEnd {
        MoverEnd(End::new(socket))
    }

    /// Sends one message. Waits for room: a daemon that does not read needs no mover.
    ///
    /// # Errors
    /// [`ChannelError::HungUp`].
    pub fn send(&self, message: &FromMover) -> Result<(), ChannelError> {
        self.0.send(message)
    }

    /// As [`Self::send`], with the descriptor that belongs to the message.
    ///
    /// # Errors
    /// As for [`Self::send`].
    pub fn send_with(
        &self,
        message: &FromMover,
        fd: Option<BorrowedFd<'_>>,
    ) -> Result<(), ChannelError> {
        self.0.send_with(message, fd.as_slice())
    }

    /// Waits for one message.
    ///
    /// # Errors
    /// [`ChannelError::HungUp`] at the end.
    pub fn receive(&self) -> Result<(ToMover, Option<OwnedFd>), ChannelError> {
        self.0.receive().map(|(message, mut fds)| (message, fds.pop()))
    }

    /// Waits until the daemon's end is closed, and reads nothing.
    ///
    /// # Errors
    /// What the system says.
    pub fn wait_for_hang_up(&self) -> Result<(), ChannelError> {
        self.0.wait_for_hang_up()
    }
}

#[cfg(test)]
mod tests;
