//! The floor under every request: a datagram to another process and back.

use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};

use crate::error::{CommandError, Outcome, failed};

/// A small request's size.
const BYTES: usize = 100;

/// Two processes that do nothing but send a small datagram to and fro.
pub struct Floor {
    socket: Option<OwnedFd>,
    peer: Child,
}

impl Floor {
    /// Starts the other process.
    pub fn start() -> Result<Self, CommandError> {
        let (ours, theirs) =
            millpond_wire::socket::pair().map_err(|error| failed("making sockets", error))?;
        Ok(Self { socket: Some(ours), peer: start(theirs)? })
    }

    /// One round trip.
    pub fn round_trip(&self) -> Result<(), CommandError> {
        let refused = |error: Errno| failed("the socket between two processes", error);
        let Some(socket) = &self.socket else { return Ok(()) };
        send(socket, &[7; BYTES], SendFlags::NOSIGNAL).map_err(refused)?;
        recv(socket, &mut [0; 2 * BYTES], RecvFlags::empty()).map_err(refused)?;
        Ok(())
    }
}

impl Drop for Floor {
    fn drop(&mut self) {
        // The peer ends when nobody is at the other end any more.
        drop(self.socket.take());
        let _ = self.peer.wait();
    }
}

fn start(socket: OwnedFd) -> Result<Child, CommandError> {
    let program = std::env::current_exe().map_err(|error| failed("finding this program", error))?;
    Command::new(program)
        .arg("echo")
        .stdin(Stdio::from(socket))
        .stdout(Stdio::null())
        .spawn()
        .map_err(|error| failed("starting the peer", error))
}

/// The other process: sends back what comes.
pub fn echo() -> Outcome {
    let socket = rustix::stdio::stdin();
    let mut buffer = [0; 4096];
    loop {
        match recv(socket, &mut buffer, RecvFlags::empty()) {
            Ok((_, 0)) => return Ok(()),
            Ok((_, bytes)) => {
                send(socket, &buffer[..bytes], SendFlags::NOSIGNAL)
                    .map_err(|error| failed("sending back", error))?;
            }
            Err(Errno::INTR) => {}
            Err(error) => return Err(failed("standard input is not a socket", error)),
        }
    }
}
