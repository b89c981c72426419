//! Processes by pidfd: a number may be somebody else's a moment later, a pidfd never is.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

#[derive(Debug)]
pub struct Process {
    /// Its number, for people.
    pub pid: u32,
    pidfd: OwnedFd,
}

impl Process {
    /// The process that has this number now.
    ///
    /// # Errors
    /// There is none.
    pub fn open(pid: u32) -> io::Result<Self> {
        let raw = i32::try_from(pid).ok().and_then(Pid::from_raw);
        let raw = raw.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        Ok(Self { pid, pidfd: pidfd_open(raw, PidfdFlags::empty())? })
    }

    /// `kill -9`.
    ///
    /// # Errors
    /// It is gone already, or somebody else's.
    pub fn kill(&self) -> io::Result<()> {
        Ok(pidfd_send_signal(&self.pidfd, Signal::KILL)?)
    }

    /// Asks it to end.
    ///
    /// # Errors
    /// As [`Self::kill`].
    pub fn terminate(&self) -> io::Result<()> {
        Ok(pidfd_send_signal(&self.pidfd, Signal::TERM)?)
    }

    /// Waits until it is gone; false if it still is there after that time.
    ///
    /// # Errors
    /// What the system says.
    pub fn wait(&self, patience: Duration) -> io::Result<bool> {
        let deadline = Instant::now() + patience;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let timeout = Timespec::try_from(left).map_err(io::Error::other)?;
            match poll(&mut [PollFd::new(&self.pidfd, PollFlags::IN)], Some(&timeout)) {
                Ok(0) => return Ok(false),
                Ok(_) => return Ok(true),
                Err(rustix::io::Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
    }
}

/// Every other process with such a variable (`NAME=value`) in its environment.
#[must_use]
pub fn with_variable(is_wanted: impl Fn(&[u8]) -> bool) -> Vec<Process> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let pid = entry.file_name().to_str().and_then(|name| name.parse().ok());
        let Some(pid) = pid.filter(|pid| *pid != std::process::id()) else { continue };
        // Opened first: what is read afterwards is this process's, or it is gone.
        let Ok(process) = Process::open(pid) else { continue };
        let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
        if environment.split(|byte| *byte == 0).any(&is_wanted) {
            found.push(process);
        }
    }
    found
}
