//! One end of a channel: sends and takes datagrams with their descriptors.

use std::cell::Cell;
use std::marker::PhantomData;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use millpond_wire::socket::{self, SocketError};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;

use crate::{ChannelError, Frame};

/// How long is waited until others have read descriptors. Whoever sends must not hang because of
/// them, and may try again.
const IN_FLIGHT: Duration = Duration::from_millis(250);

thread_local! {
    /// What this thread reads messages into. To clear as much as the longest message has would take
    /// longer than most messages do.
    static SPACE: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// One end, which sends `Out` and takes `In`. A message is one datagram, so all threads may send.
#[derive(Debug)]
pub struct End<Out, In> {
    socket: OwnedFd,
    speaks: PhantomData<fn(Out) -> In>,
}

impl<Out: Frame, In: Frame> End<Out, In> {
    /// Two connected ends: one to keep, one for the standard input of a new process.
    ///
    /// # Errors
    /// What the system says.
    pub fn pair() -> Result<(Self, OwnedFd), ChannelError> {
        let (ours, theirs) = socket::pair()?;
        Ok((Self::new(ours), theirs))
    }

    /// An end that was made before.
    #[must_use]
    pub fn new(socket: OwnedFd) -> Self {
        Self { socket, speaks: PhantomData }
    }

    /// Sends one message with its descriptors, and waits for room only so long. When this returns, the
    /// message is the kernel's: it reaches the peer even if this process is killed at the next
    /// instruction.
    ///
    /// # Errors
    /// [`ChannelError::HungPeer`] without room, [`ChannelError::InFlight`] with too many descriptors on
    /// their way; nothing was sent then.
    pub fn send_within(
        &self,
        message: &Out,
        fds: &[BorrowedFd<'_>],
        patience: Duration,
    ) -> Result<(), ChannelError> {
        let bytes = frame(message, fds)?;
        let begun = Instant::now();
        let deadline = begun + patience;
        loop {
            match socket::send(&self.socket, &bytes, fds, false) {
                Ok(()) => return Ok(()),
                Err(error) if error.is_in_flight() => {
                    if begun.elapsed() >= IN_FLIGHT.min(patience) {
                        return Err(ChannelError::InFlight);
                    }
                }
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

    /// Sends one message, and waits for room as long as it takes.
    ///
    /// # Errors
    /// [`ChannelError::HungUp`].
    pub fn send(&self, message: &Out) -> Result<(), ChannelError> {
        self.send_with(message, &[])
    }

    /// As [`Self::send`], with the descriptors that belong to the message.
    ///
    /// # Errors
    /// As for [`Self::send`].
    pub fn send_with(&self, message: &Out, fds: &[BorrowedFd<'_>]) -> Result<(), ChannelError> {
        Ok(socket::send(&self.socket, &frame(message, fds)?, fds, true)?)
    }

    /// Takes one message if one is there.
    ///
    /// # Errors
    /// [`ChannelError::HungUp`] at the end. After an error about the message, that one message is gone,
    /// its descriptors are closed, and the channel goes on.
    pub fn try_receive(&self) -> Result<Option<(In, Vec<OwnedFd>)>, ChannelError> {
        self.take(false)
    }

    /// Waits for one message.
    ///
    /// # Errors
    /// As [`Self::try_receive`].
    pub fn receive(&self) -> Result<(In, Vec<OwnedFd>), ChannelError> {
        loop {
            if let Some(received) = self.take(true)? {
                return Ok(received);
            }
        }
    }

    /// Waits for one message, not longer than `patience`.
    ///
    /// # Errors
    /// [`ChannelError::HungPeer`] when none came; else as [`Self::try_receive`].
    pub fn receive_within(&self, patience: Duration) -> Result<(In, Vec<OwnedFd>), ChannelError> {
        let deadline = Instant::now() + patience;
        loop {
            if let Some(received) = self.take(false)? {
                return Ok(received);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(ChannelError::HungPeer { seconds: patience.as_secs() });
            }
            self.wait(PollFlags::IN, left)?;
        }
    }

    /// Waits until the peer's end is closed, and reads nothing.
    ///
    /// # Errors
    /// What the system says.
    pub fn wait_for_hang_up(&self) -> Result<(), ChannelError> {
        loop {
            let mut fds = [PollFd::new(&self.socket, PollFlags::RDHUP)];
            match rustix::event::poll(&mut fds, None) {
                Ok(_) if !fds[0].revents().is_empty() => return Ok(()),
                Ok(_) | Err(Errno::INTR) => {}
                Err(errno) => return Err(waiting(errno)),
            }
        }
    }

    fn take(&self, wait: bool) -> Result<Option<(In, Vec<OwnedFd>)>, ChannelError> {
        let mut space = SPACE.take();
        if space.len() < In::MAX_BYTES {
            space.resize(In::MAX_BYTES, 0);
        }
        let taken = self.take_into(&mut space, wait);
        SPACE.set(space);
        taken
    }

    fn take_into(
        &self,
        space: &mut [u8],
        wait: bool,
    ) -> Result<Option<(In, Vec<OwnedFd>)>, ChannelError> {
        // No longer than messages of this channel: what is longer is none.
        let (buffer, _) = space.split_at_mut(In::MAX_BYTES);
        let Some(received) = socket::receive(&self.socket, buffer, wait)? else {
            return Ok(None);
        };
        let (bytes, _) = buffer.split_at(received.bytes);
        let message = In::from_bytes(bytes)?;
        check(&message, received.fds.len())?;
        Ok(Some((message, received.fds)))
    }

    /// Whether the socket became ready; an interruption counts as ready, the caller looks again.
    fn wait(&self, flags: PollFlags, patience: Duration) -> Result<bool, ChannelError> {
        let timeout = Timespec::try_from(patience).ok();
        match rustix::event::poll(&mut [PollFd::new(&self.socket, flags)], timeout.as_ref()) {
            Ok(ready) => Ok(ready > 0),
            Err(Errno::INTR) => Ok(true),
            Err(errno) => Err(waiting(errno)),
        }
    }
}

impl<Out, In> AsFd for End<Out, In> {
    /// Readable when the peer has said something, or is gone.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

fn frame<M: Frame>(message: &M, fds: &[BorrowedFd<'_>]) -> Result<Vec<u8>, ChannelError> {
    check(message, fds.len())?;
    message.to_bytes()
}

fn check<M: Frame>(message: &M, found: usize) -> Result<(), ChannelError> {
    let expected = message.fds();
    if found == expected { Ok(()) } else { Err(ChannelError::Descriptors { expected, found }) }
}

fn waiting(errno: Errno) -> ChannelError {
    let what = "waiting for the channel".to_owned();
    ChannelError::Socket(SocketError::Io { what, source: errno.into() })
}
