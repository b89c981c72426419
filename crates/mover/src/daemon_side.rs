//! The daemon's side: starting a mover.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use millpond_cuda::DriverChoice;
use rustix::process::{Pid, PidfdFlags};

use crate::channel::DaemonEnd;

/// A mover that was started and told nothing yet: it waits for `Start`.
#[derive(Debug)]
pub struct Spawned {
    /// It is this process's child: to be reaped with `try_wait` after the pidfd has fired.
    pub child: Child,
    /// Fires when it is gone. Only then its GPU work is over.
    pub pidfd: OwnedFd,
    /// To the mover. Closing it ends the mover, whatever it is doing.
    pub channel: DaemonEnd,
}

/// Starts a program as a mover: with the other end of a new channel as its standard input, with
/// this driver, and in a process group of its own, because a Ctrl-C in the terminal is not for it.
///
/// It inherits the environment and standard error, for its log; no other descriptor of this
/// process, all of which are close-on-exec.
///
/// # Errors
/// What the system says; no mover runs then.
pub fn spawn(
    program: &Path,
    arguments: &[OsString],
    driver: &DriverChoice,
    environment: &[(OsString, OsString)],
) -> io::Result<Spawned> {
    let (channel, theirs) = DaemonEnd::pair().map_err(io::Error::other)?;
    let driver = match driver {
        DriverChoice::Path(path) => path.clone().into_os_string(),
        word => word.to_string().into(),
    };
    let mut child = Command::new(program)
        .args(arguments)
        .env(DriverChoice::VARIABLE, driver)
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::from(theirs))
        .stdout(Stdio::null())
        .process_group(0)
        .spawn()?;
    // Not reaped yet, so the number cannot be anybody else's.
    match rustix::process::pidfd_open(Pid::from_child(&child), PidfdFlags::empty()) {
        Ok(pidfd) => Ok(Spawned { child, pidfd, channel }),
        Err(errno) => {
            // Unwatched it must not run; both calls can only fail if it is gone already.
            let _ = child.kill();
            let _ = child.wait();
            Err(errno.into())
        }
    }
}
