//! One connection: requests out, replies in, nothing for longer than it may take.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use millpond_wire::caps::MESSAGE_BYTES;
use millpond_wire::fd::Pages;
use millpond_wire::message::{Reply, Request};
use millpond_wire::socket::{self, SocketError};
use planus::Builder;
use rustix::event::{PollFd, PollFlags, Timespec};

use crate::{Error, cancel};

/// When to give up; `None` means never.
pub(crate) type Deadline = Option<Instant>;

/// A blocking read returns after this long to look at its deadline, and at whether the call was
/// cancelled. Reading so costs one system call instead of `poll` and then a read.
const TICK: Duration = cancel::PERIOD;

/// Why nothing came or went.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// The peer is gone.
    HungUp,
    /// The peer, or this program, broke the protocol.
    Violation(Error),
    /// The deadline has passed.
    Late,
    /// The caller wants it no more.
    Cancelled,
}

/// A socket, and the buffer that its requests are written in.
#[derive(Debug)]
pub(crate) struct Connection {
    socket: OwnedFd,
    builder: Mutex<Builder>,
}

/// Room above, for more than one connection.
const SPARE: i32 = 8;

/// Of `/proc/self/status`, in which the size of the table is among the first lines.
const STATUS_BYTES: usize = 1024;

/// Gives the socket a high number. A process that is killed has its files closed from the highest
/// number on, and a GPU's take tens of milliseconds: so its pond hears of the end first, whether it
/// connected before it opened the GPU or after. The number is one that the process's table has
/// already: in a process with threads the kernel takes up to 20 ms to make that larger.
fn last_of_all(socket: &OwnedFd) -> Option<OwnedFd> {
    let mut status = [0; STATUS_BYTES];
    let file = std::fs::File::open("/proc/self/status").ok()?;
    let length = rustix::io::read(file, &mut status).ok()?;
    let size = table_size(&String::from_utf8_lossy(&status[..length]))?;
    // Where there is no room up there, it only takes longer to be heard.
    rustix::io::fcntl_dupfd_cloexec(socket, size - SPARE).ok()
}

/// How many descriptors fit the table that a process has.
fn table_size(status: &str) -> Option<i32> {
    let size = status.lines().find_map(|line| line.strip_prefix("FDSize:"))?;
    size.trim().parse().ok().filter(|size| *size > SPARE)
}

impl Connection {
    /// Connects, after a look at whose socket it is.
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let socket = socket::connect(path).map_err(|error| Error::connecting(path, error))?;
        rustix::net::sockopt::set_socket_timeout(
            &socket,
            rustix::net::sockopt::Timeout::Recv,
            Some(TICK),
        )
        .map_err(|errno| Error::system("setting a timeout on the socket", errno))?;
        Ok(Self { socket, builder: Mutex::new(Builder::new()) })
    }

    /// Gives the socket the number that it keeps, before anybody else uses it.
    pub(crate) fn settle(&mut self) {
        if let Some(raised) = last_of_all(&self.socket) {
            self.socket = raised;
        }
    }

    /// Sends a request with its descriptors. While the peer's queue is full, `meanwhile` may read
    /// what has come, so that the two sides do not wait for each other.
    pub(crate) fn send(
        &self,
        request: &Request,
        fds: &[BorrowedFd<'_>],
        deadline: Deadline,
        meanwhile: impl Fn(),
    ) -> Result<(), Trouble> {
        let mut builder = lock(&self.builder);
        let bytes = request.encode(&mut builder);
        loop {
            match socket::send(&self.socket, bytes, fds, false) {
                Ok(()) => return Ok(()),
                Err(error) if error.is_later() => {
                    meanwhile();
                    if cancel::check().is_err() {
                        return Err(Trouble::Cancelled);
                    }
                    let pause = remaining(deadline).map_or(TICK, |left| left.min(TICK));
                    if pause.is_zero() {
                        return Err(Trouble::Late);
                    }
                    ready(self.socket.as_fd(), PollFlags::OUT, Some(pause));
                }
                Err(SocketError::Lying(what)) => {
                    return Err(Trouble::Violation(Error::Protocol(what.to_owned())));
                }
                Err(_) => return Err(Trouble::HungUp),
            }
        }
    }

    /// Receives one reply; `None` means that it is time to look around.
    pub(crate) fn receive(
        &self,
        buffer: &mut Buffer,
        deadline: Deadline,
    ) -> Result<Option<(Reply, Vec<OwnedFd>)>, Trouble> {
        match remaining(deadline) {
            Some(left) if left < TICK => {
                if !ready(self.socket.as_fd(), PollFlags::IN, Some(left)) {
                    return Ok(None);
                }
                self.take(buffer, false)
            }
            _ => self.take(buffer, true),
        }
    }

    /// Receives one reply if one is there.
    pub(crate) fn receive_now(
        &self,
        buffer: &mut Buffer,
    ) -> Result<Option<(Reply, Vec<OwnedFd>)>, Trouble> {
        self.take(buffer, false)
    }

    fn take(
        &self,
        buffer: &mut Buffer,
        blocking: bool,
    ) -> Result<Option<(Reply, Vec<OwnedFd>)>, Trouble> {
        let buffer = buffer.space();
        match socket::receive(&self.socket, buffer, blocking) {
            Ok(Some(received)) => match Reply::decode(&buffer[..received.bytes]) {
                Ok(reply) => Ok(Some((reply, received.fds))),
                Err(error) => Err(Trouble::Violation(error.into())),
            },
            Ok(None) => Ok(None),
            Err(SocketError::Lying(what)) => {
                Err(Trouble::Violation(Error::Protocol(what.to_owned())))
            }
            // Asked again on another connection, it would come to the same.
            Err(SocketError::OutOfDescriptors) => {
                Err(Trouble::Violation(Error::out_of_descriptors()))
            }
            Err(_) => Err(Trouble::HungUp),
        }
    }

    /// Ends the connection for everybody who reads from it.
    pub(crate) fn shut_down(&self) {
        // It fails only where the connection is over already.
        let _ = rustix::net::shutdown(&self.socket, rustix::net::Shutdown::Both);
    }

    /// Tells the peer goodbye without waiting for anything.
    pub(crate) fn send_at_once(&self, request: &Request) {
        if let Ok(mut builder) = self.builder.try_lock() {
            // Nobody is left to be told that it did not work.
            let _ = socket::send(&self.socket, request.encode(&mut builder), &[], false);
        }
    }
}

impl AsFd for Connection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// For [`Connection::receive`] to read into. Messages may be large, and nearly all are small.
#[derive(Debug)]
pub(crate) enum Buffer {
    Pages(Pages),
    /// Where there is no mapping to be had.
    Heap(Box<[u8]>),
}

pub(crate) fn buffer() -> Buffer {
    let heap = |_| Buffer::Heap(vec![0; MESSAGE_BYTES].into_boxed_slice());
    Pages::new(MESSAGE_BYTES).map_or_else(heap, Buffer::Pages)
}

impl Buffer {
    fn space(&mut self) -> &mut [u8] {
        match self {
            Buffer::Pages(pages) => pages,
            Buffer::Heap(heap) => heap,
        }
    }
}

/// What is left until the deadline; zero when it has passed.
pub(crate) fn remaining(deadline: Deadline) -> Option<Duration> {
    deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
}

/// Waits until the descriptor is ready, or the time is over, or a signal came.
pub(crate) fn ready(fd: BorrowedFd<'_>, flags: PollFlags, timeout: Option<Duration>) -> bool {
    let mut fds = [PollFd::from_borrowed_fd(fd, flags)];
    poll(&mut fds, timeout)
}

/// `poll`; true when one of the descriptors is ready.
pub(crate) fn poll(fds: &mut [PollFd<'_>], timeout: Option<Duration>) -> bool {
    let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
    rustix::event::poll(fds, timeout.as_ref()).is_ok_and(|count| count > 0)
}

/// Locks; a panic of another thread does not matter, because no invariant spans a panic here.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_socket_has_one_of_the_last_numbers_of_the_table_that_is_there() {
        assert_eq!(table_size("Name:\tx\nFDSize:\t64\nGroups:\t0\n"), Some(64));
        assert_eq!(table_size("FDSize:\t4\n"), None);
        assert_eq!(table_size(""), None);
        let (socket, _other) = socket::pair().unwrap();
        let before = std::os::fd::AsRawFd::as_raw_fd(&socket);
        let raised = std::os::fd::AsRawFd::as_raw_fd(&last_of_all(&socket).unwrap());
        assert!(raised >= before, "{raised} after {before}");
    }
}
