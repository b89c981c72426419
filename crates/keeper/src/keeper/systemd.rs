//! The service manager: what it is told, and what it gives. Without one, nothing happens.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixDatagram;

use millpond_wire::socket::{self, SocketError};
use millpond_wire::{Epoch, fd};
use sd_notify::NotifyState;

pub(super) fn ready(epoch: Epoch, daemon_pid: u32) {
    let status = format!("serving: epoch {epoch}, daemon {daemon_pid}");
    notify(&[NotifyState::Ready, main(), NotifyState::Status(&status)]);
}

pub(super) fn status(text: &str) {
    notify(&[NotifyState::Status(text)]);
}

pub(super) fn stopping() {
    notify(&[NotifyState::Stopping]);
}

/// This process is the service now.
pub(super) fn main_pid() {
    notify(&[main()]);
}

/// Said again and again: of a process that has just been started it may not be believed.
fn main() -> NotifyState<'static> {
    NotifyState::MainPid(std::process::id())
}

/// The keeper is alive. `WATCHDOG_PID` is not looked at: after an adoption it names the old one.
pub(super) fn alive() {
    if std::env::var_os("WATCHDOG_USEC").is_some() {
        notify(&[NotifyState::Watchdog, main()]);
    }
}

fn notify(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        tracing::debug!(%error, "the service manager was not told");
    }
}

/// Descriptors with their names: listening sockets, and what it kept for an earlier keeper.
pub(super) fn given() -> io::Result<Vec<(String, OwnedFd)>> {
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    if variable("LISTEN_PID").parse() != Ok(std::process::id()) {
        return Ok(Vec::new());
    }
    let count = variable("LISTEN_FDS").parse().unwrap_or(0);
    let names = variable("LISTEN_FDNAMES");
    let names = names.split(':').map(str::to_owned).chain(std::iter::repeat(String::new()));
    Ok(names.zip(fd::take_inherited(count)?).collect())
}

/// Says things with descriptors, and never waits.
#[derive(Debug)]
pub(super) struct Notifier {
    socket: Option<UnixDatagram>,
    path: std::path::PathBuf,
}

impl Notifier {
    /// `None` where nobody listens, or nothing is kept.
    pub(super) fn of_store() -> Option<Notifier> {
        let path = std::env::var_os("NOTIFY_SOCKET").filter(|path| !path.is_empty())?;
        // Newer versions say how many descriptors they keep.
        if std::env::var("FDSTORE").is_ok_and(|most| most == "0") {
            return None;
        }
        Some(Notifier { socket: None, path: path.into() })
    }

    /// Whether it was taken; `false` means later.
    pub(super) fn tell(&mut self, text: &str, fds: &[BorrowedFd<'_>]) -> Result<bool, SocketError> {
        let what = || format!("connecting to '{}'", self.path.display());
        let made = match self.socket.take() {
            Some(socket) => Ok(socket),
            None => UnixDatagram::unbound().and_then(|socket| {
                socket.connect(&self.path)?;
                Ok(socket)
            }),
        };
        let socket = made.map_err(|source| SocketError::Io { what: what(), source })?;
        match socket::send(&socket, text.as_bytes(), fds, false) {
            Err(error) if !error.is_later() => Err(error),
            told => {
                self.socket = Some(socket);
                Ok(told.is_ok())
            }
        }
    }

    #[cfg(test)]
    pub(super) fn to_a_test() -> (Notifier, UnixDatagram) {
        let (socket, peer) = UnixDatagram::pair().unwrap();
        peer.set_nonblocking(true).unwrap();
        (Notifier { socket: Some(socket), path: std::path::PathBuf::new() }, peer)
    }
}
