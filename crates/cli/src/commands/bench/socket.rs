//! The floor under every request: a datagram to another process and back.

use std::process::{Child, Command, Stdio};

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};

use super::samples::Samples;
use crate::error::{CommandError, Outcome, failed};

/// A small request's size.
const BYTES: usize = 100;

/// Measures the round trip of a small datagram between two processes that do nothing else.
pub fn floor(rounds: u32) -> Result<Samples, CommandError> {
    let refused = |error: Errno| failed("the socket between two processes", error);
    let (ours, theirs) =
        millpond_wire::socket::pair().map_err(|error| failed("making sockets", error))?;
    let mut peer = start(theirs)?;
    let (message, mut buffer) = ([7; BYTES], [0; 2 * BYTES]);
    let samples = Samples::measure(rounds, || {
        send(&ours, &message, SendFlags::NOSIGNAL).map_err(refused)?;
        recv(&ours, &mut buffer, RecvFlags::empty()).map_err(refused)?;
        Ok(())
    });
    drop(ours);
    let _ = peer.wait();
    samples
}

fn start(socket: std::os::fd::OwnedFd) -> Result<Child, CommandError> {
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
