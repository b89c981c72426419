//! Processes by pidfd: a number may be somebody else's a moment later, a pidfd never is.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// One process.
#[derive(Debug)]
pub struct Process {
    /// Its number, for messages.
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

    /// `kill -9`. One that is gone already is as good.
    pub fn kill(&self) {
        let _ = pidfd_send_signal(&self.pidfd, Signal::KILL);
    }

    /// Asks it to end.
    pub fn terminate(&self) {
        let _ = pidfd_send_signal(&self.pidfd, Signal::TERM);
    }

    /// Waits until it is gone; false if it still is there after that time.
    ///
    /// # Panics
    /// If the system cannot say.
    #[must_use]
    pub fn wait(&self, patience: Duration) -> bool {
        let deadline = Instant::now() + patience;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let timeout = Timespec::try_from(left).unwrap();
            match poll(&mut [PollFd::new(&self.pidfd, PollFlags::IN)], Some(&timeout)) {
                Ok(ready) => return ready > 0,
                Err(rustix::io::Errno::INTR) => {}
                Err(errno) => panic!("waiting for process {}: {errno}", self.pid),
            }
        }
    }
}

/// Open descriptors of a process.
///
/// # Panics
/// If it is gone.
#[must_use]
pub fn descriptors(pid: u32) -> usize {
    fs::read_dir(format!("/proc/{pid}/fd")).expect("the process lives").count()
}

/// What its open descriptors are, for messages.
#[must_use]
pub fn descriptor_list(pid: u32) -> Vec<String> {
    let entries = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let mut list: Vec<String> = entries
        .filter_map(|entry| fs::read_link(entry.path()).ok())
        .map(|target| target.display().to_string())
        .collect();
    list.sort();
    list
}

/// Every process whose environment has this variable with a value that begins so.
#[must_use]
pub fn with_variable(name: &str, beginning: &Path) -> Vec<Process> {
    let mut wanted = format!("{name}=").into_bytes();
    wanted.extend_from_slice(beginning.as_os_str().as_bytes());
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let pid = entry.file_name().to_str().and_then(|name| name.parse().ok());
        let Some(pid) = pid.filter(|pid| *pid != std::process::id()) else { continue };
        // Opened first: what is read afterwards is this process's, or it is gone.
        let Ok(process) = Process::open(pid) else { continue };
        let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
        if environment.split(|byte| *byte == 0).any(|variable| variable.starts_with(&wanted)) {
            found.push(process);
        }
    }
    found
}
