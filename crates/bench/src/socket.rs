//! The floor under every request: a datagram to another process and back.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use millpond_wire::socket;
use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags, SocketType, recv, send,
};

use crate::programs;
use millpond_console::error::{CommandError, Outcome, failed};

/// A small request's size.
const BYTES: usize = 100;

/// What this floor is called.
pub const WHAT: &str = "100 bytes to another process and back";
/// What the floor of a connection is called.
pub const CONNECT_WHAT: &str = "connect to a bare listener, one datagram and back";

/// Two processes that do nothing but send a small datagram to and fro.
pub struct Floor {
    socket: Option<OwnedFd>,
    peer: Child,
}

impl Floor {
    /// Starts the other process.
    pub fn start() -> Result<Self, CommandError> {
        let (ours, theirs) = socket::pair().map_err(|error| failed("making sockets", error))?;
        Ok(Self { socket: Some(ours), peer: start(theirs)? })
    }

    pub fn round_trip(&self) -> Result<(), CommandError> {
        self.socket.as_ref().map_or(Ok(()), exchange)
    }

    /// How long it takes to see that the other process was killed.
    pub fn kill(mut self) -> Result<Duration, CommandError> {
        self.round_trip()?;
        let start = Instant::now();
        self.peer.kill().map_err(|error| failed("killing the peer", error))?;
        if let Some(socket) = &self.socket {
            // Nothing, or a reset: it is gone either way.
            let _ = recv(socket, &mut [0; BYTES], RecvFlags::empty());
        }
        Ok(start.elapsed())
    }
}

impl Drop for Floor {
    fn drop(&mut self) {
        // The peer ends when nobody is at the other end any more.
        drop(self.socket.take());
        let _ = self.peer.wait();
    }
}

/// A process that takes connections and answers the first datagram of each.
pub struct Listener {
    path: PathBuf,
    peer: Child,
}

impl Listener {
    /// Starts it, with its socket in this folder.
    pub fn start(folder: &Path) -> Result<Self, CommandError> {
        let path = folder.join("bare");
        let listener = socket::listen(&path).map_err(|error| failed("a bare listener", error))?;
        Ok(Self { path, peer: start(listener)? })
    }

    /// Connects, and makes one round trip.
    pub fn connect(&self) -> Result<OwnedFd, CommandError> {
        let refused = |error: Errno| failed("connecting to a bare listener", error);
        let address = SocketAddrUnix::new(&self.path).map_err(refused)?;
        let (family, kind) = (AddressFamily::UNIX, SocketType::SEQPACKET);
        let ours = rustix::net::socket_with(family, kind, SocketFlags::CLOEXEC, None);
        let ours = ours.map_err(refused)?;
        rustix::net::connect(&ours, &address).map_err(refused)?;
        exchange(&ours)?;
        Ok(ours)
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        // It holds nothing that anybody needs.
        let _ = self.peer.kill();
        let _ = self.peer.wait();
    }
}

fn exchange(socket: &OwnedFd) -> Result<(), CommandError> {
    let refused = |error: Errno| failed("the socket between two processes", error);
    send(socket, &[7; BYTES], SendFlags::NOSIGNAL).map_err(refused)?;
    recv(socket, &mut [0; 2 * BYTES], RecvFlags::empty()).map_err(refused)?;
    Ok(())
}

fn start(socket: OwnedFd) -> Result<Child, CommandError> {
    Command::new(programs::own()?)
        .arg("echo")
        .stdin(Stdio::from(socket))
        .stdout(Stdio::null())
        .spawn()
        .map_err(|error| failed("starting the peer", error))
}

/// The other process: sends back what comes, from its standard input or from whoever connects
/// there.
pub fn echo() -> Outcome {
    let stdin = rustix::stdio::stdin();
    let odd = |error: Errno| failed("standard input is not a socket", error);
    if !rustix::net::sockopt::socket_acceptconn(stdin).map_err(odd)? {
        while send_back(stdin).map_err(odd)? {}
        return Ok(());
    }
    let flags = rustix::fs::fcntl_getfl(stdin).map_err(odd)?;
    rustix::fs::fcntl_setfl(stdin, flags - OFlags::NONBLOCK).map_err(odd)?;
    let mut connections: Vec<OwnedFd> = Vec::new();
    loop {
        let taken = rustix::net::accept_with(stdin, SocketFlags::CLOEXEC)
            .map_err(|error| failed("taking a connection", io::Error::from(error)))?;
        send_back(taken.as_fd()).map_err(odd)?;
        connections.push(taken);
    }
}

/// One datagram; false when there will be no more.
fn send_back(socket: BorrowedFd<'_>) -> Result<bool, Errno> {
    let mut buffer = [0; 4096];
    let (_, bytes) = rustix::io::retry_on_intr(|| recv(socket, &mut buffer, RecvFlags::empty()))?;
    if bytes > 0 {
        send(socket, &buffer[..bytes], SendFlags::NOSIGNAL)?;
    }
    Ok(bytes > 0)
}
