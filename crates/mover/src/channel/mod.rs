//! The channel between daemon and mover: one `SOCK_SEQPACKET` socket pair.
//!
//! ```text
//! daemon → mover   Start             then Map, Unmap, Job, Stop
//! mover → daemon   Ready or Failed   then an answer for each Map, Unmap and Job
//! ```
//!
//! The ends differ: the daemon never waits for a mover, the mover has nothing else to do.

mod codec;
mod from_mover;
mod pieces;
mod to_mover;

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use millpond_wire::limits;
use millpond_wire::socket::{self, SocketError};
use rustix::event::{PollFd, PollFlags, Timespec};

pub use from_mover::{FromMover, Why};
pub use millpond_wire::PiecesKind;
pub(crate) use pieces::FILE_END;
pub use pieces::Pieces;
pub use to_mover::{Job, ToMover, Work};

/// How long [`DaemonEnd::send`] waits for room: far longer than a living mover needs, short enough
/// for a person who waits.
pub const SEND_TIMEOUT: Duration = Duration::from_secs(2);

/// The daemon's longest message: all pieces and runs of a move, 16 bytes each, and what is before
/// them.
const TO_MOVER_BYTES: usize = (limits::PIECES_PER_MOVE + limits::RUNS_PER_MOVE) * 16 + 64;
/// The mover's longest message: the hashes of all pieces of a move, and what is before them. A text
/// is shorter.
const FROM_MOVER_BYTES: usize = limits::PIECES_PER_MOVE * 16 + 64;
const _: () = assert!(TO_MOVER_BYTES <= limits::MESSAGE_BYTES);
const _: () = assert!(limits::TEXT_BYTES + 64 <= FROM_MOVER_BYTES);

/// Why a message could not be sent or taken.
#[derive(Debug, thiserror::Error)]
pub enum ChannelError {
    /// The peer closed its end, and everything it had sent was read.
    #[error("the other end of the mover's channel hung up")]
    HungUp,
    /// The peer does not read, or does not answer.
    #[error("the other end of the mover's channel did nothing for {seconds} s")]
    HungPeer {
        /// For how long.
        seconds: u64,
    },
    /// The bytes are not a message of this protocol.
    #[error("malformed message on the mover's channel: {0}")]
    Malformed(&'static str),
    /// A message came, or was to be sent, with another number of descriptors than it takes.
    #[error("a message on the mover's channel for {expected} descriptors has {found}")]
    Descriptors {
        /// How many it takes.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// The socket said no.
    #[error("the mover's channel: {0}")]
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

/// The daemon's end.
#[derive(Debug)]
pub struct DaemonEnd {
    socket: OwnedFd,
}

impl DaemonEnd {
    /// Two connected ends: one to keep, one for the standard input of a mover.
    ///
    /// # Errors
    /// What the system says.
    pub fn pair() -> Result<(DaemonEnd, OwnedFd), ChannelError> {
        let (ours, theirs) = socket::pair()?;
        Ok((DaemonEnd { socket: ours }, theirs))
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
        check_descriptors(message.descriptors(), fd.iter().len())?;
        let bytes = message.encode();
        let deadline = Instant::now() + patience;
        loop {
            match socket::send(&self.socket, &bytes, fd.as_slice(), false) {
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

    /// Takes one message if one is there.
    ///
    /// # Errors
    /// [`ChannelError::HungUp`] at the end. After [`ChannelError::Malformed`] or
    /// [`ChannelError::Descriptors`] that one message is gone.
    pub fn try_receive(&self) -> Result<Option<FromMover>, ChannelError> {
        let mut buffer = [0; FROM_MOVER_BYTES];
        let Some(received) = socket::receive(&self.socket, &mut buffer, false)? else {
            return Ok(None);
        };
        check_descriptors(0, received.fds.len())?;
        FromMover::decode(&buffer[..received.bytes]).map(Some)
    }

    /// Waits for one message, not longer than `patience`.
    ///
    /// # Errors
    /// [`ChannelError::HungPeer`] when none came; else as [`Self::try_receive`].
    pub fn receive_within(&self, patience: Duration) -> Result<FromMover, ChannelError> {
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
            Err(errno) => Err(waiting(errno)),
        }
    }
}

impl AsFd for DaemonEnd {
    /// Readable when the mover has said something, or is gone.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// The mover's end. A message is one datagram, so all threads may send.
#[derive(Debug)]
pub struct MoverEnd {
    socket: OwnedFd,
}

impl MoverEnd {
    /// The end that a process was started with.
    #[must_use]
    pub fn new(socket: OwnedFd) -> MoverEnd {
        MoverEnd { socket }
    }

    /// Sends one message. Waits for room: a daemon that does not read needs no mover.
    ///
    /// # Errors
    /// [`ChannelError::HungUp`].
    pub fn send(&self, message: &FromMover) -> Result<(), ChannelError> {
        Ok(socket::send(&self.socket, &message.encode(), &[], true)?)
    }

    /// Waits for one message.
    ///
    /// # Errors
    /// [`ChannelError::HungUp`] at the end.
    pub fn receive(&self) -> Result<(ToMover, Option<OwnedFd>), ChannelError> {
        let mut buffer = [0; TO_MOVER_BYTES];
        loop {
            if let Some(mut received) = socket::receive(&self.socket, &mut buffer, true)? {
                let message = ToMover::decode(&buffer[..received.bytes])?;
                check_descriptors(message.descriptors(), received.fds.len())?;
                return Ok((message, received.fds.pop()));
            }
        }
    }

    /// Waits until the daemon's end is closed, and reads nothing.
    ///
    /// # Errors
    /// What the system says.
    pub fn wait_for_hang_up(&self) -> Result<(), ChannelError> {
        loop {
            let mut fds = [PollFd::new(&self.socket, PollFlags::RDHUP)];
            match rustix::event::poll(&mut fds, None) {
                Ok(_) if !fds[0].revents().is_empty() => return Ok(()),
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(errno) => return Err(waiting(errno)),
            }
        }
    }
}

fn check_descriptors(expected: usize, found: usize) -> Result<(), ChannelError> {
    if found == expected { Ok(()) } else { Err(ChannelError::Descriptors { expected, found }) }
}

fn waiting(errno: rustix::io::Errno) -> ChannelError {
    let what = "waiting for the channel".to_owned();
    ChannelError::Socket(SocketError::Io { what, source: errno.into() })
}

#[cfg(test)]
mod tests;
